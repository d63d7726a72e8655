#pragma once
// ImageKernels: for each image op of a function the host code that did it last. One host thread at a time
// uses it, so that finding a kernel neither locks nor hashes. It must not know what kernels do.
#include <cstdint>
#include <vector>

#include "jit/image_access.hpp"
#include "memory/image/kernels/kernel_cache.hpp"

namespace eum::jit {

class ImageKernels {
 public:
  /// Forgets everything: for `sites` image ops on other surfaces and samplers. `cache` outlives the use;
  /// null: there are no kernels.
  void bind(mem::image::KernelCache* cache, std::size_t sites);

  /// The kernel for the message and what the call names; null: the definition is to be used. Of the surface
  /// and the sampler the place counts: while they are bound they do not change.
  const mem::image::SampleKernel* find(std::uint32_t site, const mem::image::SampleMessage& message,
                                       const mem::image::SampleCall& call);
  const mem::image::TypedKernel* find(std::uint32_t site, const mem::image::TypedMessage& message,
                                      const mem::image::TypedCall& call);

 private:
  struct Entry {
    const mem::Surface* surface = nullptr;  ///< null: nothing is known yet
    const mem::image::SamplerState* sampler = nullptr;
    std::uint32_t control = 0;
    const mem::image::SampleKernel* sample = nullptr;
    const mem::image::TypedKernel* typed = nullptr;
  };

  mem::image::KernelCache* cache_ = nullptr;
  std::vector<Entry> entries_;  ///< by ImageSite::number
};

}  // namespace eum::jit

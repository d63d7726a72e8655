#include "jit/image_kernels.hpp"

#include "memory/surface.hpp"

namespace eum::jit {
namespace {

/// A kernel accesses host memory without asking.
template <class Kernel>
const Kernel* if_reachable(const Kernel* kernel, const mem::Surface& surface) {
  const bool reachable =
      kernel != nullptr && surface.base != nullptr && surface.direct >= kernel->surface_bytes();
  return reachable ? kernel : nullptr;
}

}  // namespace

void ImageKernels::bind(mem::image::KernelCache* cache, std::size_t sites) {
  cache_ = cache;
  entries_.assign(cache != nullptr ? sites : 0, {});
}

const mem::image::SampleKernel* ImageKernels::find(std::uint32_t site,
                                                   const mem::image::SampleMessage& message,
                                                   const mem::image::SampleCall& call) {
  if (site >= entries_.size()) return nullptr;
  Entry& entry = entries_[site];
  if (entry.surface != call.surface || entry.sampler != call.sampler || entry.control != call.control.bits) {
    entry = {call.surface, call.sampler, call.control.bits};
    entry.sample =
        if_reachable(cache_->find(message, call.surface->image, *call.sampler, call.control), *call.surface);
  }
  return entry.sample;
}

const mem::image::TypedKernel* ImageKernels::find(std::uint32_t site, const mem::image::TypedMessage& message,
                                                  const mem::image::TypedCall& call) {
  if (site >= entries_.size()) return nullptr;
  Entry& entry = entries_[site];
  if (entry.surface != call.surface) {
    entry = {call.surface};
    entry.typed = if_reachable(cache_->find(message, call.surface->image), *call.surface);
  }
  return entry.typed;
}

}  // namespace eum::jit

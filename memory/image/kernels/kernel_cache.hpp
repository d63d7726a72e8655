#pragma once
// KernelCache: host code for a message on a surface with a sampler, made once for each and kept. It equals
// the scalar definition bit for bit. It must not know who sends messages.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "memory/image/message.hpp"

namespace eum::mem::image {

/// Code of its own pages, which can be executed and not written.
template <class Call>
class Kernel {
 public:
  using Function = void (*)(const Call*);

  /// Bytes that the surface must have: run only where Surface::base is set and its size is at least that.
  /// What else the state says of the surface must be what find() was asked for.
  std::uint64_t surface_bytes() const { return surface_bytes_; }
  void run(const Call& call) const { function_(&call); }

  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  ~Kernel();

 private:
  friend class KernelCache;
  Kernel(void* pages, std::size_t size, std::uint64_t surface_bytes)
      : function_(reinterpret_cast<Function>(pages)),
        pages_(pages),
        size_(size),
        surface_bytes_(surface_bytes) {}

  Function function_;
  void* pages_;
  std::size_t size_;
  std::uint64_t surface_bytes_;
};

using SampleKernel = Kernel<SampleCall>;
using TypedKernel = Kernel<TypedCall>;

/// What a message's place in a program remembers of its last run, for that message only and one cache. Any
/// number of threads may use it at once.
class KernelSite {
 private:
  friend class KernelCache;
  std::atomic<const void*> last_ = nullptr;
};

class KernelCache {
 public:
  KernelCache();
  ~KernelCache();
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

  /// Null: there is none, the scalar definition is to be used (sample(), typed_access()). The kernel lives as
  /// long as the cache. From any thread.
  const SampleKernel* find(const SampleMessage& message, const SurfaceState& surface,
                           const SamplerState& sampler, SampleControl control);
  const TypedKernel* find(const TypedMessage& message, const SurfaceState& surface);

  /// The message by its kernel if there is one and the surface has the memory for it, else by its definition.
  /// `site` is where the message stands; without looking anything up where it finds what it saw last.
  [[nodiscard]] ImageFault run(const SampleMessage& message, const SampleCall& call, KernelSite& site);
  [[nodiscard]] ImageFault run(const TypedMessage& message, const TypedCall& call, KernelSite& site);

  /// Kernels that were made.
  std::size_t size() const;
  /// find() makes no more than that.
  static constexpr std::size_t most_kernels = 4096;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace eum::mem::image

#pragma once
// KernelCache: host code for a message on a surface with a sampler, generated once per combination and kept.
// It equals the scalar definition bit for bit. It must not know who sends messages.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "memory/image/message.hpp"

namespace eum::mem::image {

/// Code in its own pages, which are executable and not writable.
template <class Call>
class Kernel {
 public:
  using Function = void (*)(const Call*);

  /// Size that the surface must have at least: run the kernel only if Surface::base is set and the surface is
  /// that large. The rest of its state must be what find() was called with.
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

/// Caches the last lookup at a message's place in a program, for that message and one cache only. Any number
/// of threads may use it at once.
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

  /// Null if there is no kernel: use the scalar definition, sample() or typed_access(). The kernel lives as
  /// long as the cache. May be called from any thread.
  const SampleKernel* find(const SampleMessage& message, const SurfaceState& surface,
                           const SamplerState& sampler, SampleControl control);
  const TypedKernel* find(const TypedMessage& message, const SurfaceState& surface);

  /// Runs the message by its kernel if there is one and the surface is large enough, else by its definition.
  /// `site` belongs to the message's place; if the case is the same as there the last time, nothing is looked
  /// up.
  [[nodiscard]] ImageFault run(const SampleMessage& message, const SampleCall& call, KernelSite& site);
  [[nodiscard]] ImageFault run(const TypedMessage& message, const TypedCall& call, KernelSite& site);

  /// Number of kernels generated so far.
  std::size_t size() const;
  /// Limit on the number of kernels that find() generates.
  static constexpr std::size_t most_kernels = 4096;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace eum::mem::image

#pragma once
// Slm: the shared local memory of one thread group. It must not know threads or barriers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "memory/base/result.hpp"

namespace eum::mem {

/// The maximum for a thread group (BXT: 64 KB of a subslice's L3 serve as SLM).
inline constexpr std::uint32_t slm_max_size = 64 * 1024;

/// What a thread group that asks for `bytes` gets: INTERFACE_DESCRIPTOR_DATA "Shared Local Memory Size" of
/// Gen9 encodes 0, or a power of two from 1 KB to 64 KB.
constexpr std::uint32_t slm_allocation(std::uint32_t bytes) {
  if (bytes == 0) return 0;
  std::uint32_t size = 1024;
  while (size < bytes && size < slm_max_size) size *= 2;
  return size;
}

/// A thread group's local memory, 64-byte aligned. Reused for successive groups through reset().
class Slm {
 public:
  /// Room for a group that asks for `bytes`, rounded up to the hardware's sizes.
  static Result<Slm> create(std::uint64_t bytes) {
    if (bytes > slm_max_size) {
      return error("a thread group has at most {} bytes of shared local memory, {} asked for", slm_max_size,
                   bytes);
    }
    Slm slm;
    slm.size_ = slm_allocation(static_cast<std::uint32_t>(bytes));
    if (slm.size_ != 0) {
      slm.bytes_.reset(static_cast<std::byte*>(::operator new(slm.size_, alignment, std::nothrow)));
      if (slm.bytes_ == nullptr)
        return host_error("the host has no {} bytes for shared local memory", slm.size_);
      slm.reset();
    }
    return slm;
  }

  /// Clears the contents for a new group, so that runs are repeatable.
  void reset() {
    if (size_ != 0) std::memset(bytes_.get(), 0, size_);
  }

  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  std::uint32_t size() const { return size_; }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Delete {
    void operator()(std::byte* p) const { ::operator delete(p, alignment); }
  };

  std::unique_ptr<std::byte, Delete> bytes_;
  std::uint32_t size_ = 0;
};

}  // namespace eum::mem

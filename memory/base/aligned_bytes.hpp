#pragma once
// AlignedBytes: a growable, 64-byte aligned buffer; growing discards the contents.
#include <cstddef>
#include <memory>
#include <new>

#include "memory/base/result.hpp"

namespace eum::mem {

class AlignedBytes {
 public:
  Result<void> reserve(std::size_t bytes) {
    if (bytes <= size_) return {};
    auto* block = static_cast<std::byte*>(::operator new(bytes, alignment, std::nothrow));
    if (block == nullptr) return host_error("the host has no {} bytes for the state of threads", bytes);
    bytes_.reset(block);
    size_ = bytes;
    return {};
  }
  std::byte* data() { return bytes_.get(); }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Delete {
    void operator()(std::byte* p) const { ::operator delete(p, alignment); }
  };
  std::unique_ptr<std::byte, Delete> bytes_;
  std::size_t size_ = 0;
};

}  // namespace eum::mem

#pragma once
// Region: a range of GPU addresses and its backing. Plain data; it must not know which other regions exist.
#include <cstddef>
#include <cstdint>
#include <string>

namespace eum::mem {

/// What a region permits, and what an access requires. A bit set.
enum class Access : std::uint8_t { None = 0, Read = 1, Write = 2, ReadWrite = 3 };

/// True if everything in `wanted` is in `granted`.
constexpr bool allows(Access granted, Access wanted) {
  return (static_cast<unsigned>(granted) & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted);
}

const char* access_name(Access access);

/// An embedder's memory. `address` is the GPU address; the range is always inside the region. A callback
/// returns false to make the access fault. It is called from the threads that run guest code, several at a
/// time, and must not throw.
struct RegionCallbacks {
  void* context = nullptr;
  bool (*read)(void* context, std::uint64_t address, void* to, std::uint64_t size) = nullptr;
  bool (*write)(void* context, std::uint64_t address, const void* from, std::uint64_t size) = nullptr;
};

/// A range of GPU addresses. Standard layout: translated code reads the first four members.
struct Region {
  std::uint64_t address = 0;  // GPU address of the first byte
  std::uint64_t size = 0;     // bytes, never 0; address + size does not wrap
  std::byte* host = nullptr;  // host memory of the first byte; nullptr: callbacks
  Access access = Access::ReadWrite;
  RegionCallbacks callbacks;
  std::string name;  // for messages
  /// Bytes that were asked for, which is what surfaces over the region may use; less than `size` where that
  /// was rounded up.
  std::uint64_t asked = size;

  std::uint64_t end() const { return address + size; }
  bool contains(std::uint64_t a) const { return a - address < size; }
};

}  // namespace eum::mem

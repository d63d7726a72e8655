#pragma once
// Region: a range of GPU addresses and what stands behind it. Plain data; it must not know which other
// regions there are.
#include <cstddef>
#include <cstdint>
#include <string>

namespace eum::mem {

/// What may be done to a region, and what an access wants to do. A bit set.
enum class Access : std::uint8_t { None = 0, Read = 1, Write = 2, ReadWrite = 3 };

/// True if everything in `wanted` is in `granted`.
constexpr bool allows(Access granted, Access wanted) {
  return (static_cast<unsigned>(granted) & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted);
}

const char* access_name(Access access);

/// An embedder's memory. `address` is the GPU address, the range is always inside the region. Return false to
/// make the access a fault. Called from the threads that run guest code, several at a time; must not throw.
struct RegionCallbacks {
  void* context = nullptr;
  bool (*read)(void* context, std::uint64_t address, void* to, std::uint64_t size) = nullptr;
  bool (*write)(void* context, std::uint64_t address, const void* from, std::uint64_t size) = nullptr;
};

/// A range of GPU addresses. Standard layout: translated code reads the first four members.
struct Region {
  std::uint64_t address = 0;  // GPU address of the first byte
  std::uint64_t size = 0;     // bytes, never 0; address + size does not wrap
  std::byte* host = nullptr;  // the first byte on the host; nullptr: callbacks
  Access access = Access::ReadWrite;
  RegionCallbacks callbacks;
  std::string name;  // for messages
  /// Bytes that surfaces over the region have: `size`, or less where it reaches to the end of its page.
  std::uint64_t asked = size;

  std::uint64_t end() const { return address + size; }
  bool contains(std::uint64_t a) const { return a - address < size; }
};

}  // namespace eum::mem

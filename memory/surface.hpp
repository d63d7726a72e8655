#pragma once
// Surface and BindingTable: what a message with a binding table index sees. Standard layout, because
// translated code reads them; the host pointer is resolved when the table is built, if the surface is one
// block of host memory. This file must not know where the state came from (kernel arguments or
// RENDER_SURFACE_STATE in memory).
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "memory/image/state.hpp"

namespace eum::mem {

/// A number of bytes and, for common access lengths, the offsets below which accesses may begin, so that
/// translated code can compare an offset without further arithmetic.
class ReachableBytes {
 public:
  static constexpr std::array<std::uint32_t, 4> lengths{4, 32, 64, 128};

  constexpr ReachableBytes(std::uint64_t bytes = 0) : bytes_(bytes) {  // NOLINT(google-explicit-constructor)
    for (std::size_t i = 0; i < lengths.size(); ++i)
      ends_[i] = bytes < lengths[i] ? 0 : bytes - lengths[i] + 1;
  }
  constexpr operator std::uint64_t() const { return bytes_; }  // NOLINT(google-explicit-constructor)

  /// Position within the object of the first offset at which an access of lengths[i] may not begin.
  static constexpr std::size_t end_offset(std::size_t i) { return sizeof(bytes_) + i * sizeof(ends_[0]); }

 private:
  std::uint64_t bytes_;
  std::array<std::uint64_t, lengths.size()> ends_;
};
static_assert(std::is_standard_layout_v<ReachableBytes>);

/// One surface. Reads beyond `size` give 0 and writes there are dropped; the null surface has size 0, so it
/// needs no special case.
struct Surface {
  std::byte* base = nullptr;  // host memory of byte 0; null: accesses go through the address space
  ReachableBytes direct;      // bytes that may be accessed through `base`: `size`, or 0 where `base` is null
  std::uint64_t size = 0;     // bytes that may be accessed
  std::uint64_t gpu_address = 0;  // Surface Base Address, for messages and statistics
  image::SurfaceState image;      // what typed and sampler messages see
  std::uint64_t counter = 0;      // GPU address of the append counter, if `image` says that there is one
};

static_assert(std::is_standard_layout_v<Surface> && std::is_trivially_copyable_v<Surface>);

/// A RAW buffer surface over `size` bytes at `base`, or where `base` is null at `gpu_address` in the address
/// space.
inline Surface buffer_surface(std::byte* base, std::uint64_t size, std::uint64_t gpu_address) {
  Surface s;
  s.base = base;
  s.direct = base != nullptr ? size : 0;
  s.size = size;
  s.gpu_address = gpu_address;
  s.image.type = image::SurfaceType::SURFTYPE_BUFFER;
  s.image.width = static_cast<std::uint32_t>(std::min<std::uint64_t>(size, ~std::uint32_t{0}));
  s.image.height = 1;
  s.image.depth = 1;
  return s;
}

class AddressSpace;

/// Finds the host memory of a surface that has none yet: if all of it lies in one region of host memory that
/// may be read and written, translated code accesses it there; otherwise `base` stays null and each access
/// goes through the address space (across regions, through callbacks, with the regions' rights).
void resolve(Surface& surface, const AddressSpace& space);

inline constexpr std::size_t binding_table_size = 256;

/// Every surface that a kernel can name. Entries that were never filled are null surfaces.
struct BindingTable {
  std::array<Surface, binding_table_size> surfaces;

  Surface& operator[](std::size_t index) { return surfaces[index]; }
  const Surface& operator[](std::size_t index) const { return surfaces[index]; }
};

static_assert(std::is_standard_layout_v<BindingTable>);
static_assert(sizeof(BindingTable) == binding_table_size * sizeof(Surface));

}  // namespace eum::mem

#pragma once
// A surface's memory, bounds and faults, and its texels, both as a shader gets them and as a filter uses
// them. It must not know coordinates.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/image/format.hpp"
#include "memory/image/message.hpp"
#include "memory/surface.hpp"

namespace eum::mem::image {

/// Never accesses beyond Surface::size. Functions that return false have filled in fault().
class SurfaceMemory {
 public:
  SurfaceMemory(const Surface& surface, AddressSpace* space) : surface_(surface), space_(space) {}

  bool read(std::uint64_t offset, std::span<std::byte> to);
  bool write(std::uint64_t offset, std::span<const std::byte> from);
  /// Host memory for an atomic on `size` bytes, or null.
  std::byte* atomic(std::uint64_t offset, std::size_t size);

  /// The cause of the last failed call; the caller fills in the lane.
  const ImageFault& fault() const { return fault_; }

 private:
  bool inside(std::uint64_t offset, std::size_t size);
  bool fail(ImageFault::Kind kind, std::uint64_t offset, const char* reason = "");

  const Surface& surface_;
  AddressSpace* space_;
  ImageFault fault_;
};

/// Channels as filters add them up: UNORM and SNORM of at most 16 bits as integers, which TexelFetch::divide
/// scales after the filter, so that nothing is rounded twice; everything else as f32.
using FilterValue = std::array<float, 4>;

class TexelFetch {
 public:
  TexelFetch(const Surface& surface, const FormatInfo& format, AddressSpace* space);

  /// Coordinates are inside the level; `slice` counts from the first one in memory.
  bool texel(unsigned level, std::uint32_t x, std::uint32_t y, std::uint32_t slice, Texel& texel);
  bool filter_value(unsigned level, std::uint32_t x, std::uint32_t y, std::uint32_t slice,
                    FilterValue& value);

  /// The border colour as a texel of the format would give it: channels that the format lacks are 0 (alpha
  /// 1), luminance and intensity come from red; for UNORM, SNORM and sRGB it is clamped to the representable
  /// range.
  Texel border_texel(const std::array<std::uint32_t, 4>& border) const;
  FilterValue border_value(const std::array<std::uint32_t, 4>& border) const;

  /// f32 of the filter's result: each channel divided by its largest integer. A NaN is 0x7fc00000.
  Texel divide(const FilterValue& value) const;

  const FormatInfo& format() const { return format_; }
  const ImageFault& fault() const { return memory_.fault(); }

 private:
  bool load(unsigned level, std::uint32_t x, std::uint32_t y, std::uint32_t slice);

  SurfaceMemory memory_;
  const SurfaceState& state_;
  const FormatInfo& format_;
  FilterValue divisor_;  ///< 1: not filtered as an integer
  std::array<std::byte, 16> bytes_{};
};

/// The divisor of a channel's integers after a filter: 2^n - 1, 2^(n-1) - 1, or 1 if it is filtered as f32.
float filter_divisor(const ChannelLayout& channel);

/// The only NaN that computed results contain.
inline constexpr std::uint32_t canonical_nan = 0x7fc00000;

}  // namespace eum::mem::image

#pragma once
// RENDER_SURFACE_STATE and SAMPLER_STATE as plain structs, decoded once from the bytes that a driver wrote,
// or filled in by the creator of an image. Names and values are those of the manual (genxml gen9). It must
// not know host memory.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/base/result.hpp"

namespace eum::mem::image {

enum class SurfaceType : std::uint8_t {
  SURFTYPE_1D = 0,
  SURFTYPE_2D = 1,
  SURFTYPE_3D = 2,
  SURFTYPE_CUBE = 3,
  SURFTYPE_BUFFER = 4,
  SURFTYPE_STRBUF = 5,
  SURFTYPE_NULL = 7,
};

enum class TileMode : std::uint8_t { LINEAR = 0, WMAJOR = 1, XMAJOR = 2, YMAJOR = 3 };

/// Shader Channel Select.
enum class ChannelSelect : std::uint8_t { ZERO = 0, ONE = 1, RED = 4, GREEN = 5, BLUE = 6, ALPHA = 7 };

/// Auxiliary Surface Mode.
enum class Auxiliary : std::uint8_t { NONE = 0, APPEND = 2 };

/// Surface Format, 9 bits; formats.def lists the known ones.
using FormatCode = std::uint16_t;
/// A buffer without a format.
inline constexpr FormatCode format_raw = 0x1ff;

/// RENDER_SURFACE_STATE, without addresses.
struct SurfaceState {
  SurfaceType type = SurfaceType::SURFTYPE_NULL;
  TileMode tiling = TileMode::LINEAR;
  FormatCode format = format_raw;
  bool array = false;
  std::uint8_t halign = 4;      ///< texels, or blocks of a compressed format: 4, 8, 16
  std::uint8_t valign = 4;      ///< rows of texels or blocks: 4, 8, 16
  std::uint8_t cube_faces = 0;  ///< Cube Face Enable, bit 0 positive Z ... bit 5 negative X
  std::uint8_t samples_log2 = 0;
  std::uint8_t mip_count = 1;          ///< levels that a sampler may use (MIP Count / LOD plus one)
  std::uint8_t mip_lod = 0;            ///< the level that typed messages use (the same field)
  std::uint8_t min_lod = 0;            ///< Surface Min LOD
  std::uint8_t base_mip = 0;           ///< Base Mip Level, u4.1
  std::uint16_t resource_min_lod = 0;  ///< u4.8
  std::array<ChannelSelect, 4> select = {ChannelSelect::RED, ChannelSelect::GREEN, ChannelSelect::BLUE,
                                         ChannelSelect::ALPHA};
  std::uint32_t width = 0;   ///< texels of level 0 (not minus one); for a buffer, elements (height, depth: 1)
  std::uint32_t height = 0;  ///< rows of level 0
  std::uint32_t depth = 0;   ///< slices of level 0 of a 3D surface; elements of an array (cube arrays: cubes)
  std::uint32_t pitch =
      0;  ///< bytes from row to row of texels; for a structured buffer, from element to element
  std::uint32_t qpitch = 0;  ///< rows from one array element (3D surfaces: slice) to the next
  std::uint32_t min_array_element = 0;
  std::uint32_t view_extent = 0;  ///< Render Target View Extent: slices or elements that typed messages reach
  std::uint16_t x_offset = 0;     ///< texels
  std::uint16_t y_offset = 0;     ///< rows
  bool vertical_line_stride = false;         ///< rows of media blocks are every other one
  bool vertical_line_stride_offset = false;  ///< from row 1 on
  Auxiliary auxiliary = Auxiliary::NONE;     ///< APPEND: the surface has an append counter

  bool operator==(const SurfaceState&) const = default;
};

inline constexpr std::size_t surface_state_bytes = 64, sampler_state_bytes = 16, border_color_bytes = 64;

/// Decodes the state; an error names the field that has a reserved or unsupported value, with what was
/// expected and found. Bits that the manual requires to be 0 are ignored, as by the hardware. A null surface
/// keeps its sizes only.
Result<SurfaceState> decode_surface_state(std::span<const std::byte, surface_state_bytes> bytes);
/// Surface Base Address.
std::uint64_t surface_base_address(std::span<const std::byte, surface_state_bytes> bytes);
/// Auxiliary Surface Base Address; with Auxiliary::APPEND that of the counter.
std::uint64_t append_counter_address(std::span<const std::byte, surface_state_bytes> bytes);
/// The bytes of `state`. They decode to the same state if its fields are within their ranges and mip_lod is
/// mip_count minus one: those two share one field, which gets the larger value.
std::array<std::byte, surface_state_bytes> encode(const SurfaceState& state, std::uint64_t base_address,
                                                  std::uint64_t counter_address = 0);

enum class MapFilter : std::uint8_t { NEAREST = 0, LINEAR = 1, ANISOTROPIC = 2, MONO = 6 };
enum class MipFilter : std::uint8_t { NONE = 0, NEAREST = 1, LINEAR = 3 };
/// Texture Coordinate Mode.
enum class AddressControl : std::uint8_t {
  WRAP = 0,
  MIRROR = 1,
  CLAMP = 2,
  CUBE = 3,
  CLAMP_BORDER = 4,
  MIRROR_ONCE = 5,
  HALF_BORDER = 6,
};
/// Shadow Function.
enum class Prefilter : std::uint8_t { ALWAYS, NEVER, LESS, EQUAL, LEQUAL, GREATER, NOTEQUAL, GEQUAL };
/// Reduction Type.
enum class Reduction : std::uint8_t { STD_FILTER, COMPARISON, MINIMUM, MAXIMUM };

/// SAMPLER_STATE, and the border colour that it points to.
struct SamplerState {
  MapFilter min_filter = MapFilter::NEAREST;
  MapFilter mag_filter = MapFilter::NEAREST;
  MipFilter mip_filter = MipFilter::NONE;
  std::array<AddressControl, 3> address = {AddressControl::CLAMP, AddressControl::CLAMP,
                                           AddressControl::CLAMP};
  Prefilter shadow = Prefilter::ALWAYS;
  Reduction reduction = Reduction::STD_FILTER;
  bool reduction_enable = false;
  bool non_normalized = false;
  bool lod_preclamp = false;  ///< LOD PreClamp Mode OGL
  bool lod_clamp_magnification = false;
  bool disable = false;
  bool cube_override = false;       ///< Cube Surface Control Mode OVERRIDE
  std::uint8_t max_anisotropy = 2;  ///< 2 to 16
  std::uint8_t rounding =
      0;  ///< Address Filter Rounding Enables: bit 0 U mag, 1 U min, 2 V mag, 3 V min, 4 R mag, 5 R min
  std::int16_t lod_bias = 0;  ///< s4.8
  std::uint16_t min_lod = 0;  ///< u4.8
  std::uint16_t max_lod = 0;  ///< u4.8
  std::array<std::uint32_t, 4>
      border{};  ///< red to alpha: bits of f32, or integers, according to the surface's format

  bool operator==(const SamplerState&) const = default;
};

/// As decode_surface_state. `border` is SAMPLER_BORDER_COLOR_STATE, or empty if unknown (0, 0, 0, 0 is used).
Result<SamplerState> decode_sampler_state(std::span<const std::byte, sampler_state_bytes> bytes,
                                          std::span<const std::byte> border = {});
/// Border Color Pointer, in bytes from Dynamic State Base Address.
std::uint32_t border_color_pointer(std::span<const std::byte, sampler_state_bytes> bytes);
std::array<std::byte, sampler_state_bytes> encode(const SamplerState& state,
                                                  std::uint32_t border_color_pointer);

}  // namespace eum::mem::image

#pragma once
// Operations of the sampler: the rows of sample_ops.def. It must not know how a message encodes them.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace eum::mem::image {

enum class SampleOp : std::uint8_t {
#define SAMPLE_OP(name, ...) name,
#include "memory/image/sample_ops.def"
#undef SAMPLE_OP
};

/// What a channel supplies. Coordinates, lod, bias and gradients are f32; those of Texel operations, and
/// offsets, are s32.
enum class Parameter : std::uint8_t {
  u,
  v,
  r,
  ai,  ///< coordinates and array index; 2D arrays have the array index in r, 1D arrays in v
  lod,
  bias,
  ref,
  mlod,  ///< the least level of detail
  dudx,
  dudy,
  dvdx,
  dvdy,
  drdx,
  drdy,
  offu,
  offv,
  si,
  mcs,
  mcsl,
  mcsh,  ///< sample index and multisample control
};
inline constexpr std::size_t parameter_count = 20;

/// Where the level of detail comes from.
enum class LodSource : std::uint8_t { Zero, Given, Computed };

namespace sample_flag {
inline constexpr std::uint8_t Compare = 1, Derivatives = 2, Gather = 4, Offsets = 8, Texel = 16, Info = 32,
                              Wide = 64;
}

struct ParameterList {
  static constexpr std::size_t most = 11;
  std::array<Parameter, most> list{};
  std::uint8_t count = 0;

  constexpr const Parameter* begin() const { return list.data(); }
  constexpr const Parameter* end() const { return list.data() + count; }
  /// The parameter's index in the list, or none.
  constexpr std::optional<unsigned> find(Parameter parameter) const {
    for (unsigned i = 0; i < count; ++i)
      if (list[i] == parameter) return i;
    return std::nullopt;
  }
};

struct SampleOpInfo {
  std::string_view name;
  ParameterList parameters;
  ParameterList slots;  ///< of a two-slot message, four to a register; empty: none, or no parameters
  std::uint8_t flags;
  LodSource lod;

  constexpr bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
};

inline constexpr auto sample_op_table = [] {
  using namespace sample_flag;
  using sample_flag::Texel;  // not the type of format.hpp
  using enum Parameter;
  constexpr auto parameters = [](auto... p) {
    return ParameterList{{p...}, static_cast<std::uint8_t>(sizeof...(p))};
  };
  constexpr auto slots = parameters;
  constexpr ParameterList none{};
  return std::to_array<SampleOpInfo>({
#define SAMPLE_OP(name, parameters, slots, flags, lod) {#name, parameters, slots, flags, LodSource::lod},
#include "memory/image/sample_ops.def"
#undef SAMPLE_OP
  });
}();

constexpr const SampleOpInfo& info(SampleOp op) { return sample_op_table[static_cast<std::size_t>(op)]; }

/// The dword after the channels, one bit per pixel. Pixel null mask: pixels that met no null page, here all
/// of them. killpix: pixels that no chroma key kills, in 16 bits whatever the SIMD mode (SKL PRM volume 7,
/// "Writeback Message").
constexpr std::uint32_t pixel_mask(SampleOp op, unsigned lanes) {
  if (op == SampleOp::sample_killpix) return 0xffff;
  return lanes >= 32 ? ~0u : (1u << lanes) - 1;
}

constexpr std::optional<SampleOp> parse_sample_op(std::string_view name) {
  for (std::size_t i = 0; i < sample_op_table.size(); ++i)
    if (sample_op_table[i].name == name) return static_cast<SampleOp>(i);
  return std::nullopt;
}

}  // namespace eum::mem::image

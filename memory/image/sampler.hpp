#pragma once
// Sampler: the definition of one sampler message, a lane at a time. It must not know kernels.
#include <array>
#include <optional>

#include "memory/image/filter.hpp"
#include "memory/image/layout.hpp"
#include "memory/image/lod.hpp"
#include "memory/image/message.hpp"
#include "memory/image/parameters.hpp"

namespace eum::mem::image {

/// Number of coordinates that locate a texel within a slice.
constexpr unsigned dimensions(SurfaceType type) {
  switch (type) {
    case SurfaceType::SURFTYPE_3D:
      return 3;
    case SurfaceType::SURFTYPE_2D:
    case SurfaceType::SURFTYPE_CUBE:
      return 2;
    default:
      return 1;
  }
}

/// A channel of a result, according to Shader Channel Select.
constexpr std::uint32_t select_channel(ChannelSelect select, const Texel& texel, bool integer) {
  if (select == ChannelSelect::ONE) return integer ? 1 : 0x3f800000;  // 1.0f
  const unsigned channel = static_cast<unsigned>(select) - static_cast<unsigned>(ChannelSelect::RED);
  return channel < 4 ? texel[channel] : 0;
}

/// How a message combines the texels of a filter.
Combine reduction(SampleOp op, const SamplerState& sampler);

/// Returns the reason why the definition does not cover this message, or null.
const char* refuse(const SampleMessage& message, const SurfaceState& surface, const SamplerState* sampler,
                   const FormatInfo* format);

/// Where the lane samples: spatial coordinates, and the slice in memory.
struct Position {
  std::array<float, 3> coordinate{};
  unsigned face = 0;  ///< of a cube surface
  std::uint32_t slice = 0;
};

class Sampler {
 public:
  Sampler(const SampleMessage& message, const SampleCall& call, const FormatInfo& format)
      : message_(message),
        op_(info(message.op)),
        call_(call),
        surface_(call.surface->image),
        sampler_(call.sampler != nullptr ? *call.sampler : default_sampler),
        axes_(dimensions(surface_.type)),
        parameters_(message, call),
        fetch_(*call.surface, format, call.space),
        border_texel_(fetch_.border_texel(sampler_.border)),
        border_value_(fetch_.border_value(sampler_.border)) {}

  /// Computes one lane; false: a fault.
  bool run(unsigned lane, Texel& result);
  ImageFault fault() const { return fetch_.fault(); }

 private:
  bool has(std::uint8_t flag) const { return op_.has(flag); }
  bool is_cube() const { return surface_.type == SurfaceType::SURFTYPE_CUBE; }
  std::array<std::uint32_t, 3> sizes(unsigned level) const {
    return level_size(surface_, surface_.min_lod + level);
  }
  AddressControl mode(unsigned axis) const {
    return is_cube() && sampler_.cube_override ? AddressControl::CUBE : sampler_.address[axis];
  }
  Combine reduction() const { return image::reduction(message_.op, sampler_); }

  bool load(unsigned lane, Texel& result);
  Texel level_of_detail(unsigned lane) const;
  bool gather(unsigned lane, Texel& result);
  bool filtered(unsigned lane, Texel& result);

  Vector direction(unsigned lane) const {
    return {parameters_.number(Parameter::u, lane), parameters_.number(Parameter::v, lane),
            parameters_.number(Parameter::r, lane)};
  }
  Position position(unsigned lane) const;
  /// Changes of the coordinates to the right and downwards.
  std::array<Vector, 2> gradients(unsigned lane, const Position& at) const;
  /// Converts a gradient to texels of level 0.
  Vector in_texels(const Vector& gradient) const;
  int lod_without_clamps(unsigned lane, int computed) const;

  Axis axis(unsigned k, unsigned level, unsigned lane) const;
  /// The texel that indices not yet put through the address mode refer to, or none for the border.
  struct Place {
    std::uint32_t x = 0, y = 0, slice = 0;
  };
  std::optional<Place> place(const std::array<std::int32_t, 3>& index, bool linear, unsigned level,
                             const Position& at) const;
  bool compared(const std::array<std::int32_t, 3>& index, bool linear, unsigned level, const Position& at,
                unsigned lane, float& result);
  bool texel_at(const std::array<std::int32_t, 3>& index, bool linear, unsigned level, const Position& at,
                Texel& texel);
  bool nearest(const Position& at, unsigned level, unsigned lane, Texel& result);
  bool one_level(const Position& at, unsigned level, bool linear, unsigned lane, FilterValue& value);

  static constexpr SamplerState default_sampler{};

  const SampleMessage& message_;
  const SampleOpInfo& op_;
  const SampleCall& call_;
  const SurfaceState& surface_;
  const SamplerState& sampler_;
  unsigned axes_;
  Parameters parameters_;
  TexelFetch fetch_;
  Texel border_texel_;
  FilterValue border_value_;
};

}  // namespace eum::mem::image

#pragma once
// SampleEmitter: the kernel of one sampler message on one surface with one sampler. What it does not do has
// no kernel, and the scalar definition is used.
#include <optional>

#include "memory/image/filter.hpp"
#include "memory/image/kernels/emitter.hpp"
#include "memory/image/lod.hpp"
#include "memory/image/message.hpp"

namespace eum::mem::image::kernels {

/// What is known of a message when its kernel is made.
struct SamplePlan {
  bool texels = false;  ///< integer coordinates (ld)
  bool linear = false;
  unsigned level = 0;   ///< from Surface Min LOD
  unsigned weight = 0;  ///< of the next level
  Combine combine = Combine::Weighted;
  bool compare = false;
  bool gather = false;
  bool varies = false;  ///< each lane has its own level, and weight if the mip filter is LINEAR
};

/// Nothing: there is no kernel for it.
std::optional<SamplePlan> plan_sample(const SampleMessage& message, const SurfaceState& surface,
                                      const SamplerState& sampler, SampleControl control);

class SampleEmitter : public Emitter {
 public:
  SampleEmitter(std::byte* pages, std::size_t size, const SampleMessage& message, const SurfaceState& surface,
                const SamplerState& sampler, SampleControl control, const SamplePlan& plan);

 private:
  /// An axis's one or two texels.
  struct Taps {
    std::array<Slot, 2> index;   ///< column offset of u, wrapped rows and slices of the others
    std::array<Slot, 2> inside;  ///< none: never the border
    Slot weight;
  };
  using Corners = std::array<Slot, 8>;

  unsigned taps() const { return plan_.linear ? 2 : 1; }
  unsigned corners() const { return 1u << (plan_.linear ? axes_ : 0); }
  Address parameter(unsigned k) const;
  Address result(unsigned k) const;
  std::optional<unsigned> place(Parameter parameter) const;
  bool denormals_matter() const;

  bool is_cube() const { return state_.type == SurfaceType::SURFTYPE_CUBE; }
  AddressControl mode(unsigned axis) const;
  /// Each lane gives the offset of its texels on this axis.
  bool has_offset_parameter(unsigned axis) const;
  /// Texels beyond a face's edge are those of its neighbour.
  bool crosses_edges() const;

  void group();
  /// A coordinate of the surface, or of the face.
  void load_coordinate(const Ymm& to, unsigned axis);
  /// A parameter, or 0 where the message does not give it.
  void load_parameter(const Ymm& to, Parameter which);
  void position(const Ymm& u, const Ymm& t, const Level& level, unsigned axis);
  void wrap(const Ymm& index, const Ymm& t, const Level& level, unsigned axis, unsigned tap, Taps& taps);
  Taps axis_taps(const Level& level, unsigned axis);
  void array_slice(const Ymm& to, Parameter which, std::uint32_t count);
  /// Of each corner the byte offset, and where it may be the border the mask of lanes that are inside.
  void corner_offsets(const Level& level, const std::array<Taps, 3>& taps);
  /// All needed channels of a level into `values`.
  void filter_level(const Level& level, const std::array<Slot, 4>& values);
  /// Level `number`, from Surface Min LOD.
  Level constant_level(unsigned number) const;
  /// What combine() makes of `to` and `next`, which is overwritten, in `to`; ymm14 and ymm15 are too.
  void combine(const Ymm& to, const Ymm& next, const Address& weight);
  /// combine() of two levels.
  void mix_levels(const std::array<Slot, 4>& values, const std::array<Slot, 4>& next, const Address& weight,
                  Slot where);
  /// The levels and weights of lanes (level_emitter.cpp).
  void filter_levels(const std::array<Slot, 4>& values);
  void gradient_square(const Ymm& to, unsigned direction);
  void log2_fixed(const Ymm& y);
  void lod_fixed(const Ymm& y, const Ymm& t);
  void level_of_detail(const Ymm& lod);
  void load_texels(const std::array<Slot, 4>& values);
  /// Channels that are needed from dword `plane`.
  unsigned channels_of(unsigned plane) const;
  /// Dwords of a corner into texel_, where load_lanes() does that.
  void load_corner(const Level& level, unsigned corner);
  /// Texels of four f32 are filtered two lanes at a time, all channels at once, and transposed then.
  bool filters_pairs() const;
  void filter_pairs(const Level& level, const std::array<Taps, 3>& taps, const std::array<Slot, 4>& values);
  void pair_tree(const Level& level, unsigned axis, unsigned corner, unsigned depth, unsigned lane,
                 const std::array<Taps, 3>& taps);
  // cube_emitter.cpp
  void select_face();
  void cross_edge(const Level& level);
  void cube_corner_offsets(const Level& level, const std::array<Taps, 3>& taps);
  void plane_channels(const Level& level, unsigned plane, const std::array<Taps, 3>& taps,
                      const std::array<Slot, 4>& values);
  void filter_tree(unsigned axis, unsigned corner, unsigned depth, unsigned channel,
                   const std::array<Taps, 3>& taps);
  /// A texel that is a number: with the border, 1 or 0 if the message compares. gather_emitter.cpp.
  void border(const Ymm& to, unsigned corner, std::uint32_t color);
  void load_reference();
  void compare(const Ymm& to);
  void gather_texels(const std::array<Slot, 4>& values);
  /// To what a shader gets, in ymm8 to ymm11, and from there to the results (result_emitter.cpp).
  void finish(const std::array<Slot, 4>& values);
  void write_results(bool selected);

  const SampleMessage& message_;
  const SamplerState& sampler_;
  SampleControl control_;
  SamplePlan plan_;
  unsigned axes_;
  unsigned needed_ = 0;  ///< channels of the texel that results come from
  bool filters_;         ///< values are FilterValue until finish()
  Texel border_texel_{};
  std::array<float, 4> border_value_{};
  unsigned group_ = 0;
  Slot lanes_, inside_, reference_;
  std::array<Slot, 2> face_coordinate_;
  Slot face_;
  Slot element_;  ///< 6 times the cube of an array
  Corners offset_, corner_inside_;
  std::array<std::array<Slot, 4>, 8> texel_;  ///< by corner and plane, of texels that load_lanes() loads
};

}  // namespace eum::mem::image::kernels

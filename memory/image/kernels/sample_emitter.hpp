#pragma once
// SampleEmitter: the kernel of one sampler message on one surface with one sampler. Combinations that it does
// not support have no kernel, and the scalar definition is used.
#include <optional>

#include "memory/image/filter.hpp"
#include "memory/image/kernels/emitter.hpp"
#include "memory/image/lod.hpp"
#include "memory/image/message.hpp"

namespace eum::mem::image::kernels {

/// What is known about a message when its kernel is generated.
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

/// Empty: there is no kernel for this combination.
std::optional<SamplePlan> plan_sample(const SampleMessage& message, const SurfaceState& surface,
                                      const SamplerState& sampler, SampleControl control);

class SampleEmitter : public Emitter {
 public:
  SampleEmitter(std::byte* pages, std::size_t size, const SampleMessage& message, const SurfaceState& surface,
                const SamplerState& sampler, SampleControl control, const SamplePlan& plan);

 private:
  /// The one or two texels of an axis.
  struct Taps {
    std::array<Slot, 2> index;   ///< column offset for u, wrapped rows and slices for the other axes
    std::array<Slot, 2> inside;  ///< no slot: never the border
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
  /// Whether each lane gives the offset of its texels on this axis.
  bool has_offset_parameter(unsigned axis) const;
  /// Whether texels beyond a face's edge are those of the neighbouring face.
  bool crosses_edges() const;

  void group();
  /// Loads a coordinate of the surface, or of the face.
  void load_coordinate(const Ymm& to, unsigned axis);
  /// Loads a parameter, or 0 if the message does not give it.
  void load_parameter(const Ymm& to, Parameter which);
  void position(const Ymm& u, const Ymm& t, const Level& level, unsigned axis);
  void wrap(const Ymm& index, const Ymm& t, const Level& level, unsigned axis, unsigned tap, Taps& taps);
  Taps axis_taps(const Level& level, unsigned axis);
  void array_slice(const Ymm& to, Parameter which, std::uint32_t count);
  /// Computes each corner's byte offset and, where it may be the border, the mask of lanes that are inside.
  void corner_offsets(const Level& level, const std::array<Taps, 3>& taps);
  /// Puts all needed channels of a level into `values`.
  void filter_level(const Level& level, const std::array<Slot, 4>& values);
  /// Level `number`, counted from Surface Min LOD.
  Level constant_level(unsigned number) const;
  /// Emits combine() of `to` and `next` into `to`; `next`, ymm14 and ymm15 are overwritten.
  void combine(const Ymm& to, const Ymm& next, const Address& weight);
  /// Emits combine() of two levels.
  void mix_levels(const std::array<Slot, 4>& values, const std::array<Slot, 4>& next, const Address& weight,
                  Slot where);
  /// Filters with the lanes' own levels and weights (level_emitter.cpp).
  void filter_levels(const std::array<Slot, 4>& values);
  void gradient_square(const Ymm& to, unsigned direction);
  void log2_fixed(const Ymm& y);
  void lod_fixed(const Ymm& y, const Ymm& t);
  void level_of_detail(const Ymm& lod);
  void load_texels(const std::array<Slot, 4>& values);
  /// The needed channels that lie in dword `plane`.
  unsigned channels_of(unsigned plane) const;
  /// Loads the dwords of a corner into texel_, if load_lanes() supports the texel size.
  void load_corner(const Level& level, unsigned corner);
  /// Whether texels of four f32 are filtered two lanes at a time, all channels at once, and then transposed.
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
  /// Replaces border lanes of a texel by the border; compare() turns a texel into 1 or 0. gather_emitter.cpp.
  void border(const Ymm& to, unsigned corner, std::uint32_t color);
  void load_reference();
  void compare(const Ymm& to);
  void gather_texels(const std::array<Slot, 4>& values);
  /// Converts to what a shader gets, in ymm8 to ymm11, and stores the results from there
  /// (result_emitter.cpp).
  void finish(const std::array<Slot, 4>& values);
  void write_results(bool selected);

  const SampleMessage& message_;
  const SamplerState& sampler_;
  SampleControl control_;
  SamplePlan plan_;
  unsigned axes_;
  unsigned needed_ = 0;  ///< channels of the texel that the results need
  bool filters_;         ///< values are FilterValue until finish()
  Texel border_texel_{};
  std::array<float, 4> border_value_{};
  unsigned group_ = 0;
  Slot lanes_, inside_, reference_;
  std::array<Slot, 2> face_coordinate_;
  Slot face_;
  Slot element_;  ///< 6 times the cube of an array
  Corners offset_, corner_inside_;
  std::array<std::array<Slot, 4>, 8> texel_;  ///< by corner and plane, for texels loaded by load_lanes()
};

}  // namespace eum::mem::image::kernels

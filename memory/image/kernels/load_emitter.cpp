// Kernels of ld: integer coordinates, zero outside the surface.
#include "memory/image/kernels/sample_emitter.hpp"

namespace eum::mem::image::kernels {

void SampleEmitter::load_texels(const std::array<Slot, 4>& values) {
  const bool three = axes_ == 3, sliced = !three && state_.array;
  const bool buffer = state_.type == SurfaceType::SURFTYPE_BUFFER;
  const std::uint32_t first = three ? 0 : state_.min_array_element;
  Level level = level_of(buffer ? 0 : state_.min_lod, first);
  inside_ = new_slot();
  vmovdqa(ymm3, at(lanes_));
  if (message_.op == SampleOp::ld && !buffer && place(Parameter::lod)) {
    load_parameter(ymm0, Parameter::lod);
    vpminud(ymm1, ymm0, splat(state_.mip_count - 1u));
    vpcmpeqd(ymm0, ymm0, ymm1);
    vpand(ymm3, ymm3, ymm0);
    vmovdqa(at(inside_), ymm3);
    if (state_.mip_count > 1) {
      const Slot number = new_slot();
      vmovdqa(at(number), ymm1);
      level = levels_of(number, state_.min_lod, state_.mip_count, first);
      vmovdqa(ymm3, at(inside_));
    }
  }
  // ymm0: u, ymm1: the row
  const auto load = [&](const Ymm& to, unsigned axis, const Address& last, bool offset) {
    load_parameter(to, static_cast<Parameter>(axis));
    if (offset && control_.offset(axis) != 0)
      vpaddd(to, to, splat(static_cast<std::uint32_t>(control_.offset(axis))));
    keep_inside(to, last);
  };
  const bool rows = axes_ > 1;
  load(ymm0, 0, last_of(level, 0), true);
  if (rows) load(ymm1, 1, last_of(level, 1), true);
  if (three || sliced) load(slice_register(rows), axes_ - (three ? 1 : 0), last_of(level, 2), three);
  vmovdqa(at(inside_), ymm3);
  emit_texel_offset(level, rows, three || sliced);
  if (is_wide()) vpand(ymm0, ymm0, ymm3);  // lanes outside read the first texel
  offset_[0] = new_slot();
  vmovdqa(at(offset_[0]), ymm0);
  if (is_wide()) load_corner(level, 0);
  for (unsigned plane = 0; plane < planes(); ++plane) {
    const unsigned channels = channels_of(plane);
    if (channels == 0) continue;
    if (is_wide()) {
      vmovaps(ymm0, at(texel_[0][plane]));
    } else {
      zero(ymm0);
      vmovdqa(ymm8, at(offset_[0]));
      vmovdqa(ymm9, at(inside_));
      gather(ymm0, level, ymm8, ymm9, ymm10, plane);
    }
    for (unsigned c = 0; c < 4; ++c) {
      if ((channels >> c & 1) == 0) continue;
      decode(ymm8, ymm0, format_.channels[c], ymm14);
      vmovaps(at(values[c]), ymm8);
    }
  }
}

}  // namespace eum::mem::image::kernels

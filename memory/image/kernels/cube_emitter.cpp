// Cubes in kernels: the face that a direction points to, and texels beyond the edge of a face, as
// coordinate.cpp computes them for one lane.
#include <bit>

#include "memory/image/coordinate.hpp"
#include "memory/image/kernels/sample_emitter.hpp"

namespace eum::mem::image::kernels {

namespace {

constexpr std::uint8_t ordered = 7, greater_or_equal = 29;  // vcmpps

/// A column of the table of faces, to be looked up by face number.
template <class Get>
std::array<std::uint32_t, 8> column(const Get& get) {
  std::array<std::uint32_t, 8> result{};
  for (unsigned i = 0; i < 6; ++i) result[i] = static_cast<std::uint32_t>(get(cube_faces[i]));
  return result;
}
/// 1 or -1.
int sign(float s) { return s < 0 ? -1 : 1; }

}  // namespace

void SampleEmitter::select_face() {
  for (unsigned k = 0; k < 3; ++k) {  // ymm0 to ymm2: x, y, z
    const Ymm c(static_cast<int>(k));
    load_parameter(c, static_cast<Parameter>(k));
    vcmpps(ymm3, c, c, ordered);
    vandps(c, c, ymm3);
    vandps(Ymm(static_cast<int>(4 + k)), c, splat(0x7fffffffu));  // ymm4 to ymm6
  }
  vcmpps(ymm7, ymm6, ymm4, greater_or_equal);
  vcmpps(ymm8, ymm6, ymm5, greater_or_equal);
  vandps(ymm7, ymm7, ymm8);  // z
  vcmpps(ymm8, ymm5, ymm4, greater_or_equal);
  vandnps(ymm8, ymm7, ymm8);  // y
  vblendvps(ymm9, ymm0, ymm1, ymm8);
  vblendvps(ymm9, ymm9, ymm2, ymm7);  // the major coordinate
  vpsrld(ymm3, ymm9, 31);
  vpand(ymm10, ymm8, splat(2u));
  vpor(ymm3, ymm3, ymm10);
  vpand(ymm10, ymm7, splat(4u));
  vpor(ymm3, ymm3, ymm10);
  face_ = new_slot();
  vmovdqa(at(face_), ymm3);
  vandps(ymm9, ymm9, splat(0x7fffffffu));
  vorps(ymm7, ymm7, ymm8);
  vblendvps(ymm0, ymm2, ymm0, ymm7);  // where x is the major coordinate, s is z
  vblendvps(ymm1, ymm1, ymm2, ymm8);  // where y is the major coordinate, t is z
  const auto flip = [](float s) { return s < 0 ? 0x80000000u : 0u; };
  for (unsigned k = 0; k < 2; ++k) {
    const Ymm c(static_cast<int>(k));
    vpermd(ymm4, ymm3, vector(column([&](const CubeFace& f) { return flip(k == 0 ? f.s_sign : f.t_sign); })));
    vxorps(c, c, ymm4);
    vdivps(c, c, ymm9);
    vmovaps(ymm4, splat(0.5f));
    vfmadd213ps(c, ymm4, ymm4);
    face_coordinate_[k] = new_slot();
    vmovaps(at(face_coordinate_[k]), c);
  }
  if (!state_.array) return;
  array_slice(ymm0, Parameter::ai, state_.depth);
  element_ = new_slot();
  vmovdqa(at(element_), ymm0);
}

/// ymm0, ymm1: x and y, up to one texel beyond face ymm2; afterwards on the face to which the texel belongs.
void SampleEmitter::cross_edge(const Level& level) {
  const Address n = size_of(level, 0), last = last_of(level, 0);
  Xbyak::Label same;
  for (unsigned k = 0; k < 2; ++k) {  // ymm4, ymm5: clamped to the face; ymm6, ymm7: outside
    const Ymm c(static_cast<int>(k)), clamped(static_cast<int>(4 + k)), outside(static_cast<int>(6 + k));
    zero(clamped);
    vpmaxsd(clamped, clamped, c);
    vpminsd(clamped, clamped, last);
    vpcmpeqd(outside, clamped, c);
    ones(ymm3);
    vpxor(outside, outside, ymm3);
  }
  vpand(ymm3, ymm6, ymm7);
  vblendvps(ymm0, ymm0, ymm4, ymm3);  // a corner
  vpandn(ymm6, ymm7, ymm6);           // beyond the edge in x only
  vpor(ymm7, ymm7, ymm6);             // beyond the edge in x or y
  vptest(ymm7, ymm7);
  jz(same, T_NEAR);

  const auto look = [&](const Ymm& to, const Ymm& face, const auto& get) {
    vpermd(to, face, vector(column(get)));
  };
  // Twice the distance from the middle of the face: ymm4 for s, ymm5 for t, ymm3 for the major coordinate.
  for (unsigned k = 0; k < 2; ++k) {
    const Ymm c(static_cast<int>(4 + k));
    vpaddd(c, Ymm(static_cast<int>(k)), Ymm(static_cast<int>(k)));
    vpsubd(c, c, last);
  }
  vpabsd(ymm3, ymm4);
  vpabsd(ymm8, ymm5);
  vpmaxsd(ymm3, ymm3, ymm8);
  vpsubd(ymm3, ymm3, n);  // distance beyond the edge
  vmovdqa(ymm8, n);
  vpsubd(ymm3, ymm8, ymm3);
  zero(ymm9);
  vpsubd(ymm9, ymm9, ymm8);
  for (const Ymm& c : {ymm4, ymm5}) {
    vpminsd(c, c, ymm8);
    vpmaxsd(c, c, ymm9);
  }
  look(ymm9, ymm2, [](const CubeFace& f) { return sign(f.s_sign); });
  vpsignd(ymm4, ymm4, ymm9);
  look(ymm9, ymm2, [](const CubeFace& f) { return sign(f.t_sign); });
  vpsignd(ymm5, ymm5, ymm9);
  look(ymm9, ymm2, [](const CubeFace& f) { return sign(f.major_sign); });
  vpsignd(ymm3, ymm3, ymm9);
  // The point as x, y, z in ymm10 to ymm12.
  look(ymm8, ymm2, [](const CubeFace& f) { return f.s; });
  look(ymm9, ymm2, [](const CubeFace& f) { return f.t; });
  for (unsigned a = 0; a < 3; ++a) {
    const Ymm point(static_cast<int>(10 + a));
    vpcmpeqd(ymm13, ymm9, splat(a));
    vblendvps(point, ymm3, ymm5, ymm13);
    vpcmpeqd(ymm13, ymm8, splat(a));
    vblendvps(point, point, ymm4, ymm13);
  }
  // The coordinate beyond the edge becomes the major one.
  vblendvps(ymm8, ymm9, ymm8, ymm6);
  vblendvps(ymm9, ymm5, ymm4, ymm6);
  vpsrld(ymm9, ymm9, 31);
  vpaddd(ymm8, ymm8, ymm8);
  vpaddd(ymm8, ymm8, ymm9);
  vblendvps(ymm2, ymm2, ymm8, ymm7);
  for (unsigned k = 0; k < 2; ++k) {
    const Ymm c(static_cast<int>(k));
    look(ymm9, ymm8, [&](const CubeFace& f) { return k == 0 ? f.s : f.t; });
    vpcmpeqd(ymm13, ymm9, splat(1u));
    vblendvps(ymm14, ymm10, ymm11, ymm13);
    vpcmpeqd(ymm13, ymm9, splat(2u));
    vblendvps(ymm14, ymm14, ymm12, ymm13);
    look(ymm9, ymm8, [&](const CubeFace& f) { return sign(k == 0 ? f.s_sign : f.t_sign); });
    vpsignd(ymm14, ymm14, ymm9);
    vpaddd(ymm14, ymm14, last);
    vpsrld(ymm14, ymm14, 1);
    vblendvps(c, c, ymm14, ymm7);
  }
  L(same);
}

void SampleEmitter::cube_corner_offsets(const Level& level, const std::array<Taps, 3>& taps) {
  for (unsigned corner = 0; corner < 4; ++corner) {
    for (unsigned k = 0; k < 2; ++k) {
      const Ymm c(static_cast<int>(k));
      vmovdqa(c, at(taps[k].index[corner >> k & 1]));
      vpmaxsd(c, c, splat(~0u));
      vpminsd(c, c, size_of(level, k));
    }
    vmovdqa(ymm2, at(face_));
    cross_edge(level);
    column_offset(level, ymm0, ymm3);
    if (state_.array) vpaddd(ymm2, ymm2, at(element_));
    multiply(ymm2, rows_per_slice());
    vpaddd(ymm1, ymm1, ymm2);
    row_offset(level, ymm1, ymm3);
    vpaddd(ymm0, ymm0, ymm1);
    offset_[corner] = new_slot();
    vmovdqa(at(offset_[corner]), ymm0);
    corner_inside_[corner] = {};
  }
}

}  // namespace eum::mem::image::kernels

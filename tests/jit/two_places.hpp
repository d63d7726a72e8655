#pragma once
// How tests of accesses of several components address them: each lane at two places, one behind the other.
#include <fmt/format.h>

#include <string>

namespace eum::jit::test {

/// Where the register file holds the local ids, as words, and where lane 0 is at both places.
inline constexpr unsigned id_place = 32, base_place = 128, end_place = 132;
/// And addresses of lanes, if those are other ones.
inline constexpr unsigned address_place = 256;

/// The beginning of a kernel, up to the addresses of the lanes, %p and %q, `stride` bytes from lane to lane.
inline std::string two_places(unsigned lanes, unsigned stride) {
  return fmt::format(R"(kernel @k simd {0} family gen9 file 2048 slot 32 masks 1
b0: ip 0x0 count 1
  %i = reg_read.u16x{0} r1<1;1,0>
  %ids = convert.u32.u16x{0} %i
  %stride = constant.u32x{0} {1}
  %distance = mul.u32x{0} %ids, %stride
  %base = reg_read.u32x1 r4<1;1,0>
  %end = reg_read.u32x1 r4.1<1;1,0>
  %bases = splat.u32x{0} %base
  %ends = splat.u32x{0} %end
  %p = add.u32x{0} %distance, %bases
  %q = add.u32x{0} %distance, %ends
)",
                     lanes, stride);
}

}  // namespace eum::jit::test

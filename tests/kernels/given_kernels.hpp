// Builders, for any size, of the cases of the kernels that the performance comparisons are about. Only the
// corpus itself includes it.
#pragma once
#include "tests/kernels/case_parts.hpp"

namespace eum::kernels::given {

KernelCase arx(uint32_t items, int32_t rounds);
/// `file`: which build of the source.
KernelCase bs(const std::string& file, uint32_t items);
KernelCase hash(uint32_t items);
/// A square of the plane from (x0, y0), `size` wide; mandel2 needs a width that is a power of two. `share`:
/// the part of the points whose count may differ, since rounding errors grow without bound near the border of
/// the set.
KernelCase mandel(const char* kernel, uint32_t width, uint32_t height, float x0, float y0, float size,
                  int32_t limit, double share);
KernelCase nbody(uint32_t bodies);
/// `items` work items over arrays of that length, of which the first `n` compute.
KernelCase saxpy(const std::string& file, uint32_t items, int32_t n);
/// n by n matrices; n is a multiple of 8.
KernelCase sgemm(uint32_t n);

/// A picture of width x height texels with 8 bits per channel; each result is made of 25 nearest texels.
KernelCase blur(uint32_t width, uint32_t height);
/// A picture of half the size, scaled up to width x height with a linear filter.
KernelCase resize(uint32_t width, uint32_t height);

}  // namespace eum::kernels::given

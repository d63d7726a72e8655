// Two and three-dimensional ranges, edges, and the work-item functions: conv3x3, matvec, stencil3d, ids,
// nonuniform, structarg, shading.
#include <cmath>

#include "tests/kernels/case_parts.hpp"

namespace eum::kernels {
namespace {

void reference_conv3x3_f32(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<float>(buffers, 0), out = elements<float>(buffers, 1),
             weight = elements<float>(buffers, 2);
  const int width = value_of<int32_t>(c, 3), height = value_of<int32_t>(c, 4);
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      double sum = 0;
      for (int tap = 0; tap < 9; tap++) {
        const int sx = std::clamp(x + tap % 3 - 1, 0, width - 1),
                  sy = std::clamp(y + tap / 3 - 1, 0, height - 1);
        sum += static_cast<double>(in[static_cast<size_t>(sy * width + sx)]) *
               static_cast<double>(weight[static_cast<size_t>(tap)]);
      }
      out[static_cast<size_t>(y * width + x)] = static_cast<float>(sum);
    }
}

void reference_conv3x3_u8(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<uint8_t>(buffers, 0), out = elements<uint8_t>(buffers, 1);
  const auto weight = elements<int8_t>(buffers, 2);
  const int width = value_of<int32_t>(c, 3), height = value_of<int32_t>(c, 4),
            shift = value_of<int32_t>(c, 5);
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      int sum = 1 << (shift - 1);
      for (int tap = 0; tap < 9; tap++) {
        const int sx = x + tap % 3 - 1, sy = y + tap / 3 - 1;
        if (sx < 0 || sx >= width || sy < 0 || sy >= height) continue;
        sum += in[static_cast<size_t>(sy * width + sx)] * weight[static_cast<size_t>(tap)];
      }
      out[static_cast<size_t>(y * width + x)] = static_cast<uint8_t>(std::clamp(sum >> shift, 0, 255));
    }
}

void reference_matvec(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<float>(buffers, 0), x = elements<float>(buffers, 1),
             y = elements<float>(buffers, 2);
  const auto columns = static_cast<size_t>(value_of<int32_t>(c, 3));
  for (size_t row = 0; row < c.global[0]; row++) {
    double sum = 0;
    for (size_t j = 0; j < columns; j++)
      sum += static_cast<double>(a[row * columns + j]) * static_cast<double>(x[j]);
    y[row] = static_cast<float>(sum);
  }
}

/// Exact: the kernel fixes the order of operations and uses explicit fma.
void reference_matvec_group(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<float>(buffers, 0), x = elements<float>(buffers, 1),
             y = elements<float>(buffers, 2);
  const auto columns = static_cast<size_t>(value_of<int32_t>(c, 3));
  for (size_t row = 0; row < c.global[0] / c.local[0]; row++) {
    std::vector<float> partial(c.local[0]);
    for (size_t j = 0; j < columns; j++) {
      float& sum = partial[j % c.local[0]];
      sum = std::fma(a[row * columns + j], x[j], sum);
    }
    float total = 0;
    for (float sum : partial) total += sum;
    y[row] = total;
  }
}

void reference_stencil3d(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<float>(buffers, 0), out = elements<float>(buffers, 1);
  const auto center = static_cast<double>(value_of<float>(c, 2));
  const auto around = static_cast<double>(value_of<float>(c, 3));
  const size_t nx = c.global[0], ny = c.global[1], nz = c.global[2];
  for (size_t z = 0; z < nz; z++)
    for (size_t y = 0; y < ny; y++)
      for (size_t x = 0; x < nx; x++) {
        const size_t i = (z * ny + y) * nx + x;
        out[i] = in[i];
        if (x == 0 || y == 0 || z == 0 || x + 1 == nx || y + 1 == ny || z + 1 == nz) continue;
        double sum = 0;
        for (size_t step : {size_t{1}, nx, nx * ny})
          sum += static_cast<double>(in[i - step]) + static_cast<double>(in[i + step]);
        out[i] = static_cast<float>(center * static_cast<double>(in[i]) + around * sum);
      }
}

void reference_ids(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto out = elements<uint32_t>(buffers, 0);
  size_t at = 0;
  for (uint32_t z = 0; z < c.global[2]; z++)
    for (uint32_t y = 0; y < c.global[1]; y++)
      for (uint32_t x = 0; x < c.global[0]; x++, at += 16) {
        const uint32_t id[3] = {x, y, z};
        for (size_t d = 0; d < 3; d++) {
          out[at + d] = id[d] + c.offset[d];
          out[at + 3 + d] = id[d] % c.local[d];
          out[at + 6 + d] = id[d] / c.local[d];
          out[at + 9 + d] = c.global[d] / c.local[d];
          out[at + 12 + d] = c.local[d];
        }
        out[at + 15] = c.dimensions;
      }
}

void reference_nonuniform(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto out = elements<uint32_t>(buffers, 0), sums = elements<uint32_t>(buffers, 1);
  const uint32_t groups = (c.global[0] + c.local[0] - 1) / c.local[0];
  const auto size_at = [&](uint32_t id, size_t d) {
    return std::min(c.local[d], c.global[d] - id / c.local[d] * c.local[d]);
  };
  std::vector<uint32_t> group_sums(groups * ((c.global[1] + c.local[1] - 1) / c.local[1]));
  for (uint32_t y = 0; y < c.global[1]; y++)
    for (uint32_t x = 0; x < c.global[0]; x++) {
      const uint32_t linear = y * c.global[0] + x;
      out[linear * 4] = size_at(x, 0) | size_at(y, 1) << 16;
      out[linear * 4 + 1] = c.local[0] | c.local[1] << 16;
      out[linear * 4 + 2] = linear;
      out[linear * 4 + 3] = y % c.local[1] * size_at(x, 0) + x % c.local[0];
      group_sums[y / c.local[1] * groups + x / c.local[0]] += x * 31 + y;
    }
  std::copy(group_sums.begin(), group_sums.end(), sums.begin());
}

/// Declared as in the kernel: 48 bytes, with the vector on a 16-byte boundary.
struct Params {
  int32_t a;
  float b;
  int16_t c;
  int8_t d;
  uint8_t e[3];
  int64_t f;
  alignas(16) std::array<float, 4> v;
};
static_assert(sizeof(Params) == 48 && offsetof(Params, f) == 16 && offsetof(Params, v) == 32);

void reference_structarg(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto p = value_of<Params>(c, 0);
  const auto out = elements<float>(buffers, 1);
  const auto v = value_of<std::array<float, 4>>(c, 2);
  const auto w = value_of<std::array<int32_t, 4>>(c, 3);
  const auto small = value_of<int8_t>(c, 4);
  const auto whole = elements<int32_t>(buffers, 5);
  const auto s = value_of<uint16_t>(c, 6);
  const auto q = value_of<uint64_t>(c, 7);
  const auto bytes = value_of<std::array<uint8_t, 8>>(c, 8);
  for (int32_t i = 0; i < static_cast<int32_t>(c.global[0]); i++) {
    float sum = 0;
    for (size_t k = 0; k < 4; k++) sum += p.v[k] * v[k];
    const auto at = static_cast<size_t>(i);
    out[at] = sum * p.b + static_cast<float>(i);
    whole[at * 4] = p.a + w[0] * w[1] - w[2] + i;
    whole[at * 4 + 1] = p.c * small + p.d + s;
    whole[at * 4 + 2] =
        static_cast<int32_t>(static_cast<uint32_t>(q >> (i & 31)) + static_cast<uint32_t>(p.f >> 3));
    whole[at * 4 + 3] = p.e[at % 3] + bytes[0] - bytes[7] * bytes[3];
  }
}

/// Inputs are multiples of 1/8, so that every intermediate value is exact in float.
void reference_shading(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<float>(buffers, 0), b = elements<float>(buffers, 1),
             out = elements<float>(buffers, 2);
  const auto pixels = elements<uint8_t>(buffers, 3);
  const auto t = static_cast<double>(value_of<float>(c, 4));
  const auto unit = [](double v) { return std::clamp(v, 0.0, 1.0); };
  for (size_t i = 0; i < c.global[0]; i++) {
    double x[4], y[4], dot = 0;
    for (size_t k = 0; k < 4; k++) {
      x[k] = static_cast<double>(a[i * 4 + k]);
      y[k] = static_cast<double>(b[i * 4 + k]);
      dot += x[k] * y[k];
    }
    const double extra[4] = {unit(dot), std::max(x[0], std::min(y[1], 0.25)),
                             static_cast<double>((x[2] > 0.5) - (x[2] < 0.5)), std::fabs(y[3])};
    for (size_t k = 0; k < 4; k++) {
      const double blend = x[k] + (y[k] - x[k]) * t, whole = std::floor(x[k] * 4);
      const double s = unit(y[k]), ramp = s * s * (3 - 2 * s);
      const double factor = x[3] > 0.5 ? ramp : y[k] < x[k] ? 0.0 : 1.0;
      out[i * 8 + k] = static_cast<float>(unit((blend + x[k] * 4 - whole) * 1.5) * factor);
      out[i * 8 + 4 + k] = static_cast<float>(whole + extra[k]);
      pixels[i * 4 + k] = saturated<uint8_t>(static_cast<long double>(blend * 300 - 20), Rounding::Nearest);
    }
  }
}

KernelCase conv_f32(uint32_t width, uint32_t height, uint32_t range_x, uint32_t range_y) {
  return {.name = "conv3x3.conv3x3_f32",
          .file = "conv3x3",
          .kernel = "conv3x3_f32",
          .dimensions = 2,
          .global = {range_x, range_y, 1},
          .args = {input(random_floats(201, size_t{width} * height, -4, 4)),
                   output<float>(size_t{width} * height), input(random_floats(202, 9, -1, 1)),
                   scalar(static_cast<int32_t>(width)), scalar(static_cast<int32_t>(height))},
          .tolerance = {.absolute = 1e-5},
          .reference = reference_conv3x3_f32};
}

KernelCase conv_u8(const char* variant, uint32_t width, uint32_t height, std::array<uint32_t, 3> local) {
  const size_t size = size_t{width} * height;
  return {
      .name = std::string("conv3x3.conv3x3_u8.") + variant,
      .file = "conv3x3",
      .kernel = "conv3x3_u8",
      .dimensions = 2,
      .global = {width, height, 1},
      .local = local,
      .args = {input(random_integers<uint8_t>(203, size, 0, 255)), output<uint8_t>(size),
               input(std::vector<int8_t>{-20, 35, -20, 35, 90, 35, -20, 35, -128}),
               scalar(static_cast<int32_t>(width)), scalar(static_cast<int32_t>(height)), scalar(int32_t{5})},
      .reference = reference_conv3x3_u8};
}

KernelCase stencil(const char* variant, std::array<uint32_t, 3> global, std::array<uint32_t, 3> local) {
  const size_t size = size_t{global[0]} * global[1] * global[2];
  return {.name = std::string("stencil3d.stencil3d.") + variant,
          .file = "stencil3d",
          .kernel = "stencil3d",
          .dimensions = 3,
          .global = global,
          .local = local,
          .args = {input(random_floats(221, size, -4, 4)), output<float>(size), scalar(0.4f), scalar(0.1f)},
          .tolerance = {.absolute = 2e-6},
          .reference = reference_stencil3d};
}

KernelCase ids(const char* variant, uint32_t dimensions, std::array<uint32_t, 3> global,
               std::array<uint32_t, 3> local, std::array<uint32_t, 3> offset) {
  return {.name = std::string("ids.ids.") + variant,
          .file = "ids",
          .kernel = "ids",
          .dimensions = dimensions,
          .global = global,
          .local = local,
          .offset = offset,
          .args = {output<uint32_t>(size_t{global[0]} * global[1] * global[2] * 16)},
          .reference = reference_ids};
}

KernelCase nonuniform(const char* variant, uint32_t x, uint32_t y, uint32_t local_x, uint32_t local_y) {
  const size_t groups = size_t{(x + local_x - 1) / local_x} * ((y + local_y - 1) / local_y);
  return {.name = std::string("nonuniform.nonuniform.") + variant,
          .file = "nonuniform",
          .kernel = "nonuniform",
          .dimensions = 2,
          .global = {x, y, 1},
          .local = {local_x, local_y, 1},
          .args = {output<uint32_t>(size_t{x} * y * 4), output<uint32_t>(groups)},
          .reference = reference_nonuniform};
}

KernelCase structarg() {
  const Params params{1000, 0.5f, -300, 100, {7, 250, 33}, -0x123456789abcdef, {1.5f, -2.0f, 0.25f, 4.0f}};
  return {.name = "structarg.structarg",
          .file = "structarg",
          .kernel = "structarg",
          .global = {70, 1, 1},
          .args = {scalar(params), output<float>(70), scalar(std::array<float, 4>{2.0f, 0.5f, -8.0f, 1.25f}),
                   scalar(std::array<int32_t, 4>{-70000, 1234, 99, 0}), scalar(int8_t{-101}),
                   output<int32_t>(70 * 4), scalar(uint16_t{65000}), scalar(uint64_t{0xfedcba9876543210}),
                   scalar(std::array<uint8_t, 8>{200, 1, 2, 255, 4, 5, 6, 254})},
          .reference = reference_structarg};
}

KernelCase shading(const std::string& file) {
  return {.name = file + ".shading",
          .file = file,
          .kernel = "shading",
          .global = {100, 1, 1},
          .args = {input(random_steps(241, 400, -1, 2, 0.125)), input(random_steps(242, 400, -1, 2, 0.125)),
                   output<float>(800), output<uint8_t>(400), scalar(0.25f)},
          .reference = reference_shading};
}

}  // namespace

void add_grid_cases(std::vector<KernelCase>& cases) {
  cases.push_back(conv_f32(50, 19, 56, 20));
  cases.push_back(conv_u8("driver_groups", 64, 24, {0, 0, 0}));
  cases.push_back(conv_u8("odd_groups", 33, 10, {11, 5, 1}));
  cases.push_back({.name = "matvec.matvec",
                   .file = "matvec",
                   .kernel = "matvec",
                   .global = {75, 1, 1},
                   .args = {input(random_floats(211, 75 * 40, -1, 1)), input(random_floats(212, 40, -1, 1)),
                            output<float>(75), scalar(int32_t{40})},
                   .tolerance = {.absolute = 1e-5},
                   .reference = reference_matvec});
  cases.push_back({.name = "matvec.matvec_group",
                   .file = "matvec",
                   .kernel = "matvec_group",
                   .global = {20 * 24, 1, 1},
                   .local = {24, 1, 1},
                   .args = {input(random_floats(213, 20 * 100, -1, 1)), input(random_floats(214, 100, -1, 1)),
                            output<float>(20), scalar(int32_t{100}), LocalMemory{24 * 4}},
                   .reference = reference_matvec_group});
  cases.push_back(stencil("driver_groups", {24, 10, 7}, {0, 0, 0}));
  cases.push_back(stencil("small_groups", {15, 6, 4}, {5, 3, 2}));
  cases.push_back(ids("line", 1, {100, 1, 1}, {25, 1, 1}, {0, 0, 0}));
  cases.push_back(ids("line_offset", 1, {66, 1, 1}, {33, 1, 1}, {1000, 0, 0}));
  cases.push_back(ids("plane_offset", 2, {21, 10, 1}, {7, 5, 1}, {3, 70000, 0}));
  cases.push_back(ids("cube", 3, {14, 15, 6}, {7, 5, 3}, {5, 6, 7}));
  cases.push_back(nonuniform("ragged", 23, 10, 5, 3));
  cases.push_back(nonuniform("whole", 24, 9, 8, 3));
  cases.push_back(structarg());
  cases.push_back(shading("shading"));
  cases.push_back(shading("shading_fast"));
}

}  // namespace eum::kernels

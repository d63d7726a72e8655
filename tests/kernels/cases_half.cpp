// Half precision as a storage format and in arithmetic: half_memory, half_math.
#include <cmath>

#include "tests/kernels/case_parts.hpp"

namespace eum::kernels {
namespace {

void reference_load(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<uint16_t>(buffers, 0);
  const auto out = elements<float>(buffers, 1), out4 = elements<float>(buffers, 2);
  for (size_t i = 0; i < c.global[0]; i++) {
    out[i] = static_cast<float>(from_half(in[i]) * 2);
    out4[i] = static_cast<float>(from_half(in[i]));
  }
}

void reference_store(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<float>(buffers, 0);
  constexpr Rounding roundings[] = {Rounding::Nearest, Rounding::Zero, Rounding::Up, Rounding::Down};
  for (size_t k = 0; k < 4; k++) {
    const auto out = elements<uint16_t>(buffers, 1 + k);
    for (size_t i = 0; i < c.global[0]; i++) out[i] = to_half(static_cast<double>(in[i]), roundings[k]);
  }
}

/// Sums, products and fused products of halves are exact in double, so each result is rounded once.
void reference_math(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<uint16_t>(buffers, 0), b = elements<uint16_t>(buffers, 1),
             out = elements<uint16_t>(buffers, 2);
  for (size_t i = 0; i < c.global[0]; i++) {
    const double x = from_half(a[i]), y = from_half(b[i]);
    const double all[8] = {x + y,
                           x - y,
                           x * y,
                           x * y + 0.5,
                           std::fmin(x, y),
                           x < y ? x : -y,
                           std::fabs(x) + std::floor(y),
                           std::trunc(x) + 0.0};  // converted through an int: no negative zero
    for (size_t k = 0; k < 8; k++) out[i * 8 + k] = to_half(all[k]);
  }
}

void reference_axpy4(const KernelCase& c, std::vector<Bytes>& buffers) {
  const double a = from_half(value_of<uint16_t>(c, 0));
  const auto x = elements<uint16_t>(buffers, 1), y = elements<uint16_t>(buffers, 2);
  for (size_t i = 0; i < c.global[0]; i++) {
    uint16_t v[4];
    for (size_t k = 0; k < 4; k++) v[k] = to_half(a * from_half(x[i * 4 + k]) + from_half(y[i * 4 + k]));
    const bool keep = from_half(v[0]) > from_half(v[3]);
    for (size_t k = 0; k < 4; k++) y[i * 4 + k] = v[keep ? k : 3 - k];
  }
}

/// Every exponent, both signs, denormals and zeros; no NaN, and infinities only if `infinities`.
std::vector<uint16_t> halves(uint64_t seed, size_t count, bool infinities) {
  std::vector<uint16_t> values = random_integers<uint16_t>(seed, count, 0, 0xffff);
  const uint16_t edges[] = {0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x3c00,
                            0xbc00, 0x7bff, 0x3800, 0x3e00, 0x7c00, 0xfc00};
  for (size_t i = 0; i < count; i++) {
    if (i < std::size(edges)) values[i] = edges[(i + seed) % std::size(edges)];
    const bool is_infinity = (values[i] & 0x7fff) == 0x7c00;
    if ((values[i] & 0x7c00) == 0x7c00 && !(infinities && is_infinity)) values[i] ^= 0x4000;
  }
  return values;
}

/// From -4 to 4, so that sums neither overflow nor vanish.
std::vector<uint16_t> moderate_halves(uint64_t seed, size_t count) {
  std::vector<uint16_t> values(count);
  const std::vector<float> reals = random_floats(seed, count, -4, 4);
  for (size_t i = 0; i < count; i++) values[i] = to_half(static_cast<double>(reals[i]));
  return values;
}

}  // namespace

void add_half_cases(std::vector<KernelCase>& cases) {
  cases.push_back(
      {.name = "half_memory.half_load",
       .file = "half_memory",
       .kernel = "half_load",
       .global = {140, 1, 1},
       .args = {input(halves(701, 140, true), Element::F16), output<float>(140), output<float>(140)},
       .reference = reference_load});
  std::vector<float> values{0.0f,       -0.0f,      1.0f,        65504.0f,     65519.0f,     65520.0f,
                            1e6f,       -1e6f,      0x1p-24f,    0x1p-25f,     0x1.8p-25f,   -0x1p-26f,
                            0x1.004p0f, 0x1.00cp0f, -0x1.004p0f, 0x1.ffcp-15f, 0x1.ffep-15f, 1e-20f};
  const std::vector<float> more = random_floats(702, 132, -3000, 3000),
                           tiny = random_floats(703, 30, -0x1p-13, 0x1p-13);
  values.insert(values.end(), more.begin(), more.end());
  values.insert(values.end(), tiny.begin(), tiny.end());
  const size_t n = values.size();
  KernelCase store{.name = "half_memory.half_store",
                   .file = "half_memory",
                   .kernel = "half_store",
                   .global = {static_cast<uint32_t>(n), 1, 1},
                   .args = {input(values)},
                   .reference = reference_store};
  for (int k = 0; k < 4; k++) store.args.push_back(output<uint16_t>(n, Element::F16));
  cases.push_back(store);
  cases.push_back(
      {.name = "half_math.half_math.edges",
       .file = "half_math",
       .kernel = "half_math",
       .global = {150, 1, 1},
       .args = {input(halves(704, 150, false), Element::F16), input(halves(706, 150, false), Element::F16),
                output<uint16_t>(1200, Element::F16)},
       .reference = reference_math});
  cases.push_back(
      {.name = "half_math.half_math.moderate",
       .file = "half_math",
       .kernel = "half_math",
       .global = {90, 1, 1},
       .args = {input(moderate_halves(707, 90), Element::F16), input(moderate_halves(708, 90), Element::F16),
                output<uint16_t>(720, Element::F16)},
       .reference = reference_math});
  cases.push_back({.name = "half_math.half_axpy4",
                   .file = "half_math",
                   .kernel = "half_axpy4",
                   .global = {75, 1, 1},
                   .args = {scalar(to_half(-1.75)), input(moderate_halves(709, 300), Element::F16),
                            in_out(moderate_halves(710, 300), Element::F16)},
                   .reference = reference_axpy4});
}

}  // namespace eum::kernels

// The float and double libraries: mathlib, double_math.
#include <cmath>

#include "tests/kernels/case_parts.hpp"

namespace eum::kernels {
namespace {

/// `kResults` results for each work item, each the float nearest to the value that `f` computes in double.
template <size_t kResults, class Function>
void fill(const KernelCase& c, std::span<float> out, Function f) {
  for (size_t i = 0; i < c.global[0]; i++) {
    const std::array<double, kResults> all = f(i);
    for (size_t k = 0; k < kResults; k++) out[i * kResults + k] = static_cast<float>(all[k]);
  }
}

void reference_exact(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<float>(buffers, 0), b = elements<float>(buffers, 1),
             out = elements<float>(buffers, 2);
  for (size_t i = 0; i < c.global[0]; i++) {
    const float x = a[i], y = b[i];
    const float all[8] = {std::fma(x, y, 1.0f),
                          std::fmin(x, y) + std::fmax(x, y),
                          std::trunc(x) - std::round(y),
                          std::fmod(x, y),
                          std::copysign(x, y),
                          std::clamp(x, -1.0f, 1.0f),
                          static_cast<float>((x < y) + 4 * std::signbit(y)),
                          std::ldexp(x, 3) + std::floor(y)};
    std::copy_n(all, 8, out.begin() + static_cast<std::ptrdiff_t>(i * 8));
  }
}

void reference_accurate(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<float>(buffers, 0), b = elements<float>(buffers, 1);
  fill<8>(c, elements<float>(buffers, 2), [&](size_t i) -> std::array<double, 8> {
    const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    return {x / y,       std::sqrt(x), 1 / std::sqrt(x), std::exp(y),
            std::log(x), std::cbrt(x), std::exp2(y),     std::log2(x)};
  });
}

void reference_power(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<float>(buffers, 0), b = elements<float>(buffers, 1);
  fill<4>(c, elements<float>(buffers, 2), [&](size_t i) -> std::array<double, 4> {
    const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    return {std::pow(x, y), std::pow(x, -y), std::pow(-x, std::trunc(y)), std::pow(10, y)};
  });
}

void reference_trig(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<float>(buffers, 0);
  fill<6>(c, elements<float>(buffers, 1), [&](size_t i) -> std::array<double, 6> {
    const auto x = static_cast<double>(a[i]);
    return {std::sin(x), std::cos(x), std::tan(x), std::atan(x), std::tanh(x), std::hypot(x, 2.0)};
  });
}

void reference_native(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<float>(buffers, 0), b = elements<float>(buffers, 1);
  fill<8>(c, elements<float>(buffers, 2), [&](size_t i) -> std::array<double, 8> {
    const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    return {x / y,        std::sqrt(x), 1 / std::sqrt(x), 1 / y,
            std::exp2(y), std::log2(x), std::pow(x, y),   std::sin(y) * std::cos(y)};
  });
}

/// Quotients and roots of floats, computed in double, round to the float nearest to the exact value.
void reference_divide(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<float>(buffers, 0), b = elements<float>(buffers, 1);
  fill<1>(c, elements<float>(buffers, 2), [&](size_t i) -> std::array<double, 1> {
    return {static_cast<double>(a[i]) / static_cast<double>(b[i])};
  });
}
void reference_reciprocal(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<float>(buffers, 0);
  fill<1>(c, elements<float>(buffers, 1),
          [&](size_t i) -> std::array<double, 1> { return {1 / static_cast<double>(a[i])}; });
}
void reference_root(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<float>(buffers, 0);
  fill<1>(c, elements<float>(buffers, 1),
          [&](size_t i) -> std::array<double, 1> { return {std::sqrt(static_cast<double>(a[i]))}; });
}

/// Exact: FP_CONTRACT is off, and each function is correctly rounded.
void reference_double_math(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<double>(buffers, 0), b = elements<double>(buffers, 1),
             out = elements<double>(buffers, 2);
  for (size_t i = 0; i < c.global[0]; i++) {
    const double x = a[i], y = b[i];
    const double all[8] = {
        x / y,
        std::sqrt(std::fabs(x)),
        std::fma(x, y, -1.0),
        std::floor(x) + std::ceil(y),
        x < y ? x : -y,
        std::fmax(x, y) - std::trunc(x),
        static_cast<double>(to_integer(static_cast<long double>(x), Rounding::Nearest)) * 0.5,
        x * y + 3.0};
    std::copy_n(all, 8, out.begin() + static_cast<std::ptrdiff_t>(i * 8));
  }
}

/// Values of many magnitudes and both signs; the edge values come first.
std::vector<float> magnitudes(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<float> values(count);
  const float edges[] = {1.0f,   -1.0f,  0.5f,       -0.5f,       2.5f,      -2.5f,
                         1e-30f, -1e30f, 8388607.5f, 16777216.0f, 0x1p-126f, 3.0f};
  for (size_t i = 0; i < count; i++) {
    const double magnitude = std::ldexp(random.real(1, 2), static_cast<int>(random.integer(-12, 20)));
    values[i] = static_cast<float>(random.next() & 1 ? magnitude : -magnitude);
    if (i < std::size(edges)) values[i] = edges[(i * (seed % 5 + 1)) % std::size(edges)];
  }
  return values;
}

/// The whole range of floats, including denormals and infinities.
std::vector<float> any_floats(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<float> values(count);
  const float edges[] = {0.0f, -0.0f, 1.0f, INFINITY, 0x1p-149f, -0x1.fffffcp-127f, 0x1.fffffep127f};
  for (size_t i = 0; i < count; i++) {
    const double magnitude = std::ldexp(random.real(1, 2), static_cast<int>(random.integer(-149, 127)));
    values[i] = static_cast<float>(random.next() & 1 ? magnitude : -magnitude);
    if (i < std::size(edges) * std::size(edges))
      values[i] = edges[(seed % 2 != 0 ? i : i / std::size(edges)) % std::size(edges)];
  }
  return values;
}

KernelCase float_case(const char* kernel, uint32_t items, std::vector<float> a, std::vector<float> b,
                      size_t results, Tolerance tolerance,
                      void (*reference)(const KernelCase&, std::vector<Bytes>&)) {
  return {.name = std::string("mathlib.") + kernel,
          .file = "mathlib",
          .kernel = kernel,
          .global = {items, 1, 1},
          .args = {input(a), input(b), output<float>(items * results)},
          .tolerance = tolerance,
          .reference = reference};
}

}  // namespace

void add_math_cases(std::vector<KernelCase>& cases) {
  cases.push_back(
      float_case("math_exact", 150, magnitudes(501, 150), magnitudes(502, 150), 8, {}, reference_exact));
  std::vector<float> positive = magnitudes(503, 200);
  for (float& value : positive) value = std::fabs(value);
  const std::vector<float> exponents = random_floats(504, 200, -8, 8);
  // The OpenCL full profile allows 2.5 to 3 ulp here, and 16 for powers; half an ulp is added for the
  // reference.
  cases.push_back(float_case("math_accurate", 200, positive, exponents, 8, {.ulp = 3.5}, reference_accurate));
  cases.push_back(float_case("math_power", 100, random_floats(505, 100, 0.1, 20),
                             random_floats(506, 100, -8, 8), 4, {.ulp = 16.5}, reference_power));
  cases.push_back({.name = "mathlib.math_trig",
                   .file = "mathlib",
                   .kernel = "math_trig",
                   .global = {210, 1, 1},
                   .args = {input(random_floats(507, 210, -50, 50)), output<float>(210 * 6)},
                   .tolerance = {.ulp = 5.5},
                   .reference = reference_trig});
  cases.push_back(float_case("math_native", 130, random_floats(508, 130, 0.1, 30),
                             random_floats(509, 130, 0.5, 3), 8, {.absolute = 1e-3, .relative = 1e-4},
                             reference_native));
  const std::vector<float> any = any_floats(513, 300);
  std::vector<float> roots = any;
  for (float& value : roots) value = std::fabs(value);
  cases.push_back({.name = "exact.divide",
                   .file = "exact",
                   .kernel = "divide",
                   .global = {300, 1, 1},
                   .args = {input(any), input(any_floats(514, 300)), output<float>(300)},
                   .reference = reference_divide});
  cases.push_back({.name = "exact.reciprocal",
                   .file = "exact",
                   .kernel = "reciprocal",
                   .global = {300, 1, 1},
                   .args = {input(any), output<float>(300)},
                   .reference = reference_reciprocal});
  cases.push_back({.name = "exact.root",
                   .file = "exact",
                   .kernel = "root",
                   .global = {300, 1, 1},
                   .args = {input(roots), output<float>(300)},
                   .reference = reference_root});
  Random random(511);
  std::vector<double> a(120), b(120);
  for (double& value : a) value = std::ldexp(random.real(-2, 2), static_cast<int>(random.integer(-30, 40)));
  for (double& value : b) value = std::ldexp(random.real(1, 2), static_cast<int>(random.integer(-30, 40)));
  for (size_t i = 0; i < 6; i++) {
    const double edges[] = {1.0, -1.0, 4.0, -0.5, 0x1p52, 1e300};
    a[i] = edges[i];
    b[i + 3] = -edges[i];
  }
  cases.push_back({.name = "double_math.double_math",
                   .file = "double_math",
                   .kernel = "double_math",
                   .global = {120, 1, 1},
                   .args = {input(a), input(b), output<double>(960)},
                   .reference = reference_double_math});
}

}  // namespace eum::kernels

// Conversions between integers, floats and doubles in every rounding direction: convert, and the second
// kernel of double_math.
#include <bit>
#include <cmath>

#include "tests/kernels/case_parts.hpp"

namespace eum::kernels {
namespace {

void reference_from_float(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<float>(buffers, 0);
  const auto out = elements<uint32_t>(buffers, 1);
  const auto bytes = elements<uint8_t>(buffers, 2);
  const auto words = elements<int16_t>(buffers, 3);
  for (size_t i = 0; i < c.global[0]; i++) {
    const auto x = static_cast<long double>(in[i]);
    const auto bits = [](float v) { return std::bit_cast<uint32_t>(v); };
    const auto whole = [x](Rounding r) { return static_cast<uint32_t>(saturated<int32_t>(x, r)); };
    const auto nearest = static_cast<float>(to_integer(x, Rounding::Nearest));
    const uint32_t all[8] = {whole(Rounding::Zero),
                             whole(Rounding::Nearest),
                             whole(Rounding::Up),
                             whole(Rounding::Down),
                             saturated<uint32_t>(x, Rounding::Zero),
                             saturated<uint32_t>(x, Rounding::Nearest),
                             bits(std::floor(in[i]) + std::ceil(in[i])),
                             bits(nearest - std::trunc(in[i]))};
    std::copy_n(all, 8, out.begin() + static_cast<std::ptrdiff_t>(i * 8));
    bytes[i * 2] = saturated<uint8_t>(x, Rounding::Zero);
    bytes[i * 2 + 1] = saturated<uint8_t>(x, Rounding::Nearest);
    words[i * 2] = saturated<int16_t>(x, Rounding::Zero);
    words[i * 2 + 1] = saturated<int16_t>(x, Rounding::Nearest);
  }
}

void reference_to_float(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<int32_t>(buffers, 0);
  const auto out = elements<float>(buffers, 1);
  for (size_t i = 0; i < c.global[0]; i++) {
    const auto x = static_cast<long double>(in[i]),
               ux = static_cast<long double>(static_cast<uint32_t>(in[i]));
    const float all[8] = {to_float(x, Rounding::Nearest),
                          to_float(x, Rounding::Zero),
                          to_float(x, Rounding::Up),
                          to_float(x, Rounding::Down),
                          to_float(ux, Rounding::Nearest),
                          to_float(ux, Rounding::Zero),
                          static_cast<float>(static_cast<int8_t>(in[i])),
                          static_cast<float>(static_cast<uint16_t>(in[i]))};
    std::copy_n(all, 8, out.begin() + static_cast<std::ptrdiff_t>(i * 8));
  }
}

void reference_long(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<float>(buffers, 0), back = elements<float>(buffers, 3);
  const auto whole = elements<int64_t>(buffers, 1), out = elements<int64_t>(buffers, 2);
  for (size_t i = 0; i < c.global[0]; i++) {
    const auto x = static_cast<long double>(in[i]);
    out[i * 2] = saturated<int64_t>(x, Rounding::Zero);
    out[i * 2 + 1] = static_cast<int64_t>(saturated<uint64_t>(x, Rounding::Nearest));
    back[i * 2] = to_float(static_cast<long double>(whole[i]), Rounding::Nearest);
    back[i * 2 + 1] = to_float(static_cast<long double>(static_cast<uint64_t>(whole[i])), Rounding::Zero);
  }
}

void reference_double(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<double>(buffers, 0), back = elements<double>(buffers, 4);
  const auto whole = elements<int64_t>(buffers, 1), out = elements<int64_t>(buffers, 2);
  const auto narrow = elements<float>(buffers, 3);
  for (size_t i = 0; i < c.global[0]; i++) {
    const auto x = static_cast<long double>(in[i]);
    out[i * 4] = saturated<int64_t>(x, Rounding::Zero);
    out[i * 4 + 1] = saturated<int32_t>(x, Rounding::Nearest);
    out[i * 4 + 2] = saturated<uint32_t>(x, Rounding::Zero);
    out[i * 4 + 3] = saturated<int64_t>(x, Rounding::Down);
    narrow[i] = to_float(x, Rounding::Nearest);
    back[i * 3] = to_double(static_cast<long double>(whole[i]), Rounding::Nearest);
    back[i * 3 + 1] = to_double(static_cast<long double>(static_cast<uint64_t>(whole[i])), Rounding::Zero);
    back[i * 3 + 2] = static_cast<double>(static_cast<int32_t>(whole[i])) + static_cast<double>(narrow[i]);
  }
}

/// Ties, fractions next to integers, the limits of each integer type, and random magnitudes. All are finite.
std::vector<double> conversion_inputs(uint64_t seed, size_t count, int most_exponent) {
  std::vector<double> values{0.0,     -0.0,       0.5,     -0.5,  1.5,    -1.5,     2.5,
                             -2.5,    0.49999997, 254.5,   255.5, 256.0,  127.5,    -128.5,
                             32767.5, -32768.5,   65535.5, 1e-40, -1e-40, 8388608.5};
  for (int bits : {8, 15, 16, 23, 24, 31, 32, 52, 53, 63, 64})
    for (double sign : {1.0, -1.0}) {
      const double power = std::ldexp(sign, bits);
      for (double value : {power, std::nextafter(static_cast<float>(power), 0.0f) * 1.0, power * 1.5})
        values.push_back(value);
    }
  Random random(seed);
  while (values.size() < count)
    values.push_back(std::ldexp(random.real(-1, 1), static_cast<int>(random.integer(-4, most_exponent))));
  values.resize(count);
  return values;
}

std::vector<float> narrowed(const std::vector<double>& values) { return {values.begin(), values.end()}; }

}  // namespace

void add_convert_cases(std::vector<KernelCase>& cases) {
  cases.push_back({.name = "convert.convert_from_float",
                   .file = "convert",
                   .kernel = "convert_from_float",
                   .global = {200, 1, 1},
                   .args = {input(narrowed(conversion_inputs(601, 200, 34))), output<int32_t>(1600),
                            output<uint8_t>(400), output<int16_t>(400)},
                   .reference = reference_from_float});
  cases.push_back({.name = "convert.convert_to_float",
                   .file = "convert",
                   .kernel = "convert_to_float",
                   .global = {190, 1, 1},
                   .args = {input(edge_pairs<int32_t>(602, 190).first), output<float>(190 * 8)},
                   .reference = reference_to_float});
  cases.push_back(
      {.name = "convert.convert_int64",
       .file = "convert",
       .kernel = "convert_int64",
       .global = {180, 1, 1},
       .args = {input(narrowed(conversion_inputs(603, 180, 66))), input(edge_pairs<int64_t>(604, 180).first),
                output<int64_t>(360), output<float>(360)},
       .reference = reference_long});
  cases.push_back(
      {.name = "double_math.double_convert",
       .file = "double_math",
       .kernel = "double_convert",
       .global = {170, 1, 1},
       .args = {input(conversion_inputs(605, 170, 66)), input(edge_pairs<int64_t>(606, 170).first),
                output<int64_t>(680), output<float>(170), output<double>(510)},
       .reference = reference_double});
}

}  // namespace eum::kernels

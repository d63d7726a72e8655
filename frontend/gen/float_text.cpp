// The shortest of %g, %e and hex that reads back as the same bits.
#include "frontend/gen/float_text.hpp"

#include <fmt/core.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "frontend/ir/semantics/half.hpp"

namespace eum::gen {
namespace {

/// Prints with six digits in `format` to `text`; returns the length, or 0 if the text does not read back as
/// `value`.
template <class F>
std::size_t try_format(F value, std::chars_format format, char (&text)[64]) {
  const auto end = std::to_chars(text, text + sizeof text, static_cast<double>(value), format, 6).ptr;
  double back = 0;
  std::from_chars(text, end, back);
  return static_cast<F>(back) == value ? static_cast<std::size_t>(end - text) : 0;
}

/// The text of a NaN: sign, quiet or signalling, and the payload below the quiet bit.
std::string nan_text(std::uint64_t bits, unsigned mantissa, unsigned width) {
  const std::uint64_t quiet = 1ull << (mantissa - 1);
  return fmt::format("{}{}(0x{:X})", bits >> (width - 1) & 1 ? "-" : "", bits & quiet ? "qnan" : "snan",
                     bits & (quiet - 1));
}

/// The decimal text of a number; empty if no decimal form reads back.
template <class F>
std::string decimal_text(F value) {
  if (std::isinf(value)) return std::signbit(value) ? "-inf" : "inf";
  char text[64];
  if (std::size_t n = try_format(value, std::chars_format::general, text)) {
    std::string out(text, n);
    if (out.find_first_of(".e") == std::string::npos) out += ".0";
    return out;
  }
  if (std::size_t n = try_format(value, std::chars_format::scientific, text)) return std::string(text, n);
  return {};
}

}  // namespace

std::string float_text(double value, std::uint64_t bits) {
  if (std::isnan(value)) return nan_text(bits, 52, 64);
  const std::string text = decimal_text(value);
  return text.empty() ? fmt::format("0x{:X}", bits) : text;
}

std::string float_text(float value, std::uint32_t bits) {
  if (std::isnan(value)) return nan_text(bits, 23, 32);
  const std::string text = decimal_text(value);
  return text.empty() ? fmt::format("0x{:X}", bits) : text;
}

std::string half_text(std::uint16_t bits) {
  if ((bits & 0x7c00) == 0x7c00 && (bits & 0x3ff)) return nan_text(bits, 10, 16);
  const std::string text = decimal_text(ir::to_float(ir::Half{bits}));
  return text.empty() ? fmt::format("0x{:X}", bits) : text;
}

}  // namespace eum::gen

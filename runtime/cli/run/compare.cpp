// Exact comparison is bitwise, so that it also distinguishes zeros and NaNs.
#include "runtime/cli/run/compare.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace eum::cli {
namespace {

/// Distance in units in the last place: floats of one size are ordered by their bits.
double ulps(Element element, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * info(element).bytes - 1);
  const auto place = [&](std::uint64_t bits) {
    const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
    return (bits & sign) != 0 ? -magnitude : magnitude;
  };
  return std::fabs(static_cast<double>(place(a)) - static_cast<double>(place(b)));
}

bool agrees(Element element, std::uint64_t found, std::uint64_t expected, const Tolerance& tolerance) {
  if (found == expected) return true;
  if (tolerance.kind == Tolerance::Kind::Exact) return false;
  const double a = number_of(element, found), b = number_of(element, expected);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  switch (tolerance.kind) {
    case Tolerance::Kind::Ulp:
      if (info(element).kind == NumberKind::Float) return ulps(element, found, expected) <= tolerance.limit;
      return std::fabs(a - b) <= tolerance.limit;
    case Tolerance::Kind::Absolute:
      return std::fabs(a - b) <= tolerance.limit;
    default:
      return std::fabs(a - b) <= tolerance.limit * std::fabs(b);
  }
}

}  // namespace

Result<Tolerance> parse_tolerance(std::string_view text) {
  const auto equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  Tolerance tolerance;
  if (name == "ulp")
    tolerance.kind = Tolerance::Kind::Ulp;
  else if (name == "abs")
    tolerance.kind = Tolerance::Kind::Absolute;
  else if (name == "rel")
    tolerance.kind = Tolerance::Kind::Relative;
  else
    return error("expected ulp=N, abs=X or rel=X, found '{}'", text);
  const std::string_view number = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), tolerance.limit);
  if (failure != std::errc{} || end != number.data() + number.size() || !(tolerance.limit >= 0))
    return error("expected a number that is not negative, found '{}'", number);
  return tolerance;
}

Comparison compare(Element element, std::span<const std::byte> found, std::span<const std::byte> expected,
                   const Tolerance& tolerance) {
  const unsigned size = info(element).bytes;
  Comparison result;
  result.elements = found.size() / size;
  for (std::uint64_t i = 0; i < result.elements; ++i) {
    std::uint64_t a = 0, b = 0;
    std::memcpy(&a, found.data() + i * size, size);
    std::memcpy(&b, expected.data() + i * size, size);
    if (agrees(element, a, b, tolerance)) continue;
    ++result.different;
    if (result.first.size() < first_differences)
      result.first.push_back({i, value_text(element, found, i), value_text(element, expected, i)});
  }
  return result;
}

}  // namespace eum::cli

#pragma once
// Compares a buffer with its expected contents, element by element. It must not know files or arguments.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/cli/run/element.hpp"

namespace eum::cli {

struct Tolerance {
  enum class Kind : std::uint8_t { Exact, Ulp, Absolute, Relative };
  Kind kind = Kind::Exact;
  double limit = 0;
};

/// "ulp=4", "abs=1e-3" or "rel=1e-6".
Result<Tolerance> parse_tolerance(std::string_view text);

struct Difference {
  std::uint64_t index = 0;
  std::string found, expected;
};

struct Comparison {
  std::uint64_t elements = 0;
  std::uint64_t different = 0;
  std::vector<Difference> first;  ///< at most first_differences
};
inline constexpr std::size_t first_differences = 5;

/// Both have the same size. Any NaN matches any other; infinities must be equal.
Comparison compare(Element element, std::span<const std::byte> found, std::span<const std::byte> expected,
                   const Tolerance& tolerance);

}  // namespace eum::cli

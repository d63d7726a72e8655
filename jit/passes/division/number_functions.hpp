#pragma once
// Functions of one number of up to 16 bits, as the ops that compute them, and whether they divide it.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "jit/passes/value_ranges.hpp"

namespace eum::jit {

class NumberFunctions {
 public:
  using Id = std::uint32_t;
  static constexpr Id none = ~0u;
  /// Whether a range is small enough to try all of its numbers: that of 16 bits, signed or not.
  static bool can_try(const Range& range) {
    return range_of(ir::Type::u16).holds(range) || range_of(ir::Type::s16).holds(range);
  }

  /// The number itself, of that range. None where there are too many functions, as everywhere here.
  Id identity(const Range& range);
  /// The same 32 bits for every number.
  Id constant(std::uint32_t bits);
  /// An op of two or three operands on 32 bits, or the high half of a product for mul_wide, of functions of
  /// the same number and constants. Masks are numbers, 0 or 1. None: an op that is not known here.
  Id apply(ir::Op op, bool is_signed, std::span<const Id> of);
  /// By which number each number is divided, rounding to zero; none: it is no quotient.
  std::optional<std::uint32_t> divisor(Id function);

 private:
  static constexpr std::size_t most = 64;
  static constexpr std::int64_t at_once = 256;
  using Row = std::array<std::uint32_t, at_once>;

  struct Function {
    ir::Op op;  ///< splat for the identity, whose bounds are `of`
    bool is_signed = false;
    std::array<std::int64_t, 3> of{};
    bool operator==(const Function&) const = default;
  };
  struct Quotient {
    bool is_asked = false;
    std::optional<std::uint32_t> by{};
  };

  Id find_or_add(const Function& function);
  static unsigned operands_of(const Function& function);
  void find_used(Id function);
  /// rows_[function] for at_once numbers, from `first` on and `step` apart.
  const Row& results(Id function, std::int64_t first, std::int64_t step);
  std::optional<std::int64_t> first_of_one(Id function, const Range& range);
  std::optional<std::uint32_t> find_divisor(Id function);

  std::vector<Function> functions_;  ///< operands before what takes them
  std::vector<Quotient> quotients_;
  std::vector<Row> rows_;
  std::vector<bool> used_;  ///< by the function that is looked at
};

}  // namespace eum::jit

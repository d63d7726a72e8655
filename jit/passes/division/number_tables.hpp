#pragma once
// Functions of one number of up to 16 bits, each as the table of its results.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "jit/passes/value_ranges.hpp"

namespace eum::jit {

class NumberTables {
 public:
  using Id = std::uint32_t;
  static constexpr Id none = ~0u;
  /// Numbers that a table can hold: the range of 16 bits, signed or not.
  static bool can_hold(const Range& range) {
    return range_of(ir::Type::u16).holds(range) || range_of(ir::Type::s16).holds(range);
  }

  /// The number itself, of that range. None where there are too many tables, as everywhere here.
  Id identity(const Range& range);
  /// The same 32 bits for every number.
  Id constant(std::uint32_t bits);
  /// An op of two or three operands on 32 bits, or the high half of a product for mul_wide, of functions of
  /// the same number and constants. Masks are numbers, 0 or 1. None: an op that is not known here.
  Id apply(ir::Op op, bool is_signed, std::span<const Id> of);
  /// By which number each number is divided, rounding to zero; none: it is no quotient.
  std::optional<std::uint32_t> divisor(Id table);

 private:
  struct Key {
    ir::Op op;
    bool is_signed;
    std::array<std::int64_t, 3> of{};
    bool operator==(const Key&) const = default;
  };
  struct Table {
    Key made_by;
    std::int64_t first = 0;           ///< the number of the first result
    std::vector<std::uint32_t> bits;  ///< one for each number; a single one: for all
    bool is_asked = false;
    std::optional<std::uint32_t> divisor{};
  };
  Id find_or_begin(const Key& key, bool& is_new);
  std::optional<std::uint32_t> find_divisor(const Table& table) const;

  std::vector<Table> tables_;
};

}  // namespace eum::jit

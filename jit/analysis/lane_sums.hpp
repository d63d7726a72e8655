#pragma once
// Numbers of 32 bits in the lanes of a block's values, as sums: of what differs from lane to lane, of what is
// the same in all lanes, and of a constant. Two addresses whose first two terms are equal are a constant
// apart in every lane, however they were computed; nothing need be known of ids. Modulo 2^32.
#include <cstdint>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/symbols.hpp"

namespace eum::jit {

struct LaneSum {
  /// An unknown number that is a multiple of something.
  struct Term {
    Symbol symbol = zero_symbol;  ///< of its block
    /// It is a multiple of that where no product wraps around; of the highest power of two that divides it in
    /// any case. 0: it is zero.
    std::uint32_t factor = 0;
    std::uint64_t most = 0;  ///< it is at most that, before it is cut to 32 bits
    bool operator==(const Term&) const = default;
    bool is_zero() const { return symbol == zero_symbol; }
    std::uint32_t power_of_two() const { return factor & -factor; }
    bool may_wrap() const { return most > UINT32_MAX; }
    /// A divisor of it; numbers that are multiples of their units are equal, or at least the greatest common
    /// divisor of these apart, modulo 2^32.
    std::uint32_t unit() const;
  };
  Term varying = {};  ///< may be another number in each lane
  Term uniform = {};  ///< the same in all lanes
  std::uint32_t constant = 0;
  bool is_constant() const { return varying.is_zero() && uniform.is_zero(); }
};

class LaneSums {
 public:
  explicit LaneSums(const ir::Function& function) : function_(function), known_(function.values.size()) {}

  void begin_block() {
    symbols_.clear();
    ++block_;
  }
  /// Instructions of the block, one after the other.
  void note(const ir::Inst& inst);
  /// Of an integer; of one that has not been noted, it is a term unrelated to all others.
  LaneSum of(ir::ValueId value);

 private:
  using Term = LaneSum::Term;
  enum class Sign : std::uint8_t { Plus, Minus };

  LaneSum result_of(const ir::Inst& inst);
  /// The value as a term, a multiple of `factor` and at most `most`.
  LaneSum itself(ir::ValueId value, std::uint32_t factor = 1, std::uint32_t most = UINT32_MAX);
  Term sum(const Term& a, const Term& b, Sign sign);
  LaneSum sum(const LaneSum& a, const LaneSum& b, Sign sign = Sign::Plus);
  Term product(const Term& term, std::uint32_t factor);
  LaneSum product(const LaneSum& a, std::uint32_t factor);

  /// Few values are asked for: only those are looked at.
  struct Known {
    ir::Inst definition;
    LaneSum sum;
    std::uint32_t block = 0;
    bool is_found = false;
  };
  const ir::Function& function_;
  Symbols symbols_;
  std::vector<Known> known_;  ///< by value
  std::uint32_t block_ = 0;
  unsigned depth_ = 0;
};

}  // namespace eum::jit

#pragma once
// Numbers of 32 bits that increase by the same in each turn of a loop, for one lane after the other: what all
// lanes share of them is computed once, and numbers are known to be a constant apart.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>

#include "frontend/ir/builder.hpp"

namespace eum::jit {

/// own + shared + constant in the first turn. It wraps around.
struct TurnSum {
  ir::ValueId own = ir::no_value;     ///< the lane's, a u32
  ir::ValueId shared = ir::no_value;  ///< the same in all lanes, a u32
  std::uint32_t constant = 0;
  std::uint32_t step = 0;      ///< from turn to turn
  std::uint32_t zeros = most;  ///< how many low bits of all but the constant are 0, in each turn

  static constexpr std::uint32_t most = 32;
  bool is_constant() const { return own == ir::no_value && shared == ir::no_value && step == 0; }
  /// Whether the sums are a constant apart, in all turns.
  bool is_near(const TurnSum& other) const {
    return own == other.own && shared == other.shared && step == other.step;
  }
};

/// Makes them in a block.
class TurnSums {
 public:
  explicit TurnSums(ir::Builder& to) : to_(to) {}

  /// Of a value of one lane, s32 or u32, the same in each turn.
  TurnSum term(ir::ValueId value, bool is_own);
  /// The op's result; nothing: it is no such sum.
  std::optional<TurnSum> result(const ir::Inst& inst, std::span<const TurnSum> operands);
  /// The same, if it is of a certain lane that all others use.
  TurnSum as_shared(const TurnSum& sum);
  /// What it is in the first turn.
  ir::ValueId first(const TurnSum& sum, ir::Type type = ir::Type::u32);
  /// Begins a block.
  void clear() { made_.clear(); }

 private:
  using Made = std::tuple<ir::Op, ir::Type, ir::ValueId, std::uint64_t>;

  ir::ValueId number(std::uint32_t value);
  ir::ValueId cast(ir::Type type, ir::ValueId value);
  ir::ValueId combined(ir::Op op, ir::ValueId a, ir::ValueId b);
  ir::ValueId added(ir::ValueId a, ir::ValueId b);
  ir::ValueId subtracted(ir::ValueId a, ir::ValueId b);
  TurnSum sum(const TurnSum& a, const TurnSum& b);
  TurnSum difference(const TurnSum& a, const TurnSum& b);
  TurnSum product(const TurnSum& a, std::uint32_t by);

  ir::Builder& to_;
  std::map<Made, ir::ValueId> made_;
};

}  // namespace eum::jit

#pragma once
// Masks in a loop's turns, each of which begins with all channels active: conditions of single turns.
#include <map>
#include <optional>
#include <vector>

#include "frontend/ir/builder.hpp"
#include "jit/analysis/counted_loop.hpp"
#include "jit/passes/turn_values.hpp"

namespace eum::jit {

/// Simplifies the masks of a trace, and drops what sets mask variables that are set again before anything
/// looks at them. Mask variables in which no channel is parked before the loop hold none.
void assume_all_active(ir::Function& function, LoopTrace& trace);

/// Counts what turns do under masks: in each turn with such a channel.
class TurnSpends {
 public:
  /// `lanes`: of what is done for one lane after the other; wider masks have several in each.
  TurnSpends(ir::Builder& to, TurnValues& values, const CountedLoop& loop, unsigned lanes, unsigned turns);

  /// Looks in which turns the lane's channels are active. False: that cannot be told.
  bool add_lane(unsigned lane);
  /// Appends what counts, behind the last lane; returns what is counted in each turn.
  std::uint32_t append();

 private:
  /// A bit for each turn, in a u32: one of the lanes that have been added is set, or all are.
  struct Turns {
    ir::ValueId any = ir::no_value, all = ir::no_value;
  };
  /// What tells in which turns some lane of a mask is set: those of parts, or of the mask itself.
  struct Form {
    enum Kind : std::uint8_t { Always, Itself, Inverse, InverseOfUniform, One, Either, Both } kind = Itself;
    ir::ValueId first = ir::no_value, second = ir::no_value;
  };
  const ir::Inst* definition(ir::ValueId value) const { return loop_.definition(value); }
  bool is_uniform(ir::ValueId mask) const;
  Form form_of(ir::ValueId mask) const;
  void find_masks(ir::ValueId mask);
  ir::ValueId turns_with(ir::ValueId mask);
  ir::ValueId op(ir::Op op, ir::ValueId a, ir::ValueId b);

  ir::Builder& to_;
  TurnValues& values_;
  const CountedLoop& loop_;
  unsigned lanes_, turns_;
  std::map<ir::ValueId, Turns> masks_;
};

}  // namespace eum::jit

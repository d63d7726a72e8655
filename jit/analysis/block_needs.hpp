#pragma once
// Which lanes of the values of a block are needed: none, those of some mask, or all. Most of what is computed
// under the execution mask is needed only under it.
#include <optional>
#include <vector>

#include "frontend/ir/function.hpp"

namespace eum::jit {

/// Lanes [first, first + lanes of the value) of a mask.
struct MaskLanes {
  ir::ValueId mask = ir::no_value;
  unsigned first = 0;
  bool operator==(const MaskLanes&) const = default;
};

struct Need {
  enum { None, Under, All } what = None;
  MaskLanes lanes;  ///< for Under
};

class BlockNeeds {
 public:
  explicit BlockNeeds(const ir::Function& function) : function_(function), values_(function.values.size()) {}

  /// From now on it tells of the values of this block.
  void begin(const ir::Block& block);

  const Need& of(ir::ValueId value) const { return values_[value].need; }
  /// The need of all results together.
  Need of_results(const ir::Inst& inst) const {
    if (inst.result_count == 1) return of(inst.result);
    Need all;
    for (unsigned k = 0; k < inst.result_count; ++k) add(all, of(inst.result + k));
    return all;
  }
  /// The instruction that defines the value; null for values that the function got since begin().
  const ir::Inst* definition(ir::ValueId value) const {
    return value < values_.size() ? values_[value].definition : nullptr;
  }
  /// Whether every lane of `inner` is also in `outer`.
  bool is_within(const MaskLanes& inner, const MaskLanes& outer, unsigned depth = 0) const;
  /// The mask of which this one is a slice.
  MaskLanes root(ir::ValueId mask) const;
  /// Whether the mask was read from a mask variable, or becomes the execution mask, or is a slice of such a
  /// mask.
  bool is_variable(ir::ValueId mask) const;
  /// A mask for which is_variable() holds and that contains every lane of this one; none: it is not known.
  std::optional<MaskLanes> variable_above(ir::ValueId mask, unsigned depth = 0) const;
  /// For an `and` or `andn` of masks: the operand that alone restricts it to lanes of variable_above().
  std::optional<unsigned> decider(const ir::Inst& inst) const;

 private:
  struct Value {
    Need need;
    const ir::Inst* definition = nullptr;
    bool is_set = false;  ///< it becomes the execution mask
    /// Of a mask `x & y` or `~x & y`: the other one of the two, for the same x and y.
    ir::ValueId rest = ir::no_value;
  };

  void find_rests(const ir::Block& block);
  void propagate(const ir::Inst& inst);
  /// What is needed of each of the two vectors that a mask selects from, where `own` is needed of the result.
  Need of_selected(const MaskLanes& chosen, const Need& own) const;
  Need of_others(const MaskLanes& chosen, const Need& own) const;
  void add(ir::ValueId value, const Need& other) { add(values_[value].need, other); }
  void add(Need& need, const Need& other) const {
    if (need.what == Need::All || other.what == Need::None) return;
    if (need.what == Need::None || other.what == Need::All)
      need = other;
    else
      join(need, other);
  }
  /// For two that are both Under.
  void join(Need& need, const Need& other) const;
  void add_all(ir::ValueId value) { values_[value].need = {Need::All, {}}; }
  Need under(ir::ValueId mask) const { return {Need::Under, root(mask)}; }

  const ir::Function& function_;
  std::vector<Value> values_;
};

}  // namespace eum::jit

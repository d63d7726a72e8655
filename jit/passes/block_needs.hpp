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
  explicit BlockNeeds(const ir::Function& function)
      : function_(function),
        need_(function.values.size()),
        definition_(function.values.size()),
        is_set_(function.values.size()) {}

  void begin(const ir::Block& block);
  /// Values are those of one block: clears the tables for the next.
  void end(const ir::Block& block);

  const Need& of(ir::ValueId value) const { return need_[value]; }
  /// The need of all results together.
  Need of_results(const ir::Inst& inst) const;
  /// The instruction that defines the value; null for values that the function got since begin().
  const ir::Inst* definition(ir::ValueId value) const {
    return value < definition_.size() ? definition_[value] : nullptr;
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
  void propagate(const ir::Inst& inst);
  void add(ir::ValueId value, const Need& other) { add(need_[value], other); }
  void add(Need& need, const Need& other) const;
  Need under(ir::ValueId mask) const { return {Need::Under, root(mask)}; }

  const ir::Function& function_;
  std::vector<Need> need_;
  std::vector<const ir::Inst*> definition_;
  std::vector<bool> is_set_;  // it becomes the execution mask
};

}  // namespace eum::jit

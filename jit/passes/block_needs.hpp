#pragma once
// Which lanes of the values of a block are looked at: none, those that another mask says, or all. Most of
// what is computed under the execution mask is looked at under it only.
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
  MaskLanes lanes;  ///< of Under

  void add(const Need& other);
};

class BlockNeeds {
 public:
  explicit BlockNeeds(const ir::Function& function)
      : function_(function), need_(function.values.size()), definition_(function.values.size()) {}

  void begin(const ir::Block& block);
  /// Values are those of one block: the tables are clean again for the next.
  void end(const ir::Block& block);

  const Need& of(ir::ValueId value) const { return need_[value]; }
  /// Of all results together.
  Need of_results(const ir::Inst& inst) const;
  /// The instruction that makes the value; null for values that the function got since begin().
  const ir::Inst* definition(ir::ValueId value) const {
    return value < definition_.size() ? definition_[value] : nullptr;
  }
  /// What the mask is a slice of.
  MaskLanes root(ir::ValueId mask) const;
  /// Whether the mask is what a mask variable held, or a slice of that.
  bool is_variable(ir::ValueId mask) const;

 private:
  void propagate(const ir::Inst& inst);
  Need under(ir::ValueId mask) const { return {Need::Under, root(mask)}; }

  const ir::Function& function_;
  std::vector<Need> need_;
  std::vector<const ir::Inst*> definition_;
};

}  // namespace eum::jit

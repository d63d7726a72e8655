#pragma once
// The operands and results that an instruction must have: the rules of its shape, applied to its type, lanes
// and attribute. It must not know individual ops.
#include <array>

#include "frontend/ir/function.hpp"

namespace eum::ir {

/// For each shape, whether every instruction has one result for each rule.
inline constexpr auto has_result_for_each_rule = [] {
  std::array<bool, shape_table.size()> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = true;
    for (const ValueRule& rule : shape_table[i].results) table[i] &= rule.count == CountRule::One;
  }
  return table;
}();

/// What the rules require of one instruction.
class Signature {
 public:
  /// `function` holds the instruction's MemoryAccess or ImageAccess, if it has one.
  Signature(const Function& function, const Inst& inst)
      : shape_(shape_of(inst.op)),
        inst_(inst),
        one_for_each_rule_(has_result_for_each_rule[static_cast<std::size_t>(info(inst.op).shape)]),
        access_(shape_.has_memory() && inst.imm < function.accesses.size() ? &function.access(inst)
                                                                           : nullptr),
        image_(shape_.has_image() && inst.imm < function.images.size() ? &function.image(inst) : nullptr) {}

  /// The required number of operands; where any number is allowed, the actual number.
  unsigned operands() const { return total(shape_.operands, inst_.arg_count); }
  /// Type and lanes of operand k; 0 lanes: any number.
  ValueInfo operand(unsigned k) const { return value(shape_.operands, inst_.arg_count, k); }

  unsigned min_results() const;
  unsigned max_results() const {
    return one_for_each_rule_ ? shape_.results.count : total(shape_.results, inst_.result_count);
  }
  ValueInfo result(unsigned k) const {
    return one_for_each_rule_ && k < shape_.results.count ? apply(shape_.results.rules[k])
                                                          : value(shape_.results, inst_.result_count, k);
  }

 private:
  unsigned fixed_count(const ValueRule& rule) const;
  unsigned count(const ValueRules& rules, const ValueRule& rule, unsigned found) const;
  unsigned total(const ValueRules& rules, unsigned found) const;
  ValueInfo value(const ValueRules& rules, unsigned found, unsigned k) const;
  ValueInfo apply(const ValueRule& rule) const;

  const ShapeInfo& shape_;
  const Inst& inst_;
  bool one_for_each_rule_;  ///< results
  const MemoryAccess* access_;
  const ImageAccess* image_;
};

}  // namespace eum::ir

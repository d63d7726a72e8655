#pragma once
// What passes that replace ops share.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "frontend/ir/builder.hpp"

namespace eum::jit {

/// Calls append(builder, inst) in place of each instruction that is wanted(inst): the last op that it appends
/// defines the result, under its old id.
template <class Wanted, class Append>
void rewrite(ir::Function& function, Wanted wanted, Append append) {
  ir::Builder builder(function);
  for (ir::BlockId id = 0; id < function.blocks.size(); ++id) {
    auto& insts = function.blocks[id].insts;
    const auto first = std::find_if(insts.begin(), insts.end(), wanted);
    if (first == insts.end()) continue;
    const std::pmr::vector<ir::Inst> rest(first, insts.end(), function.resource);
    insts.erase(first, insts.end());
    builder.set_block(id);
    for (const ir::Inst& inst : rest) {
      if (!wanted(inst)) {
        insts.push_back(inst);
        continue;
      }
      builder.set_guest_ip(inst.guest_ip);
      append(builder, inst);
      insts.back().result = inst.result;
      function.values.pop_back();
    }
  }
}

/// Runs Pass(function).run(block) on the blocks with an instruction that is wanted(inst): many functions have
/// none, and need no pass.
template <class Pass, class Wanted>
void run_on_blocks_with(ir::Function& function, Wanted wanted) {
  std::optional<Pass> pass;
  for (ir::Block& block : function.blocks) {
    if (std::ranges::none_of(block.insts, wanted)) continue;
    if (!pass) pass.emplace(function);
    pass->run(block);
  }
}

/// An op of one result, to be completed.
inline ir::Inst make_op(ir::Op op, ir::Type type, unsigned lanes, std::uint32_t guest_ip) {
  ir::Inst inst;
  inst.op = op;
  inst.type = type;
  inst.lanes = static_cast<std::uint8_t>(lanes);
  inst.guest_ip = guest_ip;
  inst.result_count = 1;
  return inst;
}

/// The instruction with operand(k) as its operands; `changes` is set if one differs.
template <class Operand>
ir::Inst with_operands(ir::Function& function, const ir::Inst& inst, bool& changes, Operand operand) {
  std::array<ir::ValueId, ir::max_pure_operands> storage{};
  const std::span args = std::span(storage).first(inst.arg_count);
  for (unsigned k = 0; k < args.size(); ++k) args[k] = operand(k);
  if (std::ranges::equal(function.args(inst), args)) return inst;
  changes = true;
  ir::Inst changed = inst;
  function.set_args(changed, args);
  return changed;
}

/// Values that are replaced by equal ones.
class SameValues {
 public:
  void add(ir::ValueId value, ir::ValueId same) {
    if (same_.size() <= value) same_.resize(std::max<std::size_t>(value + 1, 2 * same_.size()), ir::no_value);
    same_[value] = same;
  }
  ir::ValueId resolve(ir::ValueId value) const {
    while (value < same_.size() && same_[value] != ir::no_value) value = same_[value];
    return value;
  }
  /// Resolves operands and mask.
  void resolve(ir::Function& function, ir::Inst& inst) const {
    for (ir::ValueId& arg : function.args(inst)) arg = resolve(arg);
    inst.mask = resolve(inst.mask);
  }

 private:
  std::vector<ir::ValueId> same_;
};

/// Blocks have been moved: block b is now block now(b), wherever something leads to it.
template <class Now>
void renumber_targets(ir::Function& function, Now now) {
  for (ir::Block& block : function.blocks) {
    ir::Inst& last = block.insts.back();
    const unsigned targets = ir::shape_of(last.op).targets();
    if (targets > 0) last.targets.taken = now(last.targets.taken);
    if (targets > 1) last.targets.fallthrough = now(last.targets.fallthrough);
  }
}

/// Drops blocks without instructions, to which nothing leads.
inline void drop_empty_blocks(ir::Function& function) {
  std::vector<ir::BlockId> now(function.blocks.size());
  ir::BlockId kept = 0;
  for (ir::BlockId block = 0; block < function.blocks.size(); ++block) {
    now[block] = kept;
    if (function.blocks[block].insts.empty()) continue;
    if (kept != block) function.blocks[kept] = std::move(function.blocks[block]);
    ++kept;
  }
  function.blocks.erase(function.blocks.begin() + kept, function.blocks.end());
  renumber_targets(function, [&](ir::BlockId block) { return now[block]; });
}

/// The new instructions of a block.
class NewBlock {
 public:
  explicit NewBlock(ir::Function& function)
      : function_(function), definitions_(function.values.size(), none) {}

  void clear() { insts_.clear(); }
  /// Adds an instruction as it is.
  void keep(const ir::Inst& inst) {
    const std::size_t past = inst.result_count == 0 ? 0 : inst.result + std::size_t{inst.result_count};
    if (past > definitions_.size()) definitions_.resize(std::max(past, definitions_.size() * 2), none);
    for (unsigned k = 0; k < inst.result_count; ++k)
      definitions_[inst.result + k] = static_cast<std::uint32_t>(insts_.size());
    insts_.push_back(inst);
  }
  /// Adds an op of one result, which gets a new id.
  ir::ValueId append(const ir::Inst& inst, std::initializer_list<ir::ValueId> args) {
    return append(inst, std::span(args.begin(), args.size()));
  }
  ir::ValueId append(ir::Inst inst, std::span<const ir::ValueId> args) {
    function_.set_args(inst, args);
    inst.result = function_.add_value(ir::info(inst.op).shape == ir::Shape::Compare ? ir::Type::m : inst.type,
                                      inst.lanes);
    inst.result_count = 1;
    keep(inst);
    return inst.result;
  }
  ir::ValueId constant(ir::Type type, unsigned lanes, std::uint64_t bits, std::uint32_t guest_ip) {
    ir::Inst inst = make_op(ir::Op::constant, type, lanes, guest_ip);
    inst.imm = bits;
    return append(inst, {});
  }
  /// convert, bitcast or another op of that shape; the value itself if it has the type.
  ir::ValueId converted(ir::Op op, ir::Type type, ir::ValueId value, std::uint32_t guest_ip) {
    const ir::ValueInfo from = function_.values[value];
    if (from.type == type) return value;
    ir::Inst inst = make_op(op, type, from.lanes, guest_ip);
    inst.from = from.type;
    return append(inst, {value});
  }
  /// The op that has just been appended defines `result`, a value of before, rather than a new one.
  void let_last_define(ir::ValueId result) {
    insts_.back().result = result;
    function_.values.pop_back();
    definitions_[result] = static_cast<std::uint32_t>(insts_.size() - 1);
  }
  /// The instruction that defines a value, if it has been added already; valid until the next one is added.
  const ir::Inst* definition(ir::ValueId value) const {
    if (value >= definitions_.size() || definitions_[value] >= insts_.size()) return nullptr;
    const ir::Inst& inst = insts_[definitions_[value]];
    return value >= inst.result && value < inst.result + inst.result_count ? &inst : nullptr;
  }

  std::vector<ir::Inst>& insts() { return insts_; }
  const std::vector<ir::Inst>& insts() const { return insts_; }
  /// Makes these the instructions of `block`.
  void replace(ir::Block& block) const { block.insts.assign(insts_.begin(), insts_.end()); }

 private:
  static constexpr std::uint32_t none = ~0u;
  ir::Function& function_;
  std::vector<ir::Inst> insts_;
  std::vector<std::uint32_t> definitions_;
};

}  // namespace eum::jit

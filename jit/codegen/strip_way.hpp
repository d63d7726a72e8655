#pragma once
// StripWay: the way through a function that threads take if all of their channels go it, as one list of
// instructions, with what changes by a constant from thread to thread and what must hold for all to go there.
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "jit/codegen/parting_branch.hpp"
#include "jit/codegen/strip.hpp"

namespace eum::jit::codegen {

class StripWay {
 public:
  StripWay(const Strip::Facts& facts, BlockCode& code);

  /// Collects the instructions; false: the function has no such way, or the code cannot follow it.
  bool follow();

  std::vector<CodeInst>& insts() { return insts_; }
  /// Whether the instruction writes registers or flags that the way reads: it must be executed.
  bool is_read(std::size_t index) const { return is_read_[index]; }
  struct Condition {
    CodeInst inst;  ///< a ramp op, or branch_any with a mask that is the same in all threads
    Strip::Condition condition;
  };
  std::span<const Condition> conditions() const { return conditions_; }
  std::uint32_t guest_instructions() const { return guest_instructions_; }

  const CodeInst* definition(ir::ValueId value) const {
    return defined_at_[value] == none ? nullptr : &insts_[defined_at_[value]];
  }
  /// None: not known.
  const std::optional<Strip::Step>& step_of(ir::ValueId value) const { return step_[value]; }
  bool is_same(ir::ValueId value) const { return step_[value] && step_[value]->is_zero(); }
  std::optional<std::uint32_t> constant(ir::ValueId value) const;
  /// Operands that live as long as what keeps them.
  std::span<ir::ValueId> keep(std::vector<ir::ValueId> operands) {
    return operands_.emplace_back(std::move(operands));
  }
  std::deque<std::vector<ir::ValueId>> take_operands() { return std::move(operands_); }

 private:
  static constexpr std::uint32_t none = ~0u;
  using Step = std::optional<Strip::Step>;

  /// By mask variable; no value: of no channel.
  using ParkedMasks = std::map<std::uint64_t, ir::ValueId>;

  ir::ValueId resolve(ir::ValueId value) const;
  std::vector<ir::ValueId> resolved(std::span<const ir::ValueId> values) const;
  void append(const CodeInst& inst);
  void append_constants(const CodeInst& inst, std::uint32_t bits);
  void append_unmasked(const CodeInst& inst);
  void set_execution_mask(ir::ValueId mask);
  bool add(const CodeInst& inst);
  bool read(const CodeInst& inst);
  bool read_written(const CodeInst& inst);
  bool is_of_group(const CodeInst& inst) const;
  Step step_of_read(const CodeInst& inst, const SlotRange& bytes) const;
  Step step_of_op(const CodeInst& inst) const;
  Step sum(const Step& a, const Step& b) const;
  Step product(const CodeInst& inst) const;
  std::optional<bool> known(ir::ValueId mask) const;
  std::optional<bool> known_of(const CodeInst& inst) const;
  ir::ValueId repeated_bit(const CodeInst& mask) const;
  std::optional<bool> require_either(ir::ValueId mask);
  bool require_all(ir::ValueId mask, bool wanted);
  ir::BlockId way_behind(const CodeInst& end, const std::optional<PartingBranch>& parting);
  ir::BlockId way_to_waiting(const CodeInst& end, const ParkedMasks& parked) const;
  bool require(ir::ValueId mask, bool wanted, unsigned depth);
  bool require_result(const CodeInst& inst, bool wanted, unsigned depth);
  bool require_ramp(const CodeInst& ramp, bool wanted);
  bool require_comparison(const CodeInst& compare, bool wanted);

  const Strip::Facts& facts_;
  const ir::Function& function_;
  BlockCode& code_;
  std::vector<CodeInst> insts_;
  std::vector<bool> is_read_;
  std::vector<std::size_t> writes_;  // of the register file and of flags
  std::vector<Condition> conditions_;
  std::vector<ir::ValueId> required_;  // masks that the present conditions make known
  std::deque<std::vector<ir::ValueId>> operands_;
  ir::ValueId execution_mask_ = ir::no_value;  // none: all channels
  ParkedMasks parked_;                         // what the block has set
  std::uint32_t guest_instructions_ = 0;
  // Of each value:
  std::vector<ir::ValueId> alias_;
  std::vector<std::uint32_t> defined_at_;  // in insts_
  std::vector<Step> step_;
  std::vector<std::optional<bool>> known_;  // a mask: the bits of all its lanes
};

}  // namespace eum::jit::codegen

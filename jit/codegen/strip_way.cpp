// What is written is handed to those who read it, so that the blocks become one list of instructions.
#include "jit/codegen/strip_way.hpp"

#include <algorithm>
#include <utility>

#include "jit/passes/reconvergence.hpp"

namespace eum::jit::codegen {

using ir::BlockId;
using ir::no_value;
using ir::Op;
using ir::ValueId;

namespace {

/// More would take longer to translate than it saves.
constexpr std::size_t most_blocks = 8, most_insts = 400;

bool is_ramp(Op op) { return ir::info(op).shape == ir::Shape::RampTest; }
bool is_compare(Op op) { return ir::info(op).shape == ir::Shape::Compare; }

SlotRange bits_of(const CodeInst& flags) {
  const auto first = static_cast<unsigned>(flags.imm);
  return {first, first + flags.lanes - 1u};
}
bool overlaps(const CodeInst& write, const CodeInst& read) {
  if ((write.op == Op::flag_write) != (read.op == Op::flag_read)) return false;
  if (read.op == Op::flag_read) return overlap(bits_of(write), bits_of(read));
  return overlap(slots_of(write, 1), slots_of(read, 1));
}

/// The value that `read` gets from the latest write of what it reads; no_value: not known.
ValueId written(const CodeInst& write, const CodeInst& read, unsigned slot_bytes) {
  if (write.mask != no_value) return no_value;
  const ValueId value = write.args[0];
  if (read.op == Op::flag_read) return write.imm == read.imm && write.lanes == read.lanes ? value : no_value;
  const unsigned size = ir::size_of(read.type);
  if (ir::size_of(write.type) != size || write.region.stride(write.lanes) != 1) return no_value;
  const bool same_form =
      write.type == read.type || (ir::is_int(write.type) && ir::is_int(read.type) && size >= 4);
  const std::uint32_t begin = write.region.offset, at = read.region.offset;
  if (write.lanes == read.lanes && begin == at && read.region.stride(read.lanes) == 1)
    return read.lanes > 1 || same_form ? value : no_value;
  // The first lane of a slot.
  if (read.lanes != 1 || at < begin || (at - begin) % slot_bytes != 0 || !same_form) return no_value;
  const std::size_t slot = (at - begin) / slot_bytes;
  return slot < write.first_lanes.size() ? write.first_lanes[slot] : no_value;
}

}  // namespace

StripWay::StripWay(const Strip::Facts& facts, BlockCode& code)
    : facts_(facts),
      function_(facts.function),
      code_(code),
      alias_(function_.values.size(), no_value),
      defined_at_(function_.values.size(), none),
      step_(function_.values.size()),
      is_none_(function_.values.size()) {}

bool StripWay::follow() {
  BlockId at = 0;
  for (std::size_t blocks = 0; blocks < most_blocks; ++blocks) {
    code_.build_for_strip(at);
    const std::span<const CodeInst> insts = code_.insts();
    if (insts_.size() + insts.size() > most_insts) return false;
    const auto parting = parting_branch(insts);
    guest_instructions_ += function_.blocks[at].guest_instructions;
    for (const CodeInst& inst : insts.first(parting ? parting->begin : insts.size() - 1))
      if (!add(inst)) return false;
    const CodeInst& end = insts.back();
    if (end.op == Op::exit) {
      return append(end);
    }
    const BlockId next = all_wait_.has_value() ? way_to_waiting(end) : way_behind(end, parting);
    if (next == ir::no_block || next <= at) return false;
    at = next;
  }
  return false;
}

/// Blocks are followed in their versions for all channels.
bool StripWay::all_channels_on() {
  const ValueId mask = std::exchange(execution_mask_, no_value);
  return mask == no_value || is_all(mask);
}
bool StripWay::is_all(ValueId mask) const {
  const auto bits = constant(mask);
  return bits && (~*bits & ir::lane_mask(function_.simd)) == 0;
}

ValueId StripWay::resolve(ValueId value) const {
  while (value != no_value && alias_[value] != no_value) value = alias_[value];
  return value;
}
std::vector<ValueId> StripWay::resolved(std::span<const ValueId> values) const {
  std::vector<ValueId> all(values.begin(), values.end());
  for (ValueId& value : all) value = resolve(value);
  return all;
}

std::optional<std::uint32_t> StripWay::constant(ValueId value) const {
  const CodeInst* const inst = definition(value);
  if (!inst || inst->op != Op::constant) return std::nullopt;
  return static_cast<std::uint32_t>(inst->imm);
}

/// A copy, as the next block's code takes the place of this one's. False: it uses the mask of parked
/// channels.
bool StripWay::append(const CodeInst& inst) {
  for (unsigned k = 0; k < inst.result_count; ++k)
    defined_at_[inst.result + k] = static_cast<std::uint32_t>(insts_.size());
  CodeInst& one = insts_.emplace_back(inst);
  one.args = keep(resolved(inst.args));
  one.first_lanes = keep(resolved(inst.first_lanes));
  one.mask = resolve(inst.mask);
  is_read_.push_back(false);
  return std::ranges::none_of(one.args, [&](ValueId value) { return is_none_[value]; });
}

bool StripWay::add(const CodeInst& inst) {
  switch (inst.op) {
    case Op::reg_read:
    case Op::flag_read:
      return read(inst);
    case Op::reg_write:
    case Op::flag_write:
      writes_.push_back(insts_.size());
      return append(inst);
    case Op::mask_set:
      return set_mask(inst.imm, resolve(inst.args[0]));
    case Op::mask_get:
      if (inst.imm != 0) {
        is_none_[inst.result] = true;
        return all_wait_ != inst.imm;
      }
      if (execution_mask_ == no_value) return false;
      alias_[inst.result] = execution_mask_;
      return true;
    case Op::fpmode_set:
      return constant(resolve(inst.args[0])) == facts_.mode;
    case Op::load:
    case Op::store:
    case Op::spend:
    case Op::spend_bits:
      return append(inst);
    default: {
      if (!ir::is_pure(inst.op) || !append(inst)) return false;
      const Step step = step_of_op(insts_.back());
      for (unsigned k = 0; k < inst.result_count; ++k) step_[inst.result + k] = step;
      return true;
    }
  }
}

bool StripWay::is_nobody(ValueId mask) const { return is_none_[mask] || constant(mask) == 0u; }

/// No channel is parked on the way, except that all of them are where the others of an if would go on.
bool StripWay::set_mask(std::uint64_t variable, ValueId mask) {
  if (variable == 0) {
    execution_mask_ = mask;
    return true;
  }
  if (is_all(mask)) {
    if (all_wait_) return false;
    all_wait_ = variable;
    return true;
  }
  return is_nobody(mask);
}

// ---- Reads

bool StripWay::read(const CodeInst& inst) {
  const auto latest = std::find_if(writes_.rbegin(), writes_.rend(),
                                   [&](std::size_t write) { return overlaps(insts_[write], inst); });
  if (latest != writes_.rend()) {
    const ValueId value = written(insts_[*latest], inst, function_.slot_bytes);
    if (value == no_value) return read_written(inst);
    alias_[inst.result] = value;
    return true;
  }
  if (inst.op == Op::flag_read) return false;
  const SlotRange bytes = slots_of(inst, 1);
  if (bytes.first < sizeof(GroupHeader) && !is_of_group(inst)) return false;
  step_[inst.result] = step_of_read(inst, bytes);
  return append(inst);
}

/// Each thread does the read, and the writes before it.
bool StripWay::read_written(const CodeInst& inst) {
  if (inst.op == Op::flag_read || slots_of(inst, 1).first < sizeof(GroupHeader)) return false;
  for (const std::size_t write : writes_)
    if (overlaps(insts_[write], inst)) is_read_[write] = true;
  return append(inst);
}

/// Whether it reads a dword of the header that only the group determines.
bool StripWay::is_of_group(const CodeInst& inst) const {
  const std::uint32_t offset = inst.region.offset;
  return inst.lanes == 1 && ir::is_int(inst.type) && ir::size_of(inst.type) == 4 && offset % 4 == 0 &&
         (facts_.group_dwords >> offset / 4 & 1) != 0;
}

StripWay::Step StripWay::step_of_read(const CodeInst& inst, const SlotRange& bytes) const {
  constexpr Strip::Step same{};
  const ConsecutiveIds& ids = facts_.ids;
  if (bytes.last >= function_.indirect_end()) return std::nullopt;  // the thread's own
  if (bytes.first < sizeof(GroupHeader) || bytes.first >= ids.end()) return same;
  if (bytes.first < ids.offset || inst.lanes != 1 || ir::size_of(inst.type) != 2) return std::nullopt;
  const std::uint32_t behind = bytes.first - ids.offset, row = ids.rows > 1 ? behind / ids.row_bytes : 0;
  if (row >= facts_.id_steps.size() || behind - row * ids.row_bytes >= 2 * ids.count) return std::nullopt;
  return Strip::Step{facts_.id_steps[row]};
}

// ---- Steps

StripWay::Step StripWay::step_of_op(const CodeInst& inst) const {
  bool all_same = inst.mask == no_value || is_same(inst.mask);
  for (const ValueId value : inst.args) all_same &= is_same(value);
  if (all_same) return Strip::Step{};
  if (inst.lanes != 1 || !ir::is_int(inst.type) || inst.mask != no_value) return std::nullopt;
  const auto arg = [&](unsigned k) { return step_[inst.args[k]]; };
  const unsigned size = ir::size_of(inst.type);
  if (inst.op == Op::convert || inst.op == Op::bitcast) {
    // Words are ids, which have no sign bit.
    const unsigned from = ir::is_int(inst.from) ? ir::size_of(inst.from) : 0;
    return (from == 2 && size >= 2) || (from == 4 && size == 4) ? arg(0) : std::nullopt;
  }
  if (size != 4) return std::nullopt;
  const auto scaled = [](const Step& step, std::uint32_t by) { return step ? Step(step->scaled(by)) : step; };
  switch (inst.op) {
    case Op::add:
      return sum(arg(0), arg(1));
    case Op::sub:
      return sum(arg(0), scaled(arg(1), ~0u));
    case Op::neg:
      return scaled(arg(0), ~0u);
    case Op::mul:
      return product(inst);
    case Op::mad:
      return sum(product(inst), arg(2));
    case Op::shl:
      if (const auto by = constant(inst.args[1])) return scaled(arg(0), 1u << (*by & 31));
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

StripWay::Step StripWay::sum(const Step& a, const Step& b) const {
  if (!a || !b || (!a->is_constant() && !b->is_constant() && a->factor != b->factor)) return std::nullopt;
  return Strip::Step{a->by + b->by, a->is_constant() ? b->factor : a->factor, a->times + b->times};
}

/// Of the first two operands.
StripWay::Step StripWay::product(const CodeInst& inst) const {
  for (const unsigned k : {0u, 1u}) {
    const ValueId factor = inst.args[k];
    const Step& step = step_[inst.args[1 - k]];
    if (!step || !is_same(factor)) continue;
    if (const auto number = constant(factor)) return step->scaled(*number);
    if (step->is_zero()) return step;
    if (step->is_constant()) return Strip::Step{0, factor, step->by};
  }
  return std::nullopt;
}

// ---- Conditions

/// From the end of an if's body, where all channels wait for those that are parked: none is, so they go on
/// where they reconverge.
BlockId StripWay::way_to_waiting(const CodeInst& end) {
  const ValueId on = std::exchange(execution_mask_, no_value);
  const auto waiting = std::exchange(all_wait_, std::nullopt);
  const bool nobody =
      on != no_value && is_nobody(on) && end.op == Op::branch_any && is_nobody(resolve(end.args[0]));
  const BlockId next = nobody ? end.targets.fallthrough : ir::no_block;
  return nobody && reconverges_from(function_, function_.blocks[next]) == waiting ? next : ir::no_block;
}

/// Where all channels of all threads go, under conditions that are noted.
BlockId StripWay::way_behind(const CodeInst& end, const std::optional<PartingBranch>& parting) {
  if (!all_channels_on()) return ir::no_block;
  if (end.op == Op::jump) return end.targets.taken;
  const std::size_t before = conditions_.size();
  // A branch that is the same in all channels skips what is mostly executed.
  const ValueId mask = parting                                      ? parting->bits
                       : end.op == Op::branch_any && end.lanes == 1 ? end.args[0]
                                                                    : no_value;
  if (mask == no_value) return ir::no_block;
  for (const bool wanted : {parting.has_value(), !parting.has_value()}) {
    const bool goes = !parting || parting->bits_go ? wanted : !wanted;
    if (require(resolve(mask), wanted, 0)) return goes ? end.targets.taken : end.targets.fallthrough;
    conditions_.resize(before);
  }
  return ir::no_block;
}

bool StripWay::require(ValueId mask, bool wanted, unsigned depth) {
  constexpr unsigned deepest = 16;
  const CodeInst* const inst = definition(mask);
  if (!inst || depth > deepest) return false;
  if (is_same(mask)) {
    CodeInst test = *inst;
    test.op = Op::branch_any;
    test.args = keep({mask});
    test.mask = no_value;
    conditions_.push_back({test, {wanted, 0}});
    return true;
  }
  const auto arg = [&](unsigned k, bool value) { return require(inst->args[k], value, depth + 1); };
  switch (inst->op) {
    case Op::not_:
      return arg(0, !wanted);
    case Op::and_:
      return wanted && arg(0, true) && arg(1, true);
    case Op::or_:
      return !wanted && arg(0, false) && arg(1, false);
    case Op::andn:
      return wanted && arg(0, false) && arg(1, true);
    case Op::concat:
      return arg(0, wanted) && arg(1, wanted);
    case Op::bits_mask: {
      // One lane's result in all of them.
      const CodeInst* const all = definition(inst->args[0]);
      const CodeInst* const bit = all && all->op == Op::neg ? definition(all->args[0]) : nullptr;
      return bit && bit->op == Op::mask_bits && function_.values[bit->args[0]].lanes == 1 &&
             require(bit->args[0], wanted, depth + 1);
    }
    default:
      if (is_ramp(inst->op)) return require_ramp(*inst, wanted);
      return is_compare(inst->op) && inst->lanes == 1 && require_comparison(*inst, wanted);
  }
}

bool StripWay::require_ramp(const CodeInst& ramp, bool wanted) {
  const Step& step = step_[ramp.args[0]];
  if (!step || !step->is_constant() || step->by > UINT16_MAX || !is_same(ramp.args[1])) return false;
  // Lanes of which at most one is equal.
  if (ramp.op == Op::ramp_eq && wanted) return false;
  conditions_.push_back({ramp, {wanted, step->by}});
  return true;
}

/// A comparison of something that goes up from thread to thread is one of a ramp of one lane.
bool StripWay::require_comparison(const CodeInst& compare, bool wanted) {
  if (!ir::is_int(compare.type) || ir::size_of(compare.type) != 4) return false;
  const bool second = is_same(compare.args[0]);  // goes up
  CodeInst ramp = compare;
  bool complement = false;
  switch (compare.op) {
    case Op::cmp_lt:
      ramp.op = second ? Op::ramp_le : Op::ramp_lt;
      complement = second;
      break;
    case Op::cmp_le:
      ramp.op = second ? Op::ramp_lt : Op::ramp_le;
      complement = second;
      break;
    case Op::cmp_gt:
      ramp.op = second ? Op::ramp_lt : Op::ramp_le;
      complement = !second;
      break;
    case Op::cmp_ge:
      ramp.op = second ? Op::ramp_le : Op::ramp_lt;
      complement = !second;
      break;
    case Op::cmp_eq:
    case Op::cmp_ne:
      ramp.op = Op::ramp_eq;
      complement = compare.op == Op::cmp_ne;
      break;
    default:
      return false;
  }
  if (second) ramp.args = keep({compare.args[1], compare.args[0]});
  return require_ramp(ramp, wanted != complement);
}

}  // namespace eum::jit::codegen

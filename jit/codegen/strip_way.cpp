// What is written is handed to those who read it, so that the blocks become one list of instructions.
#include "jit/codegen/strip_way.hpp"

#include <algorithm>
#include <utility>

#include "jit/analysis/reconvergence.hpp"

namespace eum::jit::codegen {

using ir::BlockId;
using ir::no_value;
using ir::Op;
using ir::ValueId;

namespace {

/// More would take longer to translate than it saves.
constexpr std::size_t most_blocks = 32, most_insts = 600;

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
      known_(function_.values.size()) {}

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
      append(end);
      return execution_mask_ == no_value || known_[execution_mask_] == true;
    }
    const BlockId next = way_behind(end, parting);
    if (next == ir::no_block || next <= at) return false;
    at = next;
  }
  return false;
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

/// A copy, as the next block's code takes the place of this one's.
void StripWay::append(const CodeInst& inst) {
  for (unsigned k = 0; k < inst.result_count; ++k)
    defined_at_[inst.result + k] = static_cast<std::uint32_t>(insts_.size());
  CodeInst& one = insts_.emplace_back(inst);
  one.args = keep(resolved(inst.args));
  one.first_lanes = keep(resolved(inst.first_lanes));
  one.mask = resolve(inst.mask);
  is_read_.push_back(false);
  if (one.result_count == 1) known_[one.result] = known_of(one);
}
/// Instead of an instruction: all of its results are `bits`.
void StripWay::append_constants(const CodeInst& inst, std::uint32_t bits) {
  CodeInst one{};
  one.guest_ip = inst.guest_ip;
  one.op = Op::constant;
  one.type = inst.type;
  one.lanes = inst.lanes;
  one.imm = bits;
  one.result_count = 1;
  for (unsigned k = 0; k < inst.result_count; ++k) {
    one.result = inst.result + k;
    append(one);
  }
}

bool StripWay::add(const CodeInst& inst) {
  switch (inst.op) {
    case Op::reg_read:
    case Op::flag_read:
      return read(inst);
    case Op::reg_write:
    case Op::flag_write:
      if (known(inst.mask) == false) return true;
      writes_.push_back(insts_.size());
      append_unmasked(inst);
      return true;
    case Op::mask_set:
      if (inst.imm == 0)
        set_execution_mask(resolve(inst.args[0]));
      else
        parked_[inst.imm] = resolve(inst.args[0]);
      return true;
    case Op::mask_get: {
      const ValueId mask = inst.imm == 0 ? execution_mask_ : parked_[inst.imm];
      if (mask == no_value)
        append_constants(inst, inst.imm == 0 ? ir::lane_mask(inst.lanes) : 0);
      else
        alias_[inst.result] = mask;
      return true;
    }
    case Op::fpmode_set:
      return constant(resolve(inst.args[0])) == facts_.mode;
    case Op::load:
    case Op::store: {
      const bool goes = inst.mask == no_value || require_either(resolve(inst.mask)) != false;
      if (goes)
        append_unmasked(inst);
      else
        append_constants(inst, 0);
      return true;
    }
    case Op::spend: {
      const auto goes = known(inst.args[0]);
      if (goes == true) guest_instructions_ += static_cast<std::uint32_t>(inst.imm);
      if (!goes) append(inst);
      return true;
    }
    case Op::spend_bits:
      append(inst);
      return true;
    case Op::select:
      if (const auto first = known(inst.args[0])) {
        alias_[inst.result] = resolve(inst.args[*first ? 1 : 2]);
        return true;
      }
      [[fallthrough]];
    default: {
      if (!ir::is_pure(inst.op)) return false;
      append(inst);
      const Step step = step_of_op(insts_.back());
      for (unsigned k = 0; k < inst.result_count; ++k) step_[inst.result + k] = step;
      return true;
    }
  }
}

/// Bodies that are executed under a mask are executed by all channels of all threads, or by none, if there
/// are conditions for that.
void StripWay::set_execution_mask(ValueId mask) {
  execution_mask_ = mask;
  require_either(mask);
}

/// Without its mask if that is known to be all ones.
void StripWay::append_unmasked(const CodeInst& inst) {
  CodeInst one = inst;
  if (known(inst.mask) == true) one.mask = no_value;
  append(one);
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
  append(inst);
  return true;
}

/// Each thread does the read, and the writes before it.
bool StripWay::read_written(const CodeInst& inst) {
  if (inst.op == Op::flag_read || slots_of(inst, 1).first < sizeof(GroupHeader)) return false;
  for (const std::size_t write : writes_)
    if (overlaps(insts_[write], inst)) is_read_[write] = true;
  append(inst);
  return true;
}

/// Whether it reads a dword of the header that only the group determines.
bool StripWay::is_of_group(const CodeInst& inst) const {
  const std::uint32_t offset = inst.region.offset;
  return inst.lanes == 1 && ir::is_int(inst.type) && ir::size_of(inst.type) == 4 && offset % 4 == 0 &&
         (facts_.group_dwords >> offset / 4 & 1) != 0;
}

StripWay::Step StripWay::step_of_read(const CodeInst& inst, const SlotRange& bytes) const {
  constexpr Strip::Step same{};
  const ir::ConsecutiveIds& ids = function_.ids;
  if (bytes.last >= function_.indirect_end()) return std::nullopt;  // the thread's own
  if (bytes.first < sizeof(GroupHeader) || bytes.first >= ids.end()) return same;
  if (bytes.first < ids.offset || inst.lanes != 1 || ir::size_of(inst.type) != 2) return std::nullopt;
  const std::uint32_t behind = bytes.first - ids.offset, row = ids.rows > 1 ? behind / ids.row_bytes : 0;
  const IdSteps& steps = facts_.id_steps;
  if (row >= steps.by_line.size() || behind - row * ids.row_bytes >= 2 * ids.count) return std::nullopt;
  return Strip::Step{.by = steps.by_line[row], .in_line = steps.in_line[row]};
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
  return Strip::Step{a->by + b->by, a->is_constant() ? b->factor : a->factor, a->times + b->times,
                     a->in_line + b->in_line};
}

/// Of the first two operands.
StripWay::Step StripWay::product(const CodeInst& inst) const {
  for (const unsigned k : {0u, 1u}) {
    const ValueId factor = inst.args[k];
    const Step& step = step_[inst.args[1 - k]];
    if (!step || !is_same(factor)) continue;
    if (const auto number = constant(factor)) return step->scaled(*number);
    if (step->is_zero()) return step;
    if (step->is_constant() && step->in_line == 0) return Strip::Step{0, factor, step->by};
  }
  return std::nullopt;
}

// ---- Masks that are known

std::optional<bool> StripWay::known(ValueId mask) const {
  return mask == no_value ? std::nullopt : known_[resolve(mask)];
}

std::optional<bool> StripWay::known_of(const CodeInst& inst) const {
  const auto arg = [&](unsigned k, bool as = true) -> std::optional<bool> {
    const auto whole = known_[inst.args[k]];
    return whole ? std::optional(*whole == as) : std::nullopt;
  };
  const auto both = [](std::optional<bool> a, std::optional<bool> b) -> std::optional<bool> {
    if (a == false || b == false) return false;
    return a && b ? std::optional(true) : std::nullopt;
  };
  switch (inst.op) {
    case Op::constant: {
      if (inst.type != ir::Type::m) return std::nullopt;
      const std::uint32_t all = ir::lane_mask(inst.lanes), bits = static_cast<std::uint32_t>(inst.imm) & all;
      return bits == 0 || bits == all ? std::optional(bits != 0) : std::nullopt;
    }
    case Op::not_:
      return arg(0, false);
    case Op::and_:
      return both(arg(0), arg(1));
    case Op::andn:
      return both(arg(0, false), arg(1));
    case Op::or_: {
      const auto neither = both(arg(0, false), arg(1, false));
      return neither ? std::optional(!*neither) : std::nullopt;
    }
    case Op::concat:
      return arg(0) == arg(1) ? arg(0) : std::nullopt;
    case Op::slice:
    case Op::group_any:
      return arg(0);
    case Op::bits_mask: {
      const ValueId bit = repeated_bit(inst);
      return bit == no_value ? std::nullopt : known_[bit];
    }
    default:
      return known_[inst.result];
  }
}

/// The mask of one lane whose bit all lanes of a bits_mask get; or no value.
ValueId StripWay::repeated_bit(const CodeInst& mask) const {
  const CodeInst* const all = definition(mask.args[0]);
  const CodeInst* const bit = all && all->op == Op::neg ? definition(all->args[0]) : nullptr;
  const bool is_repeated = bit && bit->op == Op::mask_bits && function_.values[bit->args[0]].lanes == 1;
  return is_repeated ? bit->args[0] : no_value;
}

/// Whether a mask is all ones or all zeros under conditions that are noted: the former, if there are such.
std::optional<bool> StripWay::require_either(ValueId mask) {
  for (const bool wanted : {true, false})
    if (require_all(mask, wanted)) return wanted;
  return std::nullopt;
}

bool StripWay::require_all(ValueId mask, bool wanted) {
  const std::size_t before = conditions_.size();
  required_.clear();
  if (!require(mask, wanted, 0)) {
    conditions_.resize(before);
    for (const ValueId one : required_) known_[one].reset();
    return false;
  }
  if (required_.empty()) return true;
  for (const CodeInst& inst : insts_)
    if (inst.result_count == 1 && !known_[inst.result]) known_[inst.result] = known_of(inst);
  return true;
}

// ---- Conditions

/// Where all channels of all threads go, under conditions that are noted.
BlockId StripWay::way_behind(const CodeInst& end, const std::optional<PartingBranch>& parting) {
  const ValueId on = std::exchange(execution_mask_, no_value);
  const auto parked = std::exchange(parked_, {});
  if (known(on) == false) return way_to_waiting(end, parked);
  const bool are_all_on = on == no_value || known(on) == true;
  const bool is_nobody_parked = std::ranges::all_of(
      parked, [&](const auto& one) { return one.second == no_value || known(one.second) == false; });
  if (!are_all_on || !is_nobody_parked) return ir::no_block;
  if (end.op == Op::jump) return end.targets.taken;
  // A branch that is the same in all channels skips what is mostly executed.
  const ValueId mask = parting                                      ? parting->bits
                       : end.op == Op::branch_any && end.lanes == 1 ? end.args[0]
                                                                    : no_value;
  if (mask == no_value) return ir::no_block;
  for (const bool wanted : {parting.has_value(), !parting.has_value()}) {
    const bool goes = !parting || parting->bits_go ? wanted : !wanted;
    if (require_all(resolve(mask), wanted)) return goes ? end.targets.taken : end.targets.fallthrough;
  }
  return ir::no_block;
}

/// From the end of an if's body, where all channels wait for those that are parked: none is, so they go on
/// where they reconverge.
BlockId StripWay::way_to_waiting(const CodeInst& end, const ParkedMasks& parked) const {
  if (end.op != Op::branch_any || known(end.args[0]) != false) return ir::no_block;
  std::optional<std::uint64_t> waiting;
  for (const auto& [variable, mask] : parked) {
    if (mask == no_value || known(mask) == false) continue;
    if (waiting || known(mask) != true) return ir::no_block;
    waiting = variable;
  }
  const BlockId next = end.targets.fallthrough;
  return waiting && reconverges_from(function_, function_.blocks[next]) == waiting ? next : ir::no_block;
}

/// Each mask is looked at once, however many others it is part of.
bool StripWay::require(ValueId mask, bool wanted, unsigned depth) {
  constexpr unsigned deepest = 16;
  if (const auto bits = known_[mask]) return *bits == wanted;
  const CodeInst* const inst = definition(mask);
  if (!inst || inst->result != mask || depth > deepest) return false;
  if (!require_result(*inst, wanted, depth)) return false;
  known_[mask] = wanted;
  required_.push_back(mask);
  return true;
}

bool StripWay::require_result(const CodeInst& inst, bool wanted, unsigned depth) {
  if (is_same(inst.result)) {
    CodeInst test = inst;
    test.op = Op::branch_any;
    test.args = keep({inst.result});
    test.mask = no_value;
    conditions_.push_back({test, {wanted, 0, test.lanes}});
    return true;
  }
  const auto arg = [&](unsigned k, bool value) { return require(inst.args[k], value, depth + 1); };
  switch (inst.op) {
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
      const ValueId bit = repeated_bit(inst);
      return bit != no_value && require(bit, wanted, depth + 1);
    }
    default:
      if (is_ramp(inst.op)) return require_ramp(inst, wanted);
      return is_compare(inst.op) && inst.lanes == 1 && require_comparison(inst, wanted);
  }
}

bool StripWay::require_ramp(const CodeInst& ramp, bool wanted) {
  const Step& step = step_[ramp.args[0]];
  if (!step || !step->is_constant() || !is_same(ramp.args[1])) return false;
  if (step->by > UINT16_MAX || step->in_line > UINT16_MAX) return false;
  // Lanes of which at most one is equal.
  if (ramp.op == Op::ramp_eq && wanted) return false;
  const std::uint32_t lanes = ramp.lanes + (facts_.id_steps.line_threads - 1) * step->in_line;
  conditions_.push_back({ramp, {wanted, step->by, lanes}});
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

#include "jit/passes/turn_values.hpp"

#include <algorithm>
#include <array>

namespace eum::jit {
namespace {

using ir::Builder;
using ir::Inst;
using ir::Op;
using ir::Type;
using ir::ValueId;

constexpr unsigned dword = 4, recast_bytes = 32;
constexpr unsigned most_apart = 16;  // elements that hosts load at arbitrary addresses in line

bool is_dword(Type type) { return ir::is_int(type) && ir::size_of(type) == dword; }

}  // namespace

TurnValues::TurnValues(ir::Function& function, ir::BlockId loop,
                       std::span<const CountedLoop::Counter> counters, unsigned turns)
    : function_(function), loop_(loop), counters_(counters), turns_(turns) {
  const auto& insts = function.blocks[loop].insts;
  for (std::uint32_t i = 0; i < insts.size(); ++i) {
    for (unsigned k = 0; k < insts[i].result_count; ++k) definitions_[insts[i].result + k] = i;
    if (insts[i].op != Op::reg_write) continue;
    const auto counter = std::ranges::find(counters, insts[i].region.offset, &CountedLoop::Counter::offset);
    if (counter == counters.end()) written_.push_back(slots_of(insts[i], 1));
  }
}

const Inst* TurnValues::definition(ValueId value) const {
  const auto found = definitions_.find(value);
  return found == definitions_.end() ? nullptr : &function_.blocks[loop_].insts[found->second];
}

void TurnValues::begin_block() {
  end_lane();
  shared_.clear();
  shared_sets_.clear();
  spread_.clear();
  first_turns_.clear();
}

std::optional<ValueId> TurnValues::in_turns(Builder& to, std::span<const ValueId> values, unsigned lane) {
  to_ = &to;
  if (values.size() > 1) return set(Set(values.begin(), values.end()), lane);
  const Value* found = find(values[0], lane);
  return found ? std::optional(as_vector(*found)) : std::nullopt;
}

std::optional<TurnValues::Linear> TurnValues::linear(Builder& to, ValueId value, unsigned lane) {
  to_ = &to;
  const Value* found = find(value, lane);
  if (!found || !found->is_linear()) return std::nullopt;
  return Linear{found->first, found->step};
}

std::optional<ValueId> TurnValues::first_turn(Builder& to, ValueId value) {
  if (const auto known = first_turns_.find(value); known != first_turns_.end()) return known->second;
  const Inst* by = definition(value);
  if (!by || (!ir::is_pure(by->op) && by->op != Op::reg_read && by->op != Op::load)) return std::nullopt;
  Inst inst = *by;
  inst.mask = ir::no_value;
  std::vector<ValueId> args;
  for (unsigned k = 0; k < inst.arg_count; ++k) {
    const auto made = first_turn(to, function_.arg(inst, k));
    if (!made) return std::nullopt;
    args.push_back(*made);
  }
  const unsigned result = value - inst.result;
  return first_turns_[value] = to.append(inst, args) + result;
}

ValueId TurnValues::append(Inst inst, unsigned lanes, std::span<const ValueId> args) {
  inst.lanes = static_cast<std::uint8_t>(lanes);
  inst.mask = ir::no_value;
  return to_->append(inst, args);
}

/// The op in the first turn.
ValueId TurnValues::append_first(const Inst& inst, std::span<const Value> operands) {
  std::vector<ValueId> firsts;
  firsts.reserve(operands.size());
  for (const Value& operand : operands) firsts.push_back(operand.first);
  return append(inst, 1, firsts);
}

/// Whether lanes of the value may differ.
bool TurnValues::varies(ValueId value) {
  if (const auto known = varies_.find(value); known != varies_.end()) return known->second;
  const Inst* inst = definition(value);
  bool varies = inst != nullptr && inst->lanes > 1;
  if (varies) {
    const auto args = function_.args(*inst);
    if (inst->op == Op::reg_read)
      varies = inst->region.stride(inst->lanes) != 0;
    else if (inst->op != Op::vconst)
      varies =
          inst->op != Op::splat && std::ranges::any_of(args, [&](ValueId arg) { return this->varies(arg); });
  }
  return varies_[value] = varies;
}

/// Null: the op cannot be done turn by turn.
const TurnValues::Value* TurnValues::find(ValueId value, unsigned lane) {
  constexpr unsigned deepest = 64;
  const bool is_own = varies(value);
  Values& values = is_own ? own_ : shared_;
  const std::pair key{value, is_own ? lane : 0};
  if (const auto known = values.find(key); known != values.end()) return &known->second;
  const Inst* by = definition(value);
  if (!by || depth_ == deepest) return nullptr;
  ++depth_;
  const auto made = make(Inst(*by), value, key.second);
  --depth_;
  return made ? &values.emplace(key, *made).first->second : nullptr;
}

std::optional<TurnValues::Value> TurnValues::make(const Inst& inst, ValueId value, unsigned lane) {
  const auto part = [&](unsigned operand, unsigned of_lane) -> std::optional<Value> {
    const Value* found = find(function_.arg(inst, operand), of_lane);
    return found ? std::optional(*found) : std::nullopt;
  };
  const auto constant = [&](std::uint64_t bits) {
    Inst one = inst;
    one.op = Op::constant;
    one.imm = bits;
    Value made{.first = append(one, 1, {})};
    if (is_dword(inst.type)) made.constant = static_cast<std::uint32_t>(bits);
    return made;
  };
  switch (inst.op) {
    case Op::constant:
      return ir::is_mask(inst.type) ? std::nullopt : std::optional(constant(inst.imm));
    case Op::vconst:
      return constant(function_.pool[static_cast<std::size_t>(inst.imm)][lane]);
    case Op::reg_read:
      return read(inst, lane);
    case Op::splat:
      return part(0, 0);
    case Op::recast: {
      const auto vector = set({value}, lane);
      return vector ? std::optional(Value{.vector = *vector}) : std::nullopt;
    }
    case Op::slice:
      return part(0, static_cast<unsigned>(inst.imm) + lane);
    case Op::concat: {
      const unsigned low = function_.values[function_.arg(inst, 0)].lanes;
      return lane < low ? part(0, lane) : part(1, lane - low);
    }
    default:
      if (inst.op != Op::load && !(ir::is_pure(inst.op) && ir::is_lanewise(inst.op))) return std::nullopt;
      return compute(inst, value - inst.result, lane);
  }
}

std::optional<TurnValues::Value> TurnValues::read(const Inst& inst, unsigned lane) {
  Inst one = inst;
  const std::uint32_t at = inst.region.byte_of(lane, ir::size_of(inst.type)),
                      end = at + ir::size_of(inst.type);
  one.region = ir::Region::packed(at);
  if (std::ranges::any_of(written_, [&](const SlotRange& range) { return overlap(range, {at, end - 1}); }))
    return std::nullopt;
  Value made;
  for (const CountedLoop::Counter& counter : counters_) {
    if (end <= counter.offset || at >= counter.end()) continue;
    if (!is_dword(inst.type) || at < counter.offset || (at - counter.offset) % dword != 0)
      return std::nullopt;
    made.step = counter.step;
  }
  made.first = append(one, 1, {});
  return made;
}

/// Of ops on integers of 32 bits, which wrap around: what increases by a constant per turn.
std::optional<TurnValues::Value> TurnValues::linear_result(const Inst& inst,
                                                           std::span<const Value> operands) {
  const bool casts = inst.op == Op::bitcast || inst.op == Op::convert;
  if (!is_dword(inst.type) || (casts && !is_dword(inst.from))) return std::nullopt;
  std::uint32_t step = 0;
  const auto by_constant = [&](const Value& a, const Value& b, auto scaled) {
    if (!b.constant) return false;
    step = scaled(a.step, *b.constant);
    return true;
  };
  const auto product = [](std::uint32_t a, std::uint32_t b) { return a * b; };
  switch (inst.op) {
    case Op::bitcast:
    case Op::convert:
      step = operands[0].step;
      break;
    case Op::add:
      step = operands[0].step + operands[1].step;
      break;
    case Op::sub:
      step = operands[0].step - operands[1].step;
      break;
    case Op::shl:
      if (!by_constant(operands[0], operands[1],
                       [](std::uint32_t a, std::uint32_t b) { return a << b % 32; }))
        return std::nullopt;
      break;
    case Op::mul:
      if (!by_constant(operands[0], operands[1], product) && !by_constant(operands[1], operands[0], product))
        return std::nullopt;
      break;
    default:
      return std::nullopt;
  }
  return Value{.first = append_first(inst, operands), .step = step};
}

std::optional<TurnValues::Value> TurnValues::compute(const Inst& inst, unsigned result, unsigned lane) {
  std::vector<Value> operands;
  for (unsigned k = 0; k < inst.arg_count; ++k) {
    const Value* found = find(function_.arg(inst, k), lane);
    if (!found) return std::nullopt;
    operands.push_back(*found);
  }
  const bool makes_mask = ir::is_mask(function_.values[inst.result].type);
  if (std::ranges::all_of(operands, &Value::is_linear) && !makes_mask) {
    if (const auto made = linear_result(inst, operands)) return made;
    if (std::ranges::all_of(operands, &Value::is_alike))
      return Value{.first = append_first(inst, operands) + result};
  }
  if (inst.op == Op::load)
    if (const auto row = load_row(inst, result, operands[0]); row || !may_load_apart(inst, operands[0]))
      return row;
  std::vector<ValueId> vectors;
  vectors.reserve(operands.size());
  for (const Value& operand : operands) vectors.push_back(as_vector(operand));
  return Value{.vector = append(inst, turns_, vectors) + result};
}

/// Whether elements may be loaded that are not side by side. Lanes that walk along columns load rows across
/// all lanes, which is faster.
bool TurnValues::may_load_apart(const Inst& load, const Value& address) {
  constexpr std::uint32_t near = 8;
  if (turns_ > most_apart) return false;
  const ValueId of = function_.arg(load, 0);
  return !varies(of) || (address.is_linear() && address.step <= near) || is_looked_up(of);
}

/// Whether the address depends on something that is loaded in the same turn.
bool TurnValues::is_looked_up(ValueId value) {
  if (const auto known = looked_up_.find(value); known != looked_up_.end()) return known->second;
  const Inst* inst = definition(value);
  const bool is = inst != nullptr && (inst->op == Op::load ||
                                      std::ranges::any_of(function_.args(*inst),
                                                          [&](ValueId arg) { return is_looked_up(arg); }));
  return looked_up_[value] = is;
}

/// One element a turn, each behind the one before.
std::optional<TurnValues::Value> TurnValues::load_row(const Inst& load, unsigned component,
                                                      const Value& address) {
  ir::MemoryAccess access = function_.access(load);
  const unsigned bytes = ir::size_of(load.type);
  if (!address.is_linear() || address.step != bytes || load.arg_count != 1 || access.several)
    return std::nullopt;
  access.offset += access.component(component) * bytes;
  const auto loaded = load_block(load, access, address.first, turns_);
  return loaded ? std::optional(Value{.vector = *loaded}) : std::nullopt;
}

/// Adjacent elements from an address on, as many in each turn.
std::optional<ValueId> TurnValues::load_block(const Inst& load, ir::MemoryAccess access, ValueId first,
                                              unsigned elements) {
  access.components = 1;
  const auto parts = parts_of(access, load.type, elements);
  if (!parts) return std::nullopt;
  const Row row{function_.arg(load, 0), elements / turns_ * ir::size_of(load.type)};
  if (std::ranges::find(rows_, row) == rows_.end()) rows_.push_back(row);
  const ValueId loaded = to_->block_load(parts->type, parts->lanes, access, first);
  return parts->type == load.type ? loaded : to_->recast(load.type, loaded);
}

bool TurnValues::store_row(Builder& to, const Inst& store, ValueId address, ValueId data) {
  ir::MemoryAccess access = function_.access(store);
  const auto parts = parts_of(access, store.type, turns_ * access.component_count());
  if (!parts) return false;
  access.components = 1;
  access.several = false;
  to.block_store(access, address, parts->type == store.type ? data : to.recast(parts->type, data));
  return true;
}

/// What elements of all turns consist of where memory ends: the access becomes one of that.
std::optional<TurnValues::Parts> TurnValues::parts_of(ir::MemoryAccess& access, Type type,
                                                      unsigned elements) const {
  const unsigned bytes = ir::size_of(type), part = std::exchange(access.part_bytes, 0);
  const unsigned lanes = part == 0 ? elements : elements * (bytes / part);
  if (lanes > ir::max_lanes || (part != 0 && elements * bytes % recast_bytes != 0)) return std::nullopt;
  if (part == 0) return Parts{type, lanes};
  return Parts{ir::int_type(part, false), lanes};
}

ValueId TurnValues::as_vector(const Value& value) {
  if (value.vector != ir::no_value) return value.vector;
  ValueId& made = spread_.try_emplace({value.first, value.step}, ir::no_value).first->second;
  if (made != ir::no_value) return made;
  made = to_->splat(value.first, turns_);
  if (value.step == 0) return made;
  std::array<std::uint64_t, ir::max_lanes> steps{};
  for (unsigned turn = 0; turn < turns_; ++turn) steps[turn] = static_cast<std::uint32_t>(turn * value.step);
  const Type type = function_.values[value.first].type;
  return made = to_->lanewise(Op::add, {made, to_->vconst(type, turns_, std::span(steps).first(turns_))});
}

// ---- Several components

std::optional<ValueId> TurnValues::set(const Set& values, unsigned lane, unsigned parts) {
  constexpr unsigned deepest = 64;
  const bool is_own = std::ranges::any_of(values, [&](ValueId value) { return varies(value); });
  Sets& sets = is_own ? own_sets_ : shared_sets_;
  const SetKey key{values, is_own ? lane : 0, parts};
  if (const auto known = sets.find(key); known != sets.end()) return known->second;
  if (depth_ == deepest) return std::nullopt;
  ++depth_;
  const auto made = make_set(key);
  --depth_;
  if (made) sets.emplace(key, *made);
  return made;
}

/// Of a value in place of all components: one of dwords, or the same in all turns.
std::optional<ValueId> TurnValues::equal_set(const SetKey& key, unsigned lanes) {
  const Value* found = find(key.values[0], key.lane);
  if (!found) return std::nullopt;
  if (key.values.size() == 1 && key.parts == 1) return as_vector(*found);
  return found->is_alike() ? std::optional(to_->splat(found->first, lanes)) : std::nullopt;
}

std::optional<ValueId> TurnValues::make_set(const SetKey& key) {
  const Set& values = key.values;
  const unsigned lane = key.lane, parts = key.parts;
  const auto lanes = static_cast<unsigned>(turns_ * values.size() * parts);
  if (lanes > ir::max_lanes) return std::nullopt;
  std::vector<const Inst*> by;
  for (const ValueId value : values) {
    by.push_back(definition(value));
    const bool is_like_first = by.back() && by[0] && by.back()->op == by[0]->op &&
                               by.back()->type == by[0]->type && by.back()->from == by[0]->from &&
                               by.back()->arg_count == by[0]->arg_count;
    if (!is_like_first) return std::nullopt;
  }
  const Inst& first = *by[0];
  const auto operand = [&](unsigned k, unsigned of_lane, unsigned of_parts) {
    Set args;
    for (const Inst* inst : by) args.push_back(function_.arg(*inst, k));
    return set(args, of_lane, of_parts);
  };
  const bool are_equal = std::ranges::all_of(values, [&](ValueId value) { return value == values[0]; });
  if (are_equal && parts == 1 && first.op != Op::recast) return equal_set(key, lanes);
  switch (first.op) {
    case Op::load:
      return parts == 1 ? load_set(first, values, lane) : std::nullopt;
    case Op::constant:
      return ir::is_mask(first.type) ? std::nullopt : constants(by, parts);
    case Op::splat:
      // One element is no whole dword.
      if (parts > 1) return are_equal ? equal_set(key, lanes) : std::nullopt;
      return operand(0, 0, parts);
    case Op::recast: {
      // Of dwords, or to them.
      const unsigned of_parts = parts == 1 ? dword / ir::size_of(first.from) : 1;
      if (ir::size_of(first.type) * parts != dword || ir::size_of(first.from) * of_parts != dword ||
          turns_ * values.size() * dword % recast_bytes != 0)
        return std::nullopt;
      const auto from = operand(0, lane, of_parts);
      return from ? std::optional(to_->recast(first.type, *from)) : std::nullopt;
    }
    case Op::slice:
      if (std::ranges::any_of(by, [&](const Inst* inst) { return inst->imm != first.imm; }) ||
          first.imm % parts != 0)
        return std::nullopt;
      return operand(0, static_cast<unsigned>(first.imm) / parts + lane, parts);
    case Op::concat: {
      const unsigned low = function_.values[function_.arg(first, 0)].lanes / parts;
      return lane < low ? operand(0, lane, parts) : operand(1, lane - low, parts);
    }
    default:
      break;
  }
  const bool resizes =
      ir::shape_of(first.op).has_from() && ir::size_of(first.from) != ir::size_of(first.type);
  if (!ir::is_pure(first.op) || !ir::is_lanewise(first.op) || first.result_count != 1 ||
      (parts > 1 && resizes))
    return std::nullopt;
  std::vector<ValueId> args;
  for (unsigned k = 0; k < first.arg_count; ++k) {
    const auto arg = operand(k, lane, parts);
    if (!arg) return std::nullopt;
    args.push_back(*arg);
  }
  return append(first, lanes, args);
}

/// Those of each component again and again.
std::optional<ValueId> TurnValues::constants(std::span<const Inst* const> by, unsigned parts) {
  std::vector<std::uint64_t> lanes;
  for (unsigned turn = 0; turn < turns_; ++turn)
    for (const Inst* inst : by) lanes.insert(lanes.end(), parts, inst->imm);
  return to_->vconst(by[0]->type, static_cast<unsigned>(lanes.size()), lanes);
}

/// All components of a load whose elements follow those of the turn before.
std::optional<ValueId> TurnValues::load_set(const Inst& load, const Set& values, unsigned lane) {
  ir::MemoryAccess access = function_.access(load);
  const unsigned count = access.component_count();
  if (access.components != (1u << count) - 1 || values.size() != count || load.arg_count != 1)
    return std::nullopt;
  for (unsigned k = 0; k < count; ++k)
    if (values[k] != load.result + k) return std::nullopt;
  const Value* address = find(function_.arg(load, 0), lane);
  if (!address || !address->is_linear() || address->step != count * ir::size_of(load.type))
    return std::nullopt;
  access.several = false;
  return load_block(load, access, address->first, turns_ * count);
}

}  // namespace eum::jit

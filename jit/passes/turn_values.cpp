#include "jit/passes/turn_values.hpp"

#include <algorithm>

namespace eum::jit {
namespace {

using ir::Inst;
using ir::Op;
using ir::Type;
using ir::ValueId;

constexpr unsigned dword = 4;
constexpr unsigned most_apart = 16;  // elements that hosts load at arbitrary addresses in line

bool is_dword(Type type) { return ir::is_int(type) && ir::size_of(type) == dword; }

}  // namespace

TurnValues::TurnValues(ir::Builder& to, ir::BlockId loop, std::span<const CountedLoop::Counter> counters,
                       unsigned turns)
    : to_(to), function_(to.function()), loop_(loop), counters_(counters), sums_(to), turns_(turns) {
  const auto& insts = function_.blocks[loop].insts;
  for (std::uint32_t i = 0; i < insts.size(); ++i) {
    for (unsigned k = 0; k < insts[i].result_count; ++k) definitions_[insts[i].result + k] = i;
    if (insts[i].op != Op::reg_write) continue;
    const auto counter = std::ranges::find(counters, insts[i].region.offset, &CountedLoop::Counter::offset);
    if (counter == counters.end()) writes_.push_back({i, slots_of(insts[i], 1)});
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
  pending_.clear();
  sums_.clear();
}

std::optional<ValueId> TurnValues::in_turns(std::span<const ValueId> values, unsigned lane) {
  if (values.size() > 1) return set(Set(values.begin(), values.end()), lane);
  const Value* found = find(values[0], lane);
  return found ? std::optional(as_vector(*found)) : std::nullopt;
}

std::optional<TurnSum> TurnValues::sum(ValueId value, unsigned lane) {
  const Value* found = find(value, lane);
  return found ? found->sum : std::nullopt;
}

void TurnValues::write_left() {
  for (const auto& [place, value] : left_) to_.reg_write(ir::Region::packed(place), value);
  left_.clear();
}

std::optional<ValueId> TurnValues::first_turn(ValueId value) {
  if (const auto known = first_turns_.find(value); known != first_turns_.end()) return known->second;
  const Inst* by = definition(value);
  if (!by || (!ir::is_pure(by->op) && by->op != Op::reg_read && by->op != Op::load)) return std::nullopt;
  if (by->op == Op::reg_read) {
    const std::uint32_t index = definitions_.at(value);
    const auto is_before = [&](const Write& write) {
      return write.index < index && overlap(write.bytes, slots_of(*by, 1));
    };
    if (std::ranges::any_of(writes_, is_before)) return std::nullopt;
  }
  Inst inst = *by;
  inst.mask = ir::no_value;
  std::vector<ValueId> args;
  for (unsigned k = 0; k < inst.arg_count; ++k) {
    const auto made = first_turn(function_.arg(inst, k));
    if (!made) return std::nullopt;
    args.push_back(*made);
  }
  const unsigned result = value - inst.result;
  return first_turns_[value] = to_.append(inst, args) + result;
}

ValueId TurnValues::append(Inst inst, unsigned lanes, std::span<const ValueId> args) {
  inst.lanes = static_cast<std::uint8_t>(lanes);
  inst.mask = ir::no_value;
  return to_.append(inst, args);
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
  const Key key{value, is_own ? lane : 0};
  if (const auto known = values.find(key); known != values.end()) return &known->second;
  const Inst* by = definition(value);
  if (!by || depth_ == deepest || !pending_.insert(key).second) return nullptr;
  ++depth_;
  auto made = make(Inst(*by), value, key.second);
  --depth_;
  if (!made) return nullptr;
  pending_.erase(key);
  if (!is_own && made->sum) made->sum = sums_.as_shared(*made->sum);
  return &values.emplace(key, *made).first->second;
}

std::optional<TurnValues::Value> TurnValues::part(const Inst& inst, unsigned operand, unsigned lane) {
  const Value* found = find(function_.arg(inst, operand), lane);
  return found ? std::optional(*found) : std::nullopt;
}

std::optional<TurnValues::Value> TurnValues::make(const Inst& inst, ValueId value, unsigned lane) {
  const auto of_mask = [&](bool is_set) {
    const std::uint64_t bits = is_set ? ir::lane_mask(turns_) : 0;
    return Value{.type = Type::m, .vector = to_.constant(Type::m, turns_, bits)};
  };
  const auto constant = [&](std::uint64_t bits) -> std::optional<Value> {
    if (ir::is_mask(inst.type)) return of_mask((bits >> lane & 1) != 0);
    if (is_dword(inst.type)) return Value{inst.type, TurnSum{.constant = static_cast<std::uint32_t>(bits)}};
    return Value{inst.type, {}, to_.constant(inst.type, 1, bits)};
  };
  switch (inst.op) {
    case Op::constant:
      return constant(inst.imm);
    case Op::vconst:
      return constant(function_.pool[static_cast<std::size_t>(inst.imm)][lane]);
    case Op::mask_get:
      return inst.imm == 0 ? std::optional(of_mask(true)) : std::nullopt;
    case Op::reg_read:
      return read(inst, definitions_.at(value), lane);
    case Op::splat:
      return part(inst, 0, 0);
    case Op::recast: {
      const auto vector = set({value}, lane);
      return vector ? std::optional(Value{.type = inst.type, .vector = *vector}) : std::nullopt;
    }
    case Op::slice:
      return part(inst, 0, static_cast<unsigned>(inst.imm) + lane);
    case Op::concat: {
      const unsigned low = function_.values[function_.arg(inst, 0)].lanes;
      return lane < low ? part(inst, 0, lane) : part(inst, 1, lane - low);
    }
    default:
      if (inst.op != Op::load && inst.op != Op::join && !(ir::is_pure(inst.op) && ir::is_lanewise(inst.op)))
        return std::nullopt;
      return compute(inst, value - inst.result, lane);
  }
}

// ---- Registers

/// What the turn itself has written; else what the turn before has left; else what is there all the time.
std::optional<TurnValues::Value> TurnValues::read(const Inst& inst, std::uint32_t index, unsigned lane) {
  Inst one = inst;
  const std::uint32_t at = inst.region.byte_of(lane, ir::size_of(inst.type));
  const SlotRange bytes{at, at + ir::size_of(inst.type) - 1};
  one.region = ir::Region::packed(at);
  one.lanes = 1;
  const Write *before = nullptr, *behind = nullptr;
  for (const Write& write : writes_)
    if (overlap(write.bytes, bytes)) (write.index < index ? before : behind) = &write;
  if (before) return written(*before, inst.type, bytes);
  if (behind) {
    const auto value = written(*behind, inst.type, bytes);
    return value ? from_turn_before(one, *value) : std::nullopt;
  }
  return counter(one, bytes);
}

/// What the op reads, a counter or a number that stays.
std::optional<TurnValues::Value> TurnValues::counter(const Inst& read, SlotRange bytes) {
  const CountedLoop::Counter* counter = nullptr;
  for (const CountedLoop::Counter& other : counters_)
    if (overlap(bytes, {other.offset, other.end() - 1})) counter = &other;
  const bool is_whole = !counter || (is_dword(read.type) && bytes.first >= counter->offset &&
                                     (bytes.first - counter->offset) % dword == 0);
  if (!is_whole) return std::nullopt;
  Value value = alike(read.type, append(read, 1, {}), true);
  if (!counter) return value;
  value.sum->step = counter->step;
  if (counter->has_low_zeros) value.sum->zeros = static_cast<std::uint32_t>(std::countr_zero(counter->step));
  return value;
}

/// The bytes, all of which an op has written.
std::optional<TurnValues::Value> TurnValues::written(const Write& write, Type type, SlotRange bytes) {
  // A copy, as operands move when others are added.
  const Inst inst = function_.blocks[loop_].insts[write.index];
  const unsigned size = ir::size_of(inst.type), at = bytes.first - inst.region.offset, lane = at / size;
  if (inst.mask != ir::no_value || inst.region.stride(inst.lanes) != 1 || bytes.first < inst.region.offset ||
      lane >= inst.lanes || at % size + ir::size_of(type) > size)
    return std::nullopt;
  ValueId source = function_.arg(inst, 0);
  if (ir::size_of(type) < size) {
    // The part that has been extended.
    const Inst* by = definition(source);
    if (at % size != 0 || !by || by->op != Op::convert || !ir::is_int(by->from) ||
        ir::size_of(by->from) != ir::size_of(type) || !ir::is_int(inst.type))
      return std::nullopt;
    source = function_.arg(*by, 0);
  }
  const Value* found = find(source, lane);
  return found ? std::optional(cast(*found, type)) : std::nullopt;
}

/// A register's lane as the turn begins, `one`, of which each turn leaves `value` to the next.
std::optional<TurnValues::Value> TurnValues::from_turn_before(const Inst& one, const Value& value) {
  const ValueId vector = as_vector(value);
  left_.insert_or_assign(one.region.offset, to_.slice(vector, turns_ - 1, 1));
  ValueId turns = append(one, 1, {});
  if (turns_ > 1) turns = to_.concat(turns, to_.slice(vector, 0, turns_ - 1));
  return Value{.type = one.type, .vector = turns};
}

// ---- Ops

TurnValues::Value TurnValues::alike(Type type, ValueId first, bool is_own) {
  return is_dword(type) ? Value{type, sums_.term(first, is_own)} : Value{type, {}, first};
}

/// The same bits.
TurnValues::Value TurnValues::cast(const Value& value, Type type) {
  if (value.type == type) return value;
  if (value.sum && is_dword(type)) return {type, value.sum};
  if (value.is_alike()) return alike(type, to_.convert(Op::bitcast, type, first_of(value)), true);
  return {.type = type, .vector = to_.convert(Op::bitcast, type, as_vector(value))};
}

/// In the first turn; not of a vector.
ValueId TurnValues::first_of(const Value& value) {
  return value.sum ? sums_.first(*value.sum, value.type) : value.first;
}

ValueId TurnValues::as_vector(const Value& value) {
  if (value.vector != ir::no_value) return value.vector;
  std::vector<std::uint32_t> steps(turns_);
  for (unsigned turn = 0; value.sum && turn < turns_; ++turn) steps[turn] = turn * value.sum->step;
  return spread(first_of(value), steps);
}

/// A vector of the sums of a number and each step.
ValueId TurnValues::spread(ValueId first, std::span<const std::uint32_t> steps) {
  const auto lanes = static_cast<unsigned>(steps.size());
  const std::pair key{first, std::vector(steps.begin(), steps.end())};
  ValueId& made = spread_.try_emplace(key, ir::no_value).first->second;
  if (made != ir::no_value) return made;
  made = to_.splat(first, lanes);
  if (std::ranges::all_of(steps, [](std::uint32_t step) { return step == 0; })) return made;
  const std::vector<std::uint64_t> numbers(steps.begin(), steps.end());
  return made = to_.lanewise(Op::add, {made, to_.vconst(to_.type_of(first), lanes, numbers)});
}

std::optional<TurnValues::Value> TurnValues::compute(const Inst& inst, unsigned result, unsigned lane) {
  std::vector<Value> operands;
  for (unsigned k = 0; k < inst.arg_count; ++k) {
    const auto found = part(inst, k, lane);
    if (!found) return std::nullopt;
    operands.push_back(*found);
  }
  if (inst.op == Op::select && function_.arg(inst, 1) == function_.arg(inst, 2)) return operands[1];
  const Type type = function_.values[inst.result + result].type;
  if (is_dword(type) && result == 0 &&
      std::ranges::all_of(operands, [](const Value& of) { return of.sum.has_value(); })) {
    std::vector<TurnSum> sums;
    sums.reserve(operands.size());
    for (const Value& operand : operands) sums.push_back(*operand.sum);
    if (const auto sum = sums_.result(inst, sums)) return Value{type, sum};
  }
  if (std::ranges::all_of(operands, &Value::is_alike) && !ir::is_mask(type)) {
    std::vector<ValueId> firsts;
    firsts.reserve(operands.size());
    for (const Value& operand : operands) firsts.push_back(first_of(operand));
    return alike(type, append(inst, 1, firsts) + result, true);
  }
  if (inst.op == Op::load)
    if (const auto row = load_row(inst, result, operands[0]); row || !may_load_apart(inst, operands[0]))
      return row;
  std::vector<ValueId> vectors;
  vectors.reserve(operands.size());
  for (const Value& operand : operands) vectors.push_back(as_vector(operand));
  return Value{.type = type, .vector = append(inst, turns_, vectors) + result};
}

/// Whether elements may be loaded that are not side by side. Lanes that walk along columns load rows across
/// all lanes, which is faster.
bool TurnValues::may_load_apart(const Inst& load, const Value& address) {
  constexpr std::uint32_t near = 8;
  if (turns_ > most_apart) return false;
  const ValueId of = function_.arg(load, 0);
  const bool is_near = address.sum && address.sum->step + near <= 2 * near;
  return is_near || !varies(of) || is_looked_up(of);
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
  if (!address.sum || address.sum->step != bytes || load.arg_count != 1 || access.several)
    return std::nullopt;
  access.offset += access.component(component) * bytes;
  const auto loaded = load_block(load, access, *address.sum, turns_);
  return loaded ? std::optional(Value{.type = load.type, .vector = *loaded}) : std::nullopt;
}

/// Adjacent elements from a place on, as many in each turn.
std::optional<ValueId> TurnValues::load_block(const Inst& load, ir::MemoryAccess access, const TurnSum& place,
                                              unsigned elements) {
  access.components = 1;
  const auto parts = parts_of(access, load.type, elements);
  if (!parts) return std::nullopt;
  const Row row{function_.arg(load, 0), elements / turns_ * ir::size_of(load.type)};
  if (std::ranges::find(rows_, row) == rows_.end()) rows_.push_back(row);
  const ValueId loaded = to_.block_load(parts->type, parts->lanes, access, sums_.first(place));
  return parts->type == load.type ? loaded : to_.recast(load.type, loaded);
}

bool TurnValues::store_row(const Inst& store, const TurnSum& place, ValueId data, ValueId mask) {
  ir::MemoryAccess access = function_.access(store);
  const unsigned elements = to_.lanes_of(data);
  access.components = 1;
  access.several = false;
  if (mask != ir::no_value) {
    if (elements != turns_ || access.part_bytes != 0) return false;
    const ValueId places = as_vector({Type::u32, place});
    const unsigned part = std::min(turns_, most_apart);
    for (unsigned first = 0; first < turns_; first += part) {
      const ValueId own = to_.slice(data, first, part), stored = to_.slice(mask, first, part);
      const ValueId offsets = to_.slice(places, first, part);
      to_.store(access, offsets, {&own, 1}, stored);
    }
    return true;
  }
  if (place.step != elements / turns_ * ir::size_of(store.type)) {
    // From the last element down.
    if (elements != turns_ || access.part_bytes != 0 || elements > most_apart) return false;
    Inst down = store;
    function_.set_access(down, access);
    append(down, elements, std::array{as_vector({Type::u32, place}), data});
    return true;
  }
  const auto parts = parts_of(access, store.type, elements);
  if (!parts) return false;
  const ValueId address = sums_.first(place);
  to_.block_store(access, address, parts->type == store.type ? data : to_.recast(parts->type, data));
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

}  // namespace eum::jit

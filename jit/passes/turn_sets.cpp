// TurnValues of several values at once.
#include <algorithm>

#include "jit/passes/turn_values.hpp"

namespace eum::jit {
namespace {

using ir::Inst;
using ir::Op;
using ir::Type;
using ir::ValueId;

constexpr unsigned dword = 4;
constexpr unsigned deepest = 64;

}  // namespace

std::optional<ValueId> TurnValues::set(const Set& values, unsigned lane, unsigned parts) {
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

/// Of a value in place of all components: one of dwords, a sum, or the same in all turns.
std::optional<ValueId> TurnValues::equal_set(const SetKey& key) {
  const Value* found = find(key.values[0], key.lane);
  if (!found) return std::nullopt;
  if (key.values.size() == 1 && key.parts == 1) return as_vector(*found);
  if (found->is_alike()) return to_.splat(first_of(*found), lanes_of(key));
  return found->sum && key.parts == 1 ? set_of_sums(key) : std::nullopt;
}

/// Whether the value may turn out to be one.
bool TurnValues::may_be_sum(ValueId value, unsigned depth) const {
  const Inst* inst = definition(value);
  if (!inst || depth == deepest / 4 || !ir::is_int(inst->type) || ir::size_of(inst->type) != dword)
    return false;
  switch (inst->op) {
    case Op::constant:
    case Op::vconst:
    case Op::reg_read:
      return true;
    case Op::splat:
    case Op::slice:
    case Op::concat:
    case Op::bitcast:
    case Op::convert:
    case Op::add:
    case Op::sub:
    case Op::not_:
    case Op::shl:
    case Op::mul:
    case Op::or_:
      return std::ranges::all_of(function_.args(*inst),
                                 [&](ValueId arg) { return may_be_sum(arg, depth + 1); });
    default:
      return false;
  }
}

/// Of numbers that are constants apart.
std::optional<ValueId> TurnValues::set_of_sums(const SetKey& key) {
  std::vector<TurnSum> sums;
  for (const ValueId value : key.values) {
    const Value* found = find(value, key.lane);
    if (!found || !found->sum || (!sums.empty() && !found->sum->is_near(sums[0]))) return std::nullopt;
    sums.push_back(*found->sum);
  }
  std::vector<std::uint32_t> steps;
  for (unsigned turn = 0; turn < turns_; ++turn)
    for (const TurnSum& sum : sums) steps.push_back(sum.constant - sums[0].constant + turn * sum.step);
  return spread(sums_.first(sums[0], function_.values[key.values[0]].type), steps);
}

std::optional<ValueId> TurnValues::make_set(const SetKey& key) {
  const Set& values = key.values;
  if (lanes_of(key) > ir::max_lanes) return std::nullopt;
  const auto has_op = [&](Op op) {
    return std::ranges::all_of(values, [&](ValueId value) {
      const Inst* inst = definition(value);
      return inst && inst->op == op;
    });
  };
  if (key.is_of_one() && key.parts == 1 && !has_op(Op::recast)) return equal_set(key);
  const bool are_sums = key.parts == 1 && values.size() > 1 && !has_op(Op::constant) &&
                        std::ranges::all_of(values, [&](ValueId value) { return may_be_sum(value); });
  if (are_sums) return set_of_sums(key);
  std::vector<const Inst*> by;
  for (const ValueId value : values) {
    by.push_back(definition(value));
    const bool is_like_first = by.back() && by[0] && by.back()->op == by[0]->op &&
                               by.back()->type == by[0]->type && by.back()->from == by[0]->from &&
                               by.back()->arg_count == by[0]->arg_count;
    if (!is_like_first) return std::nullopt;
  }
  return set_of(by, key);
}

/// Of the results of alike ops.
std::optional<ValueId> TurnValues::set_of(std::span<const Inst* const> by, const SetKey& key) {
  const unsigned lane = key.lane, parts = key.parts;
  const Inst& first = *by[0];
  const auto operand = [&](unsigned k, unsigned of_lane, unsigned of_parts) {
    Set args;
    for (const Inst* inst : by) args.push_back(function_.arg(*inst, k));
    return set(args, of_lane, of_parts);
  };
  switch (first.op) {
    case Op::load:
      return parts == 1 ? load_set(by, key) : std::nullopt;
    case Op::constant:
      return ir::is_mask(first.type) ? std::nullopt : constants(by, parts);
    case Op::splat:
      // One element is no whole dword.
      if (parts > 1) return key.is_of_one() ? equal_set(key) : std::nullopt;
      return operand(0, 0, parts);
    case Op::recast: {
      // Of dwords, or to them.
      const unsigned of_parts = parts == 1 ? dword / ir::size_of(first.from) : 1;
      if (ir::size_of(first.type) * parts != dword || ir::size_of(first.from) * of_parts != dword ||
          turns_ * by.size() * dword % recast_bytes != 0)
        return std::nullopt;
      const auto from = operand(0, lane, of_parts);
      return from ? std::optional(to_.recast(first.type, *from)) : std::nullopt;
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
  return append(first, lanes_of(key), args);
}

/// Those of each component again and again.
std::optional<ValueId> TurnValues::constants(std::span<const Inst* const> by, unsigned parts) {
  std::vector<std::uint64_t> lanes;
  for (unsigned turn = 0; turn < turns_; ++turn)
    for (const Inst* inst : by) lanes.insert(lanes.end(), parts, inst->imm);
  return to_.vconst(by[0]->type, static_cast<unsigned>(lanes.size()), lanes);
}

/// Components of loads that are all that a turn loads of a row, in the order of memory.
std::optional<ValueId> TurnValues::load_set(std::span<const Inst* const> by, const SetKey& key) {
  const unsigned bytes = ir::size_of(by[0]->type);
  const auto count = static_cast<unsigned>(by.size());
  ir::MemoryAccess access = function_.access(*by[0]);
  TurnSum first;
  for (unsigned k = 0; k < count; ++k) {
    ir::MemoryAccess other = function_.access(*by[k]);
    const Value* address = by[k]->arg_count == 1 ? find(function_.arg(*by[k], 0), key.lane) : nullptr;
    if (!address || !address->sum) return std::nullopt;
    TurnSum place = *address->sum;
    place.constant += other.component(key.values[k] - by[k]->result) * bytes;
    if (k == 0) first = place;
    other.components = access.components;
    other.several = access.several;
    if (other != access || !place.is_near(first) || place.constant - first.constant != k * bytes)
      return std::nullopt;
  }
  if (first.step != count * bytes || access.component(key.values[0] - by[0]->result) != 0)
    return std::nullopt;
  access.several = false;
  return load_block(*by[0], access, first, turns_ * count);
}

}  // namespace eum::jit

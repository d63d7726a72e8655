#include "jit/passes/inert_body.hpp"

#include <algorithm>
#include <utility>

#include "jit/analysis/block_facts.hpp"

namespace eum::jit {

using namespace ir;

namespace {

/// Writes of a block that get their old content back.
constexpr std::size_t most_undone = 4;
/// Elements of each channel that are stored.
constexpr unsigned most_stored = 4;
/// Of a block that stores: longer ones are not short.
constexpr std::size_t most_insts = 400;

/// Adds the write to those that get their old content back.
bool may_undo(const Inst& write, std::vector<Inst>& undone) {
  const auto is_same = [&](const Inst& other) {
    return other.op == write.op && other.type == write.type && other.lanes == write.lanes &&
           (write.op == Op::flag_write ? other.imm == write.imm : other.region == write.region);
  };
  if (std::ranges::any_of(undone, is_same)) return true;
  if (undone.size() == most_undone) return false;
  undone.push_back(write);
  return true;
}

}  // namespace

std::optional<InertBodies::Body> InertBodies::body(const Block& block, std::size_t first, ValueId on,
                                                   const BodyLimit& limit) {
  Body body;
  CostLimit cost = limit.cost;
  if (!note_stores(block, body, cost) || !is_short(block, first, cost)) return {};
  if (!body.stored.empty() && !limit.may_store) return {};
  parts_ = {on};
  for (std::size_t i = first; i + 1 < block.insts.size(); ++i) {
    const Inst& inst = block.insts[i];
    if (!is_inert(block, inst)) {
      if (inst.op != Op::reg_write && inst.op != Op::flag_write) return {};
      if (is_wanted(inst, block.insts.back()) && !may_undo(inst, body.undone)) return {};
    }
    if (is_mask(inst.type) && inst.result_count == 1 && is_part_made(inst)) parts_.push_back(inst.result);
  }
  return body;
}

/// Of what stores, only a body is executed for no channel that stores few elements of each channel to
/// buffers. Threads with no channel for the body are frequent in local memory, and a store costs more than
/// what leads to it. If bodies have been joined there, each mask has its stores; what goes to the same places
/// may become one (join_stores), so that the others cost nothing.
bool InertBodies::note_stores(const Block& block, Body& body, CostLimit& cost) const {
  struct Under {
    ValueId mask;
    unsigned lanes = 0;
    std::vector<Stored> stored;
  };
  std::vector<Under> masks;
  for (const Inst& inst : block.insts) {
    body.loads |= inst.op == Op::load;
    if (inst.op != Op::store) continue;
    const MemoryAccess& access = function_.access(inst);
    if (!access.is_fixed_surface() || block.insts.size() > most_insts) return false;
    const ValueId mask = whole_mask(block, inst.mask);
    auto under = std::ranges::find(masks, mask, &Under::mask);
    if (under == masks.end()) under = masks.insert(under, {mask, 0, {}});
    under->lanes += inst.lanes;
    under->stored.push_back({inst.type, access, inst.lanes, form_of(block, arg(inst, 0))});
  }
  if (masks.empty()) return true;
  for (Under& under : masks) std::ranges::sort(under.stored, {}, &Stored::place);
  body.stored = masks.front().stored;
  body.stored_lanes = masks.front().lanes;
  body.has_branches = masks.size() > 1;
  if (body.stored_lanes > most_stored * function_.simd) return false;
  // Conditions one within the other compare floats rather than compute them.
  if (body.has_branches) cost.cost = cost.integer_cost;
  for (std::size_t other = 1; other < masks.size(); ++other) {
    if (masks[other].stored != body.stored) return false;
    const unsigned with_addresses = access_cost(body.stored_lanes) * 3 / 2;
    cost.cost += with_addresses;
    cost.integer_cost += with_addresses;
  }
  return true;
}

/// A number that tells how a value is computed from what the block finds in registers: values of several
/// blocks that have the same are mostly the same. Of a register that was written in parts, the last one
/// tells.
std::uint64_t InertBodies::form_of(const Block& block, ValueId value, unsigned depth) const {
  constexpr unsigned deepest = 6;
  const Inst* made = definition(block, value);
  if (!made || depth == deepest) return 0;
  if (made->op == Op::reg_read) {
    for (auto k = static_cast<std::size_t>(made - block.insts.data()); k-- > 0;) {
      const Inst& before = block.insts[k];
      if (before.op == Op::reg_write && overlap(slots_of(before, 1), slots_of(*made, 1)))
        return form_of(block, arg(before, 0), depth + 1);
    }
  } else if (made->op == Op::bitcast) {
    return form_of(block, arg(*made, 0), depth + 1);
  }
  const std::uint64_t from = made->op == Op::reg_read ? made->region.offset : made->imm;
  std::uint64_t form = from + (static_cast<std::uint64_t>(made->op) << 32 | made->lanes);
  for (const ValueId operand : function_.args(*made))
    form = (form ^ form >> 29) * 0x9e3779b97f4a7c15 + form_of(block, operand, depth + 1);
  return form;
}

/// The mask of which this one is a slice.
ValueId InertBodies::whole_mask(const Block& block, ValueId mask) const {
  const Inst* made = mask == no_value ? nullptr : definition(block, mask);
  return made && made->op == Op::slice ? arg(*made, 0) : mask;
}

bool InertBodies::is_inert(const Block& block, const Inst& inst) const {
  switch (inst.op) {
    case Op::spend:
      return counts_if_any(block, inst) || counts_empty(block, inst);
    case Op::mask_set:
      return inst.imm == 0 ? is_part(arg(inst, 0)) : only_adds(block, inst) || sets_part(block, inst);
    case Op::load:
    case Op::store:
    case Op::reg_write:
    case Op::flag_write:
      return inst.mask != no_value && is_part(inst.mask);
    default:
      return true;
  }
}

/// Whether it counts nothing if no channel is active.
bool InertBodies::counts_if_any(const Block& block, const Inst& inst) const {
  const ValueId counted = arg(inst, 0);
  if (is_part(counted)) return true;
  // As append_if_any() leaves it.
  const Inst* both = definition(block, counted);
  const Inst* any = both && both->op == Op::and_ ? definition(block, arg(*both, 1)) : nullptr;
  return any && any->op == Op::group_any && is_part(arg(*any, 0));
}

bool InertBodies::counts_empty(const Block& block, const Inst& inst) const {
  if (inst.op != Op::spend) return false;
  const Inst* wanted = definition(block, arg(inst, 0));
  if (!wanted || wanted->op != Op::or_) return wanted && wanted->op == Op::constant;
  const Inst* none = definition(block, arg(*wanted, 1));
  return none && none->op == Op::not_;
}

/// Whether it has no channel that the execution mask does not have.
bool InertBodies::is_part(ValueId mask) const { return std::ranges::find(parts_, mask) != parts_.end(); }
bool InertBodies::is_part_made(const Inst& inst) const {
  switch (inst.op) {
    case Op::mask_get:
    case Op::constant:
      return inst.imm == 0;
    case Op::slice:
      return is_part(arg(inst, 0));
    case Op::and_:
      return is_part(arg(inst, 0)) || is_part(arg(inst, 1));
    case Op::andn:
      return is_part(arg(inst, 1));
    case Op::or_:
    case Op::concat:
      return is_part(arg(inst, 0)) && is_part(arg(inst, 1));
    default:
      return false;
  }
}

/// Whether it only adds channels of the execution mask to the variable.
bool InertBodies::only_adds(const Block& block, const Inst& set) const {
  const ValueId more = added(function_, set, [&](ValueId value) { return definition(block, value); });
  return more != no_value && is_part(more);
}

/// Whether channels of the execution mask replace none that were in the variable.
bool InertBodies::sets_part(const Block& block, const Inst& set) const {
  const auto id = static_cast<BlockId>(&block - function_.blocks.data());
  return is_part(arg(set, 0)) && !parked_(id, set.imm);
}

/// Whether one of the blocks that follow needs the write.
bool InertBodies::is_wanted(const Inst& write, const Inst& terminator) const {
  return std::ranges::any_of(successors(terminator), [&](BlockId next) {
    return next != no_block && liveness_.is_written_for(write, liveness_.live_in(next));
  });
}

}  // namespace eum::jit

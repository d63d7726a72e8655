#include "jit/passes/access_pairs.hpp"

#include <algorithm>

#include "jit/analysis/access_form.hpp"

namespace eum::jit {

using ir::Effect;
using ir::Inst;
using ir::no_value;
using ir::Op;

void AccessPairs::begin(std::span<const Inst> insts, std::span<const std::uint32_t> definitions) {
  insts_ = insts;
  definitions_ = definitions;
  const auto set =
      std::ranges::find_if(insts, [](const Inst& inst) { return inst.op == Op::mask_set && inst.imm == 0; });
  mask_set_ = static_cast<std::size_t>(set - insts.begin());
}

bool AccessPairs::add(std::span<ScalarRun> found) {
  constexpr std::size_t farthest = 8;  // accesses
  // Where a thread stops in between, the first load must have happened, and nothing of the second one.
  if (!optimisations_[Optimisation::pairs] || liveness_.exact()) return false;
  ScalarRun& second = found.back();
  if (second.index > mask_set_ || !may_pair(second)) return false;
  for (std::size_t i = found.size() - 1; i-- > 0 && i + farthest >= found.size();) {
    ScalarRun& first = found[i];
    if (first.pair != no_value || first.address_count != 1 || !may_pair(first) || !goes_on(first, second) ||
        !may_be_at_once(first.index, second.index))
      continue;
    const Inst& inst = insts_[first.index];
    first.pair = second.pair = function_.add_value(inst.type, 2 * inst.lanes);
    return true;
  }
  return false;
}

/// Whole vectors of dwords or words, or half vectors of bytes, in memory that never faults, or by distances
/// from a base: both halves are found to be in bounds before either is accessed, and if they are not, one is
/// accessed after the other.
bool AccessPairs::may_pair(const ScalarRun& access) const {
  const Inst& inst = insts_[access.index];
  if ((inst.op != Op::load && inst.op != Op::store) || inst.lanes > ir::max_lanes / 2) return false;
  const unsigned element = ir::size_of(inst.type), unit = element == 1 ? 16 : 32;
  if (element > 4 || inst.lanes * element % unit != 0) return false;
  const ir::MemoryAccess& mem = function_.access(inst);
  return mem.component_count() == 1 && access.run.run >= inst.lanes &&
         access.run.stride * std::int64_t{mem.scale} == element && access.run.within == ~0u &&
         (mem.never_faults() || mem.is_based()) &&
         runs_of(optimisations_, inst.op, inst.type, inst.lanes, mem, access.run) == 1 &&
         has_all_on(inst.mask);
}

bool AccessPairs::goes_on(const ScalarRun& first, const ScalarRun& second) const {
  const Inst &a = insts_[first.index], &b = insts_[second.index];
  if (a.op != b.op || a.type != b.type || a.lanes != b.lanes || function_.access(a) != function_.access(b))
    return false;
  const ir::MemoryAccess& mem = function_.access(a);
  if (mem.surface_is_operand && function_.arg(a, 0) != function_.arg(b, 0)) return false;
  const unsigned at = mem.address_operand();
  const SymbolicSum here = linear_.ramp(function_.arg(a, at), true).lane(0),
                    there = linear_.ramp(function_.arg(b, at), true).lane(0);
  return here.symbol != no_symbol && here.symbol == there.symbol &&
         (there.offset - here.offset) * std::uint64_t{mem.scale} == a.lanes * ir::size_of(a.type);
}

/// Nothing between them may observe the difference, or fault: loads are done at the first place, stores at
/// the second.
bool AccessPairs::may_be_at_once(std::uint32_t first, std::uint32_t second) const {
  const bool loads = insts_[first].op == Op::load;
  for (std::uint32_t i = first + 1; i < second; ++i) {
    const Inst& inst = insts_[i];
    const Effect effect = ir::info(inst.op).effect;
    if (effect == Effect::WritesMemory || effect == Effect::Effect || effect == Effect::Control) return false;
    const bool is_load = inst.op == Op::load && ir::info(function_.access(inst).space).bounded_reads;
    if (loads ? ir::may_leave(inst.op) && !is_load : effect == Effect::ReadsMemory || ir::may_leave(inst.op))
      return false;
  }
  return true;
}

/// Whether every lane of the mask is active if all channels are.
bool AccessPairs::has_all_on(ir::ValueId mask) const {
  if (mask == no_value) return true;
  const Inst& inst = insts_[definitions_[mask]];
  return inst.op == Op::mask_get ? inst.imm == 0 : inst.op == Op::slice && has_all_on(function_.arg(inst, 0));
}

}  // namespace eum::jit

// The next uses of values and slots in a block; see block_code.hpp.
#include <algorithm>

#include "jit/codegen/block_code.hpp"

namespace eum::jit::codegen {

using ir::Inst;
using ir::no_value;
using ir::Op;
using ir::ValueId;

namespace {

/// Whether the instruction reads slots that are known only at run time.
bool reads_any_slot(const Inst& inst) {
  return inst.op == Op::reg_gather || (inst.op == Op::reg_scatter && inst.own.given());
}

}  // namespace

void BlockCode::take(std::span<CodeInst> insts) {
  kept_ = insts;
  live_out_ = BitSet(liveness_.slots());
  changes_mask_ = mask_may_grow_ = ends_in_comparison_ = false;
  link_uses();
  index_slot_reads();
}

void BlockCode::link_uses() {
  std::size_t count = 0;
  for (const CodeInst& inst : kept_) count += std::size_t{inst.arg_count} + inst.result_count;
  uses_.resize(count);
  std::size_t next = 0;
  for (std::size_t i = kept_.size(); i-- > 0;) {
    CodeInst& inst = kept_[i];
    inst.first_use = std::span(uses_).subspan(next, inst.result_count);
    next += inst.result_count;
    inst.next_use = std::span(uses_).subspan(next, inst.arg_count);
    next += inst.arg_count;
    for (unsigned k = 0; k < inst.result_count; ++k) {
      inst.first_use[k] = last_seen_[inst.result + k];
      last_seen_[inst.result + k] = never;
    }
    for (std::size_t k = 0; k < inst.args.size(); ++k) inst.next_use[k] = last_seen_[inst.args[k]];
    inst.mask_next_use = inst.mask != no_value ? last_seen_[inst.mask] : never;
    for (ValueId arg : inst.args) last_seen_[arg] = static_cast<std::uint32_t>(i);
    if (inst.mask != no_value) last_seen_[inst.mask] = static_cast<std::uint32_t>(i);
  }
}

void BlockCode::index_slot_reads() {
  const unsigned slots = liveness_.slots(), bytes = liveness_.slot_bytes();
  read_next_.assign(slots, never);
  reads_.clear();
  gathers_.clear();
  observers_.clear();
  for (auto i = static_cast<std::uint32_t>(kept_.size()); i-- > 0;) {
    const CodeInst& inst = kept_[i];
    if (reads_any_slot(inst)) gathers_.push_back(i);
    if (liveness_.observes(inst)) observers_.push_back(i);
    // A masked or partial write reads what it keeps.
    if (inst.op != Op::reg_read && inst.op != Op::reg_write) continue;
    const SlotRange range = slots_of(inst, bytes);
    for (unsigned slot = range.first; slot <= range.last && slot < slots; ++slot) {
      if (inst.op == Op::reg_write && inst.mask == no_value && covers(inst, slot, bytes)) continue;
      reads_.push_back({i, read_next_[slot]});
      read_next_[slot] = static_cast<std::uint32_t>(reads_.size() - 1);
    }
  }
}

std::uint32_t BlockCode::next_read(unsigned slot, std::uint32_t position) {
  std::uint32_t& next = read_next_[slot];
  while (next != never && reads_[next].inst < position) next = reads_[next].next;
  // A gather may read any slot.
  return std::min(next != never ? reads_[next].inst : never, next_of(gathers_, position));
}

bool BlockCode::is_read_beyond(unsigned slot, std::uint32_t position, std::uint64_t bytes) {
  if (next_read(slot, position) == never) return false;
  for (std::uint32_t i = read_next_[slot]; i != never; i = reads_[i].next) {
    const CodeInst& inst = kept_[reads_[i].inst];
    if (inst.lanes == 1) return false;  // comes from memory
    if (inst.op == Op::reg_write) continue;
    return (bytes_of(inst, slot, liveness_.slot_bytes()) & ~bytes) != 0;
  }
  return false;
}

bool BlockCode::is_overwritten(unsigned slot, std::uint32_t position) const {
  constexpr std::size_t far = 12;  // the write of a sum follows it closely
  const unsigned bytes = liveness_.slot_bytes();
  for (std::size_t i = position + 1; i < std::min(kept_.size(), position + far); ++i) {
    const CodeInst& inst = kept_[i];
    if (reads_any_slot(inst) || liveness_.observes(inst)) return false;
    if (inst.op != Op::reg_read && inst.op != Op::reg_write) continue;
    const SlotRange range = slots_of(inst, bytes);
    if (slot < range.first || slot > range.last) continue;
    return inst.op == Op::reg_write && inst.mask == no_value && covers(inst, slot, bytes);
  }
  return false;
}

/// The first from `position` on of instructions that are listed from the last one to the first, or never.
std::uint32_t BlockCode::next_of(std::vector<std::uint32_t>& listed, std::uint32_t position) {
  while (!listed.empty() && listed.back() < position) listed.pop_back();
  return listed.empty() ? never : listed.back();
}

}  // namespace eum::jit::codegen

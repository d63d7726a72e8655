// Emission of connected parts of the data flow one after the other; see schedule.hpp.
#include "jit/codegen/schedule.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

namespace eum::jit::codegen {
namespace {

using ir::no_value;
using ir::Op;
using ir::ValueId;

bool may_move(const CodeInst& inst) {
  if (ir::may_leave(inst.op)) return false;
  switch (inst.op) {
    case Op::reg_read:
    case Op::reg_write:
    case Op::flag_read:
    case Op::flag_write:
    case Op::mask_get:
      return true;
    default:
      return ir::info(inst.op).effect == ir::Effect::Pure;
  }
}

/// Values that computations may share and still count as separate: uniform numbers, masks, what is in memory
/// anyway, and vectors that combine several of their values.
bool is_common(const CodeInst& inst) {
  switch (inst.op) {
    case Op::splat:
    case Op::constant:
    case Op::vconst:
    case Op::mask_get:
    case Op::reg_read:
    case Op::slice:
    case Op::concat:
      return true;
    default:
      return inst.lanes == 1;
  }
}

}  // namespace

Scheduler::Scheduler(const ir::Function& function, const Target& target)
    : target_(target),
      used_behind_(function.values.size()),
      definitions_(function.values.size()),
      next_uses_(function.values.size()),
      slots_(function.file_bytes / target.vector_bytes + 2) {
  registers_.resize(function.values.size());
  const int shift = std::countr_zero(target.vector_bytes);
  std::ranges::transform(function.values, registers_.begin(), [&](const ir::ValueInfo& value) {
    const unsigned bytes = value.lanes == 1 ? 0 : value.lanes * ir::size_of(value.type);  // 0 for masks
    return static_cast<std::uint8_t>((bytes + target.vector_bytes - 1) >> shift);
  });
}

void Scheduler::run(std::span<CodeInst> insts) {
  // A branch is emitted together with the masks before it.
  std::size_t end = insts.size();
  while (end > 0 && (ir::is_mask(insts[end - 1].type) || !may_move(insts[end - 1]))) --end;
  ++block_;
  note_uses(insts.subspan(end));
  while (end > 0) {
    std::size_t begin = end;
    while (begin > 0 && may_move(insts[begin - 1])) --begin;
    order(insts.subspan(begin, end - begin));
    while (begin > 0 && !may_move(insts[begin - 1])) --begin;
    note_uses(insts.subspan(begin, end - begin));
    end = begin;
  }
}

void Scheduler::note_uses(std::span<const CodeInst> insts) {
  for (const CodeInst& inst : insts)
    for (ValueId arg : inst.args) used_behind_[arg] = block_;
}

void Scheduler::find_next_uses(std::span<const CodeInst> insts) {
  ++epoch_;
  uses_.clear();
  const auto end = static_cast<std::uint32_t>(insts.size());
  const auto next_use = [&](ValueId value) {
    if (next_uses_[value].epoch == epoch_) return next_uses_[value].inst;
    return used_behind_[value] == block_ ? end : none;
  };
  for (std::uint32_t i = end; i-- > 0;) {
    const CodeInst& inst = insts[order_[i]];
    for (unsigned k = inst.result_count; k-- > 0;) uses_.push_back(next_use(inst.result + k));
    for (std::size_t k = inst.args.size(); k-- > 0;) uses_.push_back(next_use(inst.args[k]));
    for (ValueId arg : inst.args) next_uses_[arg] = {epoch_, i};
  }
}

/// How many vectors an allocator that evicts what is used last moves to memory and back, in this order.
unsigned Scheduler::spills(std::span<const CodeInst> insts) {
  find_next_uses(insts);
  held_.clear();
  registers_held_ = moves_ = 0;
  for (std::uint32_t i : order_) {
    const CodeInst& inst = insts[i];
    for (ValueId arg : inst.args) use(arg);
    for (unsigned k = 0; k < inst.result_count; ++k) hold(inst.result + k, inst.op == Op::reg_read);
  }
  return moves_;
}

/// Uses a value; the last entry of uses_ is its next use.
void Scheduler::use(ValueId value) {
  const auto found = std::ranges::find(held_, value, &Held::value);
  if (found == held_.end()) {
    moves_ += registers_[value];
    return hold(value, true);
  }
  found->next_use = uses_.back();
  uses_.pop_back();
  if (found->next_use == none) drop(static_cast<std::size_t>(found - held_.begin()));
}

void Scheduler::hold(ValueId value, bool in_memory) {
  const unsigned registers = registers_[value];
  const std::uint32_t next_use = uses_.back();
  uses_.pop_back();
  if (registers == 0 || next_use == none) return;
  registers_held_ += registers;
  held_.push_back({value, next_use, in_memory});
  while (registers_held_ > target_.vector_registers) {
    const auto last = std::ranges::max_element(held_, {}, &Held::next_use);
    if (!last->in_memory) moves_ += registers_[last->value];
    drop(static_cast<std::size_t>(last - held_.begin()));
  }
}

void Scheduler::drop(std::size_t held) {
  registers_held_ -= registers_[held_[held].value];
  held_[held] = held_.back();
  held_.pop_back();
}

void Scheduler::order(std::span<CodeInst> insts) {
  // With fewer moves, the effect of the order on latencies matters as much.
  constexpr std::size_t instructions_a_move = 16;
  if (insts.size() < target_.vector_registers) return;
  order_.resize(insts.size());
  std::iota(order_.begin(), order_.end(), 0);
  const unsigned before = spills(insts);
  if (before * instructions_a_move < insts.size()) return;
  find_edges(insts);
  if (is_one_computation(insts)) return;
  rank(insts);
  sort();
  if (has_chain(insts)) return;
  const unsigned after = spills(insts);
  if (after >= before || (before - after) * instructions_a_move < insts.size()) return;
  ordered_.clear();
  for (std::uint32_t i : order_) ordered_.push_back(insts[i]);
  std::ranges::copy(ordered_, insts.begin());
}

void Scheduler::find_edges(std::span<const CodeInst> insts) {
  ++epoch_;
  edges_.clear();
  computations_.reset(insts.size());
  for (std::uint32_t i = 0; i < insts.size(); ++i) {
    const CodeInst& inst = insts[i];
    const bool joins = !is_common(inst);
    const auto use = [&](ValueId value) {
      if (value == no_value || definitions_[value].epoch != epoch_) return;
      const std::uint32_t definition = definitions_[value].inst;
      edges_.push_back({definition, i});
      if (joins && !is_common(insts[definition])) computations_.join(definition, i);
    };
    for (ValueId arg : inst.args) use(arg);
    for (ValueId arg : inst.first_lanes) use(arg);
    use(inst.mask);
    for (unsigned k = 0; k < inst.result_count; ++k) definitions_[inst.result + k] = {epoch_, i};
    if (inst.op == Op::reg_read || inst.op == Op::reg_write) {
      const SlotRange range = slots_of(inst, target_.vector_bytes);
      for (unsigned slot = range.first; slot <= range.last; ++slot)
        access(slots_[slot], i, inst.op == Op::reg_write);
    } else if (inst.op == Op::flag_read || inst.op == Op::flag_write) {
      access(slots_.back(), i, inst.op == Op::flag_write);
    }
  }
}

void Scheduler::access(Slot& slot, std::uint32_t inst, bool writes) {
  if (slot.epoch != epoch_) {
    slot.epoch = epoch_;
    slot.last_write = none;
    slot.reads.clear();
  }
  if (slot.last_write != none) edges_.push_back({slot.last_write, inst});
  if (!writes) return slot.reads.push_back(inst);
  for (std::uint32_t read : slot.reads) edges_.push_back({read, inst});
  slot.reads.clear();
  slot.last_write = inst;
}

/// Whether the instructions, common ones aside, are a single computation.
bool Scheduler::is_one_computation(std::span<const CodeInst> insts) {
  std::uint32_t first = none;
  for (std::uint32_t i = 0; i < insts.size(); ++i) {
    if (is_common(insts[i])) continue;
    if (first == none) first = computations_.first(i);
    if (computations_.first(i) != first) return false;
  }
  return true;
}

/// Whether a computation exceeds the processor's window and mostly waits for itself: interleaving others with
/// it is then worth their registers.
bool Scheduler::has_chain(std::span<const CodeInst> insts) {
  constexpr std::uint32_t long_vectors = 128;
  constexpr double least_at_once = 2.5;  // XTEA has 2.4; RIPEMD has 2.65, and is faster if emitted as a whole
  depth_.assign(insts.size(), 0);
  work_.assign(insts.size(), 0);
  for (std::uint32_t i : order_) {
    const CodeInst& inst = insts[i];
    if (is_common(inst)) continue;
    const std::uint32_t own = computations_.first(i);
    const std::uint32_t vectors = inst.result_count == 0 ? 0 : registers_[inst.result];
    work_[own] += vectors;
    depth_[i] += vectors != 0 ? 1 : 0;
    depth_[own] = std::max(depth_[own], depth_[i]);
    for (std::uint32_t next : behind(i))
      if (computations_.first(next) == own) depth_[next] = std::max(depth_[next], depth_[i]);
  }
  for (std::uint32_t i = 0; i < insts.size(); ++i)
    if (work_[i] > long_vectors && work_[i] < least_at_once * depth_[i]) return true;
  return false;
}

/// The instructions that must come after this one.
std::span<const std::uint32_t> Scheduler::behind(std::uint32_t inst) const {
  return std::span(targets_).subspan(first_edge_[inst], first_edge_[inst + 1] - first_edge_[inst]);
}

/// Ranks instructions: by computations, and within those in their old order. Common ones come with the first
/// instruction that uses them.
void Scheduler::rank(std::span<const CodeInst> insts) {
  const auto count = static_cast<std::uint32_t>(insts.size());
  first_edge_.assign(count + 1, 0);
  waits_.assign(count, 0);
  for (const Edge& edge : edges_) {
    ++first_edge_[edge.from + 1];
    ++waits_[edge.to];
  }
  std::partial_sum(first_edge_.begin(), first_edge_.end(), first_edge_.begin());
  targets_.resize(edges_.size());
  next_edge_.assign(first_edge_.begin(), first_edge_.end() - 1);
  for (const Edge& edge : edges_) targets_[next_edge_[edge.from]++] = edge.to;
  keys_.resize(count);
  for (std::uint32_t i = count; i-- > 0;) {
    keys_[i] = std::uint64_t{computations_.first(i)} << 32 | i;
    if (!is_common(insts[i]) || behind(i).empty()) continue;
    keys_[i] = ~std::uint64_t{0};
    for (std::uint32_t user : behind(i)) keys_[i] = std::min(keys_[i], keys_[user]);
  }
  by_rank_.resize(count);
  std::iota(by_rank_.begin(), by_rank_.end(), 0);
  std::sort(by_rank_.begin(), by_rank_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return keys_[a] != keys_[b] ? keys_[a] < keys_[b] : a < b;
  });
  rank_.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) rank_[by_rank_[i]] = i;
}

/// Fills order_: of the instructions that wait for nothing, always the one of the lowest rank.
void Scheduler::sort() {
  order_.clear();
  ready_.clear();
  const auto add = [&](std::uint32_t inst) {
    ready_.push_back(rank_[inst]);
    std::push_heap(ready_.begin(), ready_.end(), std::greater());
  };
  for (std::uint32_t i = 0; i < waits_.size(); ++i)
    if (waits_[i] == 0) add(i);
  while (!ready_.empty()) {
    std::pop_heap(ready_.begin(), ready_.end(), std::greater());
    const std::uint32_t inst = by_rank_[ready_.back()];
    ready_.pop_back();
    order_.push_back(inst);
    for (std::uint32_t next : behind(inst))
      if (--waits_[next] == 0) add(next);
  }
}

}  // namespace eum::jit::codegen

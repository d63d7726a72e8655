// Emission of connected parts of the data flow one after the other; see schedule.hpp.
#include "jit/codegen/schedule.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "jit/analysis/latency.hpp"

namespace eum::jit::codegen {
namespace {

using ir::no_value;
using ir::Op;
using ir::ValueId;

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
    case Op::load:
    case Op::store:
      return true;
    default:
      return inst.lanes == 1;
  }
}

/// Of a load or store of the frame, which overlaps with others.
constexpr double cycles_a_move = 0.5;
/// Cycles to save for each vector computed, if loads begin later than they could: fewer of them are in flight
/// at once. half_axpy4 took 1.2 of its time where 0.068 were saved; where it was 0.11, stencil3d took 0.9.
constexpr double least_for_late_loads = 1.0 / 14;

}  // namespace

Scheduler::Scheduler(const ir::Function& function, const Liveness& liveness, const Target& target)
    : function_(function),
      moves_accesses_(!liveness.exact()),
      target_(target),
      estimate_(function, target),
      definitions_(function.values.size()),
      slots_(function.file_bytes / target.vector_bytes + 1 + specials) {}

bool Scheduler::may_move(const CodeInst& inst) const {
  switch (inst.op) {
    case Op::reg_read:
    case Op::reg_write:
    case Op::flag_read:
    case Op::flag_write:
    case Op::mask_get:
      return true;
    default:
      return ir::is_pure(inst.op) || is_moving_access(inst);
  }
}

/// Faults would tell in which order accesses are done.
bool Scheduler::is_moving_access(const CodeInst& inst) const {
  return moves_accesses_ && (inst.op == Op::load || inst.op == Op::store) &&
         function_.access(inst).never_faults();
}

void Scheduler::run(std::span<CodeInst> insts) {
  // A branch is emitted together with the masks before it.
  std::size_t end = insts.size();
  while (end > 0 && (ir::is_mask(insts[end - 1].type) || !may_move(insts[end - 1]))) --end;
  estimate_.begin_block();
  estimate_.note_uses(insts.subspan(end));
  while (end > 0) {
    std::size_t begin = end;
    while (begin > 0 && may_move(insts[begin - 1])) --begin;
    order(insts.subspan(begin, end - begin));
    while (begin > 0 && !may_move(insts[begin - 1])) --begin;
    estimate_.note_uses(insts.subspan(begin, end - begin));
    end = begin;
  }
}

void Scheduler::order(std::span<CodeInst> insts) {
  // With fewer moves saved, the order does not matter.
  constexpr std::size_t instructions_a_move = 16;
  if (insts.size() < target_.vector_registers) return;
  const std::size_t least = insts.size() / instructions_a_move;
  order_.resize(insts.size());
  std::iota(order_.begin(), order_.end(), 0);
  estimate_.begin(insts);
  const unsigned before = estimate_.moves(order_);
  if (before < least) return;
  find_edges(insts);
  group_edges(insts.size());
  const bool has_load = std::ranges::any_of(insts, [](const CodeInst& inst) { return inst.op == Op::load; });
  double most_saved = 0;
  for (const By by : {By::computation, By::load}) {
    if (by == By::computation ? is_one_computation(insts) : !has_load) continue;
    rank(insts, by);
    sort();
    const unsigned after = estimate_.moves(order_);
    if (before <= after || before - after < least) continue;
    const double saved = cycles_a_move * (before - after) - (by == By::computation ? waits(insts) : 0);
    if (saved <= most_saved || (by == By::load && saved < least_for_late_loads * vectors(insts))) continue;
    most_saved = saved;
    best_ = order_;
  }
  if (most_saved == 0) return;
  ordered_.clear();
  for (std::uint32_t i : best_) ordered_.push_back(insts[i]);
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
    access_state(inst, i);
  }
}

/// Instruction `number` of the run comes behind those whose effect it sees or replaces.
void Scheduler::access_state(const CodeInst& inst, std::uint32_t number) {
  Slot* const specials_at = &*(slots_.end() - specials);
  switch (inst.op) {
    case Op::reg_read:
    case Op::reg_write: {
      const SlotRange range = slots_of(inst, target_.vector_bytes);
      for (unsigned slot = range.first; slot <= range.last; ++slot)
        access(slots_[slot], number, inst.op == Op::reg_write);
      break;
    }
    case Op::flag_read:
    case Op::flag_write:
      return access(specials_at[flags], number, inst.op == Op::flag_write);
    case Op::load:
    case Op::store: {
      const bool is_local = function_.access(inst).space == ir::MemSpace::Slm;
      return access(specials_at[is_local ? slm : memory], number, inst.op == Op::store);
    }
    default:
      break;
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

/// How many cycles more the host waits for results if the computations are emitted one after the other, not
/// interleaved: then those that its window holds at once keep it busy.
double Scheduler::waits(std::span<const CodeInst> insts) {
  static constexpr double window = 96, most_a_cycle = 3;  // vectors
  depth_.assign(insts.size(), 0);
  work_.assign(insts.size(), 0);
  for (std::uint32_t i : order_) {
    const CodeInst& inst = insts[i];
    if (is_common(inst) || inst.result_count == 0) continue;
    const std::uint32_t own = computations_.first(i);
    work_[own] += estimate_.vectors_of(inst.result);
    depth_[i] += latency(inst);
    depth_[own] = std::max(depth_[own], depth_[i]);
    for (std::uint32_t next : behind(i))
      if (computations_.first(next) == own) depth_[next] = std::max(depth_[next], depth_[i]);
  }
  // Of `work` vectors in computations of `at_once` vectors that take `depth` cycles.
  const auto cycles = [](double work, double at_once, double depth) {
    return work / std::min(most_a_cycle, at_once / std::max(depth, 1.0));
  };
  double total = 0, deepest = 0, apart = 0;
  for (std::uint32_t i = 0; i < insts.size(); ++i) {
    if (work_[i] == 0) continue;
    total += work_[i];
    deepest = std::max<double>(deepest, depth_[i]);
    apart += cycles(work_[i], std::max<double>(work_[i], window), depth_[i]);
  }
  return apart - cycles(total, std::max(total, window), deepest);
}

/// How many vectors are computed.
unsigned Scheduler::vectors(std::span<const CodeInst> insts) const {
  unsigned count = 0;
  for (const CodeInst& inst : insts)
    if (inst.result_count != 0) count += estimate_.vectors_of(inst.result);
  return count;
}

/// The instructions that must come after this one.
std::span<const std::uint32_t> Scheduler::behind(std::uint32_t inst) const {
  return std::span(targets_).subspan(first_edge_[inst], first_edge_[inst + 1] - first_edge_[inst]);
}

/// Which loads, of those in the run, the computations or the instructions need.
void Scheduler::find_loads(std::span<const CodeInst> insts, By by) {
  loads_.assign(insts.size(), 0);
  for (std::uint32_t i = 0; i < insts.size(); ++i) {
    if (by == By::load || is_common(insts[i])) {
      const std::uint32_t last = insts[i].op == Op::load ? i + 1 : loads_[i];
      for (const std::uint32_t user : behind(i)) loads_[user] = std::max(loads_[user], last);
    } else {
      std::uint32_t& all = loads_[computations_.first(i)];
      all = std::max(all, loads_[i]);
    }
  }
}

/// Those of what comes behind the instruction are known. A store may come behind a load only because it is to
/// the same memory.
Scheduler::Key Scheduler::key_of(std::span<const CodeInst> insts, std::uint32_t inst, By by) {
  const Op op = insts[inst].op;
  if (op == Op::store) return {0, 0, inst};
  Key first;
  if (is_common(insts[inst]))
    for (const std::uint32_t user : behind(inst))
      if (op != Op::load || insts[user].op != Op::store) first = std::min(first, keys_[user]);
  if (first != Key()) return first;
  if (by == By::load) return {loads_[inst], 0, inst};
  const std::uint32_t computation = computations_.first(inst);
  return {loads_[computation], computation, inst};
}

/// Groups the targets of the edges by source, for behind().
void Scheduler::group_edges(std::size_t count) {
  first_edge_.assign(count + 1, 0);
  for (const Edge& edge : edges_) ++first_edge_[edge.from + 1];
  std::partial_sum(first_edge_.begin(), first_edge_.end(), first_edge_.begin());
  targets_.resize(edges_.size());
  next_edge_.assign(first_edge_.begin(), first_edge_.end() - 1);
  for (const Edge& edge : edges_) targets_[next_edge_[edge.from]++] = edge.to;
}

/// Ranks instructions: computations, or instructions, by the last load that they need, and within those in
/// their old order. Common ones come with the first instruction that uses them, and stores as soon as
/// possible.
void Scheduler::rank(std::span<const CodeInst> insts, By by) {
  const auto count = static_cast<std::uint32_t>(insts.size());
  find_loads(insts, by);
  keys_.resize(count);
  for (std::uint32_t i = count; i-- > 0;) keys_[i] = key_of(insts, i, by);
  by_rank_.resize(count);
  std::iota(by_rank_.begin(), by_rank_.end(), 0);
  std::ranges::sort(by_rank_, [&](std::uint32_t a, std::uint32_t b) {
    return keys_[a] != keys_[b] ? keys_[a] < keys_[b] : a < b;
  });
  rank_.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) rank_[by_rank_[i]] = i;
}

/// Fills order_: of the instructions that wait for nothing, always the one of the lowest rank.
void Scheduler::sort() {
  order_.clear();
  ready_.clear();
  waits_.assign(keys_.size(), 0);
  for (const std::uint32_t target : targets_) ++waits_[target];
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

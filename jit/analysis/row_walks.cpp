#include "jit/analysis/row_walks.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "jit/analysis/liveness.hpp"

namespace eum::jit {
namespace {

using ir::BlockId;
using ir::Inst;
using ir::Op;
using ir::ValueId;

/// Larger loops are skipped: the analysis takes long, and their time is not spent on such loads.
constexpr std::size_t most_blocks = 64, most_insts = 2048;
/// The longest chain of computations that is followed.
constexpr unsigned deepest = 24;
/// Bytes from one iteration to the next, of addresses or of values from which they are computed.
using Step = std::int64_t;
/// A row would serve too few iterations with larger ones.
constexpr Step largest_step = 8;
/// Larger steps count as unknown, so that no sum or product of steps overflows.
constexpr Step farthest = 1 << 20;
/// Checking more surfaces whenever a row is fetched would take too long.
constexpr std::size_t most_written = 4;
/// Lanes that are no further apart share cache lines, and are accessed as a run if they are known.
constexpr Step widest_run_stride = 16;

constexpr std::uint32_t dword = 4;

/// Whether the op writes memory, orders what others write, or lets others run.
bool may_end_walks(Op op) {
  switch (ir::info(op).effect) {
    case ir::Effect::WritesMemory:
      return true;
    case ir::Effect::Effect:
      return op != Op::fpmode_set;
    case ir::Effect::Control:
      return ir::info(op).leaves == ir::Leaves::Always;
    default:
      return false;
  }
}

/// One loop: the blocks from which its last one is reached without its first one.
class Loop {
 public:
  Loop(const ir::Function& function, const std::vector<std::vector<BlockId>>& predecessors, BlockId head,
       BlockId last)
      : function_(&function) {
    blocks_ = {head};
    if (last != head) blocks_.push_back(last);
    for (std::size_t i = 1; i < blocks_.size() && blocks_.size() <= most_blocks; ++i)
      for (const BlockId from : predecessors[blocks_[i]])
        if (std::ranges::find(blocks_, from) == blocks_.end()) blocks_.push_back(from);
  }

  std::size_t size() const { return blocks_.size(); }
  /// False: it is too large.
  bool find_writers() {
    std::size_t insts = 0;
    for (const BlockId b : blocks_) {
      insts += function_->blocks[b].insts.size();
      if (insts > most_insts) return false;
      for (const Inst& inst : function_->blocks[b].insts)
        if (may_end_walks(inst.op)) writers_.push_back(&inst);
    }
    return blocks_.size() <= most_blocks;
  }

  void find_walks(const LinearUses& uses, std::vector<RowWalk>& walks) {
    for (const BlockId b : blocks_) {
      const auto& insts = function_->blocks[b].insts;
      for (std::uint32_t i = 0; i < insts.size(); ++i) {
        if (!is_candidate(insts[i])) continue;
        const auto known = uses.of(b, true);
        const auto use = std::ranges::find(known, i, &LinearUse::index);
        const ir::MemoryAccess& access = function_->access(insts[i]);
        const Step unit{access.scale};
        if (use != known.end() && use->run.run != 0 && std::abs(use->run.stride * unit) <= widest_run_stride)
          continue;
        if (walks.size() == RowWalks::most) return;
        if (std::ranges::find(walks, insts[i].result, &RowWalk::result) != walks.end()) continue;
        RowWalk walk{insts[i].result, insts[i].lanes, 0, access.space,
                     static_cast<std::uint8_t>(access.surface)};
        const auto ends = [&](const Inst* inst) { return RowWalks::ends(*function_, *inst, walk); };
        if (std::ranges::any_of(writers_, ends)) continue;
        if (by_.empty()) index();
        const auto element = static_cast<Step>(ir::size_of(insts[i].type));
        const auto step = step_of_address(insts[i]);
        if (!step || std::abs(*step) < element || std::abs(*step) > largest_step || *step % element != 0)
          continue;
        walk.step = static_cast<std::int8_t>(*step);
        walks.push_back(walk);
      }
    }
  }

 private:
  bool is_candidate(const Inst& inst) const {
    if (inst.op != Op::load || inst.lanes % 8 != 0 || inst.result_count != 1) return false;
    const ir::MemoryAccess& access = function_->access(inst);
    return ir::size_of(inst.type) <= dword && (!access.surface_is_operand || access.is_based()) &&
           access.space != ir::MemSpace::Scratch;
  }

  std::optional<Step> step_of_address(const Inst& load) {
    const ir::MemoryAccess& access = function_->access(load);
    const auto args = function_->args(load);
    if (!access.is_based()) return step(args[0], 0);
    const auto of_base = step(args[0], 0), of_distance = step(args[1], 0);
    if (!of_base || !of_distance) return std::nullopt;
    return *of_base + *of_distance * Step{access.scale};
  }

  void index() {
    for (const BlockId b : blocks_)
      for (const Inst& inst : function_->blocks[b].insts) {
        for (unsigned k = 0; k < inst.result_count; ++k) by_[inst.result + k] = &inst;
        if (inst.op == Op::reg_write) writes_.push_back({&inst, slots_of(inst, dword)});
        if (inst.op == Op::reg_scatter) scatters_ = true;
      }
  }

  static std::optional<Step> near(std::optional<Step> step) {
    return step && std::abs(*step) <= farthest ? step : std::nullopt;
  }
  /// How much the value increases in each iteration.
  std::optional<Step> step(ValueId value, unsigned depth) {
    const auto [found, is_new] = steps_.try_emplace(value);
    if (!is_new) return found->second;  // nothing is known of a value that depends on itself
    const auto step = find_step(value, depth);
    return steps_[value] = near(step);
  }

  std::optional<Step> find_step(ValueId value, unsigned depth) {
    const auto by = by_.find(value);
    if (by == by_.end() || depth > deepest) return std::nullopt;
    const Inst& inst = *by->second;
    if (inst.op == Op::reg_read) return step_of_register(inst, depth);
    const auto args = function_->args(inst);
    const auto of = [&](std::size_t k) { return step(args[k], depth + 1); };
    switch (inst.op) {
      case Op::constant:
      case Op::vconst:
        return 0;
      case Op::add:
      case Op::addc:
      case Op::sub:
        if (value != inst.result) return std::nullopt;
        if (const auto a = of(0), b = of(1); a && b) return inst.op == Op::sub ? *a - *b : *a + *b;
        return std::nullopt;
      case Op::mad:
        if (const auto a = product(args[0], args[1], depth), b = of(2); a && b) return *a + *b;
        return std::nullopt;
      case Op::mul:
        return product(args[0], args[1], depth);
      case Op::shl:
        if (const auto bits = number(args[1], depth + 1); bits && *bits < 16)
          if (const auto a = of(0)) return *a * (Step{1} << *bits);
        break;
      case Op::convert:
      case Op::bitcast:
      case Op::splat:
      case Op::slice:
      case Op::join:
        return of(0);
      case Op::concat:
        if (const auto a = of(0), b = of(1); a && a == b) return a;
        return std::nullopt;
      default:
        break;
    }
    if (!ir::is_pure(inst.op)) return std::nullopt;
    const bool stays = std::ranges::all_of(args, [&](ValueId arg) { return step(arg, depth + 1) == 0; });
    return stays ? std::optional(0) : std::nullopt;
  }

  std::optional<Step> product(ValueId a, ValueId b, unsigned depth) {
    const auto x = step(a, depth + 1), y = step(b, depth + 1);
    if (!x || !y) return std::nullopt;
    if (*x == 0 && *y == 0) return 0;
    const auto factor = number(*x == 0 ? a : b, depth + 1);
    if ((*x != 0 && *y != 0) || !factor) return std::nullopt;
    return (*x == 0 ? *y : *x) * Step{*factor};
  }

  /// The known constant that every lane equals.
  std::optional<std::uint32_t> number(ValueId value, unsigned depth) const {
    const auto by = by_.find(value);
    if (by == by_.end() || depth > deepest) return std::nullopt;
    const Inst& inst = *by->second;
    if (inst.op == Op::constant) return static_cast<std::uint32_t>(inst.imm);
    const bool passes =
        inst.op == Op::convert || inst.op == Op::bitcast || inst.op == Op::splat || inst.op == Op::slice;
    return passes ? number(function_->args(inst)[0], depth + 1) : std::nullopt;
  }

  std::optional<Step> step_of_register(const Inst& read, unsigned depth) {
    if (scatters_) return std::nullopt;
    const SlotRange range = slots_of(read, dword);
    std::optional<Step> step = 0;
    bool written = false;
    for (const Write& write : writes_) {
      if (!overlap(write.slots, range)) continue;
      const ValueId value = function_->args(*write.inst)[0];
      auto own = increment(value, write.slots, 0);
      if (!own) own = this->step(value, depth + 4);
      if (!own || (written && own != step)) return std::nullopt;
      written = true;
      step = own;
    }
    return step;
  }

  /// How much larger the value is than the old content of the register to which it is written.
  std::optional<Step> increment(ValueId value, const SlotRange& slots, unsigned depth) const {
    const auto by = by_.find(value);
    if (by == by_.end() || depth > deepest) return std::nullopt;
    const Inst& inst = *by->second;
    if (inst.op == Op::reg_read) {
      const SlotRange read = slots_of(inst, dword);
      if (overlap(read, slots)) return 0;
      // It may have passed through another register.
      const auto is_of = [&](const Write& write) { return overlap(write.slots, read); };
      const auto write = std::ranges::find_if(writes_, is_of);
      return write != writes_.end() ? increment(function_->args(*write->inst)[0], slots, depth + 2)
                                    : std::nullopt;
    }
    const auto args = function_->args(inst);
    switch (inst.op) {
      case Op::addc:
      case Op::add:
        if (value != inst.result) return std::nullopt;
        for (const unsigned k : {0u, 1u})
          if (const auto more = number(args[1 - k], depth))
            if (const auto of = increment(args[k], slots, depth + 1))
              return *of + static_cast<std::int32_t>(*more);
        return std::nullopt;
      case Op::sub:
        if (const auto less = number(args[1], depth))
          if (const auto of = increment(args[0], slots, depth + 1))
            return *of - static_cast<std::int32_t>(*less);
        return std::nullopt;
      case Op::convert:
      case Op::bitcast:
      case Op::slice:
      case Op::splat:
        return increment(args[0], slots, depth + 1);
      default:
        return std::nullopt;
    }
  }

  struct Write {
    const Inst* inst;
    SlotRange slots;
  };

  const ir::Function* function_;
  std::vector<BlockId> blocks_;
  std::vector<const Inst*> writers_;
  std::unordered_map<ValueId, const Inst*> by_;  // instructions of the loop that define values
  std::unordered_map<ValueId, std::optional<Step>> steps_;
  std::vector<Write> writes_;
  bool scatters_ = false;
};

}  // namespace

bool RowWalks::ends(const ir::Function& function, const Inst& inst, const RowWalk& walk) {
  if (!may_end_walks(inst.op)) return false;
  if (!ir::shape_of(inst.op).has_memory()) return true;
  const ir::MemoryAccess& access = function.access(inst);
  if (access.space == ir::MemSpace::Slm) return walk.space == ir::MemSpace::Slm;
  if (!access.is_fixed_surface()) return true;
  if (walk.space == ir::MemSpace::Slm) return false;
  return walk.space != ir::MemSpace::Surface || access.surface == walk.surface;
}

RowWalks::RowWalks(const ir::Function& function, const LinearUses& uses) {
  struct Edge {
    BlockId head, last;
  };
  std::vector<Edge> back;
  for (BlockId b = 0; b < function.blocks.size(); ++b)
    for (const BlockId target : ir::successors(function.blocks[b].insts.back()))
      if (target <= b) back.push_back({target, b});
  if (back.empty()) return;
  const auto predecessors = ir::predecessors(function);
  std::vector<Loop> loops;
  for (const Edge& edge : back) loops.emplace_back(function, predecessors, edge.head, edge.last);
  // Innermost loops first.
  std::ranges::stable_sort(loops, {}, [](const Loop& loop) { return loop.size(); });
  for (Loop& loop : loops)
    if (loop.find_writers()) loop.find_walks(uses, found);
  if (found.empty()) return;
  for (const ir::Block& block : function.blocks)
    for (const Inst& inst : block.insts) {
      if (ir::info(inst.op).effect != ir::Effect::WritesMemory || !ir::shape_of(inst.op).has_memory())
        continue;
      const ir::MemoryAccess& access = function.access(inst);
      const auto surface = static_cast<std::uint8_t>(access.surface);
      if (access.is_fixed_surface() && std::ranges::find(written, surface) == written.end())
        written.push_back(surface);
    }
  if (written.size() > most_written) found.clear();
}

}  // namespace eum::jit

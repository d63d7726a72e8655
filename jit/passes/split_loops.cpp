// Where 32 channels read a row each, a loop goes through 32 lines of memory at a time. In matrices of a
// power of two columns those lie in the same set of a first-level cache, which holds eight or twelve of them:
// each line is fetched anew for every element that is read of it. Half of the channels after the other half
// takes 0.57 of the time for a matrix of 1024 columns, 0.43 for 512, and 1.01 for 1000 (an EPYC of Zen 4).
//
// Sets of eight channels, for which accesses would have to be parted, took 0.31, 0.52 and 1.27.
#include "jit/passes/split_loops.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_map>
#include <vector>

#include "frontend/ir/builder.hpp"
#include "jit/passes/disjoint_sets.hpp"
#include "jit/passes/liveness.hpp"

namespace eum::jit {
namespace {

using ir::Block;
using ir::BlockId;
using ir::Inst;
using ir::no_value;
using ir::Op;
using ir::ValueId;

constexpr std::uint32_t dword = 4;
/// In longer loops lines are not what takes the time, and finding the sets is: it compares accesses of
/// registers with each other.
constexpr std::size_t most_insts = 512;
/// Lanes that are closer to each other than this share lines, and are accessed as a run if they are known.
constexpr std::uint32_t widest_run_stride = 16;

bool is_access_of_registers(const Inst& inst) { return inst.op == Op::reg_read || inst.op == Op::reg_write; }

/// Whether the instructions touch a common dword of the register file.
bool overlap(const Inst& a, const Inst& b) {
  const SlotRange x = slots_of(a, dword), y = slots_of(b, dword);
  return x.first <= y.last && y.first <= x.last;
}

class LoopParts {
 public:
  LoopParts(ir::Function& function, const LinearUses& uses, BlockId loop)
      : function_(function), uses_(uses), loop_(loop), insts_(function.blocks[loop].insts) {}

  /// False: the loop stays as it is.
  bool find() {
    return is_counted() && classify() && connect() && find_rows() && !reads_by_what_is_read() &&
           find_beginnings();
  }
  void split();

 private:
  enum class Kind : std::uint8_t {
    Same,  ///< the same in every set of channels: done in each
    Own    ///< of one set
  };

  bool is_counted();
  bool classify();
  bool is_same(const Inst& inst) const;
  bool connect();
  bool find_rows();
  bool reads_by_what_is_read() const;
  bool find_beginnings();
  /// A scalar of the register file as the loop begins.
  struct Beginning {
    ir::Region region;
    ir::Type type;
    std::uint64_t bits;
  };
  std::optional<Beginning> beginning(const Inst& read) const;
  static bool is_whole(const Inst& write, const Inst& read);
  Inst own_copy(const Inst& inst, std::unordered_map<ValueId, ValueId>& values);
  void begin_anew(BlockId id, std::uint32_t guest_ip);

  ir::Function& function_;
  const LinearUses& uses_;
  BlockId loop_, exit_ = ir::no_block;
  const std::pmr::vector<Inst>& insts_;
  std::vector<Kind> kinds_;                              // of each instruction
  std::unordered_map<ValueId, std::uint32_t> given_by_;  // instructions of the loop
  DisjointSets sets_;                                    // of instructions
  std::vector<std::uint32_t> parts_;                     // first instructions of the sets that read rows
  std::vector<Beginning> beginnings_;
};

/// One block that leads to itself, as long as a comparison of scalars says so.
bool LoopParts::is_counted() {
  if (insts_.size() > most_insts) return false;
  const Inst& end = insts_.back();
  if (end.op != Op::branch_any || function_.values[function_.arg(end, 0)].lanes != 1) return false;
  const auto& [taken, otherwise] = end.targets;
  if ((taken == loop_) == (otherwise == loop_)) return false;
  exit_ = taken == loop_ ? otherwise : taken;
  return true;
}

bool LoopParts::is_same(const Inst& inst) const {
  const auto same = [&](ValueId value) { return kinds_[given_by_.at(value)] == Kind::Same; };
  if (inst.mask != no_value && !same(inst.mask)) return false;
  if (!std::ranges::all_of(function_.args(inst), same)) return false;
  if (inst.op == Op::load) return inst.lanes == 1;
  if (inst.op != Op::reg_read || inst.lanes == 1) return true;
  // Of a register that stays as it is.
  return std::ranges::none_of(
      insts_, [&](const Inst& other) { return other.op == Op::reg_write && overlap(inst, other); });
}

/// False: an instruction is of no kind that can be done for some channels.
bool LoopParts::classify() {
  kinds_.reserve(insts_.size());
  for (std::uint32_t i = 0; i + 1 < insts_.size(); ++i) {
    const Inst& inst = insts_[i];
    const bool reads_surface = inst.op == Op::load && function_.access(inst).space == ir::MemSpace::Surface &&
                               !function_.access(inst).surface_is_operand;
    if (!ir::is_pure(inst.op) && !is_access_of_registers(inst) && inst.op != Op::mask_get &&
        inst.op != Op::flag_write && !reads_surface)
      return false;
    kinds_.push_back(is_same(inst) ? Kind::Same : Kind::Own);
    if (inst.op == Op::flag_write && kinds_.back() == Kind::Own) return false;
    if (inst.op == Op::reg_read && inst.lanes == 1 && inst.mask != no_value) return false;
    for (unsigned k = 0; k < inst.result_count; ++k) given_by_[inst.result + k] = i;
  }
  return kinds_[given_by_.at(function_.arg(insts_.back(), 0))] == Kind::Same;
}

/// Instructions of one set pass values or registers to each other. False: what is the same in each and what
/// is not are in one register.
bool LoopParts::connect() {
  sets_.reset(insts_.size());
  const auto is_own = [&](std::uint32_t i) { return kinds_[i] == Kind::Own; };
  for (std::uint32_t i = 0; i + 1 < insts_.size(); ++i) {
    const Inst& inst = insts_[i];
    const auto join = [&](ValueId value) {
      if (is_own(given_by_.at(value))) sets_.join(given_by_.at(value), i);
    };
    if (is_own(i)) {
      std::ranges::for_each(function_.args(inst), join);
      if (inst.mask != no_value) join(inst.mask);
    }
    if (inst.op != Op::reg_write) continue;
    for (std::uint32_t other = 0; other + 1 < insts_.size(); ++other) {
      if (!is_access_of_registers(insts_[other]) || !overlap(inst, insts_[other])) continue;
      if (is_own(i) != is_own(other)) return false;
      if (is_own(i)) sets_.join(i, other);
    }
  }
  return true;
}

/// False: there are not several sets that read rows, or something else is read.
bool LoopParts::find_rows() {
  const auto known = uses_.of(loop_, true);
  for (std::uint32_t i = 0; i + 1 < insts_.size(); ++i) {
    if (insts_[i].op != Op::load || kinds_[i] == Kind::Same) continue;
    const auto use = std::ranges::find(known, i, &LinearUse::index);
    if (use != known.end() && use->run.run != 0 &&
        static_cast<std::uint32_t>(std::abs(use->run.stride)) <= widest_run_stride)
      return false;
    if (std::ranges::find(parts_, sets_.first(i)) == parts_.end()) parts_.push_back(sets_.first(i));
  }
  return parts_.size() > 1;
}

/// Whether addresses depend on what has been read, be it in an earlier turn of the loop: such a loop waits
/// for memory, and more channels are more to do meanwhile.
bool LoopParts::reads_by_what_is_read() const {
  std::vector<bool> depends(insts_.size());
  const auto given_by_dependent = [&](ValueId value) -> bool { return depends[given_by_.at(value)]; };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t i = 0; i + 1 < insts_.size(); ++i) {
      const Inst& inst = insts_[i];
      if (depends[i] || kinds_[i] == Kind::Same) continue;
      const bool by_value = std::ranges::any_of(function_.args(inst), given_by_dependent);
      if (by_value && inst.op == Op::load) return true;
      bool by_register = false;
      for (std::uint32_t k = 0; inst.op == Op::reg_read && k + 1 < insts_.size(); ++k)
        by_register |= depends[k] && insts_[k].op == Op::reg_write && overlap(insts_[k], inst);
      depends[i] = by_value || by_register || inst.op == Op::load;
      changed |= depends[i];
    }
  }
  return false;
}

/// What the register of `read` holds as the loop is entered, if all that enter it give it the same constant.
std::optional<LoopParts::Beginning> LoopParts::beginning(const Inst& read) const {
  std::optional<Beginning> found;
  for (BlockId b = 0; b < function_.blocks.size(); ++b) {
    const auto& from = function_.blocks[b].insts;
    const auto next = ir::successors(from.back());
    if (b == loop_ || std::ranges::find(next, loop_) == next.end()) continue;
    const auto write = std::find_if(from.rbegin(), from.rend(), [&](const Inst& inst) {
      return inst.op == Op::reg_scatter || (inst.op == Op::reg_write && overlap(inst, read));
    });
    if (write == from.rend() || write->op != Op::reg_write || !is_whole(*write, read)) return std::nullopt;
    const auto value = std::ranges::find(from, function_.arg(*write, 0), &Inst::result);
    if (value == from.end() || value->op != Op::constant) return std::nullopt;
    if (found && found->bits != value->imm) return std::nullopt;
    found = {write->region, write->type, value->imm};
  }
  return found;
}

/// The write gives all that is read.
bool LoopParts::is_whole(const Inst& write, const Inst& read) {
  return write.mask == no_value && write.lanes == 1 && write.region.offset == read.region.offset &&
         ir::size_of(write.type) == ir::size_of(read.type);
}

/// Scalars that go on from one turn of the loop to the next begin anew for each set.
bool LoopParts::find_beginnings() {
  for (std::uint32_t i = 0; i + 1 < insts_.size(); ++i) {
    const Inst& read = insts_[i];
    if (read.op != Op::reg_read || kinds_[i] == Kind::Own) continue;
    bool written = false, anew = false;
    for (std::uint32_t k = 0; k + 1 < insts_.size(); ++k) {
      if (insts_[k].op != Op::reg_write || !overlap(insts_[k], read)) continue;
      written = true;
      anew |= k < i && is_whole(insts_[k], read);
    }
    if (!written || anew) continue;
    const auto found = beginning(read);
    if (!found) return false;
    beginnings_.push_back(*found);
  }
  return true;
}

/// With values of its own.
Inst LoopParts::own_copy(const Inst& inst, std::unordered_map<ValueId, ValueId>& values) {
  Inst copy = inst;
  std::vector<ValueId> args;
  for (const ValueId arg : function_.args(inst)) args.push_back(values.at(arg));
  function_.set_args(copy, args);
  if (inst.mask != no_value) copy.mask = values.at(inst.mask);
  for (unsigned k = 0; k < inst.result_count; ++k) {
    const ir::ValueInfo info = function_.values[inst.result + k];
    const ValueId value = function_.add_value(info.type, info.lanes);
    if (k == 0) copy.result = value;
    values[inst.result + k] = value;
  }
  return copy;
}

/// Behind the loop, for each set but the first one: a block that begins anew, and the loop.
void LoopParts::split() {
  const auto more = static_cast<BlockId>(2 * (parts_.size() - 1));
  const std::vector<Inst> all(insts_.begin(), insts_.end());
  const auto moved = [&](BlockId b) { return b == ir::no_block || b <= loop_ ? b : b + more; };
  for (Block& block : function_.blocks)
    if (ir::shape_of(block.insts.back().op).targets() > 0) {
      ir::Targets& targets = block.insts.back().targets;
      targets = {moved(targets.taken), moved(targets.fallthrough)};
    }
  const std::uint32_t guest_ip = function_.blocks[loop_].guest_ip;
  function_.blocks.insert(function_.blocks.begin() + loop_ + 1, more, Block(function_.resource));
  for (std::uint32_t part = 0; part < parts_.size(); ++part) {
    const BlockId own = loop_ + 2 * part;
    const bool last = part + 1 == parts_.size();
    Block& block = function_.blocks[own];
    block.guest_ip = guest_ip;
    block.safepoint = true;
    block.insts.clear();
    std::unordered_map<ValueId, ValueId> values;
    for (std::uint32_t i = 0; i + 1 < all.size(); ++i) {
      const std::uint32_t set = sets_.first(i);
      const bool of_none = std::ranges::find(parts_, set) == parts_.end();
      if (kinds_[i] == Kind::Own && (of_none ? part != 0 : set != parts_[part])) continue;
      block.insts.push_back(part == 0 ? all[i] : own_copy(all[i], values));
    }
    Inst end = all.back();
    if (part != 0) end = own_copy(end, values);
    const BlockId next = last ? moved(exit_) : own + 1;
    end.targets = all.back().targets.taken == loop_ ? ir::Targets{own, next} : ir::Targets{next, own};
    block.insts.push_back(end);
    if (!last) begin_anew(own + 1, guest_ip);
  }
}

void LoopParts::begin_anew(BlockId id, std::uint32_t guest_ip) {
  ir::Builder builder(function_);
  function_.blocks[id].guest_ip = guest_ip;
  builder.set_block(id);
  builder.set_guest_ip(guest_ip);
  for (const Beginning& beginning : beginnings_)
    builder.reg_write(beginning.region, builder.constant(beginning.type, 1, beginning.bits));
  builder.jump(id + 1);
}

}  // namespace

bool split_loops(ir::Function& function, const LinearUses& uses) {
  const bool leads_anywhere = std::ranges::any_of(
      function.blocks, [](const Block& block) { return block.insts.back().op == Op::jump_ip; });
  if (leads_anywhere) return false;
  bool changed = false;
  // From the last one on: those in front keep their numbers.
  for (auto loop = static_cast<BlockId>(function.blocks.size()); loop-- > 0;) {
    LoopParts parts(function, uses, loop);
    if (!parts.find()) continue;
    parts.split();
    changed = true;
  }
  return changed;
}

}  // namespace eum::jit

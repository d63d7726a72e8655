// Where 32 channels read a row each, a loop goes through 32 lines of memory at a time. In matrices of a
// power of two columns those lie in the same set of a first-level cache, which holds eight or twelve of them:
// each line is fetched anew for every element that is read of it. Half of the channels after the other half
// takes 0.57 of the time for a matrix of 1024 columns, 0.43 for 512, and 1.01 for 1000 (an EPYC of Zen 4).
//
// Sets of eight channels, for which accesses would have to be parted, took 0.31, 0.52 and 1.27.
#include "jit/passes/split_loops.hpp"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <utility>
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
/// In all sets from one place where a thread may pause to the next.
constexpr std::uint32_t turns_at_once = 1024;
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
           find_carried() && find_room();
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
  bool find_carried();
  bool find_room();
  static bool is_whole(const Inst& write, const Inst& read);
  Inst own_copy(const Inst& inst, std::unordered_map<ValueId, ValueId>& values);
  void begin(BlockId id);

  ir::Function& function_;
  const LinearUses& uses_;
  BlockId loop_, exit_ = ir::no_block;
  const std::pmr::vector<Inst>& insts_;
  std::vector<Kind> kinds_;                              // of each instruction
  std::unordered_map<ValueId, std::uint32_t> given_by_;  // instructions of the loop
  DisjointSets sets_;                                    // of instructions
  std::vector<std::uint32_t> parts_;                     // first instructions of the sets that read rows
  /// Scalars of the register file that go on from one turn of the loop to the next, and where they are kept.
  struct Carried {
    ir::Region region;
    ir::Type type;
    std::uint32_t kept = 0;
  };
  std::vector<Carried> carried_;
  std::uint32_t turns_left_ = 0, goes_on_ = 0;  // where the register file has them
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

/// The write gives all that is read.
bool LoopParts::is_whole(const Inst& write, const Inst& read) {
  return write.mask == no_value && write.lanes == 1 && write.region.offset == read.region.offset &&
         ir::size_of(write.type) == ir::size_of(read.type);
}

/// False: what goes on from one turn to the next is written in parts.
bool LoopParts::find_carried() {
  for (std::uint32_t i = 0; i + 1 < insts_.size(); ++i) {
    const Inst& read = insts_[i];
    if (read.op != Op::reg_read || kinds_[i] == Kind::Own) continue;
    bool written = false, anew = false;
    for (std::uint32_t k = 0; k + 1 < insts_.size(); ++k) {
      if (insts_[k].op != Op::reg_write || !overlap(insts_[k], read)) continue;
      if (insts_[k].lanes != 1) return false;
      written = true;
      anew |= k < i && is_whole(insts_[k], read);
    }
    if (!written || anew) continue;
    if (read.lanes != 1) return false;
    carried_.push_back({read.region, read.type});
  }
  return true;
}

/// Registers that nothing in the function uses. False: there are not as many.
bool LoopParts::find_room() {
  constexpr std::uint32_t granule = 32, each = 8;
  const std::uint32_t granules = std::min(function_.file_bytes, function_.indirect_end()) / granule;
  std::vector<bool> used(granules, false);
  const auto use = [&](std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t g = first; g <= last && g < granules; ++g) used[g] = true;
  };
  use(0, 0);  // what threads begin with
  for (const Block& block : function_.blocks)
    for (const Inst& inst : block.insts) {
      if (inst.op == Op::reg_gather || inst.op == Op::reg_scatter) return false;
      if (!is_access_of_registers(inst)) continue;
      const SlotRange range = slots_of(inst, granule);
      use(range.first, range.last);
    }
  const auto wanted = static_cast<std::uint32_t>((carried_.size() + 1) * each + granule - 1) / granule;
  std::uint32_t run = 0;
  for (std::uint32_t g = granules; g-- > 0;) {
    run = used[g] ? 0 : run + 1;
    if (run < wanted) continue;
    turns_left_ = g * granule;
    goes_on_ = turns_left_ + dword;
    std::uint32_t at = turns_left_ + each;
    for (Carried& carried : carried_) carried.kept = std::exchange(at, at + each);
    return true;
  }
  return false;
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

/// head:       a thread may pause here: all channels are as far as each other. Keeps what is carried.
/// first set:  the loop for its channels, some turns at most
/// again:      what is carried is as at the head
/// ...         the other sets
/// tail:       to the head, or on
void LoopParts::split() {
  const auto parts = static_cast<BlockId>(parts_.size()), more = 2 * parts, tail = loop_ + more;
  const std::vector<Inst> all(insts_.begin(), insts_.end());
  const std::uint32_t guest_ip = function_.blocks[loop_].guest_ip;
  const auto moved = [&](BlockId b) { return b == ir::no_block || b <= loop_ ? b : b + more; };
  for (Block& block : function_.blocks)
    if (ir::shape_of(block.insts.back().op).targets() > 0) {
      ir::Targets& targets = block.insts.back().targets;
      targets = {moved(targets.taken), moved(targets.fallthrough)};
    }
  function_.blocks.insert(function_.blocks.begin() + loop_ + 1, more, Block(function_.resource));
  for (BlockId b = loop_; b <= tail; ++b) function_.blocks[b].guest_ip = guest_ip;
  ir::Builder builder(function_);
  builder.set_guest_ip(guest_ip);
  function_.blocks[loop_].insts.clear();
  begin(loop_);
  // Of what is done for each set, only the first one counts.
  function_.blocks[loop_ + 1].guest_instructions =
      std::exchange(function_.blocks[loop_].guest_instructions, 0);
  for (BlockId part = 0; part < parts; ++part) {
    const BlockId own = loop_ + 1 + 2 * part;
    if (part != 0) begin(own - 1);
    std::unordered_map<ValueId, ValueId> values;
    for (std::uint32_t i = 0; i + 1 < all.size(); ++i) {
      const std::uint32_t set = sets_.first(i);
      const bool of_none = std::ranges::find(parts_, set) == parts_.end();
      if (kinds_[i] == Kind::Own && (of_none ? part != 0 : set != parts_[part])) continue;
      const Inst inst = part == 0 ? all[i] : own_copy(all[i], values);
      function_.blocks[own].insts.push_back(inst);
    }
    builder.set_block(own);
    ValueId condition = function_.arg(all.back(), 0);
    if (part != 0) condition = values.at(condition);
    if (all.back().targets.taken != loop_) condition = builder.lanewise(Op::not_, {condition});
    const ir::Region left = ir::Region::packed(turns_left_);
    const ValueId one = builder.constant(ir::Type::u32, 1, 1), none = builder.constant(ir::Type::u32, 1, 0);
    const ValueId turns = builder.lanewise(Op::sub, {builder.reg_read(ir::Type::u32, 1, left), one});
    builder.reg_write(left, turns);
    if (part + 1 == parts)
      builder.reg_write(ir::Region::packed(goes_on_), builder.select(condition, one, none));
    builder.branch_any(builder.lanewise(Op::and_, {condition, builder.compare(Op::cmp_ne, turns, none)}), own,
                       own + 1);
  }
  builder.set_block(tail);
  const ValueId goes_on = builder.reg_read(ir::Type::u32, 1, ir::Region::packed(goes_on_));
  builder.branch_any(builder.compare(Op::cmp_ne, goes_on, builder.constant(ir::Type::u32, 1, 0)), loop_,
                     moved(exit_));
}

/// In front of a set: at the head what is carried is kept, and for the others comes back.
void LoopParts::begin(BlockId id) {
  ir::Builder builder(function_);
  builder.set_block(id);
  builder.set_guest_ip(function_.blocks[id].guest_ip);
  for (const Carried& carried : carried_) {
    const ir::Region kept = ir::Region::packed(carried.kept);
    const bool keeps = id == loop_;
    builder.reg_write(keeps ? kept : carried.region,
                      builder.reg_read(carried.type, 1, keeps ? carried.region : kept));
  }
  builder.reg_write(ir::Region::packed(turns_left_), builder.constant(ir::Type::u32, 1, turns_at_once));
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

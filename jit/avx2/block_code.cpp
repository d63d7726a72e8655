// Folding of masks, removal of what is dead, and next uses; see block_code.hpp.
#include "jit/avx2/block_code.hpp"

#include <algorithm>

namespace eum::jit {

using ir::Inst;
using ir::no_value;
using ir::Op;
using ir::Type;
using ir::ValueId;

namespace {

std::uint32_t lanes_mask(unsigned lanes) { return lanes >= 32 ? ~0u : (1u << lanes) - 1; }

void make_constant(CodeInst& inst, std::uint32_t bits) {
  inst.op = Op::constant;
  inst.arg_count = 0;
  inst.args.fill(no_value);
  inst.imm = bits & lanes_mask(inst.lanes);
}

}  // namespace

BlockCode::BlockCode(const ir::Function& function, const Liveness& liveness)
    : function_(function),
      liveness_(liveness),
      alias_(function.values.size()),
      constant_(function.values.size()),
      is_constant_(function.values.size()),
      last_seen_(function.values.size(), never) {}

void BlockCode::build(ir::BlockId block, bool full) {
  fold(block, full);
  drop_dead(block, full);
  index_slot_reads();
}

/// Folds an op that yields a mask. False: the instruction is gone, its result is an alias.
bool BlockCode::fold_mask(CodeInst& inst) {
  const std::uint32_t all = lanes_mask(inst.lanes);
  const std::uint32_t* a = inst.arg_count > 0 ? constant(inst.args[0]) : nullptr;
  const std::uint32_t* b = inst.arg_count > 1 ? constant(inst.args[1]) : nullptr;
  auto become = [&](std::uint32_t bits) {
    make_constant(inst, bits);
    is_constant_[inst.result] = 1;
    constant_[inst.result] = bits & all;
    return true;
  };
  auto same = [&](ValueId value) {
    alias_[inst.result] = value;
    return false;
  };
  switch (inst.op) {
    case Op::constant:
      return become(static_cast<std::uint32_t>(inst.imm));
    case Op::slice:
      if (a) return become(*a >> inst.imm);
      break;
    case Op::concat:
      if (a && b) return become(*a | *b << function_.values[inst.args[0]].lanes);
      break;
    case Op::not_:
      if (a) return become(~*a);
      break;
    case Op::and_:
      if (a && b) return become(*a & *b);
      if (a && *a == all) return same(inst.args[1]);
      if (b && *b == all) return same(inst.args[0]);
      if ((a && *a == 0) || (b && *b == 0)) return become(0);
      break;
    case Op::or_:
      if (a && b) return become(*a | *b);
      if (a && *a == 0) return same(inst.args[1]);
      if (b && *b == 0) return same(inst.args[0]);
      if ((a && *a == all) || (b && *b == all)) return become(all);
      break;
    case Op::andn:
      if (a && b) return become(~*a & *b);
      if ((a && *a == all) || (b && *b == 0)) return become(0);
      if (a && *a == 0) return same(inst.args[1]);
      if (b && *b == all) {
        inst.op = Op::not_;
        inst.arg_count = 1;
        inst.args[1] = no_value;
      }
      break;
    default:
      break;
  }
  return true;
}

void BlockCode::fold(ir::BlockId block, bool full) {
  folded_.clear();
  origin_.clear();
  changes_mask_ = false;
  const auto& source = function_.blocks[block].insts;
  for (std::size_t i = 0; i < source.size(); ++i) {
    CodeInst inst;
    static_cast<Inst&>(inst) = source[i];
    for (unsigned k = 0; k < inst.arg_count; ++k) inst.args[k] = resolve(inst.args[k]);
    inst.mask = resolve(inst.mask);
    for (unsigned k = 0; k < inst.result_count; ++k) {
      alias_[inst.result + k] = inst.result + k;
      is_constant_[inst.result + k] = 0;
    }
    if (inst.op == Op::mask_get && inst.imm == 0 && full && !changes_mask_) make_constant(inst, ~0u);
    if (inst.op == Op::mask_set && inst.imm == 0) changes_mask_ = true;
    if (inst.op == Op::reg_read) inst.mask = no_value;  // liveness has had its use of it
    if (const std::uint32_t* mask = constant(inst.mask)) {
      unsigned lanes = function_.values[inst.mask].lanes;
      if (*mask == lanes_mask(lanes)) {
        inst.mask = no_value;
      } else if (*mask == 0 && (inst.op == Op::reg_write || inst.op == Op::flag_write ||
                                inst.op == Op::store || inst.op == Op::reg_scatter)) {
        continue;
      }
    }
    if (inst.result_count == 1 && ir::is_mask(inst.type) && info(inst.op).effect == ir::Effect::Pure &&
        info(inst.op).shape != ir::Shape::IntToMask && info(inst.op).shape != ir::Shape::MaskGroup) {
      if (!fold_mask(inst)) continue;
    }
    if (inst.op == Op::select)
      if (const std::uint32_t* mask = constant(inst.args[0]);
          mask && (*mask == 0 || *mask == lanes_mask(inst.lanes))) {
        alias_[inst.result] = inst.args[*mask ? 1 : 2];
        continue;
      }
    if (inst.op == Op::branch_any)
      if (const std::uint32_t* mask = constant(inst.args[0])) {
        inst.op = Op::jump;
        inst.arg_count = 0;
        if (*mask == 0) inst.targets.taken = inst.targets.fallthrough;
        inst.targets.fallthrough = ir::no_block;
      }
    folded_.push_back(inst);
    origin_.push_back(static_cast<std::uint32_t>(i));
  }
}

void BlockCode::drop_dead(ir::BlockId block, bool full) {
  LiveState live = liveness_.live_out(block);
  // All channels are on until the block changes the execution mask.
  const auto change = std::find_if(folded_.begin(), folded_.end(), [](const CodeInst& inst) {
    return inst.op == Op::mask_set && inst.imm == 0;
  });
  const auto full_until = full ? static_cast<std::size_t>(change - folded_.begin()) + 1 : 0;
  live_out_ = full_until > folded_.size() ? live.active : live.active | live.inactive;
  insts_.clear();
  first_use_.clear();
  for (std::size_t i = folded_.size(); i-- > 0;) {
    CodeInst& inst = folded_[i];
    const ir::OpInfo& op = info(inst.op);
    const MaskRole role = liveness_.role(block, origin_[i]);
    const bool full_here = i < full_until;
    bool needed = true;
    if (op.effect == ir::Effect::Pure || op.effect == ir::Effect::ReadsState) {
      needed = false;
      for (unsigned k = 0; k < inst.result_count; ++k) needed |= last_seen_[inst.result + k] != never;
    } else if (inst.op == Op::flag_write) {
      std::uint64_t bits = (inst.lanes >= 64 ? ~0ull : (1ull << inst.lanes) - 1) << inst.imm;
      needed = (live.flags & bits) != 0;
    } else if (inst.op == Op::reg_write) {
      SlotRange range = slots_of(inst);
      needed = false;
      for (unsigned slot = range.first; slot <= range.last; ++slot) {
        bool only_active = full_here || (role == MaskRole::Execution && liveness_.regular(slot));
        needed |= live.active[slot] || (!only_active && live.inactive[slot]);
        unsigned chunk = slot - range.first;
        if (role == MaskRole::Execution && covers(inst, slot) && liveness_.regular(slot) &&
            !live.inactive[slot] && chunk < 8)
          inst.overwrite = static_cast<std::uint8_t>(inst.overwrite | 1u << chunk);
      }
    }
    if (!needed) continue;
    // The original's mask decides what the write ends, also where folding has dropped the mask.
    if (inst.op == Op::reg_write && full_here && role == MaskRole::Execution) {
      SlotRange range = slots_of(inst);
      for (unsigned slot = range.first; slot <= range.last; ++slot)
        if (covers(inst, slot)) live.active.reset(slot);
    } else {
      liveness_.step(inst, role, live);
    }
    std::array<std::uint32_t, 4> first{never, never, never, never};
    for (unsigned k = 0; k < inst.result_count; ++k) {
      if (k < first.size()) first[k] = last_seen_[inst.result + k];
      last_seen_[inst.result + k] = never;
    }
    auto position = static_cast<std::uint32_t>(insts_.size());
    inst.next_use.fill(never);
    for (unsigned k = 0; k < inst.arg_count; ++k) inst.next_use[k] = last_seen_[inst.args[k]];
    if (inst.mask != no_value) inst.next_use[mask_arg] = last_seen_[inst.mask];
    for (unsigned k = 0; k < inst.arg_count; ++k) last_seen_[inst.args[k]] = position;
    if (inst.mask != no_value) last_seen_[inst.mask] = position;
    insts_.push_back(inst);
    first_use_.push_back(first);
  }
  // Positions counted from the end become positions from the beginning.
  std::reverse(insts_.begin(), insts_.end());
  std::reverse(first_use_.begin(), first_use_.end());
  auto last = static_cast<std::uint32_t>(insts_.size()) - 1;
  auto turn = [last](std::uint32_t& position) {
    if (position != never) position = last - position;
  };
  for (CodeInst& inst : insts_)
    for (std::uint32_t& use : inst.next_use) turn(use);
  for (auto& uses : first_use_)
    for (std::uint32_t& use : uses) turn(use);
}

void BlockCode::index_slot_reads() {
  unsigned slots = (function_.file_bytes + slot_size - 1) / slot_size;
  read_begin_.assign(slots + 1, 0);
  auto each = [&](auto&& visit) {
    for (std::uint32_t i = 0; i < insts_.size(); ++i) {
      const CodeInst& inst = insts_[i];
      // A masked or partial write reads what it keeps.
      if (inst.op != Op::reg_read && inst.op != Op::reg_write) continue;
      SlotRange range = slots_of(inst);
      for (unsigned slot = range.first; slot <= range.last && slot < slots; ++slot)
        if (inst.op == Op::reg_read || inst.mask != no_value || !covers(inst, slot)) visit(slot, i);
    }
  };
  each([&](unsigned slot, std::uint32_t) { ++read_begin_[slot + 1]; });
  for (unsigned slot = 0; slot < slots; ++slot) read_begin_[slot + 1] += read_begin_[slot];
  reads_.resize(read_begin_[slots]);
  read_next_.assign(read_begin_.begin(), read_begin_.end() - 1);
  each([&](unsigned slot, std::uint32_t i) { reads_[read_next_[slot]++] = i; });
  gathers_.clear();
  for (std::uint32_t i = 0; i < insts_.size(); ++i)
    if (insts_[i].op == Op::reg_gather) gathers_.push_back(i);
}

std::uint32_t BlockCode::next_read(unsigned slot, std::uint32_t position) const {
  const auto begin = reads_.begin() + read_begin_[slot], end = reads_.begin() + read_begin_[slot + 1];
  const auto next = std::lower_bound(begin, end, position);
  // A gather may read any slot.
  const auto gather = std::lower_bound(gathers_.begin(), gathers_.end(), position);
  return std::min(next == end ? never : *next, gather == gathers_.end() ? never : *gather);
}

}  // namespace eum::jit

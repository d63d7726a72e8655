// Control flow as masks. A channel that leaves the path waits in the mask variable of the place where it goes
// on; the block that begins there takes the waiting channels back (lower.cpp). When no channel is left,
// control goes to JIP. Facts: one instruction pointer a channel (manual, 1.1); on these families BREAK's UIP
// names the while, whose taken channels must not loop again, so they wait behind it.
#include "frontend/gen/lower/handlers.hpp"

namespace eum::gen {
namespace {

using ir::BlockId;
using ir::ValueId;

/// Adds channels to those that wait at `offset`.
void wait_at(Lowering& l, std::int64_t offset, ValueId channels) {
  unsigned variable = l.flow().mask_variable_at(offset);
  ValueId waiting = l.b().mask_get(variable);
  l.b().mask_set(variable, l.b().lanewise(ir::Op::or_, {waiting, channels}));
}

/// Goes on behind the instruction if a channel is there, else at JIP. `remaining` no_value: none.
void go_on(Lowering& l, ValueId remaining) {
  const Instruction& in = l.inst();
  BlockId next = l.flow().block_at(in.next()), away = l.flow().block_at(in.jip.offset);
  l.end_block();
  if (next == away) return l.b().jump(next);
  if (unsigned variable = l.flow().mask_variable_at(in.next())) {
    ValueId waiting = l.b().mask_get(variable);
    remaining = remaining == ir::no_value ? waiting : l.b().lanewise(ir::Op::or_, {remaining, waiting});
  }
  if (remaining == ir::no_value) return l.b().jump(away);
  l.b().branch_any(remaining, next, away);
}

/// Channels of the dispatch that take the branch; no_value: all that are on.
ValueId takers(Lowering& l) {
  const Instruction& in = l.inst();
  bool whole = in.channel_offset == 0 && in.exec_size >= l.b().function().simd;
  ValueId predicate = l.predicate();
  if (whole && predicate == ir::no_value) return ir::no_value;
  if (whole && in.exec_size > l.b().function().simd)
    predicate = l.b().slice(predicate, 0, l.b().function().simd);
  if (whole) return l.both(l.execution_mask(), predicate);
  return l.spread(l.both(l.channel_mask(in.channel_offset, in.exec_size), predicate));
}

/// Those channels that are on and not in `taken`.
ValueId others(Lowering& l, ValueId taken) {
  return l.b().lanewise(ir::Op::andn, {taken, l.execution_mask()});
}

ValueId nobody(Lowering& l) { return l.none_of(l.b().function().simd); }

/// Whether every target of the instruction begins a block; else traps.
bool targets_exist(Lowering& l, std::initializer_list<std::int64_t> offsets) {
  for (std::int64_t offset : offsets)
    if (l.flow().block_at(offset) == ir::no_block) {
      l.unsupported("leads to byte {}, outside of the kernel", offset);
      return false;
    }
  bool structured = l.inst().opcode == Opcode::if_ || l.inst().opcode == Opcode::else_;
  if (l.inst().no_mask || (structured && l.inst().branch_ctrl)) {
    l.unsupported(l.inst().no_mask ? "branch without execution mask" : "branch control of if or else");
    return false;
  }
  return true;
}

/// Takes the branch's channels out of the execution mask; they wait at `where`.
void leave(Lowering& l, std::int64_t where) {
  ValueId taken = takers(l);
  if (taken == ir::no_value) {
    wait_at(l, where, l.execution_mask());
    l.set_execution_mask(nobody(l));
    return go_on(l, ir::no_value);
  }
  wait_at(l, where, taken);
  ValueId remaining = others(l, taken);
  l.set_execution_mask(remaining);
  go_on(l, remaining);
}

}  // namespace

void lower_nop(Lowering&) {}

void lower_illegal(Lowering& l) { l.trap(fmt::format("illegal instruction at byte {}", l.inst().offset)); }

void lower_unsupported(Lowering& l) { l.unsupported("instruction that is not modelled"); }

void lower_jmpi(Lowering& l) {
  const Instruction& in = l.inst();
  if (!in.jip.present) {
    if (in.predicated()) return l.unsupported("predicated jump to a register");
    // The offset counts from the next instruction.
    ValueId offset = l.b().slice(l.source(0, ir::Type::u32), 0, 1);
    l.b().jump_ip(l.b().lanewise(ir::Op::add, {offset, l.b().constant(ir::Type::u32, 1, in.next())}));
    return l.end_block();
  }
  BlockId target = l.flow().block_at(in.jip.offset), next = l.flow().block_at(in.next());
  if (target == ir::no_block) return l.unsupported("leads to byte {}, outside of the kernel", in.jip.offset);
  if (!in.predicated()) {
    l.b().jump(target);
  } else {
    if (next == ir::no_block) return l.unsupported("last instruction falls through");
    l.b().branch_any(l.b().slice(l.write_mask(), 0, 1), target, next);
  }
  l.end_block();
}

// Channels that fail the predicate wait at JIP: behind the else if there is one, at the endif if not.
void lower_if(Lowering& l) {
  const Instruction& in = l.inst();
  if (!targets_exist(l, {in.jip.offset, in.next()})) return;
  ValueId taken = takers(l);
  if (taken == ir::no_value) return go_on(l, l.execution_mask());
  wait_at(l, in.jip.offset, others(l, taken));
  l.set_execution_mask(taken);
  go_on(l, taken);
}

void lower_else(Lowering& l) {
  const Instruction& in = l.inst();
  if (!targets_exist(l, {in.jip.offset, in.uip.offset, in.next()})) return;
  wait_at(l, in.uip.offset, l.execution_mask());
  l.set_execution_mask(nobody(l));
  go_on(l, ir::no_value);
}

void lower_reconverge(Lowering& l) {
  const Instruction& in = l.inst();
  if (in.predicated()) return l.unsupported("predicated join");
  if (in.jip.offset == in.next()) return;
  if (!targets_exist(l, {in.jip.offset, in.next()})) return;
  go_on(l, l.execution_mask());
}

void lower_while(Lowering& l) {
  const Instruction& in = l.inst();
  if (!targets_exist(l, {in.jip.offset, in.next()})) return;
  ValueId taken = takers(l);
  if (taken == ir::no_value) {
    taken = l.execution_mask();
  } else {
    wait_at(l, in.next(), others(l, taken));
    l.set_execution_mask(taken);
  }
  l.b().branch_any(taken, l.flow().block_at(in.jip.offset), l.flow().block_at(in.next()));
  l.end_block();
}

void lower_break(Lowering& l) {
  const Instruction& in = l.inst();
  std::int64_t exit = l.flow().loop_exit(in);
  if (targets_exist(l, {in.jip.offset, exit, in.next()})) leave(l, exit);
}

void lower_park(Lowering& l) {
  const Instruction& in = l.inst();
  if (!in.jip.present || !in.uip.present) return l.unsupported("branch to a register");
  if (targets_exist(l, {in.jip.offset, in.uip.offset, in.next()})) leave(l, in.uip.offset);
}

// A plain goto is passed by the channels that its predicate names; the others go ahead to UIP (compilers
// clear the flag to send all). With branch control the channels that it names go back to UIP at once and the
// others wait at JIP.
void lower_goto(Lowering& l) {
  const Instruction& in = l.inst();
  if (!targets_exist(l, {in.jip.offset, in.uip.offset, in.next()})) return;
  ValueId taken = takers(l);
  if (!in.branch_ctrl) {
    if (taken == ir::no_value) return go_on(l, l.execution_mask());
    wait_at(l, in.uip.offset, others(l, taken));
    l.set_execution_mask(taken);
    return go_on(l, taken);
  }
  BlockId back = l.flow().block_at(in.uip.offset);
  l.end_block();
  if (taken == ir::no_value) return l.b().jump(back);
  wait_at(l, in.jip.offset, others(l, taken));
  l.set_execution_mask(taken);
  l.b().branch_any(taken, back, l.flow().block_at(in.jip.offset));
}

// The branch is taken if any channel takes it; the others wait behind the instruction.
void lower_brd(Lowering& l) {
  const Instruction& in = l.inst();
  if (!in.jip.present) return l.unsupported("branch to a register");
  if (!targets_exist(l, {in.jip.offset, in.next()})) return;
  ValueId taken = takers(l);
  BlockId target = l.flow().block_at(in.jip.offset);
  l.end_block();
  if (taken == ir::no_value) return l.b().jump(target);
  wait_at(l, in.next(), others(l, taken));
  l.set_execution_mask(taken);
  l.b().branch_any(taken, target, l.flow().block_at(in.next()));
}

// dst.0 takes the address to return to, dst.1 the channels of the call.
void lower_call(Lowering& l) {
  const Instruction& in = l.inst();
  using enum ir::Type;
  if (in.opcode == Opcode::calla) return l.unsupported("call of an absolute address");
  BlockId next = l.flow().block_at(in.next());
  if (next == ir::no_block) return l.unsupported("last instruction returns behind the kernel");
  if (in.jip.present && l.flow().block_at(in.jip.offset) == ir::no_block)
    return l.unsupported("leads to byte {}, outside of the kernel", in.jip.offset);
  if (!in.dst.is_grf() || in.dst.subreg % 4 != 0 || in.dst.subreg > 24)
    return l.unsupported("return address that is not in a general register");
  ir::Builder& b = l.b();
  ValueId target = ir::no_value;
  if (!in.jip.present) {
    // A register holds the distance from this instruction.
    if (in.predicated()) return l.unsupported("predicated call of a register");
    target = b.slice(l.source(0, u32), 0, 1);
    target = b.lanewise(ir::Op::add, {target, b.constant(u32, 1, in.offset)});
  }
  ValueId taken = in.no_mask ? ir::no_value : takers(l);
  ValueId channels = taken == ir::no_value ? l.execution_mask() : taken;
  unsigned offset = l.file_offset(in.dst);
  b.reg_write(ir::Region::packed(offset), b.constant(u32, 1, in.next()));
  b.reg_write(ir::Region::packed(offset + 4), b.mask_bits(u32, channels));
  l.end_block();
  if (target != ir::no_value) return b.jump_ip(target);
  BlockId callee = l.flow().block_at(in.jip.offset);
  if (taken == ir::no_value || !in.predicated()) return b.jump(callee);
  wait_at(l, in.next(), others(l, taken));
  l.set_execution_mask(taken);
  b.branch_any(taken, callee, next);
}

void lower_ret(Lowering& l) {
  const Instruction& in = l.inst();
  if (in.predicated()) return l.unsupported("predicated return");
  if (!in.src[0].is_grf()) return l.unsupported("return address that is not in a general register");
  l.b().jump_ip(l.scalar(ir::Type::u32, l.file_offset(in.src[0])));
  l.end_block();
}

void lower_wait(Lowering& l) {
  const Instruction& in = l.inst();
  BlockId next = l.flow().block_at(in.next());
  if (next == ir::no_block) return l.unsupported("last instruction falls through");
  if (!in.src[0].is_arf(Arf::n) || in.src[0].reg != 0 || in.src[0].subreg != 0)
    return l.unsupported("wait for another notification than the thread group's barrier");
  l.b().wait(next);
  l.end_block();
}

}  // namespace eum::gen

// Control flow as masks. A channel that leaves the path is parked in the mask variable of the place where it
// goes on; the block that begins there takes the parked channels back (lower.cpp). Who parks where, and where
// control goes, is in flow.def. Facts: one instruction pointer a channel (manual, 1.1).
#include "frontend/eu/handlers.hpp"

namespace eum::eu {
namespace {

using ir::BlockId;
using ir::ValueId;

BlockId block_of(Lowering& l, Place place) { return l.flow().block_at(l.flow().offset_of(place, l.inst())); }

/// Whether `place` begins a block; else traps.
bool exists(Lowering& l, Place place) {
  if (place == Place::Nowhere || block_of(l, place) != ir::no_block) return true;
  const std::int64_t offset = l.flow().offset_of(place, l.inst());
  l.unsupported("leads to byte {}, outside of the kernel", offset);
  return false;
}

bool all_exist(Lowering& l, const FlowInfo& row) {
  return exists(l, row.parks == Parks::None ? Place::Nowhere : row.at) && exists(l, row.any) &&
         exists(l, row.none);
}

/// Channels of the dispatch that take the branch; no_value: all that are on.
ValueId taken_channels(Lowering& l) {
  const Instruction& in = l.inst();
  const unsigned simd = l.b().function().simd;
  ValueId predicate = l.predicate();
  if (!l.flow().takes_all_channels(in))
    return l.spread(l.both(l.channel_mask(in.channel_offset, in.exec_size), predicate));
  if (predicate == ir::no_value) return ir::no_value;
  if (in.exec_size > simd) predicate = l.b().slice(predicate, 0, simd);
  return l.both(l.execution_mask(), predicate);
}

/// Those channels that are on and not in `channels`.
ValueId remaining_without(Lowering& l, ValueId channels) {
  return l.b().lanewise(ir::Op::andn, {channels, l.execution_mask()});
}

/// Adds channels to those that are parked at `place`.
void park(Lowering& l, Place place, ValueId channels) {
  const unsigned variable = l.flow().mask_variable_at(l.flow().offset_of(place, l.inst()));
  const ValueId parked = l.b().mask_get(variable);
  l.b().mask_set(variable, l.b().lanewise(ir::Op::or_, {parked, channels}));
}

/// Parks what the row says of the channels `taken`, no_value: all that are on. Returns those that stay on;
/// no_value: none.
ValueId park_channels(Lowering& l, const FlowInfo& row, ValueId taken) {
  const ValueId on = l.execution_mask();
  ValueId parked = ir::no_value, staying = on;
  if (row.parks == Parks::All || (row.parks == Parks::Taken && taken == ir::no_value)) {
    parked = on;
    staying = ir::no_value;
  } else if (row.parks == Parks::Taken) {
    parked = taken;
    staying = remaining_without(l, taken);
  } else if (row.parks == Parks::NotTaken && taken != ir::no_value) {
    parked = remaining_without(l, taken);
    staying = taken;
  }
  if (parked == ir::no_value) return staying;
  park(l, row.at, parked);
  l.set_execution_mask(staying == ir::no_value ? l.none_of(l.b().function().simd) : staying);
  return staying;
}

/// Ends the block: to `any` if a channel is on, else to `none`.
void go_on(Lowering& l, const FlowInfo& row, ValueId on, bool certain) {
  const BlockId any = block_of(l, row.any), none = block_of(l, row.none);
  l.end_block();
  if (any == none || certain) return l.b().jump(any);
  if (row.any == Place::Next)
    if (const unsigned variable = l.flow().mask_variable_at(l.inst().next)) {
      const ValueId parked = l.b().mask_get(variable);
      on = on == ir::no_value ? parked : l.b().lanewise(ir::Op::or_, {on, parked});
    }
  if (on == ir::no_value) return l.b().jump(none);
  l.b().branch_any(on, any, none);
}

void follow(Lowering& l, const FlowInfo& row, ValueId taken) {
  const ValueId staying = park_channels(l, row, taken);
  go_on(l, row, staying, !row.empty && taken == ir::no_value);
}

}  // namespace

void lower_nop(Lowering&, ir::Op) {}

void lower_illegal(Lowering& l, ir::Op) {
  l.trap(fmt::format("illegal instruction at byte {}", l.inst().ip));
}

void lower_unsupported(Lowering& l, ir::Op) { l.unsupported("instruction that is not modelled"); }

void lower_jump(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  const FlowInfo& row = info(in.flow.kind);
  if (row.computed) {
    if (in.predicated()) return l.unsupported("predicated jump to a register");
    // The offset counts from the next instruction.
    ValueId offset = l.b().slice(l.source(0, ir::Type::u32), 0, 1);
    l.b().jump_ip(l.b().lanewise(ir::Op::add, {offset, l.b().constant(ir::Type::u32, 1, in.next)}));
    return l.end_block();
  }
  if (!all_exist(l, row)) return;
  const BlockId any = block_of(l, row.any), none = block_of(l, row.none);
  if (in.predicated())
    l.b().branch_any(l.b().slice(l.write_mask(), 0, 1), any, none);
  else
    l.b().jump(any);
  l.end_block();
}

void lower_flow(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  const FlowInfo& row = info(in.flow.kind);
  const bool selects = row.parks == Parks::Taken || row.parks == Parks::NotTaken;
  if (in.predicated() && !selects) return l.unsupported("predicated join");
  if (in.flow.kind == FlowKind::next) return;
  if (!all_exist(l, row)) return;
  if (in.no_mask) return l.unsupported("branch without execution mask");
  follow(l, row, selects ? taken_channels(l) : ir::no_value);
}

// dst.0 takes the address to return to, dst.1 the channels of the call.
void lower_call(Lowering& l, ir::Op) {
  using enum ir::Type;
  const Instruction& in = l.inst();
  const FlowInfo& row = info(in.flow.kind);
  if (!all_exist(l, row)) return;
  if (!in.dst.is_grf(l.target()) || in.dst.offset % 4 != 0 ||
      in.dst.offset % l.target().grf_bytes + 8 > l.target().grf_bytes)
    return l.unsupported("return address that is not in a general register");
  if (in.predicated() && (in.no_mask || row.computed))
    return l.unsupported(in.no_mask ? "branch without execution mask" : "predicated call of a register");
  ir::Builder& b = l.b();
  ValueId target = ir::no_value;
  if (row.computed) {
    // A register holds the distance from this instruction.
    target = b.slice(l.source(0, u32), 0, 1);
    target = b.lanewise(ir::Op::add, {target, b.constant(u32, 1, in.ip)});
  }
  const ValueId taken = in.no_mask ? ir::no_value : taken_channels(l);
  const ValueId channels = taken == ir::no_value ? l.execution_mask() : taken;
  b.reg_write(ir::Region::packed(in.dst.offset), b.constant(u32, 1, in.next));
  b.reg_write(ir::Region::packed(in.dst.offset + 4), b.mask_bits(u32, channels));
  if (row.computed) {
    b.jump_ip(target);
    return l.end_block();
  }
  follow(l, row, l.flow().may_park(in) ? taken : ir::no_value);
}

void lower_return(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  if (in.predicated()) return l.unsupported("predicated return");
  if (!in.src[0].is_grf(l.target())) return l.unsupported("return address that is not in a general register");
  l.b().jump_ip(l.scalar(ir::Type::u32, in.src[0].offset));
  l.end_block();
}

void lower_barrier(Lowering& l, ir::Op op) {
  l.b().effect(ir::Op::barrier_signal);
  lower_wait(l, op);
}

void lower_signal(Lowering& l, ir::Op) { l.b().effect(ir::Op::barrier_signal); }

void lower_switch(Lowering& l, ir::Op) {
  using enum ir::Type;
  ir::Builder& b = l.b();
  const std::span<const std::uint32_t> table = l.inst().flow.table;
  const ir::ValueId index = b.slice(l.source(0, u32), 0, 1);
  ir::ValueId place = b.constant(u32, 1, table.back());
  for (std::size_t k = table.size() - 1; k-- > 0;) {
    const ir::ValueId here = b.compare(ir::Op::cmp_eq, index, b.constant(u32, 1, k));
    place = b.select(here, b.constant(u32, 1, table[k]), place);
  }
  b.jump_ip(place);
  l.end_block();
}

void lower_exit(Lowering& l, ir::Op) {
  l.b().exit();
  l.end_block();
}

void lower_fence_instruction(Lowering& l, ir::Op) { l.b().effect(ir::Op::fence); }

void lower_wait(Lowering& l, ir::Op) {
  const FlowInfo& row = info(l.inst().flow.kind);
  if (!all_exist(l, row)) return;
  l.b().wait(block_of(l, row.any));
  l.end_block();
}

}  // namespace eum::eu

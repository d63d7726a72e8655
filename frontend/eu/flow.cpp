// Control flow as masks. A channel that leaves the path is parked in the mask variable of the place where it
// resumes; the block that begins there reconverges it (lower.cpp). flow.def says which channels park where,
// and where control goes. Facts: one instruction pointer per channel (manual, 1.1).
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/eu/handlers.hpp"
#include "frontend/eu/modes.hpp"

namespace eum::eu {
namespace {

using ir::BlockId;
using ir::ValueId;

BlockId block_of(Lowering& l, Place place) { return l.flow().block_at(l.flow().offset_of(place, l.inst())); }

/// Whether `place` begins a block; traps if not.
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

/// Channels of the dispatch that take the branch; no_value: all active ones.
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

/// The active channels that are not in `channels`.
ValueId remaining_without(Lowering& l, ValueId channels) {
  return l.b().lanewise(ir::Op::andn, {channels, l.execution_mask()});
}

/// Adds `channels` to those parked at `place`.
void park(Lowering& l, Place place, ValueId channels) {
  const unsigned variable = l.flow().mask_variable_at(l.flow().offset_of(place, l.inst()));
  const ValueId parked = l.b().mask_get(variable);
  l.b().mask_set(variable, l.b().lanewise(ir::Op::or_, {parked, channels}));
}

/// Parks the channels that the row says, given the channels `taken` (no_value: all active ones). Returns
/// those that stay active; no_value: none.
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

/// Ends the block: to `any` if a channel is active, else to `none`.
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

/// Limit of parking places that one instruction may examine, or code would grow with the square of its
/// length.
constexpr std::size_t max_places = 4096;

/// Whether `places` is within that limit; traps if not.
bool looks_at_few(Lowering& l, std::size_t places) {
  if (places > max_places)
    l.unsupported("expected at most {} places where channels may be parked, found {}", max_places, places);
  return places <= max_places;
}

/// Activates the channels of a branch without execution mask, wherever they are parked.
void gather(Lowering& l) {
  using enum ir::Op;
  const Instruction& in = l.inst();
  ir::Builder& b = l.b();
  const unsigned simd = b.function().simd;
  const std::uint64_t range = std::uint64_t{ir::lane_mask(in.exec_size)} << in.channel_offset;
  const ValueId channels = b.constant(ir::Type::m, simd, range & ir::lane_mask(simd));
  ValueId on = l.execution_mask();
  for (unsigned variable = 1; variable < l.flow().mask_variables(); ++variable) {
    const ValueId parked = b.mask_get(variable);
    on = b.lanewise(or_, {on, b.lanewise(and_, {parked, channels})});
    b.mask_set(variable, b.lanewise(andn, {channels, parked}));
  }
  l.set_execution_mask(on);
}

ValueId place(Lowering& l, std::uint64_t ip) { return l.b().constant(ir::Type::u32, 1, ip); }

/// One lane: whether any lane of `mask` is one.
ValueId any_of(Lowering& l, ValueId mask) {
  return l.b().compare(ir::Op::cmp_ne, l.b().mask_bits(ir::Type::u32, mask), place(l, 0));
}

/// Saves the channel masks before an instruction whose jump may fault.
class Masks {
 public:
  /// `all`: the instruction may change the masks of any place, not only that of the next instruction.
  Masks(Lowering& l, bool all) : l_(l) {
    if (all)
      for (unsigned variable = 1; variable < l.flow().mask_variables(); ++variable) keep(variable);
    else if (const unsigned variable = l.flow().mask_variable_at(l.inst().next))
      keep(variable);
    on_ = l.execution_mask();
  }
  /// Jumps to `ip`; first restores all masks unless `good` (one lane).
  void jump(ValueId ip, ValueId good) {
    using enum ir::Op;
    ir::Builder& b = l_.b();
    const ValueId all = b.bits_mask(b.lanewise(neg, {b.mask_bits(ir::Type::u32, good)}), b.function().simd);
    const auto choose = [&](ValueId now, ValueId before) {
      return b.lanewise(or_, {b.lanewise(and_, {now, all}), b.lanewise(andn, {all, before})});
    };
    for (const auto& [variable, before] : parked_) b.mask_set(variable, choose(b.mask_get(variable), before));
    if (l_.execution_mask() != on_) l_.set_execution_mask(choose(l_.execution_mask(), on_));
    b.jump_ip(ip);
    l_.end_block();
  }

 private:
  void keep(unsigned variable) { parked_.emplace_back(variable, l_.b().mask_get(variable)); }

  Lowering& l_;
  std::vector<std::pair<unsigned, ValueId>> parked_;
  ValueId on_ = ir::no_value;
};

/// Parks `channels` at the known place equal to `ip`. Returns (one lane) whether there are channels but no
/// such place, so that control must go to `ip` at once.
ValueId park_at(Lowering& l, ValueId ip, ValueId channels) {
  using enum ir::Type;
  ir::Builder& b = l.b();
  ValueId unknown = any_of(l, channels);
  for (const std::uint32_t known : l.flow().named_places(l.inst())) {
    const ValueId here = b.compare(ir::Op::cmp_eq, ip, place(l, known));
    const ValueId all = b.bits_mask(b.lanewise(ir::Op::neg, {b.mask_bits(u32, here)}), b.lanes_of(channels));
    const unsigned variable = l.flow().mask_variable_at(known);
    b.mask_set(variable,
               b.lanewise(ir::Op::or_, {b.mask_get(variable), b.lanewise(ir::Op::and_, {channels, all})}));
    unknown = b.lanewise(ir::Op::andn, {here, unknown});
  }
  return unknown;
}

/// Parks the channels `taken` at `ip`; the others continue. If there are none, control goes to `other`; if
/// channels cannot be parked at `ip`, to `ip` itself, which faults.
void park_and_go_on(Lowering& l, Masks& masks, ValueId ip, ValueId taken, ValueId other) {
  ir::Builder& b = l.b();
  const std::uint32_t next = l.inst().next;
  if (taken == ir::no_value) taken = l.execution_mask();
  const ValueId unknown = park_at(l, ip, taken);
  ValueId on = remaining_without(l, taken);
  l.set_execution_mask(on);
  if (const unsigned variable = l.flow().mask_variable_at(next))
    on = b.lanewise(ir::Op::or_, {on, b.mask_get(variable)});
  const ValueId target = b.select(unknown, ip, b.select(any_of(l, on), place(l, next), other));
  masks.jump(target, b.lanewise(ir::Op::andn, {unknown, b.is_place(target)}));
}

/// Converts a branch distance or address from a register to bytes.
ValueId in_bytes(Lowering& l, ValueId value) {
  const unsigned unit = l.inst().flow.unit;
  return unit == 1 ? value : l.b().lanewise(ir::Op::mul, {value, place(l, unit)});
}

/// The target of a branch given in a register: an ip, or a distance from this instruction.
ValueId computed_target(Lowering& l, ValueId value) {
  value = in_bytes(l, value);
  return l.inst().flow.absolute ? value : l.b().lanewise(ir::Op::add, {value, place(l, l.inst().ip)});
}

void lower_computed_branch(Lowering& l, Masks& masks, const FlowInfo& row) {
  const Instruction& in = l.inst();
  const auto distance = [&](unsigned index) {
    Operand op = in.src[0];
    if (op.kind == OperandKind::Indirect)
      op.address_offset = static_cast<std::int16_t>(op.address_offset + static_cast<int>(4 * index));
    else
      op.offset += 4 * index;
    return computed_target(l, l.scalar(op, ir::Type::u32));
  };
  if (in.flow.kind == FlowKind::computed_park) {
    const ValueId jip = distance(0), uip = distance(1);
    return park_and_go_on(l, masks, uip, taken_channels(l), jip);
  }
  ValueId target = distance(0);
  const ValueId taken = taken_channels(l), staying = park_channels(l, row, taken);
  if (taken != ir::no_value) target = l.b().select(any_of(l, staying), target, place(l, in.next));
  masks.jump(target, l.b().is_place(target));
}

void follow(Lowering& l, const FlowInfo& row, ValueId taken) {
  const ValueId staying = park_channels(l, row, taken);
  go_on(l, row, staying, !row.empty && taken == ir::no_value);
}

/// While the mode is on, all channels branch together if any active one takes the branch.
void follow_together(Lowering& l, const FlowInfo& row) {
  if (!l.may_be_on(mode::SingleProgramFlow)) return;
  const Instruction& in = l.inst();
  ir::Builder& b = l.b();
  const BlockId before = b.block(), together = l.add_block();
  const ValueId on = l.mode_mask(mode::SingleProgramFlow, 1);
  b.set_block(together);
  l.forget_values();
  const Place taken = row.parks == Parks::NotTaken ? row.any
                      : row.parks == Parks::None   ? Place::Next
                                                   : row.at;
  const Place passed = row.parks == Parks::NotTaken ? row.at : Place::Next;
  if (in.predicated())
    b.branch_any(l.write_mask(), block_of(l, taken), block_of(l, passed));
  else
    b.jump(block_of(l, taken));
  b.set_block(before);
  l.leave_if(on, together);
}

}  // namespace

void lower_nop(Lowering&, ir::Op) {}

void lower_unsupported(Lowering& l, ir::Op) { l.unsupported("instruction that is not modelled"); }

void lower_jump(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  const FlowInfo& row = info(in.flow.kind);
  if (row.computed) {
    // The offset is relative to the next instruction.
    ValueId offset = in_bytes(l, l.scalar(in.src[0], ir::Type::u32));
    ValueId target = l.b().lanewise(ir::Op::add, {offset, place(l, in.next)});
    if (in.predicated()) target = l.b().select(l.b().slice(l.write_mask(), 0, 1), target, place(l, in.next));
    l.b().jump_ip(target);
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
  if (in.flow.kind == FlowKind::next) return;
  if (!all_exist(l, row)) return;
  if (!looks_at_few(l, std::max<std::size_t>(in.no_mask ? l.flow().mask_variables() : 0,
                                             row.computed ? l.flow().named_places(in).size() : 0)))
    return;
  if (row.computed) {
    Masks masks(l, in.no_mask || in.flow.kind == FlowKind::computed_park);
    if (in.no_mask) gather(l);
    return lower_computed_branch(l, masks, row);
  }
  follow_together(l, row);
  if (in.no_mask) gather(l);
  follow(l, row, selects ? taken_channels(l) : ir::no_value);
}

// dst.0 receives the return address, dst.1 the channels of the call.
void lower_call(Lowering& l, ir::Op) {
  using enum ir::Type;
  const Instruction& in = l.inst();
  const FlowInfo& row = info(in.flow.kind);
  if (!all_exist(l, row)) return;
  if (!in.dst.is_null() && (!in.dst.is_grf(l.target()) || in.dst.offset % 4 != 0 ||
                            in.dst.offset % l.target().grf_bytes + 8 > l.target().grf_bytes))
    return l.unsupported("return address that is not in a general register");
  const bool gathers = in.no_mask && in.predicated();
  if (gathers && !looks_at_few(l, l.flow().mask_variables())) return;
  ir::Builder& b = l.b();
  const ValueId address = row.computed ? computed_target(l, l.scalar(in.src[0], u32)) : ir::no_value;
  std::optional<Masks> masks;
  if (row.computed) masks.emplace(l, gathers);
  if (gathers) gather(l);
  const ValueId taken = in.no_mask && !in.predicated() ? ir::no_value : taken_channels(l);
  const ValueId channels = taken == ir::no_value ? l.execution_mask() : taken;
  const bool parks = l.flow().may_park(in);
  ValueId target = address, good = ir::no_value;
  if (row.computed) {
    if (parks) target = b.select(any_of(l, channels), target, place(l, in.next));
    good = b.is_place(target);
  }
  if (!in.dst.is_null()) {
    // A call that no channel takes, or whose target does not exist, leaves its destination unchanged.
    const ValueId mask = l.both(parks ? any_of(l, channels) : ir::no_value, good);
    b.reg_write(ir::Region::packed(in.dst.offset), place(l, in.next), mask);
    b.reg_write(ir::Region::packed(in.dst.offset + 4), b.mask_bits(u32, channels), mask);
  }
  if (!row.computed) return follow(l, row, parks ? taken : ir::no_value);
  if (parks) park_channels(l, row, taken);
  masks->jump(target, good);
}

// A predicated return must lead to the instruction after a call: returned channels are parked only there.
void lower_return(Lowering& l, ir::Op) {
  const Instruction& in = l.inst();
  ir::Builder& b = l.b();
  const auto address = [&] { return l.scalar(in.src[0], ir::Type::u32); };
  if (in.flow.kind != FlowKind::return_if) {
    b.jump_ip(address());
    return l.end_block();
  }
  if (!looks_at_few(l, std::max<std::size_t>(in.no_mask ? l.flow().mask_variables() : 0,
                                             l.flow().named_places(in).size())))
    return;
  const ValueId to = address(), taken = in.no_mask ? l.predicate() : taken_channels(l);
  ValueId stray = b.lanewise(ir::Op::and_, {b.is_place(to), any_of(l, taken)});
  for (const std::uint32_t known : l.flow().named_places(in))
    stray = b.lanewise(ir::Op::andn, {b.compare(ir::Op::cmp_eq, to, place(l, known)), stray});
  l.leave_if(stray, l.add_trap("returns to where no call comes back"));
  Masks masks(l, true);
  if (in.no_mask) gather(l);
  park_and_go_on(l, masks, address(), taken_channels(l), address());
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
  const unsigned counts = l.target().offset(StateRegister::Notification);
  if (const Operand& count = l.inst().src[0];
      l.inst().source_count != 0 && count.kind == OperandKind::Register && count.offset != counts) {
    // The first count is the group barrier's; only the embedding program adds to the others.
    ir::Builder& b = l.b();
    const ValueId old = l.scalar(ir::Type::u32, count.offset);
    const ValueId some = b.compare(ir::Op::cmp_ne, old, place(l, 0));
    b.reg_write(ir::Region::packed(count.offset), b.lanewise(ir::Op::sub, {old, place(l, 1)}), some);
    const BlockId never = l.add_trap("waits for a notification that nobody sends");
    b.branch_any(some, block_of(l, row.any), never);
    return l.end_block();
  }
  l.b().wait(block_of(l, row.any));
  l.end_block();
}

}  // namespace eum::eu

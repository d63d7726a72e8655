// Exceptions, and effects besides an instruction's meaning: ip as a destination, the clock.
// Facts: the manual's sections on the control, instruction pointer and timestamp registers (IVB PRM volume 4
// part 3, 3.3.3.8 and 3.3.3.10).
#include "frontend/eu/exceptions.hpp"

#include "frontend/eu/handlers.hpp"
#include "frontend/eu/modes.hpp"

namespace eum::eu {
namespace {

using ir::Op;
using ir::Type;
using ir::ValueId;

// The stack overflow exception (cr0.1, bits 27 and 11) is absent: no instruction in the manual uses a stack,
// and software that sets the bits reads them back unchanged.
struct ExceptionInfo {
  unsigned status;  ///< number of the bit in cr0.1
  unsigned enable;
  Op fault;  ///< if there is no System Routine
};

constexpr ExceptionInfo info(Exception kind) {
  switch (kind) {
    case Exception::Breakpoint:
      return {31, 15, Op::breakpoint};
    case Exception::ExternalHalt:
      return {30, 14, Op::external_halt};
    case Exception::Software:
      return {29, 13, Op::software_exception};
    case Exception::Illegal:
      break;
  }
  return {28, 12, Op::illegal};
}

/// Bits of cr0.0: the thread is in the System Routine; the next breakpoint is skipped.
constexpr unsigned master_bit = 31, suppress_bit = 15;

unsigned control(Lowering& l, unsigned index) {
  return l.target().offset(StateRegister::Control) + 4 * index;
}
ValueId word(Lowering& l, std::uint64_t value) { return l.b().constant(Type::u32, 1, value); }
void set_bit(Lowering& l, unsigned index, unsigned bit) {
  const unsigned at = control(l, index);
  l.b().reg_write(ir::Region::packed(at),
                  l.b().lanewise(Op::or_, {l.scalar(Type::u32, at), word(l, 1u << bit)}));
}
/// A mask of one lane.
ValueId is_set(Lowering& l, ValueId value, unsigned bit) {
  return l.b().compare(Op::cmp_ne, l.b().lanewise(Op::and_, {value, word(l, 1u << bit)}), word(l, 0));
}

/// Whether the exception is enabled and the thread is not in the System Routine, which masks exceptions.
ValueId is_enabled(Lowering& l, Exception kind) {
  const ValueId enabled = is_set(l, l.scalar(Type::u32, control(l, 1)), info(kind).enable);
  const ValueId inside = is_set(l, l.scalar(Type::u32, control(l, 0)), master_bit);
  return l.b().lanewise(Op::andn, {inside, enabled});
}

/// A block that jumps to the System Routine, which will return to `aip`, or that faults.
ir::BlockId exception_block(Lowering& l, Exception kind, std::uint32_t aip, std::string text) {
  const ir::BlockId before = l.b().block(), id = l.add_block();
  l.b().set_block(id);
  const std::optional<std::uint32_t> routine = l.system_routine();
  if (!routine) {
    l.b().set_guest_ip(aip);
    l.b().trap(std::move(text), info(kind).fault);
    l.b().set_guest_ip(l.inst().ip);
  } else if (l.flow().block_at(*routine) == ir::no_block) {
    l.b().trap(fmt::format("the System Routine at byte {} is outside of the kernel", *routine));
  } else {
    set_bit(l, 1, info(kind).status);
    set_bit(l, 0, master_bit);
    l.b().reg_write(ir::Region::packed(control(l, 2)), word(l, aip));
    l.b().jump(l.flow().block_at(*routine));
  }
  l.b().set_block(before);
  return id;
}

void check_breakpoint(Lowering& l) {
  ir::Builder& b = l.b();
  const ValueId modes = l.scalar(Type::u32, control(l, 0));
  const ValueId enabled = is_enabled(l, Exception::Breakpoint), passed = is_set(l, modes, suppress_bit);
  b.reg_write(ir::Region::packed(control(l, 0)),
              b.lanewise(Op::and_, {modes, word(l, ~std::uint32_t{1u << suppress_bit})}),
              b.lanewise(Op::and_, {enabled, passed}));
  const std::uint32_t ip = l.inst().ip;
  l.leave_if(b.lanewise(Op::andn, {passed, enabled}),
             exception_block(l, Exception::Breakpoint, ip, fmt::format("breakpoint: {}", l.text())));
}

/// Enters the System Routine, to return to `aip`, if the exception's status and enable bits are set.
void check_status(Lowering& l, Exception kind, std::uint32_t aip, std::string_view what) {
  const ValueId raised = is_set(l, l.scalar(Type::u32, control(l, 1)), info(kind).status);
  l.leave_if(l.b().lanewise(Op::and_, {raised, is_enabled(l, kind)}),
             exception_block(l, kind, aip, fmt::format("{}: {}", what, l.text())));
}

bool writes_control(const Lowering& l, unsigned index) {
  const Operand& dst = l.inst().dst;
  if (dst.kind != OperandKind::Register) return false;
  const unsigned at = l.target().offset(StateRegister::Control) + 4 * index;
  const unsigned end = dst.offset + region_span({dst.region.hstride, 1, 0}, l.lanes(), ir::size_of(dst.type));
  return dst.offset < at + 4 && end > at;
}

/// Completes a write of cr0.0: it can clear the master bit but not set it. Clearing it leaves the System
/// Routine.
void check_return(Lowering& l, ValueId old) {
  ir::Builder& b = l.b();
  const unsigned at = control(l, 0);
  const ValueId written = l.scalar(Type::u32, at);
  const ValueId kept = b.lanewise(Op::or_, {old, word(l, ~std::uint32_t{1u << master_bit})});
  b.reg_write(ir::Region::packed(at), b.lanewise(Op::and_, {written, kept}));
  const ValueId leaves = b.lanewise(Op::andn, {is_set(l, written, master_bit), is_set(l, old, master_bit)});
  const ir::BlockId before = b.block(), id = l.add_block();
  b.set_block(id);
  b.jump_ip(b.lanewise(Op::and_, {l.scalar(Type::u32, control(l, 2)), word(l, ~std::uint32_t{7})}));
  b.set_block(before);
  l.leave_if(leaves, id);
}

void tick(Lowering& l) {
  const unsigned at = l.target().offset(StateRegister::Timestamp);
  const ValueId one = l.b().constant(Type::u64, 1, 1);
  l.b().reg_write(ir::Region::packed(at), l.b().lanewise(Op::add, {l.scalar(Type::u64, at), one}));
}

}  // namespace

void Surroundings::before() {
  const Instruction& in = l_.inst();
  // The requester of the halt sets its status bit between two instructions.
  if (l_.system_routine()) check_status(l_, Exception::ExternalHalt, in.ip, "external halt");
  if (in.breaks) check_breakpoint(l_);
  if (l_.flow().has_clock()) tick(l_);
  if (in.flow.kind == FlowKind::ip_write && in.condition != Condition::None)
    old_flag_ = l_.b().flag_read(1, l_.flag_bit());
  if (in.flow.kind == FlowKind::ip_write && in.writes_accumulator) {
    const auto all = [&](StateRegister reg) {
      return l_.b().reg_read(Type::u32, l_.target().bytes(reg) / 4,
                             ir::Region::packed(l_.target().offset(reg)));
    };
    old_accumulator_ = all(StateRegister::Accumulator);
    old_accumulator_high_ = all(StateRegister::AccumulatorHigh);
  }
  if (in.flow.kind == FlowKind::ip_write)
    l_.b().reg_write(ir::Region::packed(l_.target().offset(StateRegister::Jump)), word(l_, in.next));
  if (writes_control(l_, 0) && (l_.system_routine() || l_.may_be_on(mode::VectorMask)))
    old_modes_ = l_.scalar(Type::u32, control(l_, 0));
}

void Surroundings::after() {
  const Instruction& in = l_.inst();
  if (old_modes_ != ir::no_value && l_.may_be_on(mode::VectorMask))
    l_.switch_masks(old_modes_, l_.scalar(Type::u32, control(l_, 0)));
  if (old_modes_ != ir::no_value && l_.system_routine()) check_return(l_, old_modes_);
  if (writes_control(l_, 1)) {
    check_status(l_, Exception::ExternalHalt, in.next, "external halt");
    check_status(l_, Exception::Software, in.next, "software exception");
  }
  if (in.flow.kind != FlowKind::ip_write) return;
  ir::Builder& b = l_.b();
  ValueId ip = l_.scalar(Type::u32, l_.target().offset(StateRegister::Jump));
  ip = b.lanewise(Op::and_, {ip, word(l_, ~std::uint32_t{7})});
  // A jump to an address without a block is a fault, for which the instruction's effects are undone.
  const ValueId bad = b.lanewise(Op::not_, {b.is_place(ip)});
  if (old_flag_ != ir::no_value) b.flag_write(l_.flag_bit(), old_flag_, bad);
  if (old_accumulator_ != ir::no_value)
    for (const auto& [offset, value] : {std::pair{StateRegister::Accumulator, old_accumulator_},
                                        std::pair{StateRegister::AccumulatorHigh, old_accumulator_high_}}) {
      const unsigned lanes = b.lanes_of(value);
      const ValueId bits = b.lanewise(Op::neg, {b.mask_bits(Type::u32, bad)});
      b.reg_write(ir::Region::packed(l_.target().offset(offset)), value, b.bits_mask(bits, lanes));
    }
  b.jump_ip(ip);
  l_.end_block();
}

void raise_illegal(Lowering& l, std::uint32_t ip, std::string text) {
  l.b().set_guest_ip(ip);
  if (l.system_routine())
    l.leave_if(is_enabled(l, Exception::Illegal), exception_block(l, Exception::Illegal, ip, text));
  l.b().trap(std::move(text), Op::illegal);
  l.end_block();
}

void lower_illegal(Lowering& l, ir::Op) {
  raise_illegal(l, l.inst().ip, fmt::format("illegal instruction at byte {}", l.inst().ip));
}

}  // namespace eum::eu

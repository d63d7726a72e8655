// Lowers the checks and effects of instructions in program order, as blocks that branch to the events.
#include "frontend/x86/lower.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "frontend/ir/builder.hpp"

namespace eum::x86 {
namespace {

using ir::BlockId;
using ir::Op;
using ir::Region;
using ir::Type;
using ir::ValueId;

/// The VMX MSR bitmap (SDM vol 3, MSR-bitmap address): four quarters of 1 KB; a bit that is 1 causes an exit.
constexpr std::uint32_t vmx_range = 0x2000, vmx_high_base = 0xc0000000;
constexpr std::uint32_t vmx_high_quarter = 1024, vmx_write_half = 2048;

class Lowering {
 public:
  Lowering(ir::Function& function, const LoweringContext& context) : b_(function), context_(context) {
    b_.set_block(function.add_block());
  }

  void run(std::span<const PlacedInst> run) {
    for (std::size_t i = 0; i < run.size(); ++i) {
      placed_ = &run[i];
      completed_ = i;
      b_.set_guest_ip(placed_->offset);
      block().guest_instructions += 1;
      if (!instruction()) return emit_pending();
    }
    finish(run.back().offset + run.back().length, run.size());
    emit_pending();
  }

 private:
  struct Pending {
    BlockId from;  // ends with the branch to the event's block
    const PlacedInst* placed;
    std::uint64_t completed;
    std::function<void()> body;
  };

  ir::Block& block() { return b_.function().blocks[b_.block()]; }
  const Instruction& inst() const { return placed_->instruction; }
  const FormInfo& form() const { return info(inst().form); }

  ValueId u64(std::uint64_t value) { return b_.constant(Type::u64, 1, value); }
  ValueId read(std::size_t offset) {
    return b_.reg_read(Type::u64, 1, Region::packed(static_cast<unsigned>(offset)));
  }
  void write(std::size_t offset, ValueId value, ValueId mask = ir::no_value) {
    b_.reg_write(Region::packed(static_cast<unsigned>(offset)), value, mask);
  }
  ValueId add(ValueId a, ValueId b) { return b_.lanewise(Op::add, {a, b}); }
  ValueId and_imm(ValueId a, std::uint64_t imm) { return b_.lanewise(Op::and_, {a, u64(imm)}); }

  /// Updates RIP and the count and ends the run.
  void finish(std::uint64_t offset, std::uint64_t completed) {
    write(offsetof(MachineFile, rip), add(read(offsetof(MachineFile, rip)), u64(offset)));
    write(offsetof(MachineFile, completed), u64(completed));
    b_.exit();
  }
  /// Ends the run in the current block, with this event at the current instruction.
  void event(EventKind kind, std::uint64_t code) {
    write(offsetof(MachineFile, event), u64(static_cast<std::uint64_t>(kind)));
    write(offsetof(MachineFile, event_code), u64(code));
    finish(placed_->offset, completed_);
  }
  void raise(Vector vector) {
    if (vector != Vector::PF) write(offsetof(MachineFile, event_error), u64(0));
    event(EventKind::Exception, static_cast<std::uint64_t>(vector));
  }
  void exit_to_vmm() {
    write(offsetof(MachineFile, event_address), address());
    event(EventKind::VmExit, form().exit_reason);
  }
  /// Branches to a block of its own if `condition` holds, else continues in a new block. `body` fills and
  /// ends the former, which is placed behind all others, so that the path without events is contiguous.
  void branch_out_if(ValueId condition, std::function<void()> body) {
    b_.branch_any(condition, ir::no_block, ir::no_block);
    pending_.push_back({b_.block(), placed_, completed_, std::move(body)});
    BlockId next = b_.function().add_block(placed_->offset);
    b_.function().blocks[pending_.back().from].insts.back().targets.fallthrough = next;
    b_.set_block(next);
  }
  void emit_pending() {
    for (const Pending& event : pending_) {
      placed_ = event.placed;
      completed_ = event.completed;
      BlockId taken = b_.function().add_block(placed_->offset);
      b_.function().blocks[event.from].insts.back().targets.taken = taken;
      b_.set_block(taken);
      b_.set_guest_ip(placed_->offset);
      event.body();
    }
  }

  /// Calls the machine; returns value and status.
  ir::Builder::Pair call(Callback callback, std::initializer_list<ValueId> operands) {
    const ValueId first =
        b_.callback(static_cast<std::uint64_t>(callback), {operands.begin(), operands.size()}, 2);
    return {first, first + 1};
  }
  /// The MSR address as u64. A register's high half is ignored.
  ValueId address() {
    if (inst().is_immediate()) return u64(inst().msr);
    return b_.convert(Op::convert, Type::u64,
                      b_.reg_read(Type::u32, 1, Region::packed(gpr_offset(inst().index))));
  }
  /// Not 0 if bit number `address` & 7 of `byte` is set.
  ValueId bit_of(ValueId byte) {
    if (inst().is_immediate()) return and_imm(byte, 1u << (inst().msr & 7));
    return and_imm(b_.lanewise(Op::shr, {byte, and_imm(address(), 7)}), 1);
  }

  /// Returns false if the run always ends here.
  bool instruction() {
    if (inst().is_user() ? !context_.has_user_msr : !context_.has_msr_imm) return raise(Vector::UD), false;
    if (inst().is_user()) {
      if (!check_user_bitmap()) return false;
    } else if (context_.cpl != 0) {
      return raise(Vector::GP), false;
    }
    if (context_.in_guest && !check_vmx_bitmap()) return false;
    return access();
  }

  bool check_user_bitmap() {
    ValueId enabled = and_imm(read(offsetof(MachineFile, user_msr_ctl)), user_msr_ctl_enable);
    branch_out_if(b_.compare(Op::cmp_eq, enabled, u64(0)), [&] { raise(Vector::UD); });
    if (!inst().is_immediate())
      branch_out_if(b_.compare(Op::cmp_ge, address(), u64(user_msr_limit)), [&] { raise(Vector::GP); });
    else if (inst().msr >= user_msr_limit)
      return raise(Vector::GP), false;

    // An immediate determines byte and bit at translation; the register form computes them.
    ValueId byte_offset = inst().is_immediate() ? u64(bitmap_byte(inst().msr, form().access))
                                                : add(b_.lanewise(Op::shr, {address(), u64(3)}),
                                                      u64(bitmap_byte(0, form().access)));
    ValueId base = and_imm(read(offsetof(MachineFile, user_msr_ctl)), ~std::uint64_t{0xfff});
    ValueId linear = add(base, byte_offset);
    auto [byte, status] = call(Callback::load_linear, {linear});
    write(offsetof(MachineFile, event_address), linear);
    write(offsetof(MachineFile, event_error), b_.lanewise(Op::sub, {status, u64(1)}));
    write(offsetof(MachineFile, scratch), bit_of(byte));
    branch_out_if(b_.compare(Op::cmp_ne, status, u64(0)), [&] { raise(Vector::PF); });
    branch_out_if(b_.compare(Op::cmp_eq, read(offsetof(MachineFile, scratch)), u64(0)),
                  [&] { raise(Vector::GP); });
    return true;
  }

  bool check_vmx_bitmap() {
    std::uint32_t quarter = form().access == Access::Write ? vmx_write_half : 0;
    bool is_low = true;
    if (inst().is_immediate()) {
      is_low = inst().msr < vmx_range;
      bool is_high = inst().msr >= vmx_high_base && inst().msr - vmx_high_base < vmx_range;
      if (is_high) quarter += vmx_high_quarter;
      if (!context_.use_msr_bitmaps || !(is_low || is_high)) return exit_to_vmm(), false;
    } else {
      if (!context_.use_msr_bitmaps) return exit_to_vmm(), false;
      branch_out_if(b_.compare(Op::cmp_ge, address(), u64(vmx_range)), [&] { exit_to_vmm(); });
    }
    ValueId byte_offset =
        inst().is_immediate()
            ? u64(quarter + inst().msr % vmx_range / 8)
            : add(b_.lanewise(Op::shr, {and_imm(address(), vmx_range - 1), u64(3)}), u64(quarter));
    auto [byte, status] = call(Callback::load_msr_bitmap, {byte_offset});
    // If the control has no bitmap page, every access exits.
    branch_out_if(b_.compare(Op::cmp_ne, b_.lanewise(Op::or_, {bit_of(byte), status}), u64(0)),
                  [&] { exit_to_vmm(); });
    return true;
  }

  bool access() {
    std::uint64_t how = inst().is_user() ? 0 : msr_supervisor;
    if (inst().is_immediate()) {
      std::optional<std::uint32_t> found = context_.find_slot ? context_.find_slot(inst().msr) : std::nullopt;
      // UWRMSR must not write the register that controls what it may write.
      bool is_refused = inst().is_user() && !inst().is_read() && inst().msr == ia32_user_msr_ctl;
      if (!found || is_refused) return raise(Vector::GP), false;
      how |= std::uint64_t{*found} + 1;
    }
    ValueId value = inst().is_read() ? u64(0) : read(gpr_offset(inst().data));
    auto [result, status] = inst().is_read() ? call(Callback::read_msr, {address(), u64(how)})
                                             : call(Callback::write_msr, {address(), u64(how), value});
    ValueId done = b_.compare(Op::cmp_eq, status, u64(0));
    if (inst().is_read()) write(gpr_offset(inst().data), result, done);
    // The control register is also state of the translated code; its slot has validated the value.
    if (!inst().is_read() && inst().is_immediate() && inst().msr == ia32_user_msr_ctl)
      write(offsetof(MachineFile, user_msr_ctl), value, done);
    branch_out_if(b_.compare(Op::cmp_ne, status, u64(0)), [&] { raise(Vector::GP); });
    return true;
  }

  ir::Builder b_;
  const LoweringContext& context_;
  const PlacedInst* placed_ = nullptr;
  std::uint64_t completed_ = 0;
  std::vector<Pending> pending_;
};

}  // namespace

ir::Function lower(std::span<const PlacedInst> run, const LoweringContext& context) {
  ir::Function function;
  function.name = "user_msr";
  function.family = "x86";
  function.file_bytes = sizeof(MachineFile);
  Lowering(function, context).run(run);
  return function;
}

}  // namespace eum::x86

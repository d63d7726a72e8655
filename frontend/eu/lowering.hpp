#pragma once
// The state of lowering one kernel, and what all instruction lowerings share: reading sources, writing
// destinations, masks and labels. It must not know individual instructions.
#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "frontend/eu/control_flow.hpp"
#include "frontend/eu/exec_type.hpp"
#include "frontend/ir/builder.hpp"

namespace eum::eu {

class Lowering {
 public:
  Lowering(ir::Function& function, const Target& target, const Program& program, const ControlFlow& flow,
           std::optional<std::uint32_t> system_routine)
      : builder_(function),
        target_(target),
        program_(program),
        flow_(flow),
        system_routine_(system_routine) {}

  // ---- one instruction ----
  /// Lowers `inst`, which must outlive the call, into the current block.
  void lower(const Instruction& inst);
  const Instruction& inst() const { return *inst_; }
  /// Runs `part` with `inst` as the current instruction: a variant that differs in what happens to results.
  template <class Part>
  void as(const Instruction& inst, Part&& part) {
    const Instruction* const own = std::exchange(inst_, &inst);
    const bool mask_read = std::exchange(lane_mask_read_, false);
    const ir::ValueId mask = lane_mask_;
    part();
    inst_ = own;
    lane_mask_ = mask;
    lane_mask_read_ = mask_read;
  }
  /// Runs `part` with a predicate that is true everywhere.
  template <class Part>
  void unpredicated(Part&& part) {
    const ir::ValueId own = std::exchange(predicate_, ir::no_value);
    predicate_read_ = true;
    part();
    predicate_ = own;
  }
  /// Runs `part` with writes restricted to the channels of `mask`.
  template <class Part>
  void only(ir::ValueId mask, Part&& part) {
    only_ = mask;
    part();
    only_ = ir::no_value;
  }
  const Target& target() const { return target_; }
  unsigned lanes() const { return inst_->exec_size; }
  /// The number of dispatch channels that the lanes cover.
  unsigned channels() const { return lanes() << (inst_->paired ? 1 : 0); }
  ir::Builder& b() { return builder_; }

  /// Ends the block with a trap that shows the instruction and the reason.
  void unsupported(std::string_view reason);
  template <class... Args>
  void unsupported(fmt::format_string<Args...> format, Args&&... args) {
    unsupported(std::string_view(fmt::format(format, std::forward<Args>(args)...)));
  }
  /// Ends the block with a trap of this text.
  void trap(std::string text);
  /// Ends the block before a message whose descriptors are in registers.
  void register_message();
  /// A block that ends with an `unsupported` trap, for the current block to branch to.
  ir::BlockId add_trap(std::string_view reason);
  /// An empty block that no jump to an ip finds.
  ir::BlockId add_block() { return builder_.function().add_block(inst_ip() | 1); }
  /// Branches to `block` if `condition` (one lane of a mask) holds, else continues in another block, in which
  /// no value of the current one is known.
  void leave_if(ir::ValueId condition, ir::BlockId block);
  /// Forgets the masks that have been read, which are unknown in another block.
  void forget_values();
  /// Text of the current instruction.
  std::string text() const { return program_.text(inst_->ip); }
  /// Where the System Routine begins, if there is one.
  std::optional<std::uint32_t> system_routine() const { return system_routine_; }
  /// Whether a terminator has been appended.
  bool ended() const { return ended_; }
  void end_block() { ended_ = true; }
  void begin_block(ir::BlockId block);

  // ---- masks (predication.cpp) ----
  /// The execution mask, all channels of the dispatch.
  ir::ValueId execution_mask();
  void set_execution_mask(ir::ValueId mask);
  /// Channels first to first + lanes - 1 of the execution mask; those beyond the dispatch are inactive.
  ir::ValueId channel_mask(unsigned first, unsigned lanes);
  /// Converts a mask over channels() to one over lanes(), and back; no_value stays no_value.
  ir::ValueId of_lanes(ir::ValueId channels);
  ir::ValueId of_channels(ir::ValueId mask);
  /// Execution mask of the instruction's channels that the destination takes, or no_value if that is every
  /// channel.
  ir::ValueId lane_mask();
  /// The predicate over the instruction's channels, or no_value if it has none.
  ir::ValueId predicate();
  /// lane_mask and predicate, or no_value if every channel is active.
  ir::ValueId write_mask();
  /// `mask` over the instruction's channels as a mask of the whole dispatch, other channels inactive.
  ir::ValueId spread(ir::ValueId mask);
  /// Flag bit of the instruction's first channel (condition modifier and predicate).
  unsigned flag_bit() const { return inst_->flag + inst_->channel_offset; }
  ir::ValueId both(ir::ValueId a, ir::ValueId b);
  ir::ValueId none_of(unsigned lanes) { return builder_.constant(ir::Type::m, lanes, 0); }

  // ---- operands (region.cpp) ----
  /// Source `index` in type `exec`, modifiers applied.
  ir::ValueId source(unsigned index, ir::Type exec) { return read(inst_->src[index], exec, false); }
  /// A source of a logic instruction: negation is the complement, floats are bits.
  ir::ValueId logic_source(unsigned index, ir::Type exec) { return read(inst_->src[index], exec, true); }
  ir::ValueId read(const Operand& op, ir::Type exec, bool logic);
  /// A source whose inactive lanes are needed too, because other lanes read them.
  ir::ValueId read_all(unsigned index, ir::Type exec);
  /// Bits of an immediate as a value of type `exec`.
  ir::ValueId immediate(const Operand& op, ir::Type exec, unsigned lanes);
  /// Writes `value` (any type; converted to the destination's) under `mask`.
  void write(const Operand& dst, ir::ValueId value, ir::ValueId mask);
  /// Runs `part` with conversions between f32 and f64 that keep denormals.
  template <class Part>
  void keeping_denormals(Part&& part) {
    keeps_denormals_ = true;
    part();
    keeps_denormals_ = false;
  }
  /// An operand or a result in another type.
  ir::ValueId converted(ir::Type to, ir::ValueId value);
  bool truncates(ir::Type from, ir::Type to) const {
    return inst_->truncates && from == ir::Type::f64 && to == ir::Type::f32;
  }
  /// f64 as f32, rounded to zero.
  ir::ValueId truncated(ir::ValueId value);
  /// `value` in the type of the destination, saturated if the instruction says so.
  ir::ValueId to_destination(ir::ValueId value);
  /// Converts an integer of the destination's size to the destination's type.
  ir::ValueId as_destination(ir::ValueId value);
  /// Applies condition modifier, saturation and conversion to a result and writes destination and
  /// accumulator. `exact`: the integer for the accumulator, if it differs from the destination's. `overflow`:
  /// whether the result exceeds the destination's type, if the result itself does not tell.
  void finish(ir::ValueId result, ir::ValueId exact = ir::no_value, ir::ValueId overflow = ir::no_value);
  /// Whether a result exceeds the destination's type.
  ir::ValueId overflow(ir::ValueId result);
  /// Writes `value` to the destination under the write mask and calls `flags`, which writes flags. An
  /// indirect destination, whose address may be bad, is written first, so that flags are unchanged at a
  /// fault.
  template <class Flags>
  void commit(ir::ValueId value, Flags&& flags) {
    const ir::ValueId mask = write_mask();
    const bool may_fault = inst_->dst.kind == OperandKind::Indirect;
    if (may_fault) write(inst_->dst, value, mask);
    flags();
    if (!may_fault) write(inst_->dst, value, mask);
  }
  /// Writes the flags of the condition modifier: `seen` is compared with zero; `computed` is the result
  /// before saturation and conversion, and `overflow` its overflow().
  void write_flags(ir::ValueId seen, ir::ValueId computed, ir::ValueId overflow);
  /// Writes flags under the write mask.
  void write_flag_mask(ir::ValueId value);
  /// One lane of type `type` at byte `offset` of the register file.
  ir::ValueId scalar(ir::Type type, unsigned offset) {
    return builder_.reg_read(type, 1, ir::Region::packed(offset));
  }
  /// The first element of an operand, in `type`.
  ir::ValueId scalar(const Operand& op, ir::Type type);
  /// Byte addresses (u16) of an indirect operand; one lane if all channels read the same one.
  ir::ValueId addresses(const Operand& op, unsigned lanes, bool destination);

  // ---- modes of cr0.0 (modes.cpp) ----
  /// Whether the program may set this bit of cr0.0; otherwise nothing needs to check it.
  bool may_be_on(std::uint32_t mode) const;
  /// A mask of `lanes` lanes, all ones if the bit is set.
  ir::ValueId mode_mask(std::uint32_t mode, unsigned lanes);
  /// Switches between dispatch mask and vector mask if cr0.0 changes so from `old` to `now` (one lane each).
  void switch_masks(ir::ValueId old, ir::ValueId now);
  /// The lanes of an implicit write of the accumulator.
  ir::ValueId accumulator_mask(ir::ValueId mask, unsigned lanes);

  // ---- accumulator (accumulator.cpp) ----
  /// Byte offset, for elements of `type`, of the accumulator lane that belongs to the instruction's first
  /// channel.
  unsigned implicit_acc_offset(ir::Type type) const;
  /// The region of the high plane that belongs to a region of `bytes`-sized integers in the low plane.
  ir::Region high_plane(const ir::Region& low, unsigned bytes) const;
  /// The full value of integer channels of the accumulator, in an integer type wider than theirs.
  ir::ValueId read_content(const ir::Region& low, unsigned bytes, ir::Type type, ir::ValueId mask);
  /// Writes lanes of elements of type `element` from byte `offset` on; integers as exactly as `value` has
  /// them.
  void write_accumulator(unsigned offset, unsigned stride, ir::Type element, ir::ValueId value,
                         ir::ValueId mask);
  /// An exact integer as an accumulator destination holds it.
  ir::ValueId accumulator_content(ir::ValueId exact);
  /// Writes a result to the accumulator as {AccWrEn} requires.
  void update_accumulator(ir::ValueId value);

  const ControlFlow& flow() const { return flow_; }

 private:
  std::uint32_t inst_ip() const { return inst_ == nullptr ? 0 : inst_->ip; }
  /// Why the flags that the instruction names cannot be read or written, or null (predication.cpp).
  const char* check_flags() const;
  /// Why the operands cannot be read or written, or null (region.cpp).
  const char* check_operands() const;
  const char* check_operand(const Operand& op, bool destination) const;
  ir::ValueId read_operand(const Operand& op, ir::Type exec, bool logic);
  /// An f32 source or result as the alternative floating point mode changes it.
  ir::ValueId as_input(const Operand& op, ir::ValueId value);
  ir::ValueId as_result(ir::ValueId value);
  ir::ValueId without_specials(ir::ValueId value);
  ir::ValueId packed_immediate(const Operand& op, ir::Type exec, unsigned lanes);
  ir::ValueId read_register(const Operand& op, ir::Type raw);
  /// Lanes of a source that must be read.
  ir::ValueId needed_lanes() { return reads_all_ ? ir::no_value : lane_mask(); }
  ir::ValueId read_swizzled(const Operand& op, ir::Type raw);
  /// The channels of `mask` as the bits of one lane of `type`.
  ir::ValueId channel_bits(ir::ValueId mask, ir::Type type);
  ir::ValueId read_flags(const Operand& op, ir::Type raw);
  ir::ValueId modify(ir::ValueId value, SourceModifier modifier, bool logic);
  void write_flag_operand(const Operand& dst, ir::ValueId value, ir::ValueId mask);

  ir::Builder builder_;
  const Target& target_;
  const Program& program_;
  const ControlFlow& flow_;
  std::optional<std::uint32_t> system_routine_;
  const Instruction* inst_ = nullptr;
  bool ended_ = false;

  struct MaskSlice {
    unsigned first, lanes;
    ir::ValueId value;
  };
  std::array<MaskSlice, 8> slices_;
  unsigned slice_count_ = 0;
  ir::ValueId execution_mask_ = ir::no_value;
  ir::ValueId predicate_ = ir::no_value;
  bool predicate_read_ = false;
  ir::ValueId only_ = ir::no_value;
  ir::ValueId lane_mask_ = ir::no_value;
  bool lane_mask_read_ = false;
  bool reads_all_ = false;
  bool keeps_denormals_ = false;
};

/// Bytes from the first byte of a region to the end of its last element, for `lanes` elements of `bytes`.
unsigned region_span(const Region& region, unsigned lanes, unsigned bytes);
/// Region of a direct operand at byte `offset`; a constant distance between lanes becomes a simple stride.
ir::Region ir_region(const Region& region, unsigned offset, unsigned lanes);
/// Whether every lane reads the same element.
bool is_uniform(const Region& region, unsigned lanes);

}  // namespace eum::eu

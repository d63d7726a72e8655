#pragma once
// The state of lowering one kernel, and what all instruction lowerings share: reading sources, writing
// destinations, masks and labels. It must not know single instructions.
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
  /// Does `part` as if `inst`, which differs in what happens to results, were the instruction.
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
  /// Does `part` with a predicate that holds everywhere.
  template <class Part>
  void unpredicated(Part&& part) {
    const ir::ValueId own = std::exchange(predicate_, ir::no_value);
    predicate_read_ = true;
    part();
    predicate_ = own;
  }
  /// Does `part` with no channel written but those of `mask`.
  template <class Part>
  void only(ir::ValueId mask, Part&& part) {
    only_ = mask;
    part();
    only_ = ir::no_value;
  }
  const Target& target() const { return target_; }
  unsigned lanes() const { return inst_->exec_size; }
  /// Channels of the dispatch that the lanes take.
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
  /// Ends the block where a message begins whose descriptors are in registers.
  void register_message();
  /// A block that ends with such a trap, for the current block to branch to.
  ir::BlockId add_trap(std::string_view reason);
  /// An empty block that no jump to an ip finds.
  ir::BlockId add_block() { return builder_.function().add_block(inst_ip() | 1); }
  /// Goes to `block` if `condition` (one lane of a mask) holds; lowering goes on in another block, where no
  /// value of the current one is known.
  void leave_if(ir::ValueId condition, ir::BlockId block);
  /// For lowering into another block, where masks that have been read are unknown.
  void forget_values();
  /// The instruction's.
  std::string text() const { return program_.text(inst_->ip); }
  /// Where the System Routine begins, if there is one.
  std::optional<std::uint32_t> system_routine() const { return system_routine_; }
  /// A terminator has been appended.
  bool ended() const { return ended_; }
  void end_block() { ended_ = true; }
  void begin_block(ir::BlockId block);

  // ---- masks (predication.cpp) ----
  /// The execution mask, all channels of the dispatch.
  ir::ValueId execution_mask();
  void set_execution_mask(ir::ValueId mask);
  /// Channels first to first + lanes - 1 of the execution mask; those beyond the dispatch are off.
  ir::ValueId channel_mask(unsigned first, unsigned lanes);
  /// A mask over channels() as one over lanes(), and the other way round; no_value stays so.
  ir::ValueId of_lanes(ir::ValueId channels);
  ir::ValueId of_channels(ir::ValueId mask);
  /// Execution mask of the instruction's channels that the destination takes, or no_value where it is
  /// every channel.
  ir::ValueId lane_mask();
  /// The predicate over the instruction's channels, or no_value where it has none.
  ir::ValueId predicate();
  /// lane_mask and predicate, or no_value where every channel is on.
  ir::ValueId write_mask();
  /// `mask` over the instruction's channels as a mask of the whole dispatch, other channels off.
  ir::ValueId spread(ir::ValueId mask);
  /// Flag bit of the instruction's first channel (condition modifier and predicate).
  unsigned flag_bit() const { return inst_->flag + inst_->channel_offset; }
  ir::ValueId both(ir::ValueId a, ir::ValueId b);
  ir::ValueId none_of(unsigned lanes) { return builder_.constant(ir::Type::m, lanes, 0); }

  // ---- operands (region.cpp) ----
  /// A source in type `exec`, modifiers applied.
  ir::ValueId source(unsigned index, ir::Type exec) { return read(inst_->src[index], exec, false); }
  /// A source of a logic instruction: negation is the complement, floats are bits.
  ir::ValueId logic_source(unsigned index, ir::Type exec) { return read(inst_->src[index], exec, true); }
  ir::ValueId read(const Operand& op, ir::Type exec, bool logic);
  /// A source whose lanes count where their channels are off too, as others read them.
  ir::ValueId read_all(unsigned index, ir::Type exec);
  /// Bits of an immediate as a value of type `exec`.
  ir::ValueId immediate(const Operand& op, ir::Type exec, unsigned lanes);
  /// Writes `value` (any type; converted to the destination's) under `mask`.
  void write(const Operand& dst, ir::ValueId value, ir::ValueId mask);
  /// Does `part` with conversions between f32 and f64 that keep denormals.
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
  /// An integer of the destination's size as one of its type.
  ir::ValueId as_destination(ir::ValueId value);
  /// Condition modifier, saturation, conversion, destination and accumulator of a result. `exact`: the
  /// integer that the accumulator takes, if it is not what the destination gets. `overflow`: whether the
  /// result is beyond the destination's type, if the result does not tell.
  void finish(ir::ValueId result, ir::ValueId exact = ir::no_value, ir::ValueId overflow = ir::no_value);
  /// Whether a result is beyond the destination's type.
  ir::ValueId overflow(ir::ValueId result);
  /// Writes `value` to the destination under the write mask and calls `flags`, which writes flags: after an
  /// indirect destination, whose address may be bad, so that a fault finds the instruction undone.
  template <class Flags>
  void commit(ir::ValueId value, Flags&& flags) {
    const ir::ValueId mask = write_mask();
    const bool may_fault = inst_->dst.kind == OperandKind::Indirect;
    if (may_fault) write(inst_->dst, value, mask);
    flags();
    if (!may_fault) write(inst_->dst, value, mask);
  }
  /// Writes the flags of the condition modifier: `seen` is compared with zero; `computed` is what the
  /// instruction computed, before saturation and conversion, and `overflow` what overflow() says of it.
  void write_flags(ir::ValueId seen, ir::ValueId computed, ir::ValueId overflow);
  /// Writes flags under the write mask.
  void write_flag_mask(ir::ValueId value);
  /// 1-lane u32 or other type from byte `offset` of the register file.
  ir::ValueId scalar(ir::Type type, unsigned offset) {
    return builder_.reg_read(type, 1, ir::Region::packed(offset));
  }
  /// The first element of an operand, in `type`.
  ir::ValueId scalar(const Operand& op, ir::Type type);
  /// Byte addresses, u16, of an indirect operand; one lane if all channels read the same.
  ir::ValueId addresses(const Operand& op, unsigned lanes, bool destination);

  // ---- modes of cr0.0 (modes.cpp) ----
  /// Whether the program may set this bit of cr0.0; else nothing needs to look at it.
  bool may_be_on(std::uint32_t mode) const;
  /// Lanes of a mask, all ones if the bit is set.
  ir::ValueId mode_mask(std::uint32_t mode, unsigned lanes);
  /// Switches between dispatch mask and vector mask where cr0.0 goes from `old` to `now` (one lane each).
  void switch_masks(ir::ValueId old, ir::ValueId now);
  /// The lanes of an implicit write of the accumulator.
  ir::ValueId accumulator_mask(ir::ValueId mask, unsigned lanes);

  // ---- accumulator (accumulator.cpp) ----
  /// Byte offset of the accumulator lane that belongs to the instruction's first channel for elements of
  /// `type`.
  unsigned implicit_acc_offset(ir::Type type) const;
  /// The high plane of a region of integers of `bytes` in the low plane.
  ir::Region high_plane(const ir::Region& low, unsigned bytes) const;
  /// The content of integer channels of the accumulator, in an integer type wider than theirs.
  ir::ValueId read_content(const ir::Region& low, unsigned bytes, ir::Type type, ir::ValueId mask);
  /// Stores lanes of elements of type `element` from byte `offset` on; integers as exact as `value` has them.
  void write_accumulator(unsigned offset, unsigned stride, ir::Type element, ir::ValueId value,
                         ir::ValueId mask);
  /// An exact integer as the accumulator that is the destination holds it.
  ir::ValueId accumulator_content(ir::ValueId exact);
  /// What {AccWrEn} does with a result.
  void update_accumulator(ir::ValueId value);

  const ControlFlow& flow() const { return flow_; }

 private:
  std::uint32_t inst_ip() const { return inst_ == nullptr ? 0 : inst_->ip; }
  /// Why the flags that the instruction names cannot be read or written, or null (predication.cpp).
  const char* check_flags() const;
  /// Why its operands cannot, or null (region.cpp).
  const char* check_operands() const;
  const char* check_operand(const Operand& op, bool destination) const;
  ir::ValueId read_operand(const Operand& op, ir::Type exec, bool logic);
  /// A float that is read, or that is a result, as the alternative mode has it.
  ir::ValueId as_input(const Operand& op, ir::ValueId value);
  ir::ValueId as_result(ir::ValueId value);
  ir::ValueId without_specials(ir::ValueId value);
  ir::ValueId packed_immediate(const Operand& op, ir::Type exec, unsigned lanes);
  ir::ValueId read_register(const Operand& op, ir::Type raw);
  /// Lanes of a source that are read.
  ir::ValueId needed_lanes() { return reads_all_ ? ir::no_value : lane_mask(); }
  ir::ValueId read_swizzled(const Operand& op, ir::Type raw);
  /// One bit of a lane of `type` for each channel of `mask`.
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

/// Bytes from the first byte of a region to behind its last, for `lanes` elements of `bytes`.
unsigned region_span(const Region& region, unsigned lanes, unsigned bytes);
/// Region of a direct operand at byte `offset`, constant strides as such.
ir::Region ir_region(const Region& region, unsigned offset, unsigned lanes);
/// Every lane reads the same element.
bool is_uniform(const Region& region, unsigned lanes);

}  // namespace eum::eu

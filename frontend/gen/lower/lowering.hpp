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

#include "frontend/gen/instruction.hpp"
#include "frontend/gen/lower/control_flow.hpp"
#include "frontend/gen/lower/exec_type.hpp"
#include "frontend/ir/builder.hpp"

namespace eum::gen {

class Lowering {
 public:
  Lowering(ir::Function& function, Family family, const ControlFlow& flow);

  // ---- one instruction ----
  /// Makes `inst` the current instruction; it must outlive the lowering of it. Three-source Align16 is
  /// rewritten.
  void begin(const Instruction& inst);
  const Instruction& inst() const { return *inst_; }
  Family family() const { return family_; }
  unsigned lanes() const { return inst_->exec_size; }
  ir::Builder& b() { return builder_; }

  /// Ends the block with a trap that shows the instruction and the reason.
  void unsupported(std::string_view reason);
  template <class... Args>
  void unsupported(fmt::format_string<Args...> format, Args&&... args) {
    unsupported(std::string_view(fmt::format(format, std::forward<Args>(args)...)));
  }
  /// Ends the block with a trap of this text.
  void trap(std::string text);
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
  /// Execution mask of the instruction's channels, or no_value for NoMask.
  ir::ValueId lane_mask();
  /// The predicate over the instruction's channels, or no_value where it has none.
  ir::ValueId predicate();
  /// lane_mask and predicate, or no_value where every channel is on.
  ir::ValueId write_mask();
  /// `mask` over the instruction's channels as a mask of the whole dispatch, other channels off.
  ir::ValueId spread(ir::ValueId mask);
  /// Why the flags that the instruction names cannot be read or written, or null.
  const char* refuse_flags() const;
  /// First bit of the flag register for the instruction's channels (condition modifier and predicate).
  unsigned flag_bit() const;
  ir::ValueId both(ir::ValueId a, ir::ValueId b);
  ir::ValueId none_of(unsigned lanes) { return builder_.constant(ir::Type::m, lanes, 0); }

  // ---- operands (region.cpp) ----
  /// Why the operands of the instruction cannot be read or written, or null.
  const char* refuse_operands() const;
  /// A source in type `exec`, modifiers applied.
  ir::ValueId source(unsigned index, ir::Type exec) { return read(inst_->src[index], exec, false); }
  /// A source of a logic instruction: negation is the complement, floats are bits.
  ir::ValueId logic_source(unsigned index, ir::Type exec) { return read(inst_->src[index], exec, true); }
  ir::ValueId read(const Operand& op, ir::Type exec, bool logic);
  /// Bits of an immediate as a value of type `exec`.
  ir::ValueId immediate(const Operand& op, ir::Type exec, unsigned lanes);
  /// Writes `value` (any type; converted to the destination's) under `mask`.
  void write(const Operand& dst, ir::ValueId value, ir::ValueId mask);
  /// `value` in the type of the destination, saturated if the instruction says so.
  ir::ValueId to_destination(ir::ValueId value);
  /// Condition modifier, saturation, conversion, destination and accumulator of a result.
  void finish(ir::ValueId result);
  /// Writes the flags of the condition modifier for `result` against zero.
  void write_flags(ir::ValueId result);
  /// Writes flags under the write mask.
  void write_flag_mask(ir::ValueId value);
  /// 1-lane u32 or other type from byte `offset` of the register file.
  ir::ValueId scalar(ir::Type type, unsigned offset) {
    return builder_.reg_read(type, 1, ir::Region::packed(offset));
  }
  /// Byte offset in the register file of a direct operand.
  unsigned file_offset(const Operand& op) const;
  /// Byte addresses, u16, of an indirect operand; one lane if all channels read the same.
  ir::ValueId addresses(const Operand& op, unsigned lanes, bool destination);

  // ---- accumulator (accumulator.cpp) ----
  /// Byte offset of the accumulator lane that belongs to the instruction's first channel for elements of
  /// `type`.
  unsigned implicit_acc_offset(ir::Type type) const;
  /// Stores a result as {AccWrEn} does; `high` is bits 63:32 of 32-bit integers, no_value: extended from
  /// `low`.
  void write_accumulator(unsigned offset, unsigned stride, ir::ValueId low, ir::ValueId high,
                         ir::ValueId mask);

  // ---- labels (flow.cpp) ----
  const ControlFlow& flow() const { return flow_; }

 private:
  ir::ValueId read_register(const Operand& op, ir::Type raw);
  /// One bit of a lane of `type` for each channel of `mask`.
  ir::ValueId channel_bits(ir::ValueId mask, ir::Type type);
  ir::ValueId read_flags(const Operand& op, ir::Type raw);
  ir::ValueId modify(ir::ValueId value, SourceModifier modifier, bool logic);
  void write_flag_operand(const Operand& dst, ir::ValueId value, ir::ValueId mask);

  ir::Builder builder_;
  Family family_;
  const ControlFlow& flow_;
  const Instruction* inst_ = nullptr;
  Instruction rewritten_;
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
};

/// Offset of an IR region's last byte + 1 behind its offset, for `lanes` elements of `bytes`.
unsigned region_span(const Region& region, unsigned lanes, unsigned bytes);
/// Region of a direct operand at byte `offset`, constant strides as such.
ir::Region ir_region(const Region& region, unsigned offset, unsigned lanes);
/// Every lane reads the same element.
bool is_uniform(const Region& region, unsigned lanes);

}  // namespace eum::gen

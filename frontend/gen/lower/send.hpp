#pragma once
// What the lowerings of data port messages share: the message's payload, its channels, the memory it names.
#include "frontend/gen/lower/handlers.hpp"

namespace eum::gen {

/// One message: where its payload lies and which channels take part.
/// Payload registers are counted through src0 and then, for split sends, src1.
class Message {
 public:
  explicit Message(Lowering& l);

  Lowering& lowering() const { return l_; }
  std::uint32_t descriptor() const { return l_.inst().send.desc.value; }
  /// Bits high to low of the descriptor.
  unsigned bits(unsigned high, unsigned low) const {
    return descriptor() >> low & ((2u << (high - low)) - 1);
  }
  bool has_header() const { return bits(19, 19) != 0; }
  unsigned surface() const { return bits(7, 0); }
  unsigned response_registers() const { return bits(24, 20); }
  unsigned payload_registers() const { return length_[0] + length_[1]; }

  /// Sets how many channels a message of this SIMD mode serves.
  void set_mode(unsigned channels) { mode_ = channels; }
  /// Channels that take part: those of the instruction, at most those of the mode.
  unsigned lanes() const { return std::min(l_.lanes(), mode_); }
  /// Registers that one component of `bytes` a channel takes in payload and response.
  unsigned registers(unsigned bytes) const { return (mode_ * bytes + 31) / 32; }
  /// Execution mask and predicate over lanes(), or no_value.
  ir::ValueId mask();
  /// Execution mask over lanes() as a hint for reading the payload.
  ir::ValueId hint();

  /// Elements of channels 0 on from payload register `index`, `stride` elements apart.
  ir::ValueId read(ir::Type type, unsigned index, unsigned stride = 1);
  /// One element at byte `offset` of the header.
  ir::ValueId header(ir::Type type, unsigned offset);
  /// Byte offset in the register file of payload register `index`.
  unsigned payload_offset(unsigned index) const;
  /// Byte offset in the register file of response register `index`.
  unsigned response_offset(unsigned index) const;
  /// Writes `value` of all channels from response register `index` on.
  void respond(unsigned index, ir::ValueId value);

  /// The memory that the binding table index names, and the type of its addresses; nothing after a trap.
  std::optional<ir::MemRef> stateful(unsigned components = 1);
  static ir::MemRef a64(unsigned components = 1) {
    return {ir::MemSpace::A64, 0, static_cast<std::uint8_t>(components), {}};
  }
  /// Whether payload and response have room for what the message moves; else traps.
  bool has_room(unsigned payload, unsigned response);

 private:
  Lowering& l_;
  unsigned mode_ = 8;
  std::array<unsigned, 2> first_{};   ///< register numbers of src0 and src1
  std::array<unsigned, 2> length_{};  ///< registers of each
};

// Each returns after a trap where it cannot lower the message.
void lower_untyped_surface(Message&, bool a64, bool write);
void lower_byte_scattered(Message&, bool write);
void lower_a64_scattered(Message&, bool write);
void lower_untyped_atomic(Message&, bool a64, bool floats);
void lower_oword_block(Message&, bool write, unsigned unit_bytes);
void lower_a64_block(Message&, bool write);
void lower_scratch_block(Message&);

}  // namespace eum::gen

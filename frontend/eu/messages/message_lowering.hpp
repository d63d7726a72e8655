#pragma once
// What the lowerings of messages share: registers of payload and response, channels, the memory accessed.
// Front ends' message tables name the functions at the end.
#include <algorithm>
#include <vector>

#include "frontend/eu/lowering.hpp"

namespace eum::eu {

/// One message being lowered: where its payload comes from, where its response goes, which channels take
/// part. Payload registers are counted through the first range and then, for split sends, the second.
class MessageLowering {
 public:
  explicit MessageLowering(Lowering& lowering)
      : l_(lowering), message_(lowering.inst().message), mode_(message_.channels) {}

  Lowering& lowering() const { return l_; }
  ir::Builder& b() const { return l_.b(); }
  const Message& message() const { return message_; }

  /// Channels that take part: those of the instruction, at most `mode`.
  unsigned lanes() const { return std::min(l_.lanes(), mode_); }
  /// Sets how many channels the message serves; initially Message::channels.
  void set_mode(unsigned channels) { mode_ = channels; }
  /// Sets whether inactive channels are read as well, because other channels depend on them.
  void set_reads_all(bool on) { reads_all_ = on; }
  /// Registers that an element of `bytes` per channel takes in payload and response.
  unsigned registers(unsigned bytes) const { return l_.target().registers(mode_ * bytes); }
  /// Execution mask and predicate over lanes(), or no_value.
  ir::ValueId mask();
  /// The same, restricted to the slots in the header of an untyped or typed message, if there is one.
  ir::ValueId slot_mask();
  /// Byte of such a header that holds one bit per slot.
  static constexpr unsigned header_slots = 28;
  /// Execution mask over lanes() as a hint for reading the payload.
  ir::ValueId payload_read_mask();

  /// Elements of the channels from payload register `index` on, `stride` elements apart.
  ir::ValueId read(ir::Type type, unsigned index, unsigned stride = 1);
  /// Whether the message has one-lane operand `index`, and its value.
  bool has_scalar(unsigned index) const;
  ir::ValueId scalar(unsigned index, ir::Type type);
  /// Index of the surface if a register holds it, else no_value.
  ir::ValueId surface();
  /// One element at byte `offset` of the header.
  ir::ValueId header(ir::Type type, unsigned offset);
  /// Byte offset in the register file of payload register `index`.
  unsigned payload_offset(unsigned index) const;
  /// Byte offset in the register file of response register `index`.
  unsigned response_offset(unsigned index) const {
    return message_.response.offset + index * l_.target().grf_bytes;
  }
  /// Writes `value` of the channels to response register `index` and those after it.
  void write_response(unsigned index, ir::ValueId value);
  /// Whether anything is returned to general registers.
  bool has_response() const { return message_.response.count != 0; }

  /// The address that `value` denotes in the message's memory. Shared local memory uses only 16 bits of an
  /// address: compilers set a higher one, so that a pointer to its first byte is not null (0x10000000, IGC's
  /// InlineLocalsResolution).
  ir::ValueId address(ir::ValueId value);
  /// The base that the header of a stateless message adds to offsets: bits 31:10 of dword 5, in units of 1
  /// KB; in a copy of r0 that is the thread's scratch space.
  ir::ValueId stateless_base();
  /// The message's image access, and the operands that identify its surface.
  ir::ImageAccess image() const;
  std::vector<ir::ValueId> surface_operand();
  /// Type of an address of the message.
  ir::Type address_type() const { return ir::info(message_.memory.space).address; }
  /// Whether payload and response have as many registers as the message moves; traps if not.
  bool check_payload(unsigned payload, unsigned response);

 private:
  Lowering& l_;
  const Message& message_;
  unsigned mode_;
  bool reads_all_ = false;
};

/// Whether the message has no header, or one that names slots; traps if not.
bool has_plain_header(MessageLowering&);

// Each returns after a trap if it cannot lower the message.
/// Untyped and scattered messages: one address a channel.
void lower_per_channel(MessageLowering&);
void lower_untyped_atomic(MessageLowering&);
/// Consecutive owords or registers from one address.
void lower_block_message(MessageLowering&);
void lower_scratch_block(MessageLowering&);
/// One or four owords at each of two offsets.
void lower_dual_block(MessageLowering&);
/// Messages that act on images.
void lower_sample(MessageLowering&);
void lower_typed_surface(MessageLowering&);
void lower_typed_atomic(MessageLowering&);
void lower_atomic_counter(MessageLowering&);
void lower_media_block(MessageLowering&);
void lower_fence(MessageLowering&);
void lower_barrier_signal(MessageLowering&);
void lower_end_of_thread(MessageLowering&);
void lower_unsupported_message(MessageLowering&);

}  // namespace eum::eu

#pragma once
// Messages of two slots (SIMD4x2 and dual blocks): channels 0 to 3 of the instruction belong to slot 0,
// channels 4 to 7 to slot 1, and a register holds four dwords of each. It must not know what a message does.
#include "frontend/eu/messages/message_lowering.hpp"

namespace eum::eu {

/// Reads and writes values with one lane per slot.
class Slots {
 public:
  static constexpr unsigned count = 2, dwords = 4;
  /// Whether Message::channels identifies a message of two slots.
  static bool serves(const Message& message) {
    return message.channels == count && message.operands == nullptr;
  }

  explicit Slots(MessageLowering& t) : t_(t) {}

  /// Whether payload and response have as many registers as the message moves, and the instruction the
  /// channels of two slots; traps if not.
  bool check(unsigned payload, unsigned response);
  /// Element `element` of type `type` of both slots in payload register `index`.
  ir::ValueId read(ir::Type type, unsigned index, unsigned element) const;
  ir::ValueId read(unsigned index, unsigned dword) const { return read(ir::Type::u32, index, dword); }
  /// The addresses of both slots in payload register `index`.
  ir::ValueId addresses(unsigned index) const { return read(t_.address_type(), index, 0); }
  /// Writes values that begin in dword `dword` of both slots of response register `index`, where channel
  /// `dword` is active.
  void write(unsigned index, unsigned dword, ir::ValueId value) { write(index, dword, value, mask(dword)); }
  void write(unsigned index, unsigned dword, ir::ValueId value, ir::ValueId mask);
  /// Slots with any active channel, or no_value: all.
  ir::ValueId mask();
  /// Slots whose channel `channel` is active, or no_value: all.
  ir::ValueId mask(unsigned channel);
  /// Restricts the message to the channels whose bits are set in the header's mask.
  void limit(ir::ValueId bits);

 private:
  ir::ValueId bits();
  ir::ValueId pick(ir::ValueId bits, unsigned channel);
  static constexpr unsigned channels = count * dwords, slot_bytes = 4 * dwords;

  MessageLowering& t_;
  ir::ValueId limit_ = ir::no_value;
};

// Each returns after a trap if it cannot lower the message.
void lower_untyped_slots(MessageLowering&);
void lower_untyped_atomic_slots(MessageLowering&);
void lower_typed_slots(MessageLowering&);
void lower_typed_atomic_slots(MessageLowering&);
void lower_atomic_counter_slots(MessageLowering&);
void lower_sample_slots(MessageLowering&);

}  // namespace eum::eu

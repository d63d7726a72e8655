// Messages: payload and response registers, and the send that carries them.
#include "frontend/eu/messages/message_lowering.hpp"

#include "frontend/eu/handlers.hpp"

namespace eum::eu {

ir::ValueId MessageLowering::mask() {
  ir::ValueId mask = l_.write_mask();
  return mask == ir::no_value ? mask : b().slice(mask, 0, lanes());
}

ir::ValueId MessageLowering::slot_mask() {
  const ir::ValueId on = mask();
  if (!message_.header) return on;
  ir::ValueId bits = header(ir::Type::u32, header_slots);
  if (message_.high_slots) bits = b().lanewise(ir::Op::shr, {bits, b().constant(ir::Type::u32, 1, lanes())});
  return l_.both(on, b().bits_mask(bits, lanes()));
}

ir::ValueId MessageLowering::payload_read_mask() {
  return l_.inst().no_mask || reads_all_ ? ir::no_value : l_.channel_mask(l_.inst().channel_offset, lanes());
}

unsigned MessageLowering::payload_offset(unsigned index) const {
  const std::span<const RegisterRange> ranges = message_.ranges();
  std::size_t k = 0;
  for (; k + 1 < ranges.size() && index >= ranges[k].count; ++k) index -= ranges[k].count;
  return (ranges.empty() ? 0 : ranges[k].offset) + index * l_.target().grf_bytes;
}

ir::ValueId MessageLowering::read(ir::Type type, unsigned index, unsigned stride) {
  ir::Region region = ir::Region::strided(payload_offset(index), lanes() == 1 ? 1 : stride);
  return b().reg_read(type, lanes(), region, payload_read_mask());
}

bool MessageLowering::has_scalar(unsigned index) const {
  return message_.operands != nullptr && message_.operands->scalars[index].kind != OperandKind::None;
}

ir::ValueId MessageLowering::scalar(unsigned index, ir::Type type) {
  return l_.scalar(message_.operands->scalars[index], type);
}

ir::ValueId MessageLowering::surface() {
  if (message_.operands == nullptr || message_.operands->surface.kind == OperandKind::None)
    return ir::no_value;
  return l_.scalar(message_.operands->surface, ir::Type::u32);
}

ir::ValueId MessageLowering::header(ir::Type type, unsigned offset) {
  return l_.scalar(type, payload_offset(0) + offset);
}

void MessageLowering::write_response(unsigned index, ir::ValueId value) {
  b().reg_write(ir::Region::packed(response_offset(index)), value, mask());
}

ir::ValueId MessageLowering::address(ir::ValueId value) {
  if (message_.memory.space != ir::MemSpace::Slm) return value;
  return b().lanewise(ir::Op::and_, {value, b().constant(ir::Type::u32, b().lanes_of(value), 0xffff)});
}

ir::ValueId MessageLowering::stateless_base() {
  constexpr unsigned header_base = 20;
  return b().lanewise(ir::Op::and_,
                      {header(ir::Type::u32, header_base), b().constant(ir::Type::u32, 1, 0xfffffc00)});
}

ir::ImageAccess MessageLowering::image() const {
  ir::ImageAccess image = message_.image;
  image.surface_is_operand = image.bindless || (message_.operands != nullptr &&
                                                message_.operands->surface.kind != OperandKind::None);
  return image;
}

std::vector<ir::ValueId> MessageLowering::surface_operand() {
  if (message_.image.bindless) return {b().constant(ir::Type::u32, 1, message_.state_offset)};
  const ir::ValueId index = surface();
  return index == ir::no_value ? std::vector<ir::ValueId>{} : std::vector<ir::ValueId>{index};
}

bool MessageLowering::check_payload(unsigned payload, unsigned response) {
  const Target& target = l_.target();
  const auto beyond = [&](const RegisterRange& range, unsigned count) {
    return range.offset + count * target.grf_bytes > target.grf_file_bytes();
  };
  const unsigned found = message_.payload_registers();
  if (payload > found) {
    l_.unsupported("expected {} payload registers, found {}", payload, found);
    return false;
  }
  for (const RegisterRange& range : message_.ranges())
    if (range.count != 0 && beyond(range, range.count)) {
      l_.unsupported("payload beyond the last general register");
      return false;
    }
  if (response != 0 && (message_.response.count == 0 || beyond(message_.response, response))) {
    l_.unsupported("response that is not in general registers");
    return false;
  }
  return true;
}

bool has_plain_header(MessageLowering& t) {
  const Message& m = t.message();
  if (!m.header || m.memory.space != ir::MemSpace::A64) return true;
  t.lowering().unsupported("A64 message with a header");
  return false;
}

void lower_fence(MessageLowering& t) { t.b().effect(ir::Op::fence); }

void lower_barrier_signal(MessageLowering& t) { t.b().effect(ir::Op::barrier_signal); }

// The thread ends with any message that says so, see lower_send.
void lower_end_of_thread(MessageLowering&) {}

void lower_unsupported_message(MessageLowering& t) {
  t.lowering().unsupported("message that is not modelled");
}

void lower_send(Lowering& l, ir::Op) {
  const Message& message = l.inst().message;
  MessageLowering transfer(l);
  message.lower(transfer);
  if (l.ended() || !message.ends_thread) return;
  l.b().exit();
  l.end_block();
}

}  // namespace eum::eu

// Messages: which shared function, which message; payload and response registers.
// Facts: descriptor fields of the data port as the disassembler prints them (public tables of the Gen8 and
// Gen9 data ports); byte offsets and register layouts from the manual's message payload pages.
#include "frontend/gen/lower/send.hpp"

#include "frontend/gen/lower/arf_layout.hpp"

namespace eum::gen {
namespace {

constexpr unsigned shared_local_memory = 254, stateless_non_coherent = 253, stateless = 255,
                   last_surface = 239;
constexpr unsigned gateway_barrier = 4;

void lower_dc0(Message& m) {
  if (m.bits(18, 18) != 0) return lower_scratch_block(m);
  switch (m.bits(17, 14)) {
    case 0x0:
      return lower_oword_block(m, false, 16);
    case 0x1:
      return lower_oword_block(m, false, 1);
    case 0x4:
      return lower_byte_scattered(m, false);
    case 0x7:
      return m.lowering().b().effect(ir::Op::fence);
    case 0x8:
      return lower_oword_block(m, true, 16);
    case 0xc:
      return lower_byte_scattered(m, true);
    default:
      m.lowering().unsupported("message of data port 0 that is not modelled");
  }
}

void lower_dc1(Message& m) {
  switch (m.bits(18, 14)) {
    case 0x01:
      return lower_untyped_surface(m, false, false);
    case 0x02:
      return lower_untyped_atomic(m, false, false);
    case 0x09:
      return lower_untyped_surface(m, false, true);
    case 0x10:
      return lower_a64_scattered(m, false);
    case 0x11:
      return lower_untyped_surface(m, true, false);
    case 0x12:
      return lower_untyped_atomic(m, true, false);
    case 0x14:
      return lower_a64_block(m, false);
    case 0x15:
      return lower_a64_block(m, true);
    case 0x19:
      return lower_untyped_surface(m, true, true);
    case 0x1a:
      return lower_a64_scattered(m, true);
    case 0x1b:
      return lower_untyped_atomic(m, false, true);
    case 0x1d:
      return lower_untyped_atomic(m, true, true);
    default:
      m.lowering().unsupported("message of data port 1 that is not modelled");
  }
}

}  // namespace

Message::Message(Lowering& l) : l_(l) {
  const Instruction& in = l.inst();
  length_[0] = bits(28, 25);
  first_[0] = in.src[0].reg;
  if (info(in.opcode).format == Format::SendSplit && in.send.src1_length > 0) {
    first_[1] = in.src[1].reg;
    length_[1] = static_cast<unsigned>(in.send.src1_length);
  }
}

ir::ValueId Message::mask() {
  ir::ValueId mask = l_.write_mask();
  return mask == ir::no_value ? mask : l_.b().slice(mask, 0, lanes());
}

ir::ValueId Message::hint() {
  return l_.inst().no_mask ? ir::no_value : l_.channel_mask(l_.inst().channel_offset, lanes());
}

unsigned Message::payload_offset(unsigned index) const {
  unsigned reg = index < length_[0] ? first_[0] + index : first_[1] + index - length_[0];
  return reg * 32;
}

unsigned Message::response_offset(unsigned index) const { return (l_.inst().dst.reg + index) * 32u; }

ir::ValueId Message::read(ir::Type type, unsigned index, unsigned stride) {
  return l_.b().reg_read(type, lanes(), ir::Region::strided(payload_offset(index), lanes() == 1 ? 1 : stride),
                         hint());
}

ir::ValueId Message::header(ir::Type type, unsigned offset) {
  return l_.scalar(type, payload_offset(0) + offset);
}

void Message::respond(unsigned index, ir::ValueId value) {
  l_.b().reg_write(ir::Region::packed(response_offset(index)), value, mask());
}

std::optional<ir::MemRef> Message::stateful(unsigned components) {
  ir::MemRef memory;
  memory.components = static_cast<std::uint8_t>(components);
  memory.surface = static_cast<std::uint8_t>(surface());
  if (surface() == stateless || surface() == stateless_non_coherent) {
    memory.space = ir::MemSpace::A32;
    memory.surface = 0;
  } else if (surface() > last_surface && surface() != shared_local_memory) {
    l_.unsupported("binding table index {}", surface());
    return std::nullopt;
  }
  return memory;
}

bool Message::has_room(unsigned payload, unsigned response) {
  const Instruction& in = l_.inst();
  auto inside = [](unsigned first, unsigned count) { return first + count <= 128; };
  if (payload > payload_registers()) {
    l_.unsupported("expected {} payload registers, found {}", payload, payload_registers());
    return false;
  }
  if (!inside(first_[0], length_[0]) || !inside(first_[1], length_[1])) {
    l_.unsupported("payload beyond the last general register");
    return false;
  }
  if (response != 0 && (!in.dst.is_grf() || !inside(in.dst.reg, response))) {
    l_.unsupported("response that is not in general registers");
    return false;
  }
  return true;
}

void lower_send(Lowering& l) {
  const Instruction& in = l.inst();
  if (in.send.desc.is_register || in.send.ex_desc.is_register)
    return l.unsupported("descriptor in an address register");
  if (!in.src[0].is_grf()) return l.unsupported("payload that is not in general registers");
  if (in.send.eot) {
    l.b().exit();
    return l.end_block();
  }
  Message message(l);
  switch (in.send.sfid) {
    case Sfid::dc0:
      return lower_dc0(message);
    case Sfid::dc1:
      return lower_dc1(message);
    case Sfid::dcro:
      if (message.bits(17, 14) <= 1)
        return lower_oword_block(message, false, message.bits(17, 14) == 0 ? 16 : 1);
      return l.unsupported("message of the constant cache data port that is not modelled");
    case Sfid::gtwy:
      if (message.bits(2, 0) == gateway_barrier) return l.b().effect(ir::Op::barrier_signal);
      return l.unsupported("message to the gateway that is not a barrier");
    default:
      return l.unsupported("shared function that is not modelled");
  }
}

}  // namespace eum::gen

// Messages: payload and response registers, the memory that a message names, and which function lowers it.
#include "frontend/gen/lower/send.hpp"

#include <algorithm>

#include "frontend/gen/lower/arf_layout.hpp"
#include "frontend/gen/lower/handlers.hpp"

namespace eum::gen {
namespace {

using MessageHandler = void (*)(Transfer&);

constexpr std::array message_handlers{
#define GEN_MESSAGE(kind, sfid, where, since, form, access, text, lower) MessageHandler{&lower},
#include "frontend/gen/messages.def"
};

}  // namespace

Transfer::Transfer(Lowering& lowering, const Message& message)
    : l_(lowering), message_(message), mode_(message.simd) {
  const Instruction& in = l_.inst();
  first_ = {in.src[0].reg, in.src[1].reg};
}

ir::ValueId Transfer::mask() {
  ir::ValueId mask = l_.write_mask();
  return mask == ir::no_value ? mask : b().slice(mask, 0, lanes());
}

ir::ValueId Transfer::hint() {
  return l_.inst().no_mask ? ir::no_value : l_.channel_mask(l_.inst().channel_offset, lanes());
}

unsigned Transfer::payload_offset(unsigned index) const {
  bool second = index >= message_.length;
  return (second ? first_[1] + index - message_.length : first_[0] + index) * register_bytes;
}

unsigned Transfer::response_offset(unsigned index) const {
  return (l_.inst().dst.reg + index) * register_bytes;
}

ir::ValueId Transfer::read(ir::Type type, unsigned index, unsigned stride) {
  ir::Region region = ir::Region::strided(payload_offset(index), lanes() == 1 ? 1 : stride);
  return b().reg_read(type, lanes(), region, hint());
}

ir::ValueId Transfer::header(ir::Type type, unsigned offset) {
  return l_.scalar(type, payload_offset(0) + offset);
}

void Transfer::respond(unsigned index, ir::ValueId value) {
  b().reg_write(ir::Region::packed(response_offset(index)), value, mask());
}

std::optional<ir::MemoryAccess> Transfer::memory() {
  ir::MemoryAccess memory;
  if (message_.invalidate) memory.cache = ir::CacheHint::Invalidate;
  switch (message_.address) {
    case AddressModel::Surface:
      memory.surface = message_.bti;
      return memory;
    case AddressModel::Slm:
      memory.space = ir::MemSpace::Slm;
      return memory;
    case AddressModel::Stateless:
      memory.space = ir::MemSpace::A32;
      return memory;
    case AddressModel::A64:
      memory.space = ir::MemSpace::A64;
      return memory;
    case AddressModel::Scratch:
      memory.space = ir::MemSpace::Scratch;
      return memory;
    default:
      l_.unsupported("memory that is not modelled: binding table index {}", message_.bti);
      return std::nullopt;
  }
}

ir::ValueId Transfer::address(ir::ValueId value) {
  if (message_.address != AddressModel::Slm) return value;
  return b().lanewise(ir::Op::and_, {value, b().constant(ir::Type::u32, b().lanes_of(value), 0xffff)});
}

bool Transfer::has_room(unsigned payload, unsigned response) {
  constexpr unsigned registers = 128;
  const Instruction& in = l_.inst();
  unsigned found = message_.length + message_.extended_length;
  if (payload > found) {
    l_.unsupported("expected {} payload registers, found {}", payload, found);
    return false;
  }
  bool second = message_.extended_length != 0;
  if (first_[0] + message_.length > registers ||
      (second && (!in.src[1].is_grf() || first_[1] + message_.extended_length > registers))) {
    l_.unsupported("payload beyond the last general register");
    return false;
  }
  if (response != 0 && (!in.dst.is_grf() || in.dst.reg + response > registers)) {
    l_.unsupported("response that is not in general registers");
    return false;
  }
  return true;
}

void lower_fence(Transfer& t) { t.b().effect(ir::Op::fence); }

void lower_barrier_signal(Transfer& t) { t.b().effect(ir::Op::barrier_signal); }

// The thread ends with any message that says so, see lower_send.
void lower_end_of_thread(Transfer&) {}

void lower_unsupported_message(Transfer& t) { t.lowering().unsupported("message that is not modelled"); }

void lower_send(Lowering& l) {
  const Instruction& in = l.inst();
  Result<Message> message = decode_message(in, l.family());
  if (!message) return l.unsupported(message.error().message);
  if (!in.src[0].is_grf()) return l.unsupported("payload that is not in general registers");
  Transfer transfer(l, *message);
  message_handlers[static_cast<std::size_t>(message->kind)](transfer);
  if (l.ended() || !message->eot) return;
  l.b().exit();
  l.end_block();
}

}  // namespace eum::gen

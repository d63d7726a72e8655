// Untyped and scattered messages: one address a channel. Payload: addresses, then the data of each component,
// every one of them whole registers of the message's SIMD mode; elements narrower than a dword lie in dwords.
#include <bit>

#include "frontend/gen/lower/send.hpp"

namespace eum::gen {
namespace {

/// What the message moves for one channel.
struct Elements {
  ir::Type memory;      ///< one element there
  ir::Type unit;        ///< what holds it in payload and response, zero-extended
  unsigned components;  ///< mask of the consecutive elements
  unsigned count;       ///< of them
};

Elements elements_of(const Message& m) {
  unsigned components = m.components != 0 ? m.components : (1u << m.element_count) - 1;
  return {ir::int_type(m.memory_bits / 8u, false), ir::int_type(m.register_bits / 8u, false), components,
          m.elements()};
}

ir::ValueId addresses_of(Transfer& t) {
  ir::ValueId where = t.read(t.address_type(), 0);
  MessageKind kind = t.message().kind;
  bool in_dwords = kind == MessageKind::dword_scattered_read || kind == MessageKind::dword_scattered_write ||
                   kind == MessageKind::constant_scattered_read;
  if (in_dwords) where = t.b().lanewise(ir::Op::shl, {where, t.b().constant(t.address_type(), t.lanes(), 2)});
  return t.address(where);
}

}  // namespace

void lower_per_channel(Transfer& t) {
  const Message& m = t.message();
  constexpr unsigned most_elements = 4;
  if (m.header) return t.lowering().unsupported("untyped or scattered message with a header");
  Elements e = elements_of(m);
  if (e.count > most_elements) return t.lowering().unsupported("more than four elements a channel");
  std::optional<ir::MemRef> memory = t.memory(e.components);
  if (!memory) return;
  unsigned addresses = t.registers(ir::size_of(t.address_type())), step = t.registers(ir::size_of(e.unit));
  if (m.access == Access::Write) {
    if (!t.has_room(addresses + e.count * step, 0)) return;
    ir::ValueId where = addresses_of(t);
    std::array<ir::ValueId, most_elements> values{};
    for (unsigned i = 0; i < e.count; ++i)
      values[i] = t.read(e.memory, addresses + i * step, ir::size_of(e.unit) / ir::size_of(e.memory));
    return t.b().store(*memory, where, std::span(values).first(e.count), t.mask());
  }
  if (!t.has_room(addresses, t.responds() ? e.count * step : 0)) return;
  if (!t.responds()) return;
  ir::ValueId first = t.b().load(e.memory, *memory, addresses_of(t), t.mask());
  for (unsigned i = 0; i < e.count; ++i)
    t.respond(i * step, t.b().convert(ir::Op::convert, e.unit, first + i));
}

}  // namespace eum::gen

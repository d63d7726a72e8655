// Untyped and scattered messages: one address a channel. Payload: addresses, then the data of each component,
// every one of them whole registers of the message's SIMD mode; elements narrower than a dword lie in dwords.
#include <algorithm>

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
  constexpr unsigned most_elements = 4;  // of one micro-op
  if (m.header) return t.lowering().unsupported("untyped or scattered message with a header");
  Elements e = elements_of(m);
  std::optional<ir::MemRef> memory = t.memory();
  if (!memory) return;
  ir::Builder& b = t.b();
  unsigned addresses = t.registers(ir::size_of(t.address_type())), step = t.registers(ir::size_of(e.unit));
  bool write = m.access == Access::Write;
  if (!write && !t.responds()) return;
  if (!t.has_room(write ? addresses + e.count * step : addresses, write ? 0 : e.count * step)) return;
  ir::ValueId where = addresses_of(t);
  for (unsigned done = 0; done < e.count; done += most_elements) {
    unsigned count = std::min(e.count - done, most_elements);
    memory->components = static_cast<std::uint8_t>(e.components >> done & 15);
    if (done != 0) {
      std::uint64_t bytes = most_elements * ir::size_of(e.memory);
      where = b.lanewise(ir::Op::add, {where, b.constant(t.address_type(), t.lanes(), bytes)});
    }
    if (write) {
      std::array<ir::ValueId, most_elements> values{};
      for (unsigned i = 0; i < count; ++i)
        values[i] =
            t.read(e.memory, addresses + (done + i) * step, ir::size_of(e.unit) / ir::size_of(e.memory));
      b.store(*memory, where, std::span(values).first(count), t.mask());
      continue;
    }
    ir::ValueId first = b.load(e.memory, *memory, where, t.mask());
    for (unsigned i = 0; i < count; ++i)
      t.respond((done + i) * step, b.convert(ir::Op::convert, e.unit, first + i));
  }
}

}  // namespace eum::gen

// Untyped and scattered messages: one address per channel. Payload: addresses, then the data of each
// component, each in whole registers of the message's SIMD mode; elements narrower than a dword occupy
// dwords.
#include <vector>

#include "frontend/eu/messages/message_lowering.hpp"
#include "frontend/eu/messages/slots.hpp"

namespace eum::eu {
namespace {

/// What the message moves for one channel.
struct Elements {
  ir::Type memory;      ///< type of an element in memory
  ir::Type unit;        ///< type that holds it in payload and response, zero-extended
  unsigned components;  ///< mask of the consecutive elements
  unsigned count;       ///< number of elements
};

Elements elements_of(const Message& m) {
  return {ir::int_type(m.memory_bits / 8u, false), ir::int_type(m.register_bits / 8u, false), m.components,
          m.elements()};
}

/// Addresses of the channels from payload register `index` on.
ir::ValueId addresses_of(MessageLowering& t, unsigned index) {
  constexpr unsigned global_offset = 8;  // byte of the header
  ir::Builder& b = t.b();
  ir::Type type = t.address_type();
  ir::ValueId where = t.read(type, index);
  if (t.message().header && t.message().offset_unit != OffsetUnit::None) {
    ir::ValueId offset = b.splat(t.header(type, global_offset), t.lanes());
    where = b.lanewise(ir::Op::add, {where, offset});
  }
  if (t.has_scalar(0)) where = b.lanewise(ir::Op::add, {where, b.splat(t.scalar(0, type), t.lanes())});
  if (t.message().offset_unit == OffsetUnit::Dwords)
    where = b.lanewise(ir::Op::shl, {where, b.constant(type, t.lanes(), 2)});
  return t.address(where);
}

}  // namespace

void lower_per_channel(MessageLowering& t) {
  const Message& m = t.message();
  if (Slots::serves(m)) return lower_untyped_slots(t);
  const bool scattered = m.offset_unit != OffsetUnit::None;
  if (!scattered && !has_plain_header(t)) return;
  Elements e = elements_of(m);
  ir::Builder& b = t.b();
  unsigned header = m.header ? 1 : 0, step = t.registers(ir::size_of(e.unit));
  unsigned data = header + t.registers(ir::size_of(t.address_type()));
  const bool write = m.write;
  if (!write && !t.has_response()) return;
  if (!t.check_payload(write ? data + e.count * step : data, write ? 0 : e.count * step)) return;
  ir::ValueId where = addresses_of(t, header);
  ir::MemoryAccess memory = m.memory;
  memory.components = e.components;
  const ir::ValueId mask = scattered ? t.mask() : t.slot_mask();
  if (write) {
    std::vector<ir::ValueId> values;
    for (unsigned i = 0; i < e.count; ++i)
      values.push_back(t.read(e.memory, data + i * step, ir::size_of(e.unit) / ir::size_of(e.memory)));
    return b.store(memory, where, values, mask, t.surface());
  }
  ir::ValueId first = b.load(e.memory, memory, where, mask, t.surface());
  for (unsigned i = 0; i < e.count; ++i)
    t.write_response(i * step, b.convert(ir::Op::convert, e.unit, first + i));
}

}  // namespace eum::eu

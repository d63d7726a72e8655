// Atomic messages. Payload: addresses, then the operation's sources in the order in which the manual numbers
// them (compare-and-write: the value to compare with, then the new value).
#include "frontend/eu/messages/message_lowering.hpp"
#include "frontend/eu/messages/slots.hpp"

namespace eum::eu {

void lower_untyped_atomic(MessageLowering& t) {
  const Message& m = t.message();
  if (Slots::serves(m)) return lower_untyped_atomic_slots(t);
  if (!has_plain_header(t)) return;
  const unsigned front = m.header ? 1 : 0;
  ir::Type type = ir::int_type(m.memory_bits / 8u, false);
  unsigned addresses = front + t.registers(ir::size_of(t.address_type())),
           step = t.registers(ir::size_of(type));
  unsigned count = mem::info(m.memory.atomic).operands;
  bool returns = m.returns && t.has_response();
  if (!t.check_payload(addresses + count * step, returns ? step : 0)) return;
  ir::ValueId where = t.address(t.read(t.address_type(), front));
  std::array<ir::ValueId, 2> sources{};
  for (unsigned i = 0; i < count; ++i) sources[i] = t.read(type, addresses + i * step);
  ir::ValueId old = t.b().atomic(type, m.memory, where, std::span(sources).first(count), returns,
                                 t.slot_mask(), t.surface());
  if (returns) t.write_response(0, old);
}

}  // namespace eum::eu

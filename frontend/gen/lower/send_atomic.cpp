// Atomic messages. Payload: addresses, then the operation's sources in the order that the manual numbers them
// (compare-and-write: the value to compare with, then the new value).
#include "frontend/gen/lower/send.hpp"
#include "memory/atomics.hpp"

namespace eum::gen {
namespace {

std::optional<ir::AtomicOp> integer_atomic(unsigned code) {
  using enum mem::AtomicOp;
  constexpr std::array ops{and_,   or_,  xor_, mov,  inc,  dec,   add,   sub,
                           revsub, imax, imin, umax, umin, cmpwr, predec};
  if (code == 0 || code > ops.size()) return std::nullopt;
  return ops[code - 1];
}

std::optional<ir::AtomicOp> float_atomic(unsigned code) {
  using enum mem::AtomicOp;
  constexpr std::array ops{fmax, fmin, fcmpwr};
  if (code == 0 || code > ops.size()) return std::nullopt;
  return ops[code - 1];
}

}  // namespace

void lower_untyped_atomic(Message& m, bool a64, bool floats) {
  Lowering& l = m.lowering();
  if (m.has_header()) return l.unsupported("atomic message with a header");
  unsigned code = m.bits(11, 8);
  std::optional<ir::AtomicOp> op = floats ? float_atomic(code) : integer_atomic(code);
  if (!op) return l.unsupported("atomic operation {}", code);
  // A64 messages serve 8 channels; bit 12 widens their elements. Others serve 16 unless bit 12 is set.
  bool wide = a64 && m.bits(12, 12) != 0;
  m.set_mode(a64 || m.bits(12, 12) != 0 ? 8 : 16);
  if (wide && floats) return l.unsupported("atomic operation on 64-bit floats");
  ir::Type type = wide ? ir::Type::u64 : ir::Type::u32;
  ir::Type address = a64 ? ir::Type::u64 : ir::Type::u32;
  std::optional<ir::MemRef> memory = a64 ? Message::a64() : m.stateful();
  if (!memory) return;
  memory->atomic = *op;
  bool returns = m.bits(13, 13) != 0 && m.response_registers() != 0 && !l.inst().dst.is_null();
  unsigned addresses = m.registers(ir::size_of(address)), step = m.registers(ir::size_of(type));
  unsigned count = mem::info(*op).operands;
  if (!m.has_room(addresses + count * step, returns ? step : 0)) return;
  ir::ValueId where = m.read(address, 0);
  std::array<ir::ValueId, 2> sources{};
  for (unsigned i = 0; i < count; ++i) sources[i] = m.read(type, addresses + i * step);
  ir::ValueId old = l.b().atomic(type, *memory, where, std::span(sources).first(count), returns, m.mask());
  if (returns) m.respond(0, old);
}

}  // namespace eum::gen

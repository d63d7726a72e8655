// Scattered and untyped messages: one address a channel. Payload: addresses (u32, or u64 for A64), then the
// data of each component, every one of them whole registers of the message's SIMD mode.
#include <bit>

#include "frontend/gen/lower/send.hpp"

namespace eum::gen {
namespace {

constexpr unsigned all_components = 15;

ir::Type address_type(const ir::MemRef& memory) {
  return memory.space == ir::MemSpace::A64 ? ir::Type::u64 : ir::Type::u32;
}

/// Loads `components` elements of `type` a channel; the response holds each as `unit`, zero-extended.
void load(Message& m, const ir::MemRef& memory, ir::Type type, ir::Type unit) {
  unsigned count = static_cast<unsigned>(std::popcount(memory.components));
  unsigned step = m.registers(ir::size_of(unit));
  ir::Type address = address_type(memory);
  bool wanted = m.response_registers() != 0 && !m.lowering().inst().dst.is_null();
  if (!m.has_room(m.registers(ir::size_of(address)), wanted ? count * step : 0)) return;
  if (!wanted) return;
  ir::Builder& b = m.lowering().b();
  ir::ValueId where = m.read(address, 0);
  ir::ValueId first = b.load(type, memory, where, m.mask());
  for (unsigned i = 0; i < count; ++i) m.respond(i * step, b.convert(ir::Op::convert, unit, first + i));
}

/// Stores `components` elements of `type` a channel, each the low bytes of a `unit`.
void store(Message& m, const ir::MemRef& memory, ir::Type type, ir::Type unit) {
  unsigned count = static_cast<unsigned>(std::popcount(memory.components));
  unsigned step = m.registers(ir::size_of(unit));
  ir::Type address = address_type(memory);
  unsigned addresses = m.registers(ir::size_of(address));
  if (!m.has_room(addresses + count * step, 0)) return;
  ir::ValueId where = m.read(address, 0);
  std::array<ir::ValueId, 4> values{};
  for (unsigned i = 0; i < count; ++i)
    values[i] = m.read(type, addresses + i * step, ir::size_of(unit) / ir::size_of(type));
  m.lowering().b().store(memory, where, std::span(values).first(count), m.mask());
}

}  // namespace

void lower_untyped_surface(Message& m, bool a64, bool write) {
  if (m.has_header()) return m.lowering().unsupported("untyped surface message with a header");
  constexpr unsigned simd16 = 1, simd8 = 2;
  unsigned mode = m.bits(13, 12);
  if (mode != simd16 && mode != simd8) return m.lowering().unsupported("SIMD4x2 message");
  m.set_mode(mode == simd16 ? 16 : 8);
  unsigned components = ~m.bits(11, 8) & all_components;
  if (components == 0) return;
  std::optional<ir::MemRef> memory = a64 ? Message::a64(components) : m.stateful(components);
  if (!memory) return;
  constexpr ir::Type dword = ir::Type::u32;
  write ? store(m, *memory, dword, dword) : load(m, *memory, dword, dword);
}

void lower_byte_scattered(Message& m, bool write) {
  if (m.has_header()) return m.lowering().unsupported("byte scattered message with a header");
  unsigned size = m.bits(11, 10);
  if (size > 2) return m.lowering().unsupported("reserved data size");
  m.set_mode(m.bits(8, 8) != 0 ? 16 : 8);
  std::optional<ir::MemRef> memory = m.stateful();
  if (!memory) return;
  ir::Type type = ir::int_type(1u << size, false);
  write ? store(m, *memory, type, ir::Type::u32) : load(m, *memory, type, ir::Type::u32);
}

void lower_a64_scattered(Message& m, bool write) {
  if (m.has_header()) return m.lowering().unsupported("scattered message with a header");
  constexpr unsigned byte = 0, dword = 1, qword = 2;
  unsigned kind = m.bits(9, 8), size = m.bits(11, 10);
  m.set_mode(m.bits(12, 12) != 0 ? 16 : 8);
  if (kind == byte) {
    if (size > 2) return m.lowering().unsupported("reserved data size");
    ir::Type type = ir::int_type(1u << size, false);
    return write ? store(m, Message::a64(), type, ir::Type::u32)
                 : load(m, Message::a64(), type, ir::Type::u32);
  }
  if ((kind != dword && kind != qword) || size > 2)
    return m.lowering().unsupported("scattered message of eight elements or reserved size");
  ir::Type type = kind == dword ? ir::Type::u32 : ir::Type::u64;
  ir::MemRef memory = Message::a64((1u << (1u << size)) - 1);
  write ? store(m, memory, type, type) : load(m, memory, type, type);
}

}  // namespace eum::gen

// Messages of two slots: SIMD4x2 forms of the untyped, typed and sampler messages, and dual blocks of owords.
// An address is dword 0 of each slot of its payload register, or the first two dwords if addresses have 64
// bits; typed and sampler messages use all four.
#include "frontend/eu/messages/slots.hpp"

#include <algorithm>
#include <vector>

namespace eum::eu {

using mem::image::LodSource;
namespace sample_flag = mem::image::sample_flag;

bool Slots::check(unsigned payload, unsigned response) {
  if (t_.lowering().lanes() != channels) {
    t_.lowering().unsupported("expected {} channels in a message of two slots, found {}", channels,
                              t_.lowering().lanes());
    return false;
  }
  return t_.check_payload(payload, response);
}

ir::ValueId Slots::read(ir::Type type, unsigned index, unsigned element) const {
  const unsigned bytes = ir::size_of(type);
  return t_.b().reg_read(type, count,
                         ir::Region::strided(t_.payload_offset(index) + bytes * element, slot_bytes / bytes));
}

void Slots::write(unsigned index, unsigned dword, ir::ValueId value, ir::ValueId mask) {
  const unsigned stride = slot_bytes / ir::size_of(t_.b().type_of(value));
  t_.b().reg_write(ir::Region::strided(t_.response_offset(index) + 4 * dword, stride), value, mask);
}

void Slots::limit(ir::ValueId bits) { limit_ = bits; }

/// The active channels as bits of one lane; no_value: all ones.
ir::ValueId Slots::bits() {
  const ir::ValueId mask = t_.lowering().write_mask();
  if (mask == ir::no_value) return limit_;
  ir::Builder& b = t_.b();
  const ir::ValueId on = b.mask_bits(ir::Type::u32, mask);
  return limit_ == ir::no_value ? on : b.lanewise(ir::Op::and_, {on, limit_});
}

/// A mask of bits `channel` and `channel` + 4.
ir::ValueId Slots::pick(ir::ValueId bits, unsigned channel) {
  ir::Builder& b = t_.b();
  const auto number = [&](std::uint32_t n) { return b.constant(ir::Type::u32, 1, n); };
  const auto bit = [&](unsigned from, unsigned to) {
    const ir::ValueId moved = b.lanewise(ir::Op::shr, {bits, number(from - to)});
    return b.lanewise(ir::Op::and_, {moved, number(1u << to)});
  };
  return b.bits_mask(b.lanewise(ir::Op::or_, {bit(channel, 0), bit(channel + dwords, 1)}), count);
}

ir::ValueId Slots::mask() {
  ir::ValueId any = bits();
  if (any == ir::no_value) return any;
  ir::Builder& b = t_.b();
  for (const unsigned distance : {1u, 2u}) {
    const ir::ValueId above = b.lanewise(ir::Op::shr, {any, b.constant(ir::Type::u32, 1, distance)});
    any = b.lanewise(ir::Op::or_, {any, above});
  }
  return pick(any, 0);
}

ir::ValueId Slots::mask(unsigned channel) {
  const ir::ValueId on = bits();
  return on == ir::no_value ? on : pick(on, channel);
}

namespace {

constexpr unsigned global_offset = 8;     // bytes: of a block's header
constexpr unsigned oword = 16;            // bytes
constexpr unsigned most_coordinates = 4;  // u, v, r, lod

unsigned header_registers(const Message& m) { return m.header ? 1 : 0; }

/// Calls `each` for the components that a message moves, with their positions in a register.
template <class Each>
void for_each_component(unsigned components, Each&& each) {
  unsigned k = 0;
  for (unsigned c = 0; c < Slots::dwords; ++c)
    if ((components >> c & 1) != 0) each(c, k++);
}

std::vector<ir::ValueId> components_of(const Slots& slots, unsigned index, unsigned components) {
  std::vector<ir::ValueId> values;
  for_each_component(components, [&](unsigned c, unsigned) { values.push_back(slots.read(index, c)); });
  return values;
}

void write_components(Slots& slots, unsigned components, ir::ValueId first) {
  for_each_component(components, [&](unsigned c, unsigned k) { slots.write(0, c, first + k); });
}

/// Typed messages: four coordinates a slot; the surface uses as many as it has dimensions.
void read_coordinates(MessageLowering& t, const Slots& slots, std::vector<ir::ValueId>& to) {
  for (unsigned k = 0; k < most_coordinates; ++k) to.push_back(slots.read(header_registers(t.message()), k));
}

void use_slot_mask(MessageLowering& t, Slots& slots) {
  if (t.message().header) slots.limit(t.header(ir::Type::u32, MessageLowering::header_slots));
}

}  // namespace

void lower_untyped_slots(MessageLowering& t) {
  const Message& m = t.message();
  if (!has_plain_header(t)) return;
  Slots slots(t);
  const unsigned front = header_registers(m);
  if (!m.write && !t.has_response()) return;
  if (!slots.check(front + (m.write ? 2 : 1), m.write ? 0 : 1)) return;
  use_slot_mask(t, slots);
  ir::MemoryAccess memory = m.memory;
  memory.components = m.components;
  const ir::ValueId where = t.address(slots.addresses(front));
  if (m.write) return t.b().store(memory, where, components_of(slots, front + 1, m.components), slots.mask());
  write_components(slots, m.components, t.b().load(ir::Type::u32, memory, where, slots.mask()));
}

void lower_untyped_atomic_slots(MessageLowering& t) {
  const Message& m = t.message();
  if (!has_plain_header(t)) return;
  const ir::Type type = ir::int_type(m.memory_bits / 8u, false);
  const unsigned operands = mem::info(m.memory.atomic).operands;
  const bool returns = m.returns && t.has_response();
  Slots slots(t);
  const unsigned front = header_registers(m);
  if (!slots.check(front + (operands != 0 ? 2 : 1), returns ? 1 : 0)) return;
  use_slot_mask(t, slots);
  const ir::ValueId where = t.address(slots.addresses(front));
  std::array<ir::ValueId, 2> sources{};
  for (unsigned k = 0; k < operands; ++k) sources[k] = slots.read(type, front + 1, k);
  const ir::ValueId old =
      t.b().atomic(type, m.memory, where, std::span(sources).first(operands), returns, slots.mask());
  if (returns) slots.write(0, 0, old);
}

void lower_typed_slots(MessageLowering& t) {
  const Message& m = t.message();
  Slots slots(t);
  const unsigned front = header_registers(m);
  if (!slots.check(front + (m.write ? 2 : 1), m.write ? 0 : 1)) return;
  use_slot_mask(t, slots);
  ir::ImageAccess image = t.image();
  image.coordinates = most_coordinates;
  image.components = m.components;
  std::vector<ir::ValueId> operands = t.surface_operand();
  read_coordinates(t, slots, operands);
  if (m.write) {
    const std::vector<ir::ValueId> values = components_of(slots, front + 1, m.components);
    operands.insert(operands.end(), values.begin(), values.end());
    t.b().image(ir::Op::typed_write, Slots::count, image, operands, 0, slots.mask());
    return;
  }
  write_components(
      slots, m.components,
      t.b().image(ir::Op::typed_read, Slots::count, image, operands, m.elements(), slots.mask()));
}

void lower_typed_atomic_slots(MessageLowering& t) {
  const Message& m = t.message();
  if (m.memory_bits != 32) return t.lowering().unsupported("typed atomic of 64 bits");
  const unsigned front = header_registers(m), sources = mem::info(m.image.atomic).operands;
  const bool returns = m.returns && t.has_response();
  Slots slots(t);
  if (!slots.check(front + (sources != 0 ? 2 : 1), returns ? 1 : 0)) return;
  use_slot_mask(t, slots);
  ir::ImageAccess image = t.image();
  image.coordinates = most_coordinates;
  std::vector<ir::ValueId> operands = t.surface_operand();
  read_coordinates(t, slots, operands);
  for (unsigned k = 0; k < sources; ++k) operands.push_back(slots.read(front + 1, k));
  const ir::ValueId old =
      t.b().image(ir::Op::typed_atomic, Slots::count, image, operands, returns ? 1 : 0, slots.mask());
  if (returns) slots.write(0, 0, old);
}

void lower_atomic_counter_slots(MessageLowering& t) {
  const Message& m = t.message();
  if (m.memory_bits != 32) return t.lowering().unsupported("atomic counter of 64 bits");
  const unsigned front = header_registers(m), sources = mem::info(m.image.atomic).operands;
  const bool returns = m.returns && t.has_response();
  Slots slots(t);
  if (!slots.check(front + (sources != 0 ? 1 : 0), returns ? 1 : 0)) return;
  ir::ImageAccess image = t.image();
  image.counter = true;
  std::vector<ir::ValueId> operands = t.surface_operand();
  for (unsigned k = 0; k < sources; ++k) operands.push_back(slots.read(front, k));
  const ir::ValueId old =
      t.b().image(ir::Op::typed_atomic, Slots::count, image, operands, returns ? 1 : 0, slots.mask());
  if (returns) slots.write(0, 0, old);
}

/// Four parameters share a register, in an order of their own; each channel is returned at its position. The
/// header can mask channels.
void lower_sample_slots(MessageLowering& t) {
  constexpr unsigned sample_control = 8, sampler_pointer = 12, first_channel_mask = 12;
  constexpr std::uint32_t two_slots = 1u << 22;  // in the control word, if there is a header
  const Message& m = t.message();
  ir::Builder& b = t.b();
  const mem::image::SampleOpInfo& operation = mem::image::info(m.image.sample);
  if (operation.slots.count == 0 && operation.parameters.count != 0)
    return t.lowering().unsupported("{} in SIMD4x2", operation.name);
  if (m.image.half) return t.lowering().unsupported("SIMD4x2 sampler message of 16 bits");
  if (m.response.count > 1) return t.lowering().unsupported("SIMD4x2 sampler message with a pixel null mask");
  Slots slots(t);
  const unsigned front = header_registers(m);
  if (!slots.check(front, m.response.count)) return;
  const unsigned given = Slots::dwords * (m.payload_registers() - front);
  const auto number = [&](std::uint32_t n) { return b.constant(ir::Type::u32, 1, n); };
  const ir::ValueId control = m.header ? t.header(ir::Type::u32, sample_control) : number(0);
  ir::ImageAccess image = t.image();
  image.scalars = ir::sample_header_scalars;
  // The op returns all channels; those masked by the header are not written here.
  std::vector<ir::ValueId> operands = t.surface_operand();
  ir::ValueId own = b.lanewise(ir::Op::and_, {control, number(~(0xfu << first_channel_mask))});
  if (!m.header_picks_slots) own = b.lanewise(ir::Op::or_, {own, number(two_slots)});
  operands.push_back(own);
  // Without a header the sampler table is the thread's own, to which r0 points.
  operands.push_back(m.header ? t.header(ir::Type::u32, sampler_pointer)
                              : t.lowering().scalar(ir::Type::u32, sampler_pointer));
  for (const mem::image::Parameter parameter : operation.parameters) {
    const std::optional<unsigned> place = operation.slots.find(parameter);
    const bool is_given = place && *place < given;
    operands.push_back(is_given ? slots.read(front + *place / Slots::dwords, *place % Slots::dwords)
                                : b.constant(ir::Type::u32, Slots::count, 0));
  }
  const ir::ValueId first = b.image(ir::Op::sample, Slots::count, image, operands,
                                    m.response.count != 0 ? Slots::dwords : 0, slots.mask());
  if (m.response.count == 0) return;
  for (unsigned c = 0; c < Slots::dwords; ++c) {
    const ir::ValueId masked = b.lanewise(ir::Op::shr, {control, number(first_channel_mask + c)});
    const ir::ValueId kept = b.lanewise(
        ir::Op::sub, {b.lanewise(ir::Op::and_, {masked, number(1)}), number(1)});  // all ones: returned
    const ir::ValueId returned = b.bits_mask(kept, Slots::count), on = slots.mask(c);
    slots.write(0, c, first + c, on == ir::no_value ? returned : b.lanewise(ir::Op::and_, {on, returned}));
  }
}

void lower_dual_block(MessageLowering& t) {
  const Message& m = t.message();
  const unsigned front = header_registers(m), registers = m.element_count;
  ir::Builder& b = t.b();
  Slots slots(t);
  if (m.header && m.memory.space == ir::MemSpace::A64)
    return t.lowering().unsupported("A64 dual block message with a header");
  if (!slots.check(front + 1 + (m.write ? registers : 0), m.write ? 0 : registers)) return;
  ir::ValueId where = slots.addresses(front);
  if (m.memory.space != ir::MemSpace::A64) {
    if (m.header)
      where = b.lanewise(ir::Op::add, {where, b.splat(t.header(ir::Type::u32, global_offset), Slots::count)});
    where = b.lanewise(ir::Op::mul, {where, b.constant(ir::Type::u32, Slots::count, oword)});
    if (m.header && m.memory.space == ir::MemSpace::A32)
      where = b.lanewise(ir::Op::add, {where, b.splat(t.stateless_base(), Slots::count)});
  }
  where = t.address(where);
  ir::MemoryAccess memory = m.memory;
  if (!m.write) {
    memory.components = (std::uint64_t{1} << Slots::dwords * registers) - 1;
    const ir::ValueId first = b.load(ir::Type::u32, memory, where, slots.mask());
    for (unsigned k = 0; k < Slots::dwords * registers; ++k)
      slots.write(k / Slots::dwords, k % Slots::dwords, first + k);
    return;
  }
  // Each channel controls one dword of each oword.
  for (unsigned channel = 0; channel < Slots::dwords; ++channel) {
    std::vector<ir::ValueId> values;
    memory.components = 0;
    for (unsigned reg = 0; reg < registers; ++reg) {
      memory.components |= std::uint64_t{1} << (Slots::dwords * reg + channel);
      values.push_back(slots.read(front + 1 + reg, channel));
    }
    b.store(memory, where, values, slots.mask(channel));
  }
}

}  // namespace eum::eu

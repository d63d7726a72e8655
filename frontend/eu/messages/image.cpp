// Messages that act on images: the sampler, typed surface messages, media blocks. Parameters and components
// are whole registers of the message's SIMD mode, in sequence.
#include <vector>

#include "frontend/eu/messages/message_lowering.hpp"
#include "frontend/eu/messages/slots.hpp"

namespace eum::eu {
namespace {

using mem::image::LodSource;
namespace sample_flag = mem::image::sample_flag;

/// Byte offsets in a header. Sampler: the word with offsets and channel masks, and the pointer to the sampler
/// table. Media block: its position and size.
constexpr unsigned sample_control = 8, sampler_pointer = 12;
constexpr unsigned block_x = 0, block_y = 4, block_size = 8;

unsigned header_registers(const Message& m) { return m.header ? 1 : 0; }

/// Whether the message acts on a surface; traps if not. Other memory in the binding table holds no image.
bool in_surface(MessageLowering& t) {
  if (t.message().memory.space == ir::MemSpace::Surface) return true;
  t.lowering().unsupported("image message on {} memory", ir::info(t.message().memory.space).name);
  return false;
}

/// Appends `count` vectors of the payload from register `first` on.
void read_vectors(MessageLowering& t, unsigned first, unsigned count, std::vector<ir::ValueId>& to) {
  const unsigned step = t.registers(4);
  for (unsigned k = 0; k < count; ++k) to.push_back(t.read(ir::Type::u32, first + k * step));
}

/// Number of coordinates of a typed message besides `others`, its components or sources; nothing after a
/// trap.
std::optional<unsigned> coordinates(MessageLowering& t, unsigned others) {
  const unsigned step = t.registers(4), front = header_registers(t.message()) + others * step;
  const unsigned found = t.message().payload_registers();
  const unsigned count = found > front ? (found - front) / step : 0;
  if (count >= 1 && count <= 4) return count;
  t.lowering().unsupported("expected payload of 1 to 4 coordinates and {} more registers, found {} registers",
                           front, found);
  return std::nullopt;
}

/// Operands of a sampler message. If the level of detail is computed, neighbouring channels matter, active or
/// not, and all are read.
std::vector<ir::ValueId> sample_operands(MessageLowering& t, unsigned parameters) {
  std::vector<ir::ValueId> operands = t.surface_operand();
  if (t.has_scalar(0)) {
    // Without a header the sampler table is the thread's own, to which r0 points.
    operands.push_back(t.scalar(0, ir::Type::u32));
    operands.push_back(t.lowering().scalar(ir::Type::u32, sampler_pointer));
  }
  if (t.message().header) {
    operands.push_back(t.header(ir::Type::u32, sample_control));
    operands.push_back(t.header(ir::Type::u32, sampler_pointer));
  }
  t.set_reads_all(mem::image::info(t.message().image.sample).lod == LodSource::Computed);
  const auto first = static_cast<std::ptrdiff_t>(operands.size());
  read_vectors(t, header_registers(t.message()), parameters, operands);
  if (t.message().lod_second && parameters > 1) {
    const ir::ValueId lod = operands[static_cast<std::size_t>(first) + 1];
    operands.erase(operands.begin() + first + 1);
    if (parameters == 2) operands.push_back(t.b().constant(ir::Type::u32, t.lanes(), 0));  // v
    operands.insert(operands.begin() + first + 2, lod);
  }
  return operands;
}

/// Writes the results of a sampler message to the response: 32 bits a lane, or 16 in registers of their own.
void write_samples(MessageLowering& t, ir::ValueId first, unsigned results) {
  ir::Builder& b = t.b();
  const bool half = t.message().image.half;
  const unsigned step = t.registers(half ? 2 : 4);
  for (unsigned k = 0; k < results; ++k)
    t.write_response(k * step, half ? b.convert(ir::Op::convert, ir::Type::u16, first + k) : first + k);
}

}  // namespace

void lower_sample(MessageLowering& t) {
  const Message& m = t.message();
  ir::Builder& b = t.b();
  const mem::image::SampleOpInfo& operation = mem::image::info(m.image.sample);
  if (operation.has(sample_flag::Wide))
    return t.lowering().unsupported("sampler message of 32 or 64 channels");
  if (m.image.sample == mem::image::SampleOp::cache_flush) return b.effect(ir::Op::fence);
  if (Slots::serves(m)) return lower_sample_slots(t);
  constexpr unsigned channels = 4;
  const unsigned header = header_registers(m), registers = m.payload_registers(), step = t.registers(4);
  const unsigned given = registers > header ? (registers - header) / step : 0;
  const unsigned parameters = std::min<unsigned>(given, operation.parameters.count);
  const unsigned result_step = t.registers(m.image.half ? 2 : 4);
  const unsigned results = std::min(channels, m.response.count / result_step);
  if (!t.check_payload(header + parameters * step, m.response.count)) return;
  ir::ImageAccess image = t.image();
  image.scalars = m.header || t.has_scalar(0) ? ir::sample_header_scalars : 0;
  const std::vector<ir::ValueId> operands = sample_operands(t, parameters);
  const ir::ValueId first = b.image(ir::Op::sample, t.lanes(), image, operands, results, t.mask());
  write_samples(t, first, results);
  // An additional response register receives one bit per pixel.
  if (m.response.count > results * result_step)
    b.reg_write(ir::Region::packed(t.response_offset(results * result_step)),
                b.constant(ir::Type::u32, 1, mem::image::pixel_mask(m.image.sample, t.lanes())));
}

void lower_typed_surface(MessageLowering& t) {
  if (!in_surface(t)) return;
  const Message& m = t.message();
  if (Slots::serves(m)) return lower_typed_slots(t);
  const auto components = static_cast<unsigned>(std::popcount(m.components)), step = t.registers(4);
  const std::optional<unsigned> count = coordinates(t, m.write ? components : 0);
  if (!count || !t.check_payload(m.payload_registers(), m.write ? 0 : components * step)) return;
  ir::ImageAccess image = t.image();
  image.coordinates = static_cast<std::uint8_t>(*count);
  image.components = m.components;
  std::vector<ir::ValueId> operands = t.surface_operand();
  read_vectors(t, header_registers(m), *count + (m.write ? components : 0), operands);
  if (m.write) {
    t.b().image(ir::Op::typed_write, t.lanes(), image, operands, 0, t.slot_mask());
    return;
  }
  const ir::ValueId first =
      t.b().image(ir::Op::typed_read, t.lanes(), image, operands, components, t.slot_mask());
  for (unsigned k = 0; k < components; ++k) t.write_response(k * step, first + k);
}

void lower_typed_atomic(MessageLowering& t) {
  if (!in_surface(t)) return;
  const Message& m = t.message();
  if (Slots::serves(m)) return lower_typed_atomic_slots(t);
  const unsigned sources = mem::info(m.image.atomic).operands;
  if (m.memory_bits != 32) return t.lowering().unsupported("typed atomic of 64 bits");
  const std::optional<unsigned> count = coordinates(t, sources);
  const bool returns = m.returns && t.has_response();
  if (!count || !t.check_payload(m.payload_registers(), returns ? t.registers(4) : 0)) return;
  ir::ImageAccess image = t.image();
  image.coordinates = static_cast<std::uint8_t>(*count);
  std::vector<ir::ValueId> operands = t.surface_operand();
  read_vectors(t, header_registers(m), *count + sources, operands);
  const ir::ValueId old =
      t.b().image(ir::Op::typed_atomic, t.lanes(), image, operands, returns ? 1 : 0, t.slot_mask());
  if (returns) t.write_response(0, old);
}

void lower_atomic_counter(MessageLowering& t) {
  if (!in_surface(t)) return;
  const Message& m = t.message();
  if (Slots::serves(m)) return lower_atomic_counter_slots(t);
  if (m.memory_bits != 32) return t.lowering().unsupported("atomic counter of 64 bits");
  const unsigned sources = mem::info(m.image.atomic).operands, front = header_registers(m),
                 step = t.registers(4);
  const bool returns = m.returns && t.has_response();
  if (!t.check_payload(front + sources * step, returns ? step : 0)) return;
  ir::ImageAccess image = t.image();
  image.counter = true;
  std::vector<ir::ValueId> operands = t.surface_operand();
  read_vectors(t, front, sources, operands);
  const ir::ValueId old =
      t.b().image(ir::Op::typed_atomic, t.lanes(), image, operands, returns ? 1 : 0, t.mask());
  if (returns) t.write_response(0, old);
}

void lower_media_block(MessageLowering& t) {
  if (!in_surface(t)) return;
  const Message& m = t.message();
  const unsigned front = header_registers(m);
  if (!t.has_scalar(0) && (!m.header || m.payload_registers() == 0))
    return t.lowering().unsupported("media block message without a header");
  const unsigned data = m.write ? m.payload_registers() - front : m.response.count;
  if (data == 0) return;
  if (!t.check_payload(front + (m.write ? data : 0), m.write ? 0 : data)) return;
  ir::Builder& b = t.b();
  const unsigned lanes = t.lowering().target().grf_bytes / 4;
  ir::ImageAccess image = t.image();
  image.scalars = ir::media_scalars;
  std::vector<ir::ValueId> operands = t.surface_operand();
  constexpr std::array places{block_x, block_y, block_size};
  for (unsigned k = 0; k < places.size(); ++k)
    operands.push_back(m.header ? t.header(ir::Type::u32, places[k]) : t.scalar(k, ir::Type::u32));
  if (m.write) {
    for (unsigned k = 0; k < data; ++k)
      operands.push_back(b.reg_read(ir::Type::u32, lanes, ir::Region::packed(t.payload_offset(front + k))));
    b.image(ir::Op::media_write, lanes, image, operands, 0);
    return;
  }
  const ir::ValueId first = b.image(ir::Op::media_read, lanes, image, operands, data);
  for (unsigned k = 0; k < data; ++k) b.reg_write(ir::Region::packed(t.response_offset(k)), first + k);
}

}  // namespace eum::eu

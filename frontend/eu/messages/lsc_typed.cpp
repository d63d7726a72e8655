// LSC messages that act on images and on the counters of surfaces (vISA documents LSC_TYPED and LSC_UNTYPED).
#include <algorithm>
#include <vector>

#include "frontend/eu/messages/lsc_lowering.hpp"

namespace eum::eu {
namespace {

constexpr unsigned most_coordinates = 4, offset_coordinates = 3;

ir::ImageAccess image_of(const LscMessage& m) {
  ir::ImageAccess image;
  image.surface = m.surface_index;
  image.bindless = ir::info(m.space).surface == ir::SurfaceBy::Place;
  if (m.space == ir::MemSpace::States) image.heap = mem::image::SurfaceHeap::States;
  image.surface_is_operand = m.surface.kind != OperandKind::None;
  image.atomic = m.atomic;
  return image;
}

/// The operands before the coordinates: the surface if it is an operand.
std::vector<ir::ValueId> operands_of(LscLowering& t) {
  const ir::ValueId surface = t.surface();
  return surface == ir::no_value ? std::vector<ir::ValueId>{} : std::vector{surface};
}

/// Appends the coordinates and returns their number, or 0 after a trap. A null coordinate before the last one
/// is 0.
unsigned read_coordinates(LscLowering& t, std::vector<ir::ValueId>& to) {
  using ir::Type;
  const LscMessage& m = t.m;
  unsigned count = most_coordinates;
  while (count > 0 && m.addresses[count - 1].kind != OperandKind::Register) --count;
  if (count == 0) t.l.unsupported("typed message without coordinates");
  for (unsigned k = 0; k < count; ++k) {
    if (!t.fits(m.addresses[k], t.lanes() * ir::size_of(m.address))) return 0;
    ir::ValueId value = t.b.constant(Type::u32, t.lanes(), 0);
    if (m.addresses[k].kind == OperandKind::Register) {
      const ir::Op convert = m.address == Type::u64 ? ir::Op::convert_sat : ir::Op::convert;
      value = t.b.convert(convert, Type::u32, t.read(m.addresses[k], m.address, 0));
    }
    if (k < offset_coordinates && m.offset[k] != 0) {
      const auto offset = static_cast<std::uint32_t>(m.offset[k]);
      value = t.b.lanewise(ir::Op::add, {value, t.b.constant(Type::u32, t.lanes(), offset)});
    }
    to.push_back(value);
  }
  return count;
}

}  // namespace

void lower_lsc_typed(LscLowering& t) {
  const LscMessage& m = t.m;
  const bool load = m.operation == LscOperation::TypedLoad, atomic = m.operation == LscOperation::TypedAtomic;
  if (load && !m.returns()) return;  // a prefetch
  const unsigned bytes = t.block_bytes(atomic ? 1 : t.count());
  if (!t.fits(m.dst, bytes) || !t.fits(m.data[0], bytes) || !t.fits(m.data[1], bytes)) return;
  ir::ImageAccess image = image_of(m);
  std::vector<ir::ValueId> operands = operands_of(t);
  image.coordinates = static_cast<std::uint8_t>(read_coordinates(t, operands));
  if (image.coordinates == 0) return;
  const ir::ValueId mask = t.mask();
  if (atomic) {
    for (unsigned k = 0; k < mem::info(m.atomic).operands; ++k) operands.push_back(t.read_data(m.data[k], 0));
    const ir::ValueId old =
        t.b.image(ir::Op::typed_atomic, t.lanes(), image, operands, m.returns() ? 1 : 0, mask);
    if (m.returns()) t.write_data(0, old);
    return;
  }
  image.components = static_cast<std::uint8_t>(m.components);
  if (!load) {
    for (unsigned k = 0; k < t.count(); ++k) operands.push_back(t.read_data(m.data[0], k));
    t.b.image(ir::Op::typed_write, t.lanes(), image, operands, 0, mask);
    return;
  }
  const ir::ValueId first = t.b.image(ir::Op::typed_read, t.lanes(), image, operands, t.count(), mask);
  for (unsigned k = 0; k < t.count(); ++k) t.write_data(k, first + k);
}

void lower_lsc_counter(LscLowering& t) {
  const LscMessage& m = t.m;
  const unsigned bytes = t.block_bytes(1);
  if (!t.fits(m.dst, bytes) || !t.fits(m.data[0], bytes)) return;
  ir::ImageAccess image = image_of(m);
  image.counter = true;
  std::vector<ir::ValueId> operands = operands_of(t);
  operands.push_back(t.read_data(m.data[0], 0));
  const ir::ValueId old =
      t.b.image(ir::Op::typed_atomic, t.lanes(), image, operands, m.returns() ? 1 : 0, t.mask());
  if (m.returns()) t.write_data(0, old);
}

/// A media block, whose rows also begin at powers of two (mem::image::media_row_bytes).
void lower_lsc_typed_block(LscLowering& t) {
  constexpr unsigned lanes = 8, value_bytes = 4 * lanes;
  const LscMessage& m = t.m;
  ir::Builder& b = t.b;
  const bool store = m.operation == LscOperation::TypedStoreBlock;
  const Operand& data = store ? m.data[0] : m.dst;
  const unsigned bytes = mem::image::media_row_bytes(m.width) * m.height;
  const unsigned values = (bytes + value_bytes - 1) / value_bytes;
  if ((!store && !m.returns()) || !t.fits(data, bytes)) return;
  ir::ImageAccess image = image_of(m);
  image.scalars = ir::media_scalars;
  std::vector<ir::ValueId> operands = operands_of(t);
  for (unsigned k = 0; k < 2; ++k) {
    const ir::ValueId at = t.scalar(m.addresses[k], ir::Type::u32);
    operands.push_back(
        b.lanewise(ir::Op::add, {at, t.number(ir::Type::u32, static_cast<std::uint32_t>(m.offset[k]))}));
  }
  operands.push_back(t.number(ir::Type::u32, (m.height - 1u) << 16 | (m.width - 1u)));
  // Only those dwords of the last value that belong to the block are in registers.
  const auto dwords = [&](unsigned k) { return std::min(lanes, (bytes - k * value_bytes) / 4); };
  const auto region = [&](unsigned k) { return ir::Region::packed(data.offset + k * value_bytes); };
  if (store) {
    for (unsigned k = 0; k < values; ++k) {
      ir::ValueId value = b.reg_read(ir::Type::u32, dwords(k), region(k));
      if (dwords(k) < lanes) value = b.concat(value, b.constant(ir::Type::u32, lanes - dwords(k), 0));
      operands.push_back(value);
    }
    b.image(ir::Op::media_write, lanes, image, operands, 0);
    return;
  }
  const ir::ValueId first = b.image(ir::Op::media_read, lanes, image, operands, values);
  for (unsigned k = 0; k < values; ++k) b.reg_write(region(k), b.slice(first + k, 0, dwords(k)));
}

}  // namespace eum::eu

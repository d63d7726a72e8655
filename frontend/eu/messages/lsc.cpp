// LSC messages: addresses, and loads, stores and atomics per channel (vISA document LSC_UNTYPED).
#include "frontend/eu/messages/lsc.hpp"

#include <algorithm>
#include <utility>

#include "frontend/eu/handlers.hpp"
#include "frontend/eu/messages/lsc_lowering.hpp"

namespace eum::eu {
namespace {

/// Compilers set a bit above the address range of shared local memory, so that a pointer to its first byte is
/// not null (0x10000000, IGC's InlineLocalsResolution).
constexpr std::uint32_t slm_address_bits = 0x0fffffff;
/// Surface states begin at multiples of this.
constexpr std::uint32_t state_bytes = 64;
/// Engines add offsets up to this inline.
constexpr std::int32_t most_offset = (1 << 20) - 1;
constexpr unsigned group_size = 4;  ///< elements per load: the number that engines shuffle

}  // namespace

bool LscLowering::fits(const Operand& op, unsigned bytes) {
  if (op.kind != OperandKind::Register || op.offset + std::uint64_t{bytes} <= l.target().grf_file_bytes())
    return true;
  l.unsupported("data beyond the last general register");
  return false;
}

ir::ValueId LscLowering::scalar(const Operand& op, ir::Type type) {
  if (op.is_immediate()) return l.immediate(op, type, 1);
  if (op.kind != OperandKind::Register || op.modifier != SourceModifier::None)
    return b.slice(l.read(op, type, false), 0, 1);
  return b.convert(ir::Op::convert, type, l.scalar(op.type, op.offset));
}

ir::ValueId LscLowering::steps(ir::Type type, unsigned count, std::uint64_t step, std::uint64_t first) {
  std::array<std::uint64_t, ir::max_lanes> values{};
  for (unsigned lane = 0; lane < count; ++lane) values[lane] = first + lane * step;
  return b.vconst(type, count, std::span(values).first(count));
}

ir::ValueId LscLowering::spread(ir::ValueId mask, unsigned count) {
  if (mask == ir::no_value || count == 1) return mask;
  const ir::ValueId bit = b.mask_bits(ir::Type::u32, mask);
  return b.bits_mask(b.lanewise(ir::Op::neg, {bit}), count);
}

ir::ValueId LscLowering::read(const Operand& op, ir::Type type, unsigned bytes_behind, unsigned stride) {
  const ir::Region region = ir::Region::strided(op.offset + bytes_behind, lanes() == 1 ? 1 : stride);
  return b.reg_read(type, lanes(), region, l.lane_mask());
}

// ---- memory

/// Whether the MemoryAccess holds the offset: not for 32-bit sums, which have to wrap around, nor for those
/// with a base.
bool LscLowering::offset_in_access() const {
  const bool alone = m.surface.kind == OperandKind::None && !m.indirect_data;
  return alone && m.space == ir::MemSpace::A64 && m.address == ir::Type::u64 && m.offset[0] > 0 &&
         m.offset[0] <= most_offset;
}

ir::MemoryAccess LscLowering::access() const {
  ir::MemoryAccess access = ir::MemoryAccess::in(m.space);
  if (m.space == ir::MemSpace::Surface) access.surface = m.surface_index;
  access.atomic = m.atomic;
  if (offset_in_access()) access.offset = static_cast<std::uint32_t>(m.offset[0]);
  return access;
}

ir::ValueId LscLowering::surface() {
  const ir::SurfaceBy by = ir::info(m.space).surface;
  if (by == ir::SurfaceBy::Nothing || m.surface.kind == OperandKind::None) return ir::no_value;
  const ir::ValueId value = scalar(m.surface, ir::Type::u32);
  if (by == ir::SurfaceBy::Index)
    return b.lanewise(ir::Op::and_, {value, number(ir::Type::u32, mem::binding_table_size - 1)});
  const ir::ValueId place = b.lanewise(ir::Op::and_, {value, number(ir::Type::u32, ~(state_bytes - 1))});
  if (m.state_distance == 0) return place;
  return b.lanewise(ir::Op::add, {place, number(ir::Type::u32, m.state_distance)});
}

ir::ValueId LscLowering::displaced(ir::ValueId value) {
  const ir::Type type = b.type_of(value);
  const unsigned count = b.lanes_of(value);
  if (std::has_single_bit(m.scale)) {
    if (m.scale != 1)
      value = b.lanewise(ir::Op::shl,
                         {value, b.constant(type, count, static_cast<unsigned>(std::countr_zero(m.scale)))});
  } else {
    value = b.lanewise(ir::Op::mul, {value, b.constant(type, count, m.scale)});
  }
  if (m.offset[0] == 0 || offset_in_access()) return value;
  const auto offset = static_cast<std::uint64_t>(std::int64_t{m.offset[0]});
  const unsigned unused = 64 - 8 * ir::size_of(type);
  return b.lanewise(ir::Op::add, {value, b.constant(type, count, offset << unused >> unused)});
}

ir::ValueId LscLowering::place(ir::ValueId value) {
  const ir::Type type = ir::info(m.space).address;
  const unsigned count = b.lanes_of(value);
  // An address beyond 32 bits is outside of every surface, as is the largest 32-bit one.
  const bool narrows = ir::size_of(type) < ir::size_of(b.type_of(value));
  value = b.convert(narrows ? ir::Op::convert_sat : ir::Op::convert, type, value);
  const auto add = [&](ir::ValueId base) { value = b.lanewise(ir::Op::add, {value, b.splat(base, count)}); };
  if (m.indirect_data) {
    constexpr std::uint32_t pointer_bits = ~63u;
    const ir::ValueId base =
        b.lanewise(ir::Op::and_, {l.scalar(ir::Type::u32, 0), number(ir::Type::u32, pointer_bits)});
    add(b.convert(ir::Op::convert, type, base));
  }
  const bool has_base = ir::info(m.space).surface == ir::SurfaceBy::Nothing;
  if (has_base && m.surface.kind != OperandKind::None) add(scalar(m.surface, type));
  if (m.space != ir::MemSpace::Slm) return value;
  return b.lanewise(ir::Op::and_, {value, b.constant(type, count, slm_address_bits)});
}

ir::ValueId LscLowering::addresses() { return place(displaced(read(m.addresses[0], m.address, 0))); }

ir::ValueId LscLowering::behind(ir::ValueId address, unsigned count) {
  const ir::ValueId first = b.splat(address, count), distances = steps(b.type_of(address), count, element());
  const ir::ValueId sum = b.lanewise(ir::Op::add, {first, distances});
  if (ir::info(m.space).surface == ir::SurfaceBy::Nothing) return sum;
  // Sums that wrap around are placed beyond every surface, not at its start.
  const ir::ValueId wraps = b.compare(ir::Op::cmp_lt, sum, first);
  return b.select(wraps, b.constant(b.type_of(sum), count, ~std::uint64_t{0}), sum);
}

ir::ValueId LscLowering::to_unit(ir::ValueId value) {
  value = b.convert(ir::Op::convert, m.unit, value);
  if (!m.high_half) return value;
  return b.lanewise(ir::Op::shl, {value, b.constant(m.unit, b.lanes_of(value), 8 * (unit() - element()))});
}

// ---- operations

/// Registers are written after all memory has been read, so that a fault leaves them unchanged.
void lower_lsc_load(LscLowering& t, ir::ValueId addresses) {
  const LscMessage& m = t.m;
  if (!m.returns() || !t.fits(m.dst, t.block_bytes(t.count()))) return;
  const ir::ValueId surface = t.surface(), mask = t.mask();
  ir::MemoryAccess access = t.access();
  const std::uint32_t offset = access.offset;
  std::vector<ir::ValueId> loaded;
  for (unsigned first = 0; first < 64; first += group_size) {
    access.components = m.components >> first & ((1u << group_size) - 1);
    if (access.components == 0) continue;
    access.offset = offset + first * t.element();
    const ir::ValueId value = t.b.load(m.memory, access, addresses, mask, surface);
    for (unsigned k = 0; k < access.component_count(); ++k) loaded.push_back(value + k);
  }
  for (unsigned k = 0; k < loaded.size(); ++k) t.write_data(k, loaded[k]);
}

void lower_lsc_store(LscLowering& t, ir::ValueId addresses) {
  const LscMessage& m = t.m;
  if (!t.fits(m.data[0], t.block_bytes(t.count()))) return;
  ir::MemoryAccess access = t.access();
  access.components = m.components;
  std::vector<ir::ValueId> values;
  for (unsigned k = 0; k < t.count(); ++k) values.push_back(t.read_data(m.data[0], k));
  t.b.store(access, addresses, values, t.mask(), t.surface());
}

/// Moves the elements of a single address, contiguous both in memory and in registers.
void lower_lsc_transposed(LscLowering& t, ir::ValueId address, bool store) {
  const LscMessage& m = t.m;
  ir::Builder& b = t.b;
  const Operand& data = store ? m.data[0] : m.dst;
  if ((!store && !m.returns()) || !t.fits(data, t.count() * t.unit())) return;
  const ir::ValueId surface = t.surface(), mask = t.mask();
  ir::MemoryAccess access = t.access();
  const std::uint32_t offset = access.offset;
  const unsigned inside = m.high_half ? t.unit() - t.element() : 0;
  struct Part {
    unsigned first, lanes;
    ir::ValueId value, mask;
  };
  std::vector<Part> loaded;
  for (unsigned first = 0; first < t.count(); first += ir::max_lanes) {
    const unsigned lanes = std::min(t.count() - first, ir::max_lanes);
    access.offset = offset + first * t.element();
    // Block ops have no mask: under one, elements are accessed at addresses of their own, consecutive ones.
    const ir::ValueId on = t.spread(mask, lanes);
    ir::ValueId where = address;
    if (mask != ir::no_value && lanes > 1) where = t.behind(address, lanes);
    if (store) {
      const ir::Region region = ir::Region::strided(data.offset + first * t.unit() + inside,
                                                    lanes == 1 ? 1 : t.unit() / t.element());
      const std::array value{b.reg_read(m.memory, lanes, region)};
      if (mask == ir::no_value)
        b.block_store(access, where, value[0], surface);
      else
        b.store(access, where, value, on, surface);
      continue;
    }
    const ir::ValueId value = mask == ir::no_value ? b.block_load(m.memory, lanes, access, where, surface)
                                                   : b.load(m.memory, access, where, on, surface);
    loaded.push_back({first, lanes, value, on});
  }
  for (const Part& part : loaded)
    b.reg_write(ir::Region::packed(data.offset + part.first * t.unit()), t.to_unit(part.value), part.mask);
}

void lower_lsc_atomic(LscLowering& t) {
  const LscMessage& m = t.m;
  const unsigned count = mem::info(m.atomic).operands, bytes = t.block_bytes(1);
  if (!t.fits(m.dst, bytes) || !t.fits(m.data[0], bytes) || !t.fits(m.data[1], bytes)) return;
  const ir::ValueId where = t.addresses();
  std::array<ir::ValueId, 2> sources{};
  for (unsigned k = 0; k < count; ++k) sources[k] = t.read_data(m.data[k], 0);
  const ir::ValueId old = t.b.atomic(m.memory, t.access(), where, std::span(sources).first(count),
                                     m.returns(), t.mask(), t.surface());
  if (m.returns()) t.write_data(0, old);
}

/// Returns one dword with a bit per channel.
void lower_lsc_status(LscLowering& t) {
  const LscMessage& m = t.m;
  ir::Builder& b = t.b;
  if (!m.returns() || !t.fits(m.dst, 4)) return;
  const ir::ValueId mask = t.mask(), where = t.addresses();
  ir::MemoryAccess access = t.access();
  access.components = m.components;
  ir::ValueId first = b.probe(m.memory, access, where, mask, t.surface()), all = first;
  for (unsigned k = 1; k < t.count(); ++k) all = b.lanewise(ir::Op::and_, {all, first + k});
  const ir::ValueId found = b.compare(ir::Op::cmp_ne, all, b.constant(m.memory, t.lanes(), 0));
  b.reg_write(ir::Region::packed(m.dst.offset), b.mask_bits(ir::Type::u32, found));
}

namespace {

/// Addresses of the channels, formed from one address and a pitch.
ir::ValueId strided_addresses(LscLowering& t) {
  const LscMessage& m = t.m;
  ir::Builder& b = t.b;
  const ir::ValueId base = t.displaced(t.scalar(m.addresses[0], m.address));
  if (t.lanes() == 1) return t.place(base);
  const Operand& pitch = m.addresses[1];
  ir::ValueId distances;
  if (pitch.kind == OperandKind::None)  // packed
    distances = t.steps(m.address, t.lanes(), std::uint64_t{t.count()} * t.element());
  else if (pitch.is_immediate())
    distances = t.steps(m.address, t.lanes(), pitch.immediate);
  else
    distances = b.lanewise(
        ir::Op::mul, {t.steps(m.address, t.lanes(), 1), b.splat(t.scalar(pitch, m.address), t.lanes())});
  return t.place(b.lanewise(ir::Op::add, {b.splat(base, t.lanes()), distances}));
}

void lower_untyped(LscLowering& t, bool store, bool strided) {
  if (!store && !t.m.returns()) return;  // a prefetch
  if (!strided && !t.fits(t.m.addresses[0], t.lanes() * ir::size_of(t.m.address))) return;
  const ir::ValueId addresses = strided ? strided_addresses(t) : t.addresses();
  if (t.m.transposed) return lower_lsc_transposed(t, addresses, store);
  return store ? lower_lsc_store(t, addresses) : lower_lsc_load(t, addresses);
}

}  // namespace

void lower_lsc(Lowering& l, ir::Op) {
  using enum LscOperation;
  LscLowering t(l);
  switch (t.m.operation) {
    case Load:
    case Store:
      return lower_untyped(t, t.m.operation == Store, false);
    case LoadStrided:
    case StoreStrided:
      return lower_untyped(t, t.m.operation == StoreStrided, true);
    case Atomic:
      if (t.fits(t.m.addresses[0], t.lanes() * ir::size_of(t.m.address))) lower_lsc_atomic(t);
      return;
    case Status:
      if (t.fits(t.m.addresses[0], t.lanes() * ir::size_of(t.m.address))) lower_lsc_status(t);
      return;
    case AppendCounter:
      return lower_lsc_counter(t);
    case LoadBlock2d:
    case StoreBlock2d:
      return lower_lsc_block2d(t);
    case TypedLoad:
    case TypedStore:
    case TypedAtomic:
      return lower_lsc_typed(t);
    case TypedLoadBlock:
    case TypedStoreBlock:
      return lower_lsc_typed_block(t);
    case Fence:
      return t.b.effect(ir::Op::fence);
  }
}

}  // namespace eum::eu

// Block messages: consecutive owords or registers from one address.
#include <algorithm>
#include <utility>
#include <vector>

#include "frontend/eu/messages/message_lowering.hpp"

namespace eum::eu {
namespace {

/// Byte offsets of the address in the header.
constexpr unsigned header_offset = 8, header_address = 0;

unsigned register_dwords(const MessageLowering& t) { return t.lowering().target().grf_bytes / 4; }

/// Moves `dwords` between consecutive memory and registers, as many at once as a value holds. Registers are
/// written after all memory has been read, so that a fault leaves them unchanged.
void move_block(MessageLowering& t, ir::MemoryAccess memory, ir::ValueId address, unsigned file_offset,
                unsigned dwords) {
  ir::Builder& b = t.b();
  const std::uint32_t offset = memory.offset;
  const ir::ValueId surface = t.surface();
  std::vector<std::pair<ir::Region, ir::ValueId>> loaded;
  for (unsigned done = 0; done < dwords; done += ir::max_lanes) {
    unsigned lanes = std::min(dwords - done, ir::max_lanes);
    ir::Region data = ir::Region::packed(file_offset + 4 * done);
    memory.offset = offset + 4 * done;
    if (t.message().write)
      b.block_store(memory, address, b.reg_read(ir::Type::u32, lanes, data), surface);
    else
      loaded.push_back({data, b.block_load(ir::Type::u32, lanes, memory, address, surface)});
  }
  for (const auto& [data, value] : loaded) b.reg_write(data, value);
}

/// Moves scratch registers whose dwords belong to channels; the dwords of inactive channels stay unchanged.
void move_channels(MessageLowering& t, ir::MemoryAccess memory, unsigned dwords) {
  ir::Builder& b = t.b();
  const Message& m = t.message();
  unsigned lanes = std::min(t.lowering().lanes(), dwords);
  t.set_mode(lanes);
  std::array<std::uint64_t, ir::max_lanes> places{};
  for (unsigned lane = 0; lane < lanes; ++lane) places[lane] = 4 * lane;
  ir::ValueId where = b.vconst(ir::Type::u32, lanes, std::span(places).first(lanes));
  std::vector<std::pair<unsigned, ir::ValueId>> loaded;
  for (unsigned done = 0; done < dwords; done += lanes) {
    const unsigned reg = done / register_dwords(t);
    memory.offset = m.offset + 4 * done;
    if (m.write) {
      std::array<ir::ValueId, 1> value{t.read(ir::Type::u32, 1 + reg)};
      b.store(memory, where, value, t.mask());
    } else {
      loaded.push_back({reg, b.load(ir::Type::u32, memory, where, t.mask())});
    }
  }
  for (const auto& [reg, value] : loaded) t.write_response(reg, value);
}

/// Dwords of the block, or nothing after a trap.
std::optional<unsigned> checked_dwords(MessageLowering& t) {
  const Message& m = t.message();
  unsigned dwords = m.element_count * m.memory_bits / 32u;
  const unsigned registers = t.lowering().target().registers(4 * dwords);
  if (!m.header && !t.has_scalar(0)) {
    t.lowering().unsupported("block message without a header");
    return std::nullopt;
  }
  bool write = m.write;
  const unsigned front = m.header ? 1 : 0;
  if (!t.check_payload(write ? front + registers : front, write ? 0 : registers)) return std::nullopt;
  return dwords;
}

}  // namespace

void lower_block_message(MessageLowering& t) {
  const Message& m = t.message();
  std::optional<unsigned> dwords = checked_dwords(t);
  if (!dwords) return;
  ir::Builder& b = t.b();
  ir::ValueId address;
  if (t.has_scalar(0)) {
    address = t.scalar(0, t.address_type());
    if (m.address_unit != 1)
      address = b.lanewise(ir::Op::mul, {address, b.constant(t.address_type(), 1, m.address_unit)});
  } else if (m.memory.space == ir::MemSpace::A64) {
    address = t.header(ir::Type::u64, header_address);
  } else {
    address = t.header(ir::Type::u32, header_offset);
    if (m.address_unit != 1)
      address = b.lanewise(ir::Op::mul, {address, b.constant(ir::Type::u32, 1, m.address_unit)});
    if (m.memory.space == ir::MemSpace::A32) address = b.lanewise(ir::Op::add, {address, t.stateless_base()});
  }
  unsigned offset = m.write ? t.payload_offset(m.header ? 1 : 0) : t.response_offset(0);
  move_block(t, m.memory, t.address(address), offset + (m.high_half ? 16 : 0), *dwords);
}

void lower_scratch_block(MessageLowering& t) {
  const Message& m = t.message();
  std::optional<unsigned> dwords = checked_dwords(t);
  if (!dwords) return;
  ir::MemoryAccess memory = m.memory;
  memory.offset = m.offset;
  Lowering& l = t.lowering();
  if (m.by_channel && l.write_mask() != ir::no_value) {
    if (l.lanes() < register_dwords(t))
      return l.unsupported("scratch message of fewer channels than a register has dwords");
    return move_channels(t, memory, *dwords);
  }
  unsigned offset = m.write ? t.payload_offset(1) : t.response_offset(0);
  move_block(t, memory, t.b().constant(ir::Type::u32, 1, 0), offset, *dwords);
}

}  // namespace eum::eu

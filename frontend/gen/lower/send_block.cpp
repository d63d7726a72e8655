// Block messages: consecutive owords or registers from one address.
#include "frontend/gen/lower/send.hpp"

namespace eum::gen {
namespace {

constexpr unsigned register_bytes = 32, register_dwords = 8;

struct OwordBlock {
  unsigned dwords;
  unsigned skip_bytes;  ///< of the first register
};

/// Block size field of oword messages; one oword may be the upper half of its register.
std::optional<OwordBlock> oword_block(unsigned code) {
  constexpr std::array<OwordBlock, 5> sizes{{{4, 0}, {4, 16}, {8, 0}, {16, 0}, {32, 0}}};
  if (code >= sizes.size()) return std::nullopt;
  return sizes[code];
}

void move_owords(Message& m, const ir::MemRef& memory, ir::ValueId address, OwordBlock block, bool write) {
  ir::Builder& b = m.lowering().b();
  if (write) {
    ir::Region data = ir::Region::packed(m.payload_offset(1) + block.skip_bytes);
    return b.block_store(memory, address, b.reg_read(ir::Type::u32, block.dwords, data));
  }
  ir::Region response = ir::Region::packed(m.response_offset(0) + block.skip_bytes);
  b.reg_write(response, b.block_load(ir::Type::u32, block.dwords, memory, address));
}

/// Checks what all oword messages need; the block's size, or nothing after a trap.
std::optional<OwordBlock> checked_block(Message& m, bool write) {
  Lowering& l = m.lowering();
  std::optional<OwordBlock> block = oword_block(m.bits(10, 8));
  if (!block) {
    l.unsupported("reserved block size");
    return std::nullopt;
  }
  if (!m.has_header()) {
    l.unsupported("block message without a header");
    return std::nullopt;
  }
  unsigned registers = (block->dwords + register_dwords - 1) / register_dwords;
  if (!m.has_room(write ? 1 + registers : 1, write ? 0 : registers)) return std::nullopt;
  return block;
}

}  // namespace

// The header's dword 2 is the offset in units of `unit_bytes`.
void lower_oword_block(Message& m, bool write, unsigned unit_bytes) {
  std::optional<OwordBlock> block = checked_block(m, write);
  if (!block) return;
  std::optional<ir::MemRef> memory = m.stateful();
  if (!memory) return;
  if (memory->space == ir::MemSpace::A32) return m.lowering().unsupported("stateless oword block");
  ir::Builder& b = m.lowering().b();
  ir::ValueId address = m.header(ir::Type::u32, 8);
  if (unit_bytes != 1) address = b.lanewise(ir::Op::mul, {address, b.constant(ir::Type::u32, 1, unit_bytes)});
  move_owords(m, *memory, address, *block, write);
}

// The header's qword 0 is the byte address.
void lower_a64_block(Message& m, bool write) {
  if (m.bits(12, 11) > 1) return m.lowering().unsupported("block of another unit than owords");
  if (std::optional<OwordBlock> block = checked_block(m, write))
    move_owords(m, Message::a64(), m.header(ir::Type::u64, 0), *block, write);
}

// Descriptor: bit 17 write, bit 16 by channel, bits 13:12 registers (1, 2, 4, 8), bits 11:0 offset in
// registers. With channels each dword of a register belongs to a channel, which the execution mask may turn
// off.
void lower_scratch_block(Message& m) {
  Lowering& l = m.lowering();
  ir::Builder& b = l.b();
  bool write = m.bits(17, 17) != 0;
  unsigned registers = 1u << m.bits(13, 12), offset = m.bits(11, 0) * register_bytes;
  if (!m.has_header()) return l.unsupported("block message without a header");
  if (!m.has_room(write ? 1 + registers : 1, write ? 0 : registers)) return;
  ir::MemRef memory{ir::MemSpace::Scratch, 0, 1, {}};
  bool by_channel = m.bits(16, 16) != 0 && l.write_mask() != ir::no_value;
  if (by_channel && l.lanes() < register_dwords)
    return l.unsupported("scratch message of fewer than 8 channels");
  unsigned lanes = by_channel ? std::min<unsigned>(l.lanes(), register_dwords * registers)
                              : std::min(register_dwords * registers, ir::max_lanes);
  m.set_mode(lanes);
  for (unsigned done = 0; done < register_dwords * registers; done += lanes) {
    unsigned reg = done / register_dwords;
    ir::Region data = ir::Region::packed(write ? m.payload_offset(1 + reg) : m.response_offset(reg));
    ir::ValueId start = b.constant(ir::Type::u32, 1, offset + 4 * done);
    if (!by_channel) {
      if (write)
        b.block_store(memory, start, b.reg_read(ir::Type::u32, lanes, data));
      else
        b.reg_write(data, b.block_load(ir::Type::u32, lanes, memory, start));
      continue;
    }
    std::array<std::uint64_t, ir::max_lanes> places{};
    for (unsigned lane = 0; lane < lanes; ++lane) places[lane] = offset + 4 * (done + lane);
    ir::ValueId where = b.vconst(ir::Type::u32, lanes, std::span(places).first(lanes));
    if (write) {
      std::array<ir::ValueId, 1> value{b.reg_read(ir::Type::u32, lanes, data, m.hint())};
      b.store(memory, where, value, m.mask());
    } else {
      b.reg_write(data, b.load(ir::Type::u32, memory, where, m.mask()), m.mask());
    }
  }
}

}  // namespace eum::gen

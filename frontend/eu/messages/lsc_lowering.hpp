#pragma once
// What the lowerings of LSC messages share: scalars, addresses, memory and data blocks. It must not know what
// a message does.
#include <optional>
#include <span>
#include <vector>

#include "frontend/eu/lowering.hpp"
#include "frontend/eu/messages/lsc.hpp"

namespace eum::eu {

class LscLowering {
 public:
  explicit LscLowering(Lowering& lowering) : l(lowering), m(*lowering.inst().lsc), b(lowering.b()) {}

  Lowering& l;
  const LscMessage& m;
  ir::Builder& b;

  unsigned lanes() const { return l.lanes(); }
  unsigned element() const { return ir::size_of(m.memory); }
  unsigned unit() const { return ir::size_of(m.unit); }
  /// Elements that an address has.
  unsigned count() const { return static_cast<unsigned>(std::popcount(m.components)); }
  /// Execution mask and predicate of the channels, or no_value: all.
  ir::ValueId mask() { return l.write_mask(); }
  /// Whether `bytes` from an operand's first on are registers; else traps.
  bool fits(const Operand& op, unsigned bytes);

  /// The first element of an operand, converted to `type`.
  ir::ValueId scalar(const Operand& op, ir::Type type);
  ir::ValueId number(ir::Type type, std::uint64_t value) { return b.constant(type, 1, value); }
  /// Lanes 0, step, 2 * step ...
  ir::ValueId steps(ir::Type type, unsigned count, std::uint64_t step, std::uint64_t first = 0);
  /// A mask of one lane in `count` lanes; no_value stays.
  ir::ValueId spread(ir::ValueId mask, unsigned count);
  /// Packed elements of the channels from `op` on, `stride` elements apart.
  ir::ValueId read(const Operand& op, ir::Type type, unsigned bytes_behind, unsigned stride = 1);

  // ---- memory ----
  /// Space, surface and immediate offset of the access; `address` may be changed.
  ir::MemoryAccess access() const;
  /// Operand that names the surface, or no_value.
  ir::ValueId surface();
  /// Scaled addresses of the channels in the type of the space, as far as access() does not have the offset.
  ir::ValueId addresses();
  /// `value`, in the type of the message's addresses, as an address of the space.
  ir::ValueId place(ir::ValueId value);
  /// `value` scaled and with the offset that access() lacks.
  ir::ValueId displaced(ir::ValueId value);

  /// Addresses of `count` elements from one address on.
  ir::ValueId behind(ir::ValueId address, unsigned count);

  // ---- data ----
  /// Bytes from an element of a channel's to the next one: whole registers.
  unsigned step() const { return l.target().registers(lanes() * unit()) * l.target().grf_bytes; }
  /// Bytes that `elements` of each channel take.
  unsigned block_bytes(unsigned elements) const { return (elements - 1) * step() + lanes() * unit(); }
  /// Elements in memory, as registers hold them, and back.
  ir::ValueId to_unit(ir::ValueId value);
  ir::ValueId read_data(const Operand& op, unsigned index) {
    return read(op, m.memory, index * step() + (m.high_half ? unit() - element() : 0), unit() / element());
  }
  void write_data(unsigned index, ir::ValueId value) {
    b.reg_write(ir::Region::packed(m.dst.offset + index * step()), to_unit(value), mask());
  }

 private:
  bool offset_in_access() const;
};

// One function a family of operations.
void lower_lsc_load(LscLowering&, ir::ValueId addresses);
void lower_lsc_store(LscLowering&, ir::ValueId addresses);
void lower_lsc_transposed(LscLowering&, ir::ValueId address, bool store);
void lower_lsc_atomic(LscLowering&);
void lower_lsc_status(LscLowering&);
void lower_lsc_block2d(LscLowering&);
void lower_lsc_counter(LscLowering&);
void lower_lsc_typed(LscLowering&);
void lower_lsc_typed_block(LscLowering&);

}  // namespace eum::eu

#pragma once
// What the lowerings of LSC messages share: scalars, addresses, memory and data blocks. It must not know the
// operations of messages.
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
  /// Number of elements per address.
  unsigned count() const { return static_cast<unsigned>(std::popcount(m.components)); }
  /// Execution mask and predicate of the channels, or no_value: all are active.
  ir::ValueId mask() { return l.write_mask(); }
  /// Whether the `bytes` bytes of an operand are within the registers; traps if not.
  bool fits(const Operand& op, unsigned bytes);

  /// The first element of an operand, converted to `type`.
  ir::ValueId scalar(const Operand& op, ir::Type type);
  ir::ValueId number(ir::Type type, std::uint64_t value) { return b.constant(type, 1, value); }
  /// Lanes first, first + step, first + 2 * step ...
  ir::ValueId steps(ir::Type type, unsigned count, std::uint64_t step, std::uint64_t first = 0);
  /// Repeats a mask of one lane in `count` lanes; no_value stays no_value.
  ir::ValueId spread(ir::ValueId mask, unsigned count);
  /// Packed elements of the channels from `op` on, `stride` elements apart.
  ir::ValueId read(const Operand& op, ir::Type type, unsigned bytes_behind, unsigned stride = 1);

  // ---- memory ----
  /// Space, surface, atomic operation and immediate offset of the access.
  ir::MemoryAccess access() const;
  /// The operand that names the surface, or no_value.
  ir::ValueId surface();
  /// Scaled addresses of the channels in the address type of the space, without the offset that access() has.
  ir::ValueId addresses();
  /// Converts `value`, in the message's address type, to an address of the space.
  ir::ValueId place(ir::ValueId value);
  /// `value` scaled, plus the offset if access() does not have it.
  ir::ValueId displaced(ir::ValueId value);

  /// Addresses of `count` consecutive elements from `address` on.
  ir::ValueId behind(ir::ValueId address, unsigned count);

  // ---- data ----
  /// Bytes from one element of a channel to its next one: whole registers.
  unsigned step() const { return l.target().registers(lanes() * unit()) * l.target().grf_bytes; }
  /// Bytes that `elements` of each channel take.
  unsigned block_bytes(unsigned elements) const { return (elements - 1) * step() + lanes() * unit(); }
  /// Converts elements from their memory type to the unit in registers.
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

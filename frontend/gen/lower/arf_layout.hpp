#pragma once
// Where the architecture registers live in a function's register file: 32-byte slots after the general
// registers. Flags are not in the file (ir::Op::flag_read), the instruction pointer is a constant of each
// instruction.
#include <array>
#include <cstddef>
#include <cstdint>

#include "frontend/gen/family.hpp"
#include "frontend/gen/instruction.hpp"

namespace eum::gen {

/// What an architecture register needs of the register file.
struct ArfSlot {
  Arf arf;
  std::uint16_t bytes;   ///< a multiple of 32
  std::uint16_t offset;  ///< from the first byte behind the general registers
};

/// acc comes twice: first its low plane (acc0, acc1 as a program sees them), then its high plane: bits 63:32
/// of each 32-bit integer channel, at the distance of the low plane's size.
inline constexpr std::array<ArfSlot, 7> arf_slots = [] {
  std::array<ArfSlot, 7> slots{{{Arf::acc, 64, 0},
                                {Arf::acc, 64, 0},
                                {Arf::a, 32, 0},
                                {Arf::cr, 32, 0},
                                {Arf::sr, 32, 0},
                                {Arf::n, 32, 0},
                                {Arf::tm, 32, 0}}};
  std::uint16_t offset = 0;
  for (ArfSlot& slot : slots) {
    slot.offset = offset;
    offset = static_cast<std::uint16_t>(offset + slot.bytes);
  }
  return slots;
}();

/// The slot of `arf`, or null if it has none.
constexpr const ArfSlot* find_slot(Arf arf) {
  for (const ArfSlot& slot : arf_slots)
    if (slot.arf == arf) return &slot;
  return nullptr;
}

constexpr unsigned grf_file_bytes(Family family) { return info(family).grf_bytes * info(family).grf_count; }

/// Bytes of the register file of a lowered function: general registers, then the slots.
constexpr unsigned file_bytes(Family family) {
  return grf_file_bytes(family) + arf_slots.back().offset + arf_slots.back().bytes;
}

/// Byte offset in the register file of the first byte of `arf`, which must have a slot.
constexpr unsigned arf_offset(Family family, Arf arf) {
  return grf_file_bytes(family) + find_slot(arf)->offset;
}

/// Distance from an accumulator's low plane to its high plane.
inline constexpr unsigned acc_plane_bytes = arf_slots[0].bytes;

static_assert(arf_slots[0].arf == Arf::acc && arf_slots[1].arf == Arf::acc &&
              arf_slots[1].bytes == arf_slots[0].bytes);
static_assert([] {
  for (const ArfSlot& slot : arf_slots)
    if (slot.offset % 32 != 0 || slot.bytes % 32 != 0) return false;
  return true;
}());

}  // namespace eum::gen

#pragma once
// Operands as the EU sees them: offsets in a linear register file, regions, modifiers. It must not know how
// an encoding or a text names them.
#include <cstdint>

#include "frontend/eu/target.hpp"
#include "frontend/ir/types.hpp"

namespace eum::eu {

enum class OperandKind : std::uint8_t {
  None,           ///< the instruction has no such operand
  Null,           ///< reads 0, discards writes; has a type
  Register,       ///< a region of the register file
  Accumulator,    ///< a region of the accumulator's low plane; integers of 32 bits have a high half
  Flag,           ///< flag bits as an integer; one channel writes
  ExecutionMask,  ///< the active channels, as an integer; source only
  Indirect,       ///< a region whose origin, or each row's origin, is in the address register
  Immediate,
};

enum class SourceModifier : std::uint8_t { None, Abs, Neg, NegAbs };

/// Immediates that hold a vector: eight 4-bit integers or four restricted floats.
enum class PackedVector : std::uint8_t { None, Unsigned, Signed, Float };

/// Region in elements. `vstride` is `vxh` if each row of `width` channels has an address of its own, in
/// successive elements of the address register (VxH, Vx1). A destination uses `hstride` only.
struct Region {
  static constexpr std::uint8_t vxh = 0xff;
  std::uint8_t vstride = 0;
  std::uint8_t width = 1;
  std::uint8_t hstride = 0;
  constexpr bool operator==(const Region&) const = default;
};

/// The swizzle that leaves channels in place: x, y, z, w, two bits each from bit 0.
inline constexpr std::uint8_t identity_swizzle = 0xe4;

struct Operand {
  OperandKind kind = OperandKind::None;
  ir::Type type = ir::Type::u8;  ///< of one element
  SourceModifier modifier = SourceModifier::None;
  PackedVector packed = PackedVector::None;  ///< for an Immediate
  bool by_channel = false;  ///< packed vector: one element per channel, not consecutive words
  Region region;
  /// Source: instead of column i of its row, lane i takes the column that the two bits of `swizzle` from bit
  /// 2 * (i % 4) on select. The region's rows are then two or four elements wide.
  std::uint8_t swizzle = identity_swizzle;
  std::int16_t address_offset = 0;  ///< Indirect: bytes added to the address
  /// Register, Accumulator: byte in the register file. Flag: first bit. Indirect: byte in the register file
  /// of the first 16-bit address.
  std::uint32_t offset = 0;
  std::uint64_t immediate = 0;  ///< zero-extended from the type's size; a packed vector has 32 bits

  constexpr bool is_null() const { return kind == OperandKind::Null; }
  constexpr bool is_immediate() const { return kind == OperandKind::Immediate; }
  constexpr bool is_swizzled() const { return swizzle != identity_swizzle; }
  /// The column, within its row, that lane `lane` of a swizzled source reads.
  constexpr unsigned column(unsigned lane) const { return swizzle >> 2 * (lane % 4) & 3; }
  constexpr bool is_accumulator() const { return kind == OperandKind::Accumulator; }
  /// Whether this is a region that begins in a general register.
  constexpr bool is_grf(const Target& target) const {
    return kind == OperandKind::Register && offset < target.grf_file_bytes();
  }
};

}  // namespace eum::eu

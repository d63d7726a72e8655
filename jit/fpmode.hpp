#pragma once
// The floating point mode of a guest thread on the host: which MXCSR an op needs, and the denormals of f16,
// which MXCSR does not control. All engines share this.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "frontend/ir/float_ops.hpp"

namespace eum::jit {

/// cr0.0 bits (SKL PRM volume 7, "Control Register"): 5:4 rounding mode; denormals are kept rather than
/// flushed to zero of the same sign, as operands and as results, of f64 by bit 6, f32 by bit 7, f16 by bit
/// 10.
namespace cr0_bit {
inline constexpr std::uint32_t Rounding = 4, Keep64 = 6, Keep32 = 7,
                               Keep16 = 10;  // NOLINT: as the fields are named
}

/// Which of the thread's modes an op follows. MXCSR has one switch for denormal operands (DAZ) and one for
/// denormal results (FTZ); the first follows the type of an op's operands, the second that of its results.
enum class FpClass : std::uint8_t {
  None,       ///< any: the op neither rounds nor depends on denormals
  Single,     ///< f32 and f16, and ops that may leave the code: MXCSR holds this between blocks
  Double,     ///< f64
  Narrowing,  ///< f64 to f32 or f16
  Keeping     ///< keeps denormals in every mode (IVB, 2.3.1.2 and 2.4.6: conversions between f32 and f64)
};
inline constexpr std::size_t fp_class_count = 5;

constexpr bool is_keeping(std::uint32_t cr0, unsigned bit) { return (cr0 >> bit & 1) != 0; }
/// Whether MXCSR has to follow the classes of ops: bit 0 if f32 and f64 have different modes, bit 1 if any
/// denormals are not kept, so that ops that keep them need another MXCSR.
constexpr std::uint32_t fp_mixed(std::uint32_t cr0) {
  static_assert(cr0_bit::Keep32 == cr0_bit::Keep64 + 1);
  const std::uint32_t flushed = ~cr0 >> cr0_bit::Keep64 & 3;
  return flushed * 7 >> 1 & 3;
}
static_assert(fp_mixed(3u << cr0_bit::Keep64) == 0 && fp_mixed(1u << cr0_bit::Keep64) == 3 &&
              fp_mixed(1u << cr0_bit::Keep32) == 3 && fp_mixed(0) == 2);
/// The bit of fp_mixed that is set if going from one class to the other changes MXCSR.
constexpr std::uint32_t fp_mixed_bit(FpClass a, FpClass b) {
  return a == FpClass::Keeping || b == FpClass::Keeping ? 2 : 1;
}

/// The field of MXCSR that says how results are rounded.
inline constexpr std::uint32_t mxcsr_rounding = 3u << 13;

constexpr std::uint32_t fp_mode_mxcsr(std::uint32_t cr0, FpClass fp_class = FpClass::Single) {
  constexpr std::uint32_t masked = 0x1f80, daz = 0x40, ftz = 0x8000;  // all exceptions masked
  constexpr std::uint32_t rounding[4] = {0, 2, 1, 3};                 // nearest even, up, down, to zero
  const bool from64 = fp_class == FpClass::Double || fp_class == FpClass::Narrowing;
  const bool to64 = fp_class == FpClass::Double, keeps = fp_class == FpClass::Keeping;
  return masked | (keeps || is_keeping(cr0, from64 ? cr0_bit::Keep64 : cr0_bit::Keep32) ? 0 : daz) |
         (keeps || is_keeping(cr0, to64 ? cr0_bit::Keep64 : cr0_bit::Keep32) ? 0 : ftz) |
         rounding[cr0 >> cr0_bit::Rounding & 3] << 13;
}

constexpr FpClass fp_class_of(const ir::Inst& inst) {
  if (computes_on_floats(inst)) {
    const ir::Type from = ir::shape_of(inst.op).has_from() ? inst.from : inst.type;
    if (inst.op == ir::Op::convert_keep && ((from == ir::Type::f64 && inst.type == ir::Type::f32) ||
                                            (from == ir::Type::f32 && inst.type == ir::Type::f64)))
      return FpClass::Keeping;
    if (from != ir::Type::f64)
      return inst.type == ir::Type::f64 && ir::is_int(from) ? FpClass::Double : FpClass::Single;
    return inst.type == ir::Type::f32 || inst.type == ir::Type::f16 ? FpClass::Narrowing : FpClass::Double;
  }
  switch (ir::info(inst.op).effect) {
    case ir::Effect::Pure:
    case ir::Effect::ReadsState:
    case ir::Effect::WritesState:
      return FpClass::None;
    default:
      break;
  }
  switch (inst.op) {
    case ir::Op::load:
    case ir::Op::probe:
    case ir::Op::store:
    case ir::Op::block_load:
    case ir::Op::block_store:
      return FpClass::None;
    default:  // float atomics, texels, and ops that leave the code
      return FpClass::Single;
  }
}

/// The index of cr0's rounding and modes of f32 and f64 in tables.
constexpr unsigned fp_mode_index(std::uint32_t cr0) { return cr0 >> cr0_bit::Rounding & 15; }
/// MXCSR by class and fp_mode_index.
inline constexpr auto mxcsr_table = [] {
  std::array<std::array<std::uint32_t, 16>, fp_class_count> table{};
  for (std::size_t c = 0; c < fp_class_count; ++c)
    for (std::uint32_t i = 0; i < 16; ++i)
      table[c][i] = fp_mode_mxcsr(i << cr0_bit::Rounding, static_cast<FpClass>(c));
  return table;
}();

/// Turns denormals of `count` f16 into zeros of their sign.
inline void flush_f16(void* halves, std::size_t count) {
  auto* bytes = static_cast<std::byte*>(halves);
  for (std::size_t i = 0; i < count; ++i, bytes += 2) {
    std::uint16_t bits;
    std::memcpy(&bits, bytes, 2);
    if ((bits & 0x7c00) == 0) bits &= 0x8000;
    std::memcpy(bytes, &bits, 2);
  }
}

}  // namespace eum::jit

#pragma once
// The floating point mode of a guest thread as the host's MXCSR.
#include <cstdint>
#include <optional>

namespace eum::jit {

/// cr0.0 bits (control register, IVB EU ISA; Gen8 adds the f64 and f16 denormal bits): 5:4 rounding mode, 6
/// keep f64 denormals, 7 keep f32 denormals, 10 keep f16 denormals. nullopt: f32 and f64 differ, which one
/// MXCSR cannot hold. The f16 bit has no effect: conversions from and to f16 keep denormals on the host.
constexpr std::optional<std::uint32_t> fp_mode_mxcsr(std::uint32_t cr0) {
  const bool keep64 = cr0 >> 6 & 1, keep32 = cr0 >> 7 & 1;
  if (keep32 != keep64) return std::nullopt;
  constexpr std::uint32_t masked = 0x1f80, flush = 0x8040;  // all exceptions masked; FTZ and DAZ
  constexpr std::uint32_t rounding[4] = {0, 2, 1, 3};       // nearest even, up, down, to zero
  return masked | (keep32 ? 0 : flush) | rounding[cr0 >> 4 & 3] << 13;
}

}  // namespace eum::jit

#pragma once
// Modes of cr0.0 that change what instructions mean, if a program may switch them on. Rounding and denormal
// modes belong to the engine (jit/fpmode.hpp). It must not know individual instructions.
#include <cstdint>

namespace eum::eu {

/// Bits of cr0.0.
namespace mode {
inline constexpr std::uint32_t AlternativeFloats = 1, AccumulatorDisable = 2, SingleProgramFlow = 4,
                               VectorMask = 8;
}  // namespace mode

}  // namespace eum::eu

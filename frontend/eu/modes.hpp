#pragma once
// Modes of cr0.0 that change what instructions mean, where a program may switch them on. Rounding and
// denormals are the engine's (jit/fpmode.hpp). It must not know single instructions.
#include <cstdint>

namespace eum::eu {

/// Bits of cr0.0.
namespace mode {
inline constexpr std::uint32_t AlternativeFloats = 1, AccumulatorDisable = 2, SingleProgramFlow = 4,
                               VectorMask = 8;
}  // namespace mode

}  // namespace eum::eu

#pragma once
// Half: the 16-bit float of the IR, as bits, with exact conversions. It must not know ops: arithmetic on it
// is done in f32 (frontend/ir/semantics/convert.hpp).
#include <cstdint>

namespace eum::ir {

/// IEEE 754 binary16.
struct Half {
  std::uint16_t bits = 0;
};

/// Exact, denormals included whatever the mode; a signalling NaN becomes quiet (as vcvtph2ps does).
float to_float(Half value);

/// Rounds by MXCSR.RC. Under MXCSR.DAZ a denormal `value` counts as zero; denormal results are kept whatever
/// the mode; NaNs keep their high payload bits and become quiet (as vcvtps2ph with rounding by MXCSR does).
Half to_half(float value);

}  // namespace eum::ir

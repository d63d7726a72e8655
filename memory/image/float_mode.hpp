#pragma once
// DefaultFloatMode: while it lives, floats are rounded to nearest even, denormals are kept and nothing traps.
// A guest thread's own mode is in MXCSR while its messages are carried out, and images are defined without
// it.
#include <xmmintrin.h>

namespace eum::mem::image {

/// MXCSR with all exceptions masked and none raised.
inline constexpr unsigned default_mxcsr = 0x1f80;

class DefaultFloatMode {
 public:
  DefaultFloatMode() : before_(_mm_getcsr()) { _mm_setcsr(default_mxcsr); }
  ~DefaultFloatMode() { _mm_setcsr(before_); }
  DefaultFloatMode(const DefaultFloatMode&) = delete;
  DefaultFloatMode& operator=(const DefaultFloatMode&) = delete;

 private:
  unsigned before_;
};

}  // namespace eum::mem::image

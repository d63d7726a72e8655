#pragma once
// DefaultFloatMode: during its lifetime floats are rounded to nearest even, denormals are kept and nothing
// traps. While a guest thread's messages are carried out, MXCSR holds that thread's own mode, on which the
// definition of images does not depend.
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

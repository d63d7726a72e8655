#pragma once
#include <xmmintrin.h>

namespace eum::jit::reference {

/// Restores the host's floating point mode at the end of the scope.
class HostMode {
 public:
  HostMode() : mode_(_mm_getcsr()) {}
  ~HostMode() { _mm_setcsr(mode_); }
  HostMode(const HostMode&) = delete;
  HostMode& operator=(const HostMode&) = delete;

 private:
  unsigned mode_;
};

}  // namespace eum::jit::reference

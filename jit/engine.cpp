// The host's floating point mode around guest threads.
#include "jit/engine.hpp"

#include <xmmintrin.h>

namespace eum::jit {
namespace {

constexpr unsigned sticky_flags = 0x3f;  // no part of the mode

}  // namespace

std::uint32_t FpScope::current() { return _mm_getcsr() & ~sticky_flags; }

FpScope::FpScope() : set(current()), host_(set) {}

FpScope::~FpScope() {
  if (set != host_) _mm_setcsr(host_);
}

}  // namespace eum::jit

// POSIX provides both clocks.
#include "runtime/cli/bench/clock.hpp"

#include <ctime>

namespace eum::cli {
namespace {

double read(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

Instant Instant::now() { return {read(CLOCK_MONOTONIC), read(CLOCK_PROCESS_CPUTIME_ID)}; }

}  // namespace eum::cli

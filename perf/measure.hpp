// Times contenders on one kernel, in turns. Discards the times of a contender with wrong results. Independent
// of who the contenders are and of how the figures are used.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "perf/contenders/contender.hpp"
#include "perf/record.hpp"

namespace eum::perf {

struct MeasureOptions {
  unsigned samples = 9;          ///< of each contender, in turns A B C A B C
  double sample_seconds = 0.05;  ///< a sample has as many launches as fill this time
};

/// Every contender runs the case, its buffers are compared with the reference, and then it is timed. A
/// contender that cannot run the case, or is wrong, is left out, with the reason.
KernelRecord measure(const PerfKernel& row, const kernels::KernelCase& kernel_case,
                     std::span<const std::unique_ptr<Contender>> contenders, const MeasureOptions& options);

}  // namespace eum::perf

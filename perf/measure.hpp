// Times contenders on one kernel, in turns. It believes no time of who computes something wrong, and knows
// neither who the contenders are nor what becomes of the figures.
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
  double sample_seconds = 0.05;  ///< a sample is as many launches as fill this
};

/// Every contender runs the case, its buffers are compared with the reference, and then they are timed. Who
/// cannot run it, or is wrong, is left out, with the reason.
KernelRecord measure(const PerfKernel& row, const kernels::KernelCase& kernel_case,
                     std::span<const std::unique_ptr<Contender>> contenders, const MeasureOptions& options);

}  // namespace eum::perf

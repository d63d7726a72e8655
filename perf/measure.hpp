// Times two contenders on the same cases, alternating, and prints what came out.
// It knows neither contender; it believes no time of a run whose buffers are wrong.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "perf/contender.hpp"

namespace eum::perf {

struct ComparisonOptions {
  unsigned samples = 7;          ///< of each contender, taken in turns A B A B
  double sample_seconds = 0.05;  ///< a sample is as many launches as fill this
};

/// Of one case. Times in seconds a launch.
struct ComparisonRow {
  std::string name;
  double a = 0, b = 0;              ///< medians
  double first_a = 0, first_b = 0;  ///< preparation and first launch, translation included
  double ratio = 0;                 ///< median over the pairs of samples of b / a
  double lowest = 0, highest = 0;   ///< of those ratios
};

/// Checks both contenders' buffers against the case's reference, then times them.
Result<ComparisonRow> compare_speed(Contender& a, Contender& b, const kernels::KernelCase& kernel_case,
                                    const ComparisonOptions& options);

/// A markdown table with a row for each case and the geometric mean of the ratios.
std::string markdown(const Contender& a, const Contender& b, std::span<const ComparisonRow> rows);

}  // namespace eum::perf

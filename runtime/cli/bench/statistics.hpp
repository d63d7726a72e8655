#pragma once
// Medians of time samples, and their confidence intervals. It must not know what was measured.
#include <span>

namespace eum::cli {

/// Both need at least one value.
double median(std::span<const double> values);
double smallest(std::span<const double> values);

/// Interval of the median of the distribution from which the values are drawn, whatever that distribution.
struct Interval {
  double low = 0, high = 0;
  double confidence = 0;  ///< probability that the interval contains the median
};

/// From the k-th smallest value to the k-th largest, with k as large as `confidence` allows; with too few
/// values for that, from the smallest to the largest, with the confidence that this gives.
Interval median_interval(std::span<const double> values, double confidence = 0.95);

}  // namespace eum::cli

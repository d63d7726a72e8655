#pragma once
// What samples of a time say: medians, and how sure they are. It must not know what was measured.
#include <span>

namespace eum::cli {

/// Of one value or more.
double median(std::span<const double> values);
double smallest(std::span<const double> values);

/// Where the median of what the values are drawn from lies, whatever its distribution.
struct Interval {
  double low = 0, high = 0;
  double confidence = 0;  ///< the chance that the interval holds it
};

/// From the k-th smallest value to the k-th largest, k as large as `confidence` allows; with too few values
/// for that, from the smallest to the largest, and the confidence that they give.
Interval median_interval(std::span<const double> values, double confidence = 0.95);

}  // namespace eum::cli

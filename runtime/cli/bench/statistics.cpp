// Order statistics: each value is below the median with probability 1/2, so the number of values below is
// binomial.
#include "runtime/cli/bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace eum::cli {
namespace {

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> result(values.begin(), values.end());
  std::sort(result.begin(), result.end());
  return result;
}

/// The probability that exactly k of n values are below the median.
double chance(unsigned n, unsigned k) {
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) - n * std::log(2.0));
}

}  // namespace

double median(std::span<const double> values) {
  const std::vector<double> order = sorted(values);
  const std::size_t middle = order.size() / 2;
  return order.size() % 2 != 0 ? order[middle] : (order[middle - 1] + order[middle]) / 2;
}

double smallest(std::span<const double> values) { return *std::min_element(values.begin(), values.end()); }

Interval median_interval(std::span<const double> values, double confidence) {
  const std::vector<double> order = sorted(values);
  const auto n = static_cast<unsigned>(order.size());
  // The median is outside [k-th smallest, k-th largest] if fewer than k values are on one side of it.
  unsigned k = 1;
  double outside = 2 * chance(n, 0);
  while (k + 1 <= n / 2 && 1 - outside - 2 * chance(n, k) >= confidence) outside += 2 * chance(n, k++);
  return {order[k - 1], order[n - k], std::max(0.0, 1 - outside)};
}

}  // namespace eum::cli

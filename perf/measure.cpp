// Sampling, medians and the table.
#include "perf/comparison.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace eum::perf {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Prepares, runs once, checks every buffer. Seconds of preparation and first launch.
Result<double> first_run(Contender& contender, const kernels::KernelCase& kernel_case) {
  const auto start = std::chrono::steady_clock::now();
  if (Result<void> done = contender.prepare(kernel_case); !done) return done.error();
  if (Result<double> done = contender.launch(); !done) return done.error();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Result<std::vector<kernels::Bytes>> got = contender.read();
  if (!got) return got.error();
  const std::vector<kernels::Bytes> expected = kernels::expected_buffers(kernel_case);
  for (size_t i = 0; i < kernel_case.args.size(); i++) {
    if (!kernel_case.check(i)) continue;
    if (std::string wrong = kernels::compare(kernel_case, i, (*got)[i], expected); !wrong.empty())
      return error("{}: {}", contender.name(), wrong);
  }
  return seconds;
}

/// Seconds a launch, over `launches` of them.
Result<double> sample(Contender& contender, unsigned launches) {
  double sum = 0;
  for (unsigned i = 0; i < launches; i++) {
    Result<double> seconds = contender.launch();
    if (!seconds) return seconds.error();
    sum += *seconds;
  }
  return sum / launches;
}

}  // namespace

Result<ComparisonRow> compare_speed(Contender& a, Contender& b, const kernels::KernelCase& kernel_case,
                                    const ComparisonOptions& options) {
  Contender* contenders[] = {&a, &b};
  double first[2];
  unsigned launches[2];
  std::vector<double> times[2], ratios;
  for (size_t k = 0; k < 2; k++) {
    const Result<double> cold = first_run(*contenders[k], kernel_case);
    if (!cold) return cold.error();
    first[k] = *cold;
    const Result<double> warm = sample(*contenders[k], 1);
    if (!warm) return warm.error();
    launches[k] = static_cast<unsigned>(std::clamp(std::ceil(options.sample_seconds / *warm), 1.0, 1e4));
  }
  for (unsigned i = 0; i < options.samples; i++) {
    for (size_t k = 0; k < 2; k++) {
      const Result<double> seconds = sample(*contenders[k], launches[k]);
      if (!seconds) return seconds.error();
      times[k].push_back(*seconds);
    }
    ratios.push_back(times[1].back() / times[0].back());
  }
  const auto [lowest, highest] = std::minmax_element(ratios.begin(), ratios.end());
  return ComparisonRow{kernel_case.name, median(times[0]), median(times[1]), first[0],
                       first[1],         median(ratios),   *lowest,          *highest};
}

std::string markdown(const Contender& a, const Contender& b, std::span<const ComparisonRow> rows) {
  std::string table = fmt::format(
      "| kernel | {0}, ms | {1}, ms | {1} / {0} | lowest to highest | first run {0}, ms | first run {1}, ms "
      "|\n"
      "|---|---|---|---|---|---|---|\n",
      a.name(), b.name());
  double logarithms = 0;
  for (const ComparisonRow& row : rows) {
    table += fmt::format("| {} | {:.2f} | {:.2f} | {:.3f} | {:.3f} to {:.3f} | {:.1f} | {:.1f} |\n", row.name,
                         row.a * 1e3, row.b * 1e3, row.ratio, row.lowest, row.highest, row.first_a * 1e3,
                         row.first_b * 1e3);
    logarithms += std::log(row.ratio);
  }
  if (!rows.empty())
    table += fmt::format("| geometric mean | | | {:.3f} | | | |\n",
                         std::exp(logarithms / static_cast<double>(rows.size())));
  return table;
}

}  // namespace eum::perf

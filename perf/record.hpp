// The results of a comparison, as data and as JSON, and what is derived from them. Independent of how they
// were measured.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "memory/base/result.hpp"
#include "perf/contenders/host_code.hpp"
#include "runtime/cli/bench/statistics.hpp"

namespace eum::perf {

/// Names of the contenders that figures refer to.
inline constexpr std::string_view kPocl = "PoCL", kEumulate = "Eumulate", kNative = "C++",
                                  kAvx512 = "Eumulate with AVX-512";

struct ContenderRecord {
  std::string name;
  std::string absent;   ///< the reason why it does not take part; "" if it does
  std::string failure;  ///< the error, or "". With an error, times are ignored.
  double build = 0;     ///< seconds spent generating code, before and in the first launch
  HostCode code;
  std::vector<double> wall, cpu;  ///< seconds per launch, one value per sample

  bool timed() const { return absent.empty() && failure.empty() && !wall.empty(); }
};

struct KernelRecord {
  std::string name, file, kernel;
  unsigned dimensions = 1;
  std::array<std::uint32_t, 3> global{}, local{};
  std::vector<ContenderRecord> contenders;

  const ContenderRecord* find(std::string_view contender) const;
};

struct Record {
  std::string host;      ///< the processor
  unsigned workers = 1;  ///< of each contender
  std::vector<KernelRecord> kernels;

  /// With one thread, CPU time, which excludes other load; with more, wall time until all have finished.
  const std::vector<double>& times(const ContenderRecord& contender) const {
    return workers == 1 ? contender.cpu : contender.wall;
  }
};

/// The ratio of the times of `a` to those of `b`, sample by sample.
struct Ratio {
  double median = 0;
  double least = 0;  ///< ratio of the smallest times
  cli::Interval interval;
};
/// Empty if one of them has no times.
std::optional<Ratio> ratio(const Record& record, const KernelRecord& kernel, std::string_view a,
                           std::string_view b);
/// Geometric mean of the median ratios of all kernels that have one; 0 if none has.
double geometric_mean(const Record& record, std::string_view a, std::string_view b);

/// One line for each kernel of both records whose ratio of Eumulate to PoCL (to C++ if PoCL does not take
/// part) is worse than in `old` by more than noise: the intervals are disjoint, and the medians differ by at
/// least a twentieth.
std::vector<std::string> regressions(const Record& old, const Record& now);

std::string to_json(const Record& record);
Result<Record> record_from_json(const std::string& text);

}  // namespace eum::perf

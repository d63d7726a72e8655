// What a comparison has measured, as data and as JSON, and what follows from it. It knows nothing of how it
// was measured.
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

/// Names that figures are about; contenders have them.
inline constexpr std::string_view kPocl = "PoCL", kEumulate = "Eumulate", kNative = "C++",
                                  kAvx512 = "Eumulate with AVX-512";

struct ContenderRecord {
  std::string name;
  std::string absent;   ///< why it does not take part; "" if it does
  std::string failure;  ///< what went wrong; "" for nothing. Times then count for nothing.
  double build = 0;     ///< seconds of making code, before the first launch and in it
  HostCode code;
  std::vector<double> wall, cpu;  ///< seconds a launch, a value a sample

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

  /// One thread each: what other load takes does not count. More: what matters is when all is done.
  const std::vector<double>& times(const ContenderRecord& contender) const {
    return workers == 1 ? contender.cpu : contender.wall;
  }
};

/// How the times of `a` compare with those of `b`, sample by sample.
struct Ratio {
  double median = 0;
  double least = 0;  ///< of the smallest times
  cli::Interval interval;
};
/// None where one of them has no times.
std::optional<Ratio> ratio(const Record& record, const KernelRecord& kernel, std::string_view a,
                           std::string_view b);
/// Of medians over all kernels that have them; 0 for none.
double geometric_mean(const Record& record, std::string_view a, std::string_view b);

/// One line for each kernel of both records whose ratio of Eumulate to PoCL (to C++ where PoCL takes no part)
/// is worse than in `old` by more than noise: the intervals are apart, and the medians by a twentieth or
/// more.
std::vector<std::string> regressions(const Record& old, const Record& now);

std::string to_json(const Record& record);
Result<Record> record_from_json(const std::string& text);

}  // namespace eum::perf

// One way to run a corpus case, so that two of them can be timed against each other.
#pragma once
#include <string>
#include <vector>

#include "memory/base/result.hpp"
#include "tests/kernels/corpus.hpp"

namespace eum::perf {

class Contender {
 public:
  virtual ~Contender() = default;
  virtual std::string name() const = 0;
  /// Loads or compiles the case and gives every buffer its initial bytes. Takes the place of the case before.
  /// `kernel_case` outlives the use.
  virtual Result<void> prepare(const kernels::KernelCase& kernel_case) = 0;
  /// Runs the range once, on one core. Seconds of wall clock.
  virtual Result<double> launch() = 0;
  /// The memory of each argument after the launches so far; empty where the argument is no buffer.
  virtual Result<std::vector<kernels::Bytes>> read() = 0;
};

}  // namespace eum::perf

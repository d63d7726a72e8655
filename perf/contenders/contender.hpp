// One way to run a kernel of the comparison. Independent of the others, and of how times are measured.
#pragma once
#include <string>
#include <vector>

#include "memory/base/result.hpp"
#include "perf/contenders/host_code.hpp"
#include "perf/kernels/kernels.hpp"

namespace eum::perf {

class Contender {
 public:
  virtual ~Contender() = default;
  virtual std::string name() const = 0;
  /// The reason why it cannot run the row; empty if it can.
  virtual std::string cannot(const PerfKernel& row, const kernels::KernelCase& kernel_case) const = 0;
  /// Compiles or loads the kernel and sets every buffer to its initial bytes. Replaces the previous kernel.
  /// Both arguments must outlive the use.
  virtual Result<void> prepare(const PerfKernel& row, const kernels::KernelCase& kernel_case) = 0;
  /// Seconds that the last prepare() spent on generating code.
  virtual double build_seconds() const = 0;
  /// Runs the range once.
  virtual Result<void> launch() = 0;
  /// The memory of each argument after the launches so far; empty if the argument is no buffer.
  virtual Result<std::vector<kernels::Bytes>> read() = 0;
  /// The host code that launches execute. Available after the first launch.
  virtual Result<HostCode> code() const = 0;
};

}  // namespace eum::perf

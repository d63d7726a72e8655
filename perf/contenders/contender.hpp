// One way to run a kernel of the comparison. It knows nothing of the others, nor of how times are taken.
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
  /// Why it cannot run the row; empty where it can.
  virtual std::string cannot(const PerfKernel& row, const kernels::KernelCase& kernel_case) const = 0;
  /// Compiles or loads the kernel and gives every buffer its initial bytes. Takes the place of the kernel
  /// before. Both arguments outlive the use.
  virtual Result<void> prepare(const PerfKernel& row, const kernels::KernelCase& kernel_case) = 0;
  /// Seconds of the last prepare() that went into making code.
  virtual double build_seconds() const = 0;
  /// Runs the range once.
  virtual Result<void> launch() = 0;
  /// The memory of each argument after the launches so far; empty where the argument is no buffer.
  virtual Result<std::vector<kernels::Bytes>> read() = 0;
  /// The host code that launches run. After the first launch.
  virtual Result<HostCode> code() const = 0;
};

}  // namespace eum::perf

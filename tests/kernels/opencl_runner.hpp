// Runs a corpus case from its OpenCL C source on any OpenCL platform: the other side of every comparison.
// It knows nothing of the emulator.
#pragma once
#include <memory>
#include <string_view>

#include "memory/base/result.hpp"
#include "tests/kernels/corpus.hpp"

namespace eum::kernels {

/// One case, compiled and with its memory on the device, ready to run many times.
class PreparedRun {
 public:
  PreparedRun();
  PreparedRun(PreparedRun&&) noexcept;
  PreparedRun& operator=(PreparedRun&&) noexcept;
  ~PreparedRun();

  /// Writes the initial bytes of every buffer again.
  Result<void> reset();
  /// Runs the range once and waits. Seconds of wall clock, launch included.
  Result<double> launch();
  /// The memory of each argument now; empty where the argument is no buffer.
  Result<std::vector<Bytes>> read();

 private:
  friend class OpenClRunner;
  struct State;
  std::unique_ptr<State> state_;
};

class OpenClRunner {
 public:
  OpenClRunner();
  OpenClRunner(OpenClRunner&&) noexcept;
  OpenClRunner& operator=(OpenClRunner&&) noexcept;
  ~OpenClRunner();

  /// The first device of the first platform whose name holds `platform`.
  static Result<OpenClRunner> open(std::string_view platform);

  /// Platform and device, for reports.
  std::string description() const;
  /// Whether the device has the formats of the case's images.
  bool has_formats(const KernelCase& kernel_case) const;
  /// Compiles the source of a manifest row, as prepare() does where that has not been done.
  Result<void> build(std::string_view stem);
  /// Compiles the source (once a manifest row), sets the arguments. `kernel_case` must outlive the result.
  Result<PreparedRun> prepare(const KernelCase& kernel_case);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace eum::kernels

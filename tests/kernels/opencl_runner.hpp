// Runs a corpus case from its OpenCL C source on any OpenCL platform: the other side of every comparison.
// Independent of the emulator.
#pragma once
#include <memory>
#include <string_view>

#include "memory/base/result.hpp"
#include "tests/kernels/corpus.hpp"

namespace eum::kernels {

/// One case, compiled and with its memory on the device, ready to be run many times.
class PreparedRun {
 public:
  PreparedRun();
  PreparedRun(PreparedRun&&) noexcept;
  PreparedRun& operator=(PreparedRun&&) noexcept;
  ~PreparedRun();

  /// Restores the initial bytes of every buffer.
  Result<void> reset();
  /// Runs the range once and waits. Returns wall clock seconds, launch included.
  Result<double> launch();
  /// The current memory of each argument; empty if the argument is no buffer.
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

  /// Opens the first device of the first platform whose name contains `platform`.
  static Result<OpenClRunner> open(std::string_view platform);

  /// Platform and device, for reports.
  std::string description() const;
  /// Whether the device supports the formats of the case's images.
  bool has_formats(const KernelCase& kernel_case) const;
  /// Compiles the source of a manifest row; prepare() does so if it has not been done.
  Result<void> build(std::string_view stem);
  /// Compiles the source (once per manifest row) and sets the arguments. `kernel_case` must outlive the
  /// result.
  Result<PreparedRun> prepare(const KernelCase& kernel_case);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace eum::kernels

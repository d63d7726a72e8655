#pragma once
// Session: the kernels of one `eumulate run`, from the texts of the command line to written buffers. It must
// not know how a report looks.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cli/profile/profile.hpp"
#include "runtime/cli/profile/sampler.hpp"
#include "runtime/cli/run/argument.hpp"
#include "runtime/cli/run/options.hpp"
#include "runtime/cli/run/outputs.hpp"
#include "runtime/cli/run/run_buffer.hpp"
#include "runtime/cli/run/watch.hpp"
#include "runtime/launch.hpp"

namespace eum::cli {

/// One kernel of the sequence and its results.
struct Step {
  const KernelOptions* options = nullptr;
  rt::NdRange range;
  std::vector<ArgumentText> arguments;
  std::vector<OutputRequest> outputs;
  const rt::Kernel* kernel = nullptr;
  std::optional<rt::Launch> launch;
  rt::LaunchReport report;           // of the last run
  std::vector<double> seconds;       // of each run
  std::unique_ptr<Sampler> sampler;  // with --profile
  std::optional<Profile> profile;    // of all runs
};

/// The help text of --limit.
std::string limit_help();

class Session {
 public:
  explicit Session(const RunOptions& options);

  /// Prepares everything that running requires.
  std::optional<Failure> prepare();
  /// Runs all kernels, as often as the options say, until one faults or is stopped. A failure concerns the
  /// host.
  std::optional<Failure> run();

  std::vector<Step>& steps() { return steps_; }
  rt::Device& device() { return *device_; }
  rt::Module& module() { return *module_; }
  Watch& watch() { return watch_; }
  /// In the order in which the arguments created them.
  const std::vector<std::unique_ptr<RunBuffer>>& buffers() const { return buffers_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  const std::string& printf_text() const { return printf_text_; }
  /// The step that faulted or was stopped.
  const Step* ended_early() const { return ended_early_; }
  Watch::Reason stop_reason() { return watch_.reason(); }

 private:
  using Failed = std::optional<Failure>;

  Failed parse(const KernelOptions& options);
  Failed load();
  Failed prepare(Step& step);
  Failed run(Step& step);
  Failed take_profile(Step& step);
  /// The buffer of an argument, created on first use; null if the argument is not a buffer.
  Failed find_buffer(const Step& step, std::size_t index, const RunBuffer*& buffer);

  const RunOptions& options_;
  Watch watch_;  // constructed before the device's threads, which must not receive its signals
  std::unique_ptr<rt::Device> device_;
  std::unique_ptr<rt::Module> module_;
  std::vector<std::unique_ptr<RunBuffer>> buffers_;
  std::map<std::string, const RunBuffer*> named_;
  std::vector<Step> steps_;
  std::vector<std::string> warnings_;
  std::string printf_text_;
  const Step* ended_early_ = nullptr;
};

}  // namespace eum::cli

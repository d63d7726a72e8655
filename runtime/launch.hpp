#pragma once
// Launch: a kernel with arguments and an N-D range, ready to run any number of times. It combines parts owned
// by others: payload, translated code, scratch and private memory, dispatch.
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/bounds_log.hpp"
#include "runtime/dispatch/dispatch.hpp"
#include "runtime/fault_report.hpp"
#include "runtime/module.hpp"
#include "runtime/payload.hpp"
#include "runtime/printf/printf_buffer.hpp"

namespace eum::rt {

/// The facts that the translation for a launch may rely on.
Result<jit::LaunchFacts> launch_facts(Module& module, const Kernel& kernel,
                                      std::span<const ArgumentValue> arguments, const NdRange& range);

struct LaunchReport {
  WalkerCounts counts;
  double seconds = 0;                       ///< from the first thread's start to the last one's end
  std::optional<FaultReport> fault;         ///< what the guest did wrong; memory is as it was at the fault
  bool stopped = false;                     ///< stop() ended it; memory is as it was then
  PrintfText printf;                        ///< what the kernel printed
  std::vector<BoundsReport> out_of_bounds;  ///< filled in if DeviceOptions::check_bounds is set
};

class Launch {
 public:
  /// Checks arguments and range. `kernel` is one of `module`'s; the module and the buffers that `arguments`
  /// point to must outlive the launch.
  static Result<Launch> prepare(Module& module, const Kernel& kernel,
                                std::span<const ArgumentValue> arguments, const NdRange& range);
  Launch(Launch&& other) noexcept;
  Launch& operator=(Launch&& other) noexcept;
  ~Launch();

  /// Runs the whole range. An error concerns the host; errors of the guest are in the report.
  Result<LaunchReport> run();

  /// Makes the current run(), or the next one, end soon. May be called from any thread, but not from signal
  /// handlers.
  void stop();

  /// What run() dispatches, one after the other, for callers that step, save and restore a Dispatch
  /// themselves. Valid until the next call for this device, and at most as long as the launch. Its code can
  /// resume images that it has saved; for images of other code take code from translate(), or a device
  /// without the optimisation long_division.
  Result<std::vector<WalkerCommand>> commands();

  /// What the kernel has printed since the last call, for callers that run commands() themselves.
  PrintfText take_printf();

  const Payload& payload() const { return payload_; }
  const TranslatedKernel& translated() const { return *translated_; }

 private:
  /// For stop(): the current dispatch, which run() owns.
  struct Control {
    std::mutex mutex;
    Dispatch* current = nullptr;
    bool stop = false;
  };

  Launch(Module& module, const Kernel& kernel, const TranslatedKernel& translated)
      : module_(&module), kernel_(&kernel), translated_(&translated), control_(std::make_unique<Control>()) {}
  static Result<Launch> assemble(Module& module, const Kernel& kernel,
                                 std::span<const ArgumentValue> arguments, const NdRange& range);
  Result<Dispatch::Progress> run(Dispatch& dispatch);
  Result<LaunchReport> run_walks();
  Result<std::vector<BoundsReport>> take_bounds();

  Module* module_;
  const Kernel* kernel_;
  const TranslatedKernel* translated_;
  Payload payload_;
  Buffer private_memory_;
  Buffer printf_buffer_;
  std::unique_ptr<Control> control_;
  std::unique_ptr<BoundsLog> bounds_;  // null: accesses are not checked
};

}  // namespace eum::rt

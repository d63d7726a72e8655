#pragma once
// Launch: a kernel with arguments and an N-D range, ready to run any number of times.
// It joins what others own: payload, translated code, scratch and private memory, dispatch.
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

/// What the translation for a launch may rely on.
Result<jit::LaunchFacts> launch_facts(Module& module, const Kernel& kernel,
                                      std::span<const ArgumentValue> arguments, const NdRange& range);

struct LaunchReport {
  WalkerCounts counts;
  double seconds = 0;                       ///< from the first thread's start to the last one's end
  std::optional<FaultReport> fault;         ///< what the guest did wrong; memory is as far as it came
  bool stopped = false;                     ///< stop() ended it; memory is as far as it came
  PrintfText printf;                        ///< what the kernel printed
  std::vector<BoundsReport> out_of_bounds;  ///< where DeviceOptions::check_bounds asks for it
};

class Launch {
 public:
  /// Checks arguments and range. `kernel` is one of `module`'s; the module must outlive the launch, and so
  /// must the buffers that `arguments` point to.
  static Result<Launch> prepare(Module& module, const Kernel& kernel,
                                std::span<const ArgumentValue> arguments, const NdRange& range);
  Launch(Launch&& other) noexcept;
  Launch& operator=(Launch&& other) noexcept;
  ~Launch();

  /// Runs the whole range. An error is one of the host's; the guest's are in the report.
  Result<LaunchReport> run();

  /// Makes the run() that is under way, or the next one, end soon. Any thread, but no signal handler.
  void stop();

  /// What run() dispatches, one after the other, for who steps, saves and restores a Dispatch. Valid until
  /// the next call for this device, and as long as the launch. Its code goes on from images that it has
  /// saved; for those of other code take one of translate(), or a device without the optimisation
  /// long_division.
  Result<std::vector<WalkerCommand>> commands();

  /// What the kernel has printed since the last call, for who runs commands() themselves.
  PrintfText take_printf();

  const Payload& payload() const { return payload_; }
  const TranslatedKernel& translated() const { return *translated_; }

 private:
  /// What stop() needs: the dispatch that it has to reach, whose owner is run().
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
  std::unique_ptr<BoundsLog> bounds_;  // null: nobody asks
};

}  // namespace eum::rt

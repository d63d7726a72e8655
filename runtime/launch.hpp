#pragma once
// Launch: a kernel with arguments and an N-D range, ready to run any number of times.
// It joins what others own: payload, translated code, scratch and private memory, dispatch.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/module.hpp"
#include "runtime/payload.hpp"

namespace eum::rt {

struct LaunchReport {
  WalkerCounts counts;
  double seconds = 0;                ///< from the first thread's start to the last one's end
  std::optional<std::string> fault;  ///< what the guest did wrong, in one line; memory is as far as it came
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

  /// What run() dispatches, one after the other, for who steps, saves and restores a Dispatch. Valid until
  /// the next call for this device, and as long as the launch.
  Result<std::vector<WalkerCommand>> commands();

  const Payload& payload() const { return payload_; }
  const TranslatedKernel& translated() const { return *translated_; }

 private:
  Launch(Module& module, const Kernel& kernel, const TranslatedKernel& translated)
      : module_(&module), kernel_(&kernel), translated_(&translated) {}
  static Result<Launch> assemble(Module& module, const Kernel& kernel,
                                 std::span<const ArgumentValue> arguments, const NdRange& range);
  Result<LaunchReport> run_walks();

  Module* module_;
  const Kernel* kernel_;
  const TranslatedKernel* translated_;
  Payload payload_;
  Buffer private_memory_;
};

}  // namespace eum::rt

// Initialisation of the preloaded library, and the two functions that a program linked with it may call.
// `eumulate msr run` sets the variables; children inherit them.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "runtime/user_msr/native/interpose_syscall.hpp"
#include "runtime/user_msr/native/next.hpp"
#include "runtime/user_msr/native/runner.hpp"
#include "runtime/user_msr/native/variables.hpp"

namespace {

using namespace eum::rt::native;

void complain(const std::string& message) {
  std::string line = "eumulate msr: " + message + "\n";
  ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  static_cast<void>(written);  // a failure cannot be reported anywhere
}

RunnerOptions options_from_environment() {
  RunnerOptions options;
  if (const char* trace = std::getenv(trace_variable)) options.trace = trace;
  if (const char* patch = std::getenv(patch_variable)) {
    options.patch = std::string_view(patch) != patch_off;
    if (std::string_view(patch) == patch_mprotect) options.write_method = WriteMethod::Mprotect;
  }
  return options;
}

__attribute__((constructor)) void on_load() {
  find_next_functions();
  remember_environment();
  const char* config = std::getenv(config_variable);
  if (!config) return;
  // The command has checked the configuration, so an error means that it changed since. The program then runs
  // without the runner.
  RunnerOptions options = options_from_environment();
  const char* cpuid = std::getenv(cpuid_variable);
  options.show_cpuid = !cpuid || std::string_view(cpuid) != cpuid_off;
  eum::Result<void> status = attach(config, options);
  if (!status) complain(status.error().message);
}

}  // namespace

extern "C" {

/// Attaches to this process with the configuration at `path`: 0, or -1 after a line on standard error.
__attribute__((visibility("default"))) int eum_msr_attach(const char* path) {
  eum::Result<void> status = attach(path, options_from_environment());
  if (!status) complain(status.error().message);
  return status ? 0 : -1;
}

/// Reverts it; no thread may execute one of the instructions at the same time.
__attribute__((visibility("default"))) void eum_msr_detach(void) { detach(); }

}  // extern "C"

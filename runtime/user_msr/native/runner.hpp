#pragma once
// The runner inside a native process: registers and bitmap, the known sites, and the work at a trap and in a
// slow path. A process has only one, since it has one SIGILL; it is reached through runner().
#include <atomic>
#include <cstdint>
#include <string>

#include "memory/base/result.hpp"
#include "runtime/user_msr/msr_file.hpp"
#include "runtime/user_msr/native/code_memory.hpp"
#include "runtime/user_msr/native/notice.hpp"
#include "runtime/user_msr/native/patch_lock.hpp"
#include "runtime/user_msr/native/site_table.hpp"
#include "runtime/user_msr/native/stub.hpp"
#include "runtime/user_msr/native/stub_arena.hpp"
#include "runtime/user_msr/native/trace.hpp"
#include "runtime/user_msr/native/trapped.hpp"

namespace eum::rt::native {

struct RunnerOptions {
  bool patch = true;  ///< false: every access traps
  WriteMethod write_method = WriteMethod::ProcMem;
  /// CPUID shows USER_MSR, if the host permits, in the thread that attaches and those that it starts. They
  /// must end before the runner is detached.
  bool show_cpuid = false;
  std::string trace;  ///< path of the trace; "-" is standard error; empty: none
};

struct RunnerState {
  MsrFile msrs;
  MsrBitmap bitmap{};
  Trace trace;
  RunnerOptions options;
  HostCpu cpu{};
  Notices notices;
  std::atomic<bool> can_patch{false};
  std::atomic<bool> is_confined{false};  ///< the runner's system calls may end the process (seccomp)

  SiteTable sites;
  RewriteClock clock;
  std::uint64_t rewrites = 0;  ///< number of rewrites begun
  StubArenas arenas;
  PatchLock lock;  ///< guards sites, clock, arenas, mappings, code, scratch, stub; patch_site() only tries it
  std::atomic<int> changes{0};  ///< changes of mappings in progress: no patch begins in the meantime
  Mappings mappings;
  bool shows_cpuid = false;  ///< CPUID faults in the program's threads
  CodeMemory code{WriteMethod::ProcMem};
  static constexpr std::size_t scratch_bytes = 4096;
  std::array<std::uint8_t, scratch_bytes> scratch;  ///< code being searched
  Stub stub;  ///< under construction; in a signal handler the stack may be small
};

/// The process's runner, or null if none is attached. A single load: slow paths call it.
RunnerState* runner();

/// Reads the configuration and takes over SIGILL. An error, such as an already attached runner, leaves the
/// process unchanged.
Result<void> attach(const std::string& config_path, const RunnerOptions& options);
/// Restores the program's instructions and its SIGILL handler. No thread may execute one of the instructions
/// in the meantime.
void detach();

/// Must be called before the runner's system calls may end the process: it then stops making them.
void confine(RunnerState& state);

/// Performs a user-level access in a native process: checks range, bitmap and register. False: #GP(0).
/// Compiled for general registers only (slow_path.cpp).
bool access_user_msr(RunnerState& state, bool is_read, std::uint32_t msr, std::uint64_t& value);
/// The slow path of stubs; `site` is a Site.
std::uint32_t slow_path(StubFrame* frame, void* site);

}  // namespace eum::rt::native

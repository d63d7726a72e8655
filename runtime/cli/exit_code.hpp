#pragma once
// The meaning of the program's exit codes, in one table: --help prints it, and every command ends with one of
// them.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "memory/base/result.hpp"

namespace eum::cli {

enum class ExitCode : std::uint8_t {
  Ok,
  Usage,
  BadInput,
  Mismatch,
  GuestFault,
  Internal,
  Different,
  Stopped
};

/// Indexed by ExitCode.
inline constexpr std::array<std::string_view, 8> exit_code_meanings{
    "done",
    "the command line is wrong",
    "a file cannot be read or written, or is malformed",
    "kernel, arguments or range do not fit the binary",
    "the guest did something that it must not, or that is not supported",
    "the emulator or the host failed",
    "a buffer does not hold what --expect says",
    "stopped by --timeout or a signal",
};

/// A failure and the exit code with which it ends the program.
struct Failure {
  ExitCode code;
  Error error;
};

/// "Exit codes: 0 done, 1 ..." on one line each.
std::string exit_code_text();

/// Prints `error` as one line on stderr and returns the exit code: `code`, or ExitCode::Internal if the
/// error's cause is the host or a bug.
int fail(ExitCode code, const Error& error);

/// Prints a warning line on stderr.
void warn(std::string_view text);

inline int number(ExitCode code) { return static_cast<int>(code); }

}  // namespace eum::cli

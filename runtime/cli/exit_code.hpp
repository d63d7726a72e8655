#pragma once
// What the program's exit codes mean, in one table: --help prints it, and every command ends with one of
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

/// By ExitCode.
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

/// A failure with the exit code that it ends the program with.
struct Failure {
  ExitCode code;
  Error error;
};

/// "Exit codes: 0 done, 1 ..." on one line each.
std::string exit_code_text();

/// Prints `error` as one line on stderr and gives the code as a number: that of the host's and our own
/// faults, if the error is one.
int fail(ExitCode code, const Error& error);

/// Prints a line on stderr that is no failure.
void warn(std::string_view text);

inline int number(ExitCode code) { return static_cast<int>(code); }

}  // namespace eum::cli

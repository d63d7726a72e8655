// Prints one line on stderr for each failure.
#include "runtime/cli/exit_code.hpp"

#include <fmt/core.h>

#include <cstdio>

#include "runtime/cli/output.hpp"

namespace eum::cli {

std::string exit_code_text() {
  std::string text = "Exit codes:\n";
  for (std::size_t i = 0; i < exit_code_meanings.size(); ++i)
    text += fmt::format("  {}  {}\n", i, exit_code_meanings[i]);
  return text;
}

int fail(ExitCode code, const Error& error) {
  // A message may quote a file: that must not break the line.
  fmt::print(stderr, "eumulate: {}\n", visible(error.message));
  return number(error.cause == Cause::Request ? code : ExitCode::Internal);
}

void warn(std::string_view text) { fmt::print(stderr, "eumulate: warning: {}\n", visible(text)); }

}  // namespace eum::cli

#pragma once
// `eumulate msr`: run, trace and exec. The program's main() adds the command and returns `exit_code`.
#include <CLI/CLI.hpp>

namespace eum::cli {

/// Adds the command `msr`. `exit_code` must outlive the parsing; it is set when the command has run.
void add_msr_command(CLI::App& app, int& exit_code);

}  // namespace eum::cli

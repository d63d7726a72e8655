#pragma once
// `eumulate msr`: run, trace and exec. The program's main() adds the command and returns what it leaves in
// `exit_code`.
#include <CLI/CLI.hpp>

namespace eum::cli {

/// Adds the command `msr`. `exit_code` outlives the parsing and is set when the command was run.
void add_msr_command(CLI::App& app, int& exit_code);

}  // namespace eum::cli

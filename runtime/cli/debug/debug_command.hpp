#pragma once
// `eumulate debug`: a kernel, instruction by instruction.
#include <CLI/CLI.hpp>

namespace eum::cli {

/// Adds the command `debug`. `exit_code` outlives the parsing and is set when the command was run.
void add_debug_command(CLI::App& app, int& exit_code);

}  // namespace eum::cli

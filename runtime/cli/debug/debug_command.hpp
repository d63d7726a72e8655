#pragma once
// `eumulate debug`: runs a kernel instruction by instruction.
#include <CLI/CLI.hpp>

namespace eum::cli {

/// Adds the command `debug`. `exit_code` must outlive the parsing; it is set when the command has run.
void add_debug_command(CLI::App& app, int& exit_code);

}  // namespace eum::cli

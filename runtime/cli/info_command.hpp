#pragma once
// `eumulate info`: prints the contents of a compiled program.
#include <CLI/CLI.hpp>

namespace eum::cli {

/// Adds the command `info`. `exit_code` must outlive the parsing; it is set when the command has run.
void add_info_command(CLI::App& app, int& exit_code);

}  // namespace eum::cli

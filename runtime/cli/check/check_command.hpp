#pragma once
// `eumulate check`: finds violations of the manuals' rules in a program.
#include <CLI/CLI.hpp>

namespace eum::cli {

/// Adds the command `check`. `exit_code` must outlive the parsing; it is set when the command has run.
void add_check_command(CLI::App& app, int& exit_code);

}  // namespace eum::cli

#pragma once
// `eumulate isa`: lists a family's instructions, and what executes them.
#include <CLI/CLI.hpp>

namespace eum::cli {

/// Adds the command `isa`. `exit_code` must outlive the parsing; it is set when the command has run.
void add_isa_command(CLI::App& app, int& exit_code);

}  // namespace eum::cli

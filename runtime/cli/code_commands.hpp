#pragma once
// `eumulate disasm`, `ir` and `asm`: a kernel at each step of its translation.
#include <CLI/CLI.hpp>

namespace eum::cli {

/// Adds the three commands. `exit_code` outlives the parsing and is set when a command was run.
void add_code_commands(CLI::App& app, int& exit_code);

}  // namespace eum::cli

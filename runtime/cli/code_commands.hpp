#pragma once
// `eumulate disasm`, `ir` and `asm`: a kernel at each step of its translation.
#include <CLI/CLI.hpp>

namespace eum::cli {

/// Adds the three commands. `exit_code` must outlive the parsing; it is set when a command has run.
void add_code_commands(CLI::App& app, int& exit_code);

}  // namespace eum::cli

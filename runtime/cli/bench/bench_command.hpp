#pragma once
// `eumulate bench`: measures the cost of a kernel's launches, with statistics. It must not know other
// commands.
#include <CLI/CLI.hpp>

namespace eum::cli {

void add_bench_command(CLI::App& app, int& exit_code);

}  // namespace eum::cli

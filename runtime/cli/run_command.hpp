#pragma once
// `eumulate run`. It must not know other commands.
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "runtime/cli/run/options.hpp"

namespace eum::cli {

/// Adds --global, --arg and so on: the options of one kernel.
void add_kernel_options(CLI::App& command, KernelOptions& to);

/// Removes "--then KERNEL ..." from a command line and returns the words after each --then.
std::vector<std::vector<std::string>> take_following(std::vector<std::string>& words);

/// `following`, from take_following, must live until the command line has been parsed.
void add_run_command(CLI::App& app, int& exit_code, const std::vector<std::vector<std::string>>& following);

}  // namespace eum::cli

#pragma once
// --disable, of commands that translate: names of optimisations that are left out.
// It must not know what translates.
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "jit/optimisations.hpp"

namespace eum::cli {

/// Adds the option, which may be repeated and takes names with commas between them.
void add_disable_option(CLI::App& command, std::vector<std::string>& to);

/// What is left without them.
Result<jit::Optimisations> left_without(const std::vector<std::string>& disabled);

}  // namespace eum::cli

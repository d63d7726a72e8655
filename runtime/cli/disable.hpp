#pragma once
// --disable, for commands that translate: names of optimisations to leave out. It must not know what
// translates.
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "jit/optimisations.hpp"

namespace eum::cli {

/// Adds the option, which may be repeated and takes comma-separated names.
void add_disable_option(CLI::App& command, std::vector<std::string>& to);

/// All optimisations except the disabled ones.
Result<jit::Optimisations> left_without(const std::vector<std::string>& disabled);

}  // namespace eum::cli

#pragma once
// The option --engine, also called --host, of every command that executes or translates.
#include <CLI/CLI.hpp>
#include <string>

#include "jit/engine.hpp"

namespace eum::cli {

/// The current value of `engine` is the default. `more`: what the command accepts besides names of engines.
void add_engine_option(CLI::App& command, std::string& engine, const std::string& more = {});
/// The engine of that name; "auto" is the fastest that this processor can run.
Result<jit::EngineKind> engine_of(const std::string& name);

}  // namespace eum::cli

#pragma once
// The option --engine, which --host is another name of: what every command that executes or translates takes.
#include <CLI/CLI.hpp>
#include <string>

#include "jit/engine.hpp"

namespace eum::cli {

/// `engine` keeps its value as the default. `more`: what the command takes beside names of engines.
void add_engine_option(CLI::App& command, std::string& engine, const std::string& more = {});
/// The engine of that name; "auto" is the fastest that this processor can run.
Result<jit::EngineKind> engine_of(const std::string& name);

}  // namespace eum::cli

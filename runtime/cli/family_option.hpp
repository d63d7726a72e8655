#pragma once
// Families as the command line names them.
#include <string>

#include "frontend/gen/family.hpp"
#include "memory/base/result.hpp"

namespace eum::cli {

/// "gen7, gen7.5, ..."
std::string family_names();

/// The family that --family names. An error lists those that there are.
Result<gen::Family> family_of(const std::string& text);

}  // namespace eum::cli

#pragma once
// Names of families on the command line.
#include <string>

#include "frontend/gen/family.hpp"
#include "memory/base/result.hpp"

namespace eum::cli {

/// "gen7, gen7.5, ..."
std::string family_names();

/// The family that --family names. An error lists the valid names.
Result<gen::Family> family_of(const std::string& text);

}  // namespace eum::cli

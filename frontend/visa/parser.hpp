#pragma once
// Parses vISA text to its data. The text is untrusted.
#include <string_view>

#include "frontend/visa/kernel.hpp"
#include "memory/base/result.hpp"

namespace eum::visa {

/// Reads a whole file. An error is one line, "LINE:COLUMN: expected ..., found ...". The result is sound:
/// each variable, label and string that is named exists, aliases end at a root and are within it, operands
/// are of the kinds that the instruction's form has.
Result<Module> parse(std::string_view text);

}  // namespace eum::visa

#pragma once
// From vISA text to its data. Everything in the text is hostile.
#include <string_view>

#include "frontend/visa/kernel.hpp"
#include "memory/base/result.hpp"

namespace eum::visa {

/// Reads a whole file. An error is one line, "LINE:COLUMN: expected ..., found ...". What comes back is
/// sound: each variable, label and string that is named exists, aliases end at a root and lie inside of it,
/// operands are of the kinds that the instruction's form has.
Result<Module> parse(std::string_view text);

}  // namespace eum::visa

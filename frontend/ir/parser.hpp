#pragma once
// Reads the text form of functions that frontend/ir/printer.hpp describes.
#include <string_view>

#include "frontend/ir/function.hpp"
#include "memory/base/result.hpp"

namespace eum::ir {

/// One function. An error is "line:column: expected ..., found ...". Names and syntax are checked here, the
/// rules of ops and shapes by verify() of frontend/ir/verifier.hpp.
Result<Function> parse(std::string_view text);

}  // namespace eum::ir

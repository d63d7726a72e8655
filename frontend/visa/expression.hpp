#pragma once
// Constant integer expressions, as allowed for offsets, sizes and immediates. %sizeof and %DispatchSimd,
// whose values are not in the text, are refused by name.
#include <cstdint>
#include <string_view>

#include "frontend/visa/lexer.hpp"

namespace eum::visa {

/// The operators of lowest precedence that an expression may have outside of parentheses.
enum class Loosest : std::uint8_t {
  Any,    ///< also "a ? b : c"
  Shift,  ///< within <>, which a '>' ends
  Add,
  Multiply,
  Unary,
  Primary,
};

bool expression(Lexer& in, Loosest loosest, std::int64_t& value);
/// The same, with the value limited to `min` to `max`; `what` is for the error.
bool expression(Lexer& in, Loosest loosest, std::int64_t min, std::int64_t max, std::string_view what,
                std::int64_t& value);

}  // namespace eum::visa

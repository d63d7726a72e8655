#pragma once
// Integer expressions of constants, as offsets, sizes and immediates may be written. %sizeof and
// %DispatchSimd, which need what the text does not say, are refused by name.
#include <cstdint>
#include <string_view>

#include "frontend/visa/lexer.hpp"

namespace eum::visa {

/// The loosest operator that an expression may have without parentheses.
enum class Loosest : std::uint8_t {
  Any,    ///< also "a ? b : c"
  Shift,  ///< within <>, where '>' ends it
  Add,
  Multiply,
  Unary,
  Primary,
};

bool expression(Lexer& in, Loosest loosest, std::int64_t& value);
/// The same, from `min` to `max`; `what` is for the error.
bool expression(Lexer& in, Loosest loosest, std::int64_t min, std::int64_t max, std::string_view what,
                std::int64_t& value);

}  // namespace eum::visa

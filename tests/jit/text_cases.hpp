#pragma once
// Files of cases "this text becomes that text", for passes and emitted code. A case is
//
//   == what it shows (options)
//   input
//   =>
//   what becomes of it
//
// and lines before the first `==` are comments. With EUMULATE_UPDATE=1 in the environment the files are
// rewritten from the actual output; the difference must be reviewed by a human.
#include <functional>
#include <string>
#include <string_view>

#include "frontend/ir/function.hpp"

namespace eum::jit::test {

/// A case; its title has the form "name (option option)".
struct TextCase {
  std::string title, input, expected;
  bool has(std::string_view option) const;
};

/// Runs each case of a file of tests/jit/; a failure names the case and shows the actual output. `count`
/// becomes the number of cases.
void check_text_file(const std::string& path, const std::function<std::string(const TextCase&)>& run,
                     std::size_t& count);

/// C++ leaves the order in which the operands of a formula are built to the compiler, so the text of expanded
/// functions is pinned for one compiler, g++; what they compute is the same.
#ifdef __clang__
inline constexpr bool orders_formulas = false;
#else
inline constexpr bool orders_formulas = true;
#endif

/// A verified function parsed from its blocks or from a whole text; without a head it has 8 channels, 16
/// registers and 3 mask variables.
ir::Function function_of_text(std::string_view text);

/// The text of the blocks, with values numbered from 0 in order.
std::string blocks_text(const ir::Function& function);

}  // namespace eum::jit::test

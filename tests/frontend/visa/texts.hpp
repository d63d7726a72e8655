#pragma once
// The texts of tests/frontend/visa/texts, and kernels around a few lines. They must not know what is tested
// with them.
#include <string>
#include <string_view>
#include <vector>

namespace eum::visa::test {

/// Names of the files, sorted.
std::vector<std::string> text_names();
std::string read_text(std::string_view name);
/// Without comments that run to the line's end and blanks around; empty ones are left out.
std::vector<std::string> lines_of(std::string_view text);

/// A kernel with some variables of each kind, and `lines` behind them.
std::string kernel_with(std::string_view lines);
/// Line of the text at which `lines` start there.
inline constexpr unsigned first_line = 14;

}  // namespace eum::visa::test

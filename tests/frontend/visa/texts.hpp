#pragma once
// The texts of tests/frontend/visa/texts, and kernels made of a few lines. Independent of what is tested with
// them.
#include <string>
#include <string_view>
#include <vector>

namespace eum::visa::test {

/// The names of the files, sorted.
std::vector<std::string> text_names();
std::string read_text(std::string_view name);
/// The lines without `//` comments and surrounding blanks; empty lines are omitted.
std::vector<std::string> lines_of(std::string_view text);

/// A kernel with some variables of each kind, followed by `lines`.
std::string kernel_with(std::string_view lines);
/// The line number at which `lines` start in that text.
inline constexpr unsigned first_line = 14;

}  // namespace eum::visa::test

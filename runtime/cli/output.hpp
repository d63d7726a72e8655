#pragma once
// The standard output, every write to it checked at the end, and text from files made fit for a terminal.
// It must not know what is written.
#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace eum::cli {

void put(std::string_view text);

template <class... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  put(fmt::format(format, std::forward<Args>(args)...));
}

/// Writes what is still buffered. If the standard output did not take everything, says why in a line on the
/// standard error. `code`, or where that is success and something was not written, the code of a file that
/// cannot be written.
int finish_output(int code);

/// Names and texts of a binary as they may stand on a terminal: control characters, also those of ISO 6429
/// beyond ASCII, and bytes that are not UTF-8 as "\x1b"; a backslash stays.
std::string visible(std::string_view text);
/// The same for a text of several lines.
std::string visible_lines(std::string_view text);

}  // namespace eum::cli

#pragma once
// Standard output, with all writes checked at the end, and text from files made safe for a terminal. It must
// not know what is written.
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

/// Flushes standard output. If some of it could not be written, prints the reason on standard error. Returns
/// `code`, or, if that is success and something was not written, the exit code for a file that cannot be
/// written.
int finish_output(int code);

/// Names and texts of a binary, made safe for a terminal: control characters, including those of ISO 6429
/// beyond ASCII, and bytes that are not UTF-8 become "\x1b" and the like; a backslash stays.
std::string visible(std::string_view text);
/// The same for a text of several lines, which keeps newlines and tabs.
std::string visible_lines(std::string_view text);

}  // namespace eum::cli

// stdio only keeps a flag for the first error; errno is recorded when it happens.
#include "runtime/cli/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "runtime/cli/exit_code.hpp"

namespace eum::cli {
namespace {

int first_error = 0;

void note_error() {
  if (first_error == 0) first_error = errno != 0 ? errno : EIO;
}

/// Length in bytes of the UTF-8 character at the start of `text`, or 0 if there is no valid one.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Overlong forms, surrogates, and code points beyond Unicode.
  const unsigned second = byte(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
    return 0;
  return length;
}

bool is_control(std::string_view one) {
  const auto first = static_cast<unsigned char>(one[0]);
  if (one.size() == 1) return first < 0x20 || first == 0x7f;
  return first == 0xc2 && static_cast<unsigned char>(one[1]) < 0xa0;
}

std::string escaped(std::string_view text, bool lines) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character(text);
    const std::string_view one = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(one.size());
    if (length != 0 && (!is_control(one) || (lines && (one == "\n" || one == "\t")))) {
      result += one;
      continue;
    }
    for (const char c : one) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return result;
}

}  // namespace

void put(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) note_error();
}

int finish_output(int code) {
  errno = 0;
  if (std::fflush(stdout) != 0) note_error();
  if (first_error == 0) return code;
  const int unwritten = fail(ExitCode::BadInput, error("standard output: {}", std::strerror(first_error)));
  return code == number(ExitCode::Ok) ? unwritten : code;
}

std::string visible(std::string_view text) { return escaped(text, false); }
std::string visible_lines(std::string_view text) { return escaped(text, true); }

}  // namespace eum::cli

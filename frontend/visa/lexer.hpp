#pragma once
// Reads vISA text line by line: words, numbers, quoted strings, and errors with line and column. It must not
// know instructions or declarations.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/visa/kernel.hpp"
#include "memory/base/result.hpp"

namespace eum::visa {

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_word(char c) { return is_letter(c) || is_digit(c); }

/// A position in the text. Reading methods skip blanks and comments first; on a mismatch they return false or
/// an empty word, and fail() keeps the first error. A line ends at a line feed that is not preceded by a
/// backslash.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  const Error& error() const { return *error_; }
  bool failed() const { return error_.has_value(); }
  /// Records "line:column: expected ..., found ..." here. Returns false.
  bool fail(std::string_view expected);
  bool fail_at(Location place, std::string_view expected, std::string_view found);
  /// The same, with the text found at `place`, which is on this line.
  bool fail_at(Location place, std::string_view expected);

  Location location() {
    skip_blanks();
    return {line_, static_cast<std::uint32_t>(at_ - line_start_ + 1)};
  }

  /// The next character; a line feed at the end of the line or of the text.
  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\n';
  }
  /// The character `distance` after the next one, counting blanks.
  char peek_behind(std::size_t distance) {
    skip_blanks();
    return at_ + distance < text_.size() ? text_[at_ + distance] : '\n';
  }
  /// The rest of the text from the next character on.
  std::string_view rest() {
    skip_blanks();
    return text_.substr(at_);
  }
  bool at_line_end() { return peek() == '\n'; }
  bool at_text_end() {
    skip_lines();
    return at_ >= text_.size();
  }
  /// Skips blanks, comments and line ends.
  void skip_lines() {
    while (at_line_end() && at_ < text_.size()) end_line();
  }
  bool line_end() {
    if (!at_line_end()) return fail("the end of the line");
    return true;
  }

  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool expect(char c) { return accept(c) || fail_character(c); }
  /// Consumes `text` if it is next, whatever follows it.
  bool accept(std::string_view text);
  /// [A-Za-z_][A-Za-z0-9_]*, empty if there is none.
  std::string_view word() {
    const std::string_view found = peek_word();
    at_ += found.size();
    return found;
  }
  std::string_view peek_word() {
    if (!is_letter(peek())) return {};
    return word_from(at_);
  }
  /// A word or %word: the name of a variable.
  std::string_view peek_name() {
    const char c = peek();
    if (is_letter(c)) return word_from(at_);
    if (c != '%') return {};
    std::size_t end = at_ + 1;
    while (end < text_.size() && is_word(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  /// The characters accepted by is_word() directly after the cursor, without skipping blanks: the rest of a
  /// suffix.
  std::string_view tail() {
    const std::string_view found = word_from(at_);
    at_ += found.size();
    return found;
  }
  /// The character directly after the cursor, possibly a blank.
  char next() const { return at_ < text_.size() ? text_[at_] : '\n'; }
  /// Consumes `count` characters, such as those returned by peek_...
  void advance(std::size_t count) { at_ += count; }

  /// The name of a label at the start of a line, including characters that only labels may have, if ':'
  /// follows. Consumes both.
  std::string_view label();

  bool at_number() { return is_digit(peek()); }
  /// 12 or 0x1f.
  bool number(std::uint64_t& value);
  /// A short decimal number, the usual case: ',', ';', ':' or a closing bracket must follow.
  bool plain_number(std::int64_t& value) {
    skip_blanks();
    constexpr std::size_t longest = 9;  // digits
    std::size_t end = at_;
    std::int64_t sum = 0;
    for (; end < text_.size() && is_digit(text_[end]) && end - at_ < longest; ++end)
      sum = sum * 10 + (text_[end] - '0');
    if (end == at_ || end + 1 >= text_.size()) return false;
    const char c = text_[end];
    const bool closed = c == ',' || c == ';' || c == ':' || c == ')' || c == ']' ||
                        (c == '>' && text_[end + 1] != '>' && text_[end + 1] != '=');
    if (!closed) return false;
    at_ = end;
    value = sum;
    return true;
  }
  bool number(std::uint32_t& value, std::uint32_t max, std::string_view what);
  /// "..." with the escapes of C.
  bool quoted(std::string& value);

 private:
  void skip_blanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\r')
        ++at_;
      else if (c != '/' && c != '\\')
        return;
      else if (!skip_comment())
        return;
    }
  }
  bool skip_comment();
  bool fail_character(char c);
  void end_line() {
    ++at_;
    ++line_;
    line_start_ = at_;
  }
  std::string_view word_from(std::size_t start) const {
    std::size_t end = start;
    while (end < text_.size() && is_word(text_[end])) ++end;
    return text_.substr(start, end - start);
  }
  std::string found() const;

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::size_t line_start_ = 0;
  std::optional<Error> error_;
};

}  // namespace eum::visa

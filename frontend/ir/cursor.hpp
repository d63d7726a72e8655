#pragma once
// Walks over the text of a function: words, numbers, quoted strings, and errors with line and column. It must
// not know ops.
#include <fmt/core.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "memory/base/result.hpp"

namespace eum::ir {

/// A place in the text. Reading methods skip blanks and comments first; on a mismatch they return false or
/// nothing and keep the first error.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  const Error& error() const { return *error_; }
  bool failed() const { return error_.has_value(); }

  /// Records "line:column: expected ..., found ...". Returns false.
  bool fail(std::string_view expected) {
    if (error_) return false;
    skip_blanks();
    std::size_t line = 1, line_start = 0;
    for (std::size_t i = 0; i < at_; ++i) {
      if (text_[i] != '\n') continue;
      ++line;
      line_start = i + 1;
    }
    error_ = eum::error("{}:{}: expected {}, found {}", line, at_ - line_start + 1, expected, found());
    return false;
  }

  bool at_line_end() {
    skip_blanks();
    return at_ == text_.size() || text_[at_] == '\n';
  }
  bool at_text_end() {
    skip_lines();
    return at_ == text_.size();
  }
  /// Skips blanks, comments and line ends.
  void skip_lines() {
    while (at_line_end() && at_ < text_.size()) ++at_;
  }
  bool line_end() {
    if (!at_line_end()) return fail("the end of the line");
    skip_lines();
    return true;
  }

  bool next_is(char c) {
    skip_blanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  /// Consumes `c` if it is next.
  bool accept(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  bool expect(char c) { return accept(c) || fail(fmt::format("'{}'", c)); }

  /// Letters, digits and underscores; empty if there are none.
  std::string_view peek_word() {
    skip_blanks();
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  std::string_view word(std::string_view expected) {
    const std::string_view result = peek_word();
    if (result.empty()) fail(expected);
    at_ += result.size();
    return result;
  }
  bool keyword(std::string_view wanted) {
    if (peek_word() != wanted) return fail(fmt::format("'{}'", wanted));
    at_ += wanted.size();
    return true;
  }

  /// A number after `prefix`, in one word: b12, mask3.
  bool numbered(std::string_view prefix, std::uint64_t limit, std::uint64_t& number) {
    const std::string_view w = peek_word();
    const std::string expected = fmt::format("'{}' and a number up to {}", prefix, limit);
    if (!w.starts_with(prefix)) return fail(expected);
    const auto value = parse_number(w.substr(prefix.size()));
    if (!value || *value > limit) return fail(expected);
    at_ += w.size();
    number = *value;
    return true;
  }
  template <class T>
  bool numbered(std::string_view prefix, std::uint64_t limit, T& number) {
    std::uint64_t value = 0;
    if (!numbered(prefix, limit, value)) return false;
    number = static_cast<T>(value);
    return true;
  }

  /// A decimal or 0x number up to what T holds, or to `limit`.
  template <class T>
  bool number(T& to, std::uint64_t limit = std::numeric_limits<T>::max()) {
    const auto value = parse_number(peek_word());
    if (!value || *value > limit) return fail(fmt::format("a number up to {}", limit));
    at_ += peek_word().size();
    to = static_cast<T>(*value);
    return true;
  }

  /// A run of anything but blanks, commas, braces, '?', '@', ';' and line ends.
  std::string_view run() {
    skip_blanks();
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n,{}?@;", at_), text_.size());
    const std::string_view result = text_.substr(at_, end - at_);
    at_ = end;
    return result;
  }

  /// A word, or text in quotes with \" \\ and \xNN.
  bool word_or_quoted(std::string_view expected, std::string& to) {
    if (next_is('"')) return quoted(to);
    to = word(expected);
    return !failed();
  }
  bool quoted(std::string& to) {
    if (!accept('"')) return fail("a quoted text");
    to.clear();
    while (at_ < text_.size() && text_[at_] != '\n') {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (c != '\\') {
        to += c;
        continue;
      }
      const char escaped = at_ < text_.size() ? text_[at_] : '\n';
      if (escaped == '"' || escaped == '\\') {
        to += escaped;
        ++at_;
        continue;
      }
      const auto value =
          escaped == 'x' ? parse_number("0" + std::string(text_.substr(at_, 3))) : std::nullopt;
      if (!value || text_.size() - at_ < 3) return fail("\\\", \\\\ or \\x and two digits");
      to += static_cast<char>(*value);
      at_ += 3;
    }
    return fail("'\"'");
  }

  static std::optional<std::uint64_t> parse_number(std::string_view text) {
    const bool hexadecimal = text.starts_with("0x");
    if (hexadecimal) text.remove_prefix(2);
    if (text.empty()) return std::nullopt;
    const std::uint64_t base = hexadecimal ? 16 : 10;
    std::uint64_t value = 0;
    for (char c : text) {
      std::uint64_t digit = base;
      if (c >= '0' && c <= '9') digit = static_cast<std::uint64_t>(c - '0');
      if (c >= 'a' && c <= 'f') digit = static_cast<std::uint64_t>(c - 'a' + 10);
      if (c >= 'A' && c <= 'F') digit = static_cast<std::uint64_t>(c - 'A' + 10);
      if (digit >= base || value > (~std::uint64_t{0} - digit) / base) return std::nullopt;
      value = value * base + digit;
    }
    return value;
  }

 private:
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
    // Within a region `;` separates numbers; at the start of a line or after a blank it begins a comment.
    const bool comment =
        at_ < text_.size() && text_[at_] == ';' &&
        (at_ == 0 || text_[at_ - 1] == ' ' || text_[at_ - 1] == '\t' || text_[at_ - 1] == '\n');
    if (comment) at_ = std::min(text_.find('\n', at_), text_.size());
  }
  std::string found() {
    if (at_ == text_.size()) return "the end of the text";
    if (text_[at_] == '\n') return "the end of the line";
    std::string_view rest = text_.substr(at_, 24);
    rest = rest.substr(0, rest.find('\n'));
    std::string shown;
    for (char c : rest) shown += c >= ' ' && c <= '~' ? c : '?';
    return "'" + shown + "'";
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<Error> error_;
};

}  // namespace eum::ir

// Numbers, strings, labels, comments and errors of vISA text.
#include "frontend/visa/lexer.hpp"

#include <algorithm>

namespace eum::visa {
namespace {

/// `text` for messages, with control characters and bytes beyond ASCII as \xNN.
std::string shown(std::string_view text) {
  std::string out;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f)
      out += c;
    else
      out += fmt::format("\\x{:02x}", byte);
  }
  return out;
}

constexpr unsigned not_a_digit = 16;
constexpr unsigned digit(char c) {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return not_a_digit;
}

}  // namespace

bool Lexer::fail_at(Location place, std::string_view expected, std::string_view found) {
  if (!error_) error_ = eum::error("{}:{}: expected {}, found {}", place.line, place.column, expected, found);
  return false;
}

bool Lexer::fail_at(Location place, std::string_view expected) {
  at_ = line_start_ + place.column - 1;
  return fail_at(place, expected, found());
}

bool Lexer::fail(std::string_view expected) {
  const Location place = location();
  return fail_at(place, expected, found());
}

bool Lexer::fail_character(char c) {
  const char text[] = {'\'', c, '\''};
  return fail(std::string_view(text, sizeof text));
}

std::string Lexer::found() const {
  constexpr std::size_t longest = 40;
  if (at_ >= text_.size()) return "the end of the text";
  const char c = text_[at_];
  if (c == '\n') return "the end of the line";
  std::size_t end = at_ + 1;
  if (is_word(c) || c == '%')
    while (end < text_.size() && is_word(text_[end])) ++end;
  std::string_view token = text_.substr(at_, end - at_);
  if (token.size() > longest) return shown(token.substr(0, longest)) + "...";
  return shown(token);
}

bool Lexer::skip_comment() {
  const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\n';
  if (text_[at_] == '\\') {  // the line continues after it
    std::size_t end = at_ + 1;
    if (end < text_.size() && text_[end] == '\r') ++end;
    if (end >= text_.size() || text_[end] != '\n') return false;
    at_ = end;
    end_line();
    return true;
  }
  if (next == '/') {
    at_ = std::min(text_.find('\n', at_), text_.size());
    return true;
  }
  if (next != '*') return false;
  std::size_t end = text_.find("*/", at_ + 2);
  end = end == std::string_view::npos ? text_.size() : end + 2;
  for (; at_ < end; ++at_) {
    if (text_[at_] != '\n') continue;
    ++line_;
    line_start_ = at_ + 1;
  }
  return true;
}

bool Lexer::accept(std::string_view text) {
  skip_blanks();
  if (!text_.substr(at_).starts_with(text)) return false;
  at_ += text.size();
  return true;
}

std::string_view Lexer::label() {
  const auto special = [](char c) { return c == '$' || c == '@' || c == '?'; };
  if (!is_letter(peek()) && !special(peek())) return {};
  std::size_t end = at_ + 1;
  while (end < text_.size() && (is_word(text_[end]) || special(text_[end]) || text_[end] == '-')) ++end;
  if (end >= text_.size() || text_[end] != ':') return {};
  const std::string_view name = text_.substr(at_, end - at_);
  at_ = end + 1;
  return name;
}

bool Lexer::number(std::uint64_t& value) {
  if (!at_number()) return fail("a number");
  const std::size_t start = at_;
  value = 0;
  if (text_[at_] == '0' && at_ + 1 < text_.size() && (text_[at_ + 1] | 0x20) == 'x') {
    at_ += 2;
    const std::size_t first = at_;
    for (; at_ < text_.size() && digit(text_[at_]) != not_a_digit; ++at_) {
      if (value >> 60 != 0) {
        at_ = start;
        return fail("a number of at most 64 bits");
      }
      value = value << 4 | digit(text_[at_]);
    }
    if (at_ == first) return fail("a hexadecimal digit");
    return true;
  }
  for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value) ||
        __builtin_add_overflow(value, std::uint64_t{digit(text_[at_])}, &value)) {
      at_ = start;
      return fail("a number of at most 64 bits");
    }
  }
  return true;
}

bool Lexer::number(std::uint32_t& value, std::uint32_t max, std::string_view what) {
  const Location place = location();
  std::uint64_t wide = 0;
  if (!at_number()) return fail(what);
  if (!number(wide)) return false;
  if (wide > max) return fail_at(place, fmt::format("{} from 0 to {}", what, max), std::to_string(wide));
  value = static_cast<std::uint32_t>(wide);
  return true;
}

bool Lexer::quoted(std::string& value) {
  constexpr std::string_view escapes = "abefnrtv'\"?\\", meanings = "\a\b\x1b\f\n\r\t\v'\"?\\";
  if (!expect('"')) return false;
  value.clear();
  while (true) {
    if (at_ >= text_.size() || text_[at_] == '\n') return fail("'\"'");
    char c = text_[at_++];
    if (c == '"') return true;
    if (c == '\\') {
      const char escape = at_ < text_.size() ? text_[at_] : '\n';
      const std::size_t known = escapes.find(escape);
      const bool hex = escape == 'x';
      if (known != std::string_view::npos) {
        c = meanings[known];
        ++at_;
      } else if (hex || is_digit(escape)) {
        if (hex) ++at_;
        unsigned byte = 0;
        std::size_t count = 0;
        const unsigned base = hex ? 16 : 8;
        for (; count < (hex ? 2 : 3) && at_ < text_.size() && digit(text_[at_]) < base; ++count, ++at_)
          byte = byte * base + digit(text_[at_]);
        if (count == 0 || byte > 0xff) return fail("an escape sequence of one byte");
        c = static_cast<char>(byte);
      } else {
        return fail("an escape sequence");
      }
    }
    value += c;
  }
}

}  // namespace eum::visa

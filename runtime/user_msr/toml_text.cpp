// UTF-8 (RFC 3629) to ASCII and back.
#include "runtime/user_msr/toml_text.hpp"

#include <algorithm>
#include <bitset>

namespace eum::rt {
namespace {

constexpr bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// Length in bytes of the character at the front; 0 if it is not valid UTF-8.
std::size_t character_bytes(std::string_view text) {
  auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  std::size_t bytes = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (bytes == 0 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if (!is_continuation(text[i])) return 0;
  // Overlong forms, surrogates, and code points beyond U+10FFFF.
  auto second = static_cast<unsigned char>(text[1]);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0)) return 0;
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90)) return 0;
  return bytes;
}

constexpr int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The ASCII characters that strings of the text can contain: its own, and those of \u and \U.
std::bitset<128> ascii_characters(std::string_view text) {
  std::bitset<128> found;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    if (c < found.size()) found.set(c);
    if (c != '\\' || i + 1 == text.size() || (text[i + 1] | 0x20) != 'u') continue;
    std::size_t digits = text[i + 1] == 'u' ? 4 : 8, code = 0;
    for (std::size_t k = i + 2; k < text.size() && k < i + 2 + digits && hex_value(text[k]) >= 0; ++k)
      code = code * 16 + static_cast<std::size_t>(hex_value(text[k]));
    if (code < found.size()) found.set(code);
  }
  return found;
}

}  // namespace

Result<TomlText> TomlText::make(std::string_view utf8, Position& where) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (utf8.starts_with(byte_order_mark)) utf8.remove_prefix(byte_order_mark.size());
  bool is_ascii = true;
  for (std::size_t i = 0; i < utf8.size();) {
    auto byte = static_cast<unsigned char>(utf8[i]);
    bool is_control = (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f;
    std::size_t bytes = is_control ? 0 : character_bytes(utf8.substr(i));
    if (bytes == 0)
      return error("expected {}, found the byte {:#04x}", is_control ? "no control characters" : "UTF-8",
                   unsigned{byte});
    is_ascii &= bytes == 1;
    i += bytes;
    ++where.column;
    if (byte == '\n') where = {where.line + 1, 1};
  }

  TomlText text;
  if (is_ascii) {
    text.ascii_ = utf8;
    return text;
  }
  // Characters without a meaning in TOML.
  const std::bitset<128> used = ascii_characters(utf8);
  for (char candidate : std::string_view("~`^|@$%&;?!"))
    if (text.marker_ == 0 && !used.test(static_cast<unsigned char>(candidate))) text.marker_ = candidate;
  where = {};
  if (text.marker_ == 0)
    return error(
        "expected fewer different characters in a text with some that are not ASCII, found all of "
        "~`^|@$%&;?!");
  for (char c : utf8) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text.ascii_ += c;
      continue;
    }
    text.ascii_ += text.marker_;
    text.ascii_ += "0123456789abcdef"[byte >> 4];
    text.ascii_ += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string TomlText::original(std::string_view found) const {
  std::string text;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (marker_ != 0 && found[i] == marker_ && i + 2 < found.size()) {
      text += static_cast<char>(hex_value(found[i + 1]) * 16 + hex_value(found[i + 2]));
      i += 2;
    } else {
      text += found[i];
    }
  }
  return text;
}

TomlText::Position TomlText::original(Position found) const {
  if (marker_ == 0) return found;
  std::string_view rest = ascii_;
  for (std::size_t line = 1; line < found.line && !rest.empty(); ++line)
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
  std::size_t column = 1;
  for (char c : original(rest.substr(0, found.column - 1))) column += !is_continuation(c);
  return {found.line, column};
}

}  // namespace eum::rt

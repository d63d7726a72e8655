#pragma once
// A TOML text in a form that toml++ 3.3 handles safely: plain ASCII. Its tests for blanks are undefined for
// many other characters. Those are encoded as ASCII for it, and decoded in the strings that it finds. It must
// not know what the text means.
#include <string>
#include <string_view>

#include "memory/base/result.hpp"

namespace eum::rt {

class TomlText {
 public:
  struct Position {
    std::size_t line = 1, column = 1;  ///< in characters
  };

  /// Takes UTF-8, with or without a byte order mark. If it is not valid UTF-8, or has control characters,
  /// `where` is set to the position and the error says what was found.
  static Result<TomlText> make(std::string_view utf8, Position& where);

  const std::string& ascii() const { return ascii_; }
  /// A string found in ascii(), as it is in the original text.
  std::string original(std::string_view found) const;
  /// A position in ascii(), as one in the original text.
  Position original(Position found) const;

 private:
  std::string ascii_;
  // Precedes two hexadecimal digits that encode a byte. A character that does not occur in the text, not even
  // through an escape sequence; or 0 if every character is ASCII.
  char marker_ = 0;
};

}  // namespace eum::rt

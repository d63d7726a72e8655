#pragma once
// A TOML text as toml++ 3.3 can be trusted with it: plain ASCII. Its tests for blanks are undefined for many
// other characters. These are written as ASCII for it, and read back in the strings that it finds. It must
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

  /// Takes UTF-8, with or without a byte order mark. Where it is none, or has control characters, `where`
  /// says where and the error what.
  static Result<TomlText> make(std::string_view utf8, Position& where);

  const std::string& ascii() const { return ascii_; }
  /// A string that was found in ascii(), as it stands in the text.
  std::string original(std::string_view found) const;
  /// A place in ascii(), as one of the text.
  Position original(Position found) const;

 private:
  std::string ascii_;
  // Stands before two hexadecimal digits for a byte. A character that the text has nowhere, also not by an
  // escape sequence; or 0 where every character is ASCII.
  char marker_ = 0;
};

}  // namespace eum::rt

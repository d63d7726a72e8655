#pragma once
// A line of text built without libc, for signal handlers and slow paths of stubs.
#include <cstdint>
#include <string_view>

namespace eum::rt::native {

/// A line under construction; text that does not fit is cut.
struct Line {
  char text[256];
  unsigned length = 0;

  void character(char c) {
    if (length < sizeof text - 1) text[length++] = c;
  }
  void end() { text[length++] = '\n'; }
  void string(const char* s) {
    while (*s) character(*s++);
  }
  void view(std::string_view s) {
    for (char c : s) character(c);
  }
  void hex(std::uint64_t value) {
    string("0x");
    unsigned digits = 1;
    while (digits < 16 && value >> (4 * digits) != 0) ++digits;
    while (digits-- > 0) character("0123456789abcdef"[value >> (4 * digits) & 15]);
  }
  void decimal(std::uint64_t value) {
    char digits[20];
    unsigned count = 0;
    do digits[count++] = static_cast<char>('0' + value % 10);
    while ((value /= 10) != 0);
    while (count-- > 0) character(digits[count]);
  }
};

}  // namespace eum::rt::native

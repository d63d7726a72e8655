#pragma once
// A second decoder, written from the document without tables: it measures the encoding first and decodes it
// afterwards. Must not include the decoder's sources.
#include <cstdint>
#include <vector>

namespace eum::x86::test {

struct Oracle {
  enum Kind { Instruction, Foreign, Undefined, Truncated, TooLong } kind = Truncated;
  unsigned length = 0;  // of Instruction and Undefined
  bool read = false;    // this and the rest: of Instruction
  bool immediate = false;
  bool privileged = false;
  bool apx = false;
  unsigned data = 0;
  unsigned index = 0;
  std::uint32_t msr = 0;
};

/// bits: 16, 32 or 64.
Oracle oracle_decode(const std::vector<std::uint8_t>& bytes, int bits);

}  // namespace eum::x86::test

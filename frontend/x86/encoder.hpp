#pragma once
// The shortest encoding of a user MSR instruction.
#include <array>
#include <cstdint>
#include <span>

#include "frontend/x86/instruction.hpp"

namespace eum::x86 {

struct Encoded {
  std::array<std::uint8_t, max_length> bytes{};
  std::uint8_t length = 0;  ///< 0: there is no such instruction
  std::span<const std::uint8_t> view() const { return {bytes.data(), length}; }
};

/// Empty if the form cannot name one of the registers. Otherwise decode(encode(i).view(), Bits64) gives i
/// back, with unused operands 0.
Encoded encode(const Instruction& instruction);

}  // namespace eum::x86

#pragma once
// The registers of a thread of the target, and where each is in the register file of a lowered function:
// general registers first, then the state registers, each at a multiple of the register size. Flags are not
// in the file (ir::Op::flag_read); the instruction pointer is a constant of each instruction.
#include <array>
#include <cstddef>
#include <cstdint>

namespace eum::eu {

/// Registers in the file other than the general ones.
enum class StateRegister : std::uint8_t {
  Accumulator,      ///< acc0 and acc1 as a program sees them
  AccumulatorHigh,  ///< a signed dword for each integer channel of the accumulators: bits 63:32 of a dword,
                    ///< 47:16 of a word, of which hardware has 33
  Address,
  Control,
  State,
  Notification,
  Timestamp,
  MacroAccumulator,  ///< acc2 to acc9, which pass values between the steps of math macros
  Dependency,
  Stack,
  Debug,
  Jump,  ///< target of an instruction that writes ip
};

/// Size of each, in general registers.
inline constexpr std::array<std::uint8_t, 12> state_register_sizes{2, 4, 1, 1, 1, 1, 1, 8, 1, 1, 1, 1};
static_assert(2 * state_register_sizes[0] == state_register_sizes[1], "a dword for each word");

struct Target {
  const char* name;         ///< name of the family in the function's text: "gen9"
  std::uint16_t grf_bytes;  ///< of one general register
  std::uint16_t grf_count;
  std::uint32_t flag_bits;  ///< of all flag registers

  constexpr unsigned grf_file_bytes() const { return unsigned{grf_bytes} * grf_count; }
  /// Byte offset in the file.
  constexpr unsigned offset(StateRegister reg) const {
    unsigned registers = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(reg); ++i) registers += state_register_sizes[i];
    return grf_file_bytes() + registers * grf_bytes;
  }
  constexpr unsigned bytes(StateRegister reg) const {
    return unsigned{state_register_sizes[static_cast<std::size_t>(reg)]} * grf_bytes;
  }
  constexpr bool is_macro_accumulator(unsigned byte) const {
    const unsigned first = offset(StateRegister::MacroAccumulator);
    return byte >= first && byte < first + bytes(StateRegister::MacroAccumulator);
  }
  /// Size of the whole file.
  constexpr unsigned file_bytes() const { return offset(StateRegister::Jump) + bytes(StateRegister::Jump); }
  /// General registers that `count` bytes take.
  constexpr unsigned registers(unsigned count) const { return (count + grf_bytes - 1) / grf_bytes; }
};

/// Bytes of one address, and of the address register: a0.0 to a0.15.
inline constexpr unsigned address_bytes = 2, address_register_bytes = 16 * address_bytes;

/// Bits of one flag register; the channels of an instruction use one of them.
inline constexpr unsigned flag_register_bits = 32;

}  // namespace eum::eu

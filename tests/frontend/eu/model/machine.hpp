#pragma once
// A thread of the model: its registers and flags as plain bytes, and execute(), which executes one decoded
// ALU instruction channel by channel. Uses no code of frontend/ir or frontend/eu.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/gen/instruction.hpp"
#include "tests/frontend/eu/model/number.hpp"

namespace eum::model {

/// The accumulators are held in two planes: the low one as a program sees it, and, for each integer channel,
/// a signed dword with the bits above its type. So a dword has 64 bits and a word 48, of which the hardware
/// has 33.
struct Machine {
  gen::Family family = gen::Family::Gen9;
  std::array<std::uint8_t, 4096> grf{};
  std::array<std::uint8_t, 64> acc{};
  std::array<std::uint8_t, 128> acc_high{};
  std::array<std::uint16_t, 16> address{};
  std::uint64_t flags = 0;  ///< f0 from bit 0, f1 from bit 32
  std::uint32_t execution_mask = 0;
  FloatMode mode;
};

/// How a written element may differ from the model's value where the manual leaves the result open.
enum class Open : std::uint8_t {
  AnyNan,       ///< any NaN (2.3.1.2)
  Flushed,      ///< the denormal, or a zero of the same sign
  Approximate,  ///< a math function, within its documented error
  Anything
};
struct OpenElement {
  bool in_accumulator = false;
  unsigned offset = 0;  ///< in bytes
  Type type = Type::f;
  Open open = Open::AnyNan;
  double value = 0;
};

struct Outcome {
  std::vector<OpenElement> open;
  std::uint64_t open_flags = 0;  ///< flags of results that may have been flushed
};

/// Whether the model covers the opcode or function; control flow and messages are not covered.
bool has_model(gen::Opcode opcode);
bool has_model(gen::MathFunction function);

/// Whether the instruction has doubles that occupy two channels each: on Ivy Bridge execution size, width and
/// strides count their dwords (IVB PRM volume 4 part 3, 1.3).
bool has_paired_doubles(const gen::Instruction& inst, gen::Family family);

/// Executes `inst` as the machine's family does.
Outcome execute(const gen::Instruction& inst, Machine& machine);

}  // namespace eum::model

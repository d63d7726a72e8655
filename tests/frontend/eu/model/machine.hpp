#pragma once
// A thread of the model: its registers and flags as plain bytes, and execute(), which does one decoded ALU
// instruction on them channel by channel. Nothing of frontend/ir or frontend/eu's code is used.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/gen/instruction.hpp"
#include "tests/frontend/eu/model/number.hpp"

namespace eum::model {

/// The accumulators are held in two planes: the low one as a program sees it, and for each integer channel a
/// signed dword with the bits above those of its type. So a dword has 64 bits, a word 48, of which the
/// hardware has 33.
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

/// What the manual leaves open of a written element: it may hold another value of this kind than the model's.
enum class Open : std::uint8_t {
  AnyNan,       ///< the bits of a NaN (2.3.1.2)
  Flushed,      ///< the denormal, or a zero of its sign
  Approximate,  ///< a math function within its documented error
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
  std::uint64_t open_flags = 0;  ///< of what may have been flushed
};

/// Why the model has no meaning for the instruction, or nothing: an opcode of flow or messages.
bool has_model(gen::Opcode opcode);
bool has_model(gen::MathFunction function);

/// Whether the instruction has doubles that take two channels each: on Ivy Bridge execution size, width and
/// strides count their dwords (IVB PRM volume 4 part 3, 1.3).
bool has_paired_doubles(const gen::Instruction& inst, gen::Family family);

/// Executes `inst` as the machine's family does.
Outcome execute(const gen::Instruction& inst, Machine& machine);

}  // namespace eum::model

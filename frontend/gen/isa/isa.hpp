#pragma once
// The instruction set of a family from the tables, with how each entry is executed. All of it follows from
// tables and lowering. It must not know engines beyond the column of ir/ops.def, nor how a list is printed.
#include <string>
#include <string_view>
#include <vector>

#include "frontend/gen/instruction.hpp"
#include "frontend/gen/message.hpp"
#include "frontend/ir/ops.hpp"

namespace eum::gen {

/// How a translating engine executes something. The reference engine interprets each micro-op, so for it
/// anything but Unsupported is Native.
enum class Execution : std::uint8_t {
  Native,       ///< host code for each micro-op
  Helper,       ///< some micro-op is a call of its definition
  Expanded,     ///< some micro-op is rewritten into others first
  Unsupported,  ///< a fault
};
std::string_view name(Execution execution);

/// An instruction of a family; each math function is one of its own.
struct IsaInstruction {
  Opcode opcode = Opcode::illegal;
  MathFunction math = MathFunction::None;
  OpcodeShape shape{};
  std::string text;  ///< "add", "math.inv"
  Execution execution = Execution::Unsupported;
  TypeSet unsupported = 0;  ///< types of destination or source in the row that fault
  std::string reason;       ///< why the first faulting form faults
};

struct IsaMessage {
  MessageKind kind;
  Execution execution = Execution::Unsupported;
  std::string reason;  ///< why it faults, or which of its operations do
};

struct Isa {
  std::vector<IsaInstruction> instructions;  ///< in the order of instructions.def
  std::vector<IsaMessage> messages;          ///< in the order of messages.def
};

/// The instruction set of `family`. How it is executed is found by lowering each instruction with each of its
/// types, and each message with descriptors that select it.
Isa instruction_set(Family family);

/// "dst, src0, src1"
std::string_view operands_of(Format format);
/// "pred cmod sat srcmod"
std::string capabilities_of(const OpcodeShape& shape);
/// "ub b uw", or "-".
std::string types_of(TypeSet set);

}  // namespace eum::gen

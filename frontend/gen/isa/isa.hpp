#pragma once
// The instruction set of a family as the tables have it, with what executes it. Nothing is said here that a
// table or lowering does not say. It must not know engines beyond the column of ir/ops.def, nor how a list
// is printed.
#include <string>
#include <string_view>
#include <vector>

#include "frontend/gen/instruction.hpp"
#include "frontend/gen/message.hpp"
#include "frontend/ir/ops.hpp"

namespace eum::gen {

/// How an engine that translates executes something. The reference engine interprets each micro-op, so that
/// for it anything but Unsupported is Native.
enum class Execution : std::uint8_t {
  Native,       ///< host code for each micro-op
  Helper,       ///< some micro-op is a call of its definition
  Expanded,     ///< some micro-op is rewritten into others first
  Unsupported,  ///< a fault
};
std::string_view name(Execution execution);

/// An instruction that a family has; of math each function by itself.
struct IsaInstruction {
  Opcode opcode = Opcode::illegal;
  MathFunction math = MathFunction::None;
  OpcodeShape shape{};
  std::string text;  ///< "add", "math.inv"
  Execution execution = Execution::Unsupported;
  TypeSet unsupported = 0;  ///< types of destination or source that are a fault, though the row has them
  std::string reason;       ///< why, of the first form that is a fault
};

struct IsaMessage {
  MessageKind kind;
  Execution execution = Execution::Unsupported;
  std::string reason;  ///< why it is a fault, or which of its operations are
};

struct Isa {
  std::vector<IsaInstruction> instructions;  ///< in the order of instructions.def
  std::vector<IsaMessage> messages;          ///< in the order of messages.def
};

/// Whatever `family` has. What executes it is found by lowering each instruction with each of its types, and
/// each message with descriptors that select it.
Isa instruction_set(Family family);

/// "dst, src0, src1"
std::string_view operands_of(Format format);
/// "pred cmod sat srcmod"
std::string capabilities_of(const OpcodeShape& shape);
/// "ub b uw", or "-".
std::string types_of(TypeSet set);

}  // namespace eum::gen

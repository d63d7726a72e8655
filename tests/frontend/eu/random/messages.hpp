#pragma once
// Random messages of every row of messages.def that lowering accepts, and the instructions that put addresses
// in jit::test::World's memory into their payloads.
#include <vector>

#include "frontend/gen/message.hpp"
#include "tests/frontend/eu/random/instructions.hpp"

namespace eum::test {

class MessageSource {
 public:
  MessageSource(gen::Family family, Choice& choice) : family_(family), choice_(choice) {}

  /// A message, preceded by the instructions that set up its payload.
  std::vector<gen::Instruction> next();
  /// The same for this kind of message, or nothing if none of many attempts can be executed.
  std::vector<gen::Instruction> of(gen::MessageKind kind);
  /// The message that ends a thread.
  gen::Instruction end();

 private:
  gen::Instruction attempt(gen::MessageKind kind);
  void prepare(const gen::Instruction& send, std::vector<gen::Instruction>& out);

  gen::Family family_;
  Choice& choice_;
};

/// Sources with an element per channel or one for all, and plain instructions with such operands, without
/// mask.
gen::Operand general(unsigned reg, gen::Type type, unsigned subreg = 0);
gen::Operand constant(std::uint64_t value, gen::Type type);
gen::Instruction plain(gen::Opcode opcode, unsigned lanes, const gen::Operand& dst,
                       std::initializer_list<gen::Operand> sources);

}  // namespace eum::test

#pragma once
// Random messages of every row of messages.def that lowering takes, and the instructions that put addresses
// of the memory of jit::test::World into their payloads.
#include <vector>

#include "frontend/gen/message.hpp"
#include "tests/frontend/eu/random/instructions.hpp"

namespace eum::test {

class MessageSource {
 public:
  MessageSource(gen::Family family, Choice& choice) : family_(family), choice_(choice) {}

  /// A message and what comes before it.
  std::vector<gen::Instruction> next();
  /// One of this kind, or nothing if none of many tries can be executed.
  std::vector<gen::Instruction> of(gen::MessageKind kind);
  /// The message that ends a thread.
  gen::Instruction end();

 private:
  gen::Instruction attempt(gen::MessageKind kind);
  void prepare(const gen::Instruction& send, std::vector<gen::Instruction>& out);

  gen::Family family_;
  Choice& choice_;
};

/// A source that all channels or one read, and plain instructions of such operands, without mask.
gen::Operand general(unsigned reg, gen::Type type, unsigned subreg = 0);
gen::Operand constant(std::uint64_t value, gen::Type type);
gen::Instruction plain(gen::Opcode opcode, unsigned lanes, const gen::Operand& dst,
                       std::initializer_list<gen::Operand> sources);

}  // namespace eum::test

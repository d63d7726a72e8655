#pragma once
// Random GEN instructions that compute, for every row of instructions.def: any operands that can be encoded,
// in any combination that lowering accepts. Independent of what an instruction means.
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <random>

#include "frontend/gen/instruction.hpp"

namespace eum::test {

/// General registers below this serve any purpose; those from here on hold loop counters, return addresses
/// and the like, which other instructions write only by chance.
inline constexpr unsigned first_reserved = 112;

/// Source of random choices.
class Choice {
 public:
  explicit Choice(std::uint64_t seed) : random_(seed) {}
  std::uint64_t bits() { return random_(); }
  std::mt19937_64& engine() { return random_; }
  unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <class T>
  T any_of(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }

 private:
  std::mt19937_64 random_;
};

class InstructionSource {
 public:
  InstructionSource(gen::Family family, Choice& choice) : family_(family), choice_(choice) {}

  /// An instruction with any opcode that computes.
  gen::Instruction computing();
  /// An instruction with this opcode, or nothing if none of many attempts can be executed.
  std::optional<gen::Instruction> of(gen::Opcode opcode);
  /// Sets predicate and flags of an instruction whose other fields are set.
  void predicate(gen::Instruction& inst);

 private:
  gen::Instruction attempt(gen::Opcode opcode);
  void types(gen::Instruction& inst);
  void channels(gen::Instruction& inst);
  void destination(gen::Instruction& inst);
  void source(gen::Instruction& inst, unsigned index);
  void ternary_source(gen::Instruction& inst, unsigned index);
  void state_register(gen::Operand& op, bool destination);
  void indirect(const gen::Instruction& inst, gen::Operand& op);
  void region(gen::Operand& op, unsigned lanes);
  void macro(gen::Operand& op);
  gen::Type type_of(gen::TypeSet set);
  std::uint64_t immediate(gen::Type type);
  std::uint8_t general_register() { return static_cast<std::uint8_t>(choice_.below(first_reserved)); }
  bool has_align16() const;

  gen::Family family_;
  Choice& choice_;
};

/// The instruction decoded from the encoding of `inst`, or nothing if lowering does not support it.
std::optional<gen::Instruction> executable(const gen::Instruction& inst, gen::Family family);

/// Whether the opcode computes: it is no message or branch, and neither ends nor stops a thread.
bool computes(gen::Opcode opcode, gen::Family family);

}  // namespace eum::test

#pragma once
// Programs of ALU instructions for the model: each row of instructions.def in each combination of types, with
// regions, modifiers, conditions, saturation, predicates, sizes and channels drawn from a seed.
#include <cstdint>
#include <random>
#include <vector>

#include "frontend/gen/instruction.hpp"
#include "tests/frontend/eu/model/machine.hpp"

namespace eum::model {

/// The types of an instruction: destination, then sources.
struct Combination {
  gen::Opcode opcode;
  gen::MathFunction math = gen::MathFunction::None;
  gen::Type dst;
  std::array<gen::Type, 3> src;
};

/// Every combination of types that the opcode has on the family.
std::vector<Combination> combinations(gen::Opcode opcode, gen::Family family);

class Source {
 public:
  Source(std::uint64_t seed, gen::Family family) : family_(family), random_(seed) {}

  gen::Instruction instruction(const Combination& types);
  /// A machine with registers full of edge values and addresses within the general registers.
  Machine machine();

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <class T>
  T any_of(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }
  std::uint64_t edge(gen::Type type);
  void flags(gen::Instruction& inst);
  void destination(gen::Instruction& inst);
  void source(gen::Instruction& inst, unsigned index);
  void region(gen::Operand& op, unsigned lanes);
  void paired_region(gen::Operand& op, unsigned channels);
  void indirect(gen::Operand& op, unsigned span);
  bool accumulators(gen::Instruction& inst);

  gen::Family family_;
  std::mt19937_64 random_;
};

}  // namespace eum::model

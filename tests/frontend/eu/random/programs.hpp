#pragma once
// Random programs of GEN words: instructions that compute, messages, and structured flow that diverges, with
// loops that end. It must not know how programs are run.
#include <string>
#include <vector>

#include "tests/frontend/eu/random/instructions.hpp"
#include "tests/frontend/eu/random/messages.hpp"
#include "tests/frontend/gen/words.hpp"

namespace eum::test {

/// One instruction of a program. Where it leads is an index of Program::labels.
struct Element {
  static constexpr int nowhere = -1;
  gen::Instruction inst;
  int jip = nowhere;
  int uip = nowhere;
  int distance = nowhere;  ///< its immediate is the bytes to this label from `origin`, or from the start
  int origin = nowhere;
  int unit = 1;                   ///< bytes that the distance counts
  std::int32_t astray = 0;        ///< added to the bytes of its targets
  std::vector<std::byte> word{};  ///< if it has any: in place of `inst`, of 8 or 16 bytes
};

struct Program {
  gen::Family family;
  unsigned simd;
  std::vector<Element> elements;
  std::vector<std::size_t> labels;  ///< the element that each stands before
  bool fixed = false;               ///< words say where they lead, so that all must stay where they are

  /// Its words, one after the other.
  std::vector<std::byte> code() const;
  /// The same without `count` elements; labels before them are before the next one. Where places are fixed,
  /// with nop in place of those that have 16 bytes.
  Program without(std::size_t index, std::size_t count) const;
  /// Words in hexadecimal and as text.
  std::string listing() const;
};

struct ProgramShape {
  unsigned length = 40;      ///< of the main program, about
  unsigned repetitions = 1;  ///< of the whole of it
  bool flow = true;
  bool messages = true;
  bool astray = false;  ///< some branches lead anywhere
};

/// Words that compilers have made, and vectors.
const std::vector<gen::test::TestWord>& corpus_of(gen::Family family);

Program random_program(gen::Family family, unsigned simd, const ProgramShape& shape, std::uint64_t seed);

/// Words that are mostly random, some of them with legal opcodes or damaged ones of the corpus.
Program random_words(gen::Family family, unsigned simd, std::uint64_t seed);

/// A kernel that a compiler has made, some of its words damaged.
Program damaged_kernel(gen::Family family, unsigned simd, std::uint64_t seed);

}  // namespace eum::test

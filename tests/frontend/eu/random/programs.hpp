#pragma once
// Random programs of GEN words: instructions that compute, messages, and structured, divergent control flow
// whose loops end. Independent of how programs are run.
#include <string>
#include <vector>

#include "tests/frontend/eu/random/instructions.hpp"
#include "tests/frontend/eu/random/messages.hpp"
#include "tests/frontend/gen/words.hpp"

namespace eum::test {

/// One instruction of a program. Jump targets are indices into Program::labels.
struct Element {
  static constexpr int nowhere = -1;
  gen::Instruction inst;
  int jip = nowhere;
  int uip = nowhere;
  int distance = nowhere;  ///< its immediate is the bytes to this label from `origin`, or from the start
  int origin = nowhere;
  int unit = 1;                   ///< bytes in a unit of the distance
  std::int32_t astray = 0;        ///< added to the bytes of its targets
  std::vector<std::byte> word{};  ///< 8 or 16 bytes in place of `inst`, if not empty
};

struct Program {
  gen::Family family;
  unsigned simd;
  std::vector<Element> elements;
  std::vector<std::size_t> labels;  ///< index of the element that follows each label
  bool fixed = false;               ///< targets are encoded in the words, so elements must keep their places

  /// The words of all elements.
  std::vector<std::byte> code() const;
  /// The program without `count` elements; labels before them move to the next element. If `fixed`, 16-byte
  /// elements become nops instead.
  Program without(std::size_t index, std::size_t count) const;
  /// The words in hexadecimal and as text.
  std::string listing() const;
};

struct ProgramShape {
  unsigned length = 40;      ///< approximate, of the main program
  unsigned repetitions = 1;  ///< of the main program
  bool flow = true;
  bool messages = true;
  bool astray = false;  ///< some branches have arbitrary targets
};

/// Words from compiled kernels and from vectors.
const std::vector<gen::test::TestWord>& corpus_of(gen::Family family);

Program random_program(gen::Family family, unsigned simd, const ProgramShape& shape, std::uint64_t seed);

/// Mostly random words, some with legal opcodes, and some damaged words of the corpus.
Program random_words(gen::Family family, unsigned simd, std::uint64_t seed);

/// A compiled kernel with some of its words damaged.
Program damaged_kernel(gen::Family family, unsigned simd, std::uint64_t seed);

}  // namespace eum::test

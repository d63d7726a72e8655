#pragma once
// Instruction words for comparison with iga64: from compiled kernels and vectors, damaged, random, and base
// words with one field varied at a time.
#include <cstddef>
#include <random>
#include <vector>

#include "frontend/gen/family.hpp"

namespace eum::gen::test {

/// An instruction of 8 or 16 bytes.
using TestWord = std::vector<std::byte>;

/// The committed kernels of `family`, each as a list of instructions.
std::vector<std::vector<TestWord>> kernels(Family family);

/// Every instruction of the committed kernels of `family`, and the vectors in its encoding.
std::vector<TestWord> corpus(Family family);

enum class Kind {
  Flip,         ///< a word of the corpus with one to three bits flipped
  OtherOpcode,  ///< a word of the corpus with another opcode
  Compacted,    ///< random 8 bytes with an opcode of the family
  Random,       ///< random 16 bytes with an opcode of the family
  Field,        ///< a base word for each opcode and form of its operands, with each field set to its values
};

/// Words of one kind for one family. Kind::Field is finite, in an order that the seed determines.
class WordSource {
 public:
  WordSource(Kind kind, Family family, std::mt19937_64& random);
  std::vector<TestWord> next(std::size_t count);

 private:
  std::vector<TestWord> varied_fields() const;

  Kind kind_;
  Family family_;
  std::mt19937_64& random_;
  std::vector<TestWord> base_;
  std::vector<unsigned> opcodes_;
  std::vector<TestWord> pending_;
};

}  // namespace eum::gen::test

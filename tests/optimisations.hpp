#pragma once
// What tests disable: results must not depend on it.
//   EUMULATE_DISABLE=NAME,NAME...   the tests of engines and of the corpus run without these optimisations
// tests/jit/reduced.sh runs them without each alone, and without all.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "jit/optimisations.hpp"

namespace eum::test {

/// A translation without some optimisations.
struct Reduced {
  std::string name{};  ///< "without linear"
  jit::Optimisations left{};
};

/// By names with commas between them.
inline Reduced reduced_by(const std::string& names) {
  std::vector<std::string> list;
  std::istringstream words(names);
  for (std::string word; std::getline(words, word, ',');) list.push_back(word);
  const auto left = jit::without(list);
  if (!left) FAIL("EUMULATE_DISABLE: " << left.error().message);
  return {"without " + names, *left};
}

/// Without all of them, and without each alone.
inline std::vector<Reduced> every_reduced() {
  std::vector<Reduced> list{reduced_by(std::string(jit::every_optimisation))};
  for (const jit::OptimisationInfo& row : jit::optimisation_table)
    if (row.can_be_disabled()) list.push_back(reduced_by(std::string(row.name)));
  return list;
}

/// What EUMULATE_DISABLE leaves: everything, without a name, where it is not set.
inline Reduced reduced_by_environment() {
  const char* names = std::getenv("EUMULATE_DISABLE");
  return names == nullptr ? Reduced{} : reduced_by(names);
}

/// The one that a test's case with this number takes: of few cases each takes one, of many all come to some.
inline std::size_t in_turn(std::uint64_t number, std::size_t count) {
  return static_cast<std::size_t>((number * 0x9e3779b97f4a7c15u >> 32) % count);
}

}  // namespace eum::test

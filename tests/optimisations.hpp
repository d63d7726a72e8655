#pragma once
// Disabling of optimisations in tests: results must not depend on it.
//   EUMULATE_DISABLE=NAME,NAME...   the tests of engines and of the corpus run without these optimisations
// tests/jit/reduced.sh runs them without each one, and without all.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "jit/optimisations.hpp"

namespace eum::test {

/// A set of optimisations from which some are missing.
struct Reduced {
  std::string name{};  ///< such as "without linear"
  jit::Optimisations left{};
};

/// Without the optimisations in a comma-separated list of names.
inline Reduced reduced_by(const std::string& names) {
  std::vector<std::string> list;
  std::istringstream words(names);
  for (std::string word; std::getline(words, word, ',');) list.push_back(word);
  const auto left = jit::without(list);
  if (!left) FAIL("EUMULATE_DISABLE: " << left.error().message);
  return {"without " + names, *left};
}

/// Without all of them, and without each one.
inline std::vector<Reduced> every_reduced() {
  std::vector<Reduced> list{reduced_by(std::string(jit::every_optimisation))};
  for (const jit::OptimisationInfo& row : jit::optimisation_table)
    if (row.can_be_disabled()) list.push_back(reduced_by(std::string(row.name)));
  return list;
}

/// The optimisations that EUMULATE_DISABLE leaves: all of them, with an empty name, if it is not set.
inline Reduced reduced_by_environment() {
  const char* names = std::getenv("EUMULATE_DISABLE");
  return names == nullptr ? Reduced{} : reduced_by(names);
}

/// The index that case `number` of a test takes, one of `count`: spread so that many cases cover all indices.
inline std::size_t in_turn(std::uint64_t number, std::size_t count) {
  return static_cast<std::size_t>((number * 0x9e3779b97f4a7c15u >> 32) % count);
}

}  // namespace eum::test

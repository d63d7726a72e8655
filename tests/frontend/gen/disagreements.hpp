#pragma once
// Where the decoder and iga64 disagree on purpose: the classes of words, and why.
#include <string>
#include <string_view>
#include <vector>

#include "frontend/gen/family.hpp"

namespace eum::gen::test {

enum class Verdict {
  Stricter,  ///< we refuse what iga64 prints
  Looser,    ///< we print what iga64 refuses
  Text,      ///< both print it, but differently
};

struct Disagreement {
  Verdict verdict;
  FamilyRange families;
  std::string_view name;
  std::string_view ours;    ///< part of our error or text
  std::string_view theirs;  ///< part of iga64's errors or text
  /// For Verdict::Text: the texts are equal without matches of this (ECMAScript regular expression).
  const char* differs_in = "";
};

/// The class of a disagreement, or nullptr if there is none.
const Disagreement* find_disagreement(Verdict verdict, Family family, std::string_view ours,
                                      std::string_view theirs);

/// The errors joined by "; ".
std::string all_of(const std::vector<std::string>& errors);

}  // namespace eum::gen::test

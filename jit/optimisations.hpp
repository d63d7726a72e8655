#pragma once
// The optimisations by name, jit/optimisations.def, and which of them a translation uses: for tests that
// search for a faulty one, and for measuring the gain of each. This file must not know what they do.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "memory/base/result.hpp"

namespace eum::jit {

enum class Optimisation : std::uint8_t {
#define PASS(name, kind, doc) name,
#define CHOICE(name, doc) name,
#include "jit/optimisations.def"
#undef PASS
#undef CHOICE
};

enum class OptimisationKind : std::uint8_t {
  Needed,      ///< a pass that code generation cannot do without: no optimisation
  Optional,    ///< a pass
  Unobserved,  ///< a pass for functions whose registers are not inspected when a thread stops
  Unrestored,  ///< an Unobserved one for functions into whose loops no thread is restored
  Choice,      ///< of code generation
};

struct OptimisationInfo {
  Optimisation optimisation;
  std::string_view name;  ///< as the command line takes it
  OptimisationKind kind;
  std::string_view doc;

  constexpr bool can_be_disabled() const { return kind != OptimisationKind::Needed; }
};

inline constexpr OptimisationInfo optimisation_table[] = {
#define PASS(name, kind, doc) {Optimisation::name, #name, OptimisationKind::kind, doc},
#define CHOICE(name, doc) {Optimisation::name, #name, OptimisationKind::Choice, doc},
#include "jit/optimisations.def"
#undef PASS
#undef CHOICE
};

constexpr const OptimisationInfo& info(Optimisation optimisation) {
  return optimisation_table[static_cast<std::size_t>(optimisation)];
}

/// The optimisations that a translation uses: every row that has not been disabled.
class Optimisations {
 public:
  constexpr bool operator[](Optimisation optimisation) const {
    return (disabled_[word(optimisation)] & bit(optimisation)) == 0;
  }
  /// Has no effect on a needed pass.
  constexpr void disable(Optimisation optimisation) {
    if (info(optimisation).can_be_disabled()) disabled_[word(optimisation)] |= bit(optimisation);
  }
  bool operator==(const Optimisations&) const = default;

 private:
  static constexpr unsigned word_bits = 64;
  static constexpr std::size_t word(Optimisation optimisation) {
    return static_cast<std::size_t>(optimisation) / word_bits;
  }
  static constexpr std::uint64_t bit(Optimisation optimisation) {
    return std::uint64_t{1} << static_cast<unsigned>(optimisation) % word_bits;
  }
  std::array<std::uint64_t, std::size(optimisation_table) / word_bits + 1> disabled_{};
};

/// The name for all that can be disabled.
inline constexpr std::string_view every_optimisation = "all";

/// The optimisations without the named ones. An error lists the valid names.
Result<Optimisations> without(std::span<const std::string> names);
/// "strided_conversions, forward_state, ..."
std::string optimisation_names();

}  // namespace eum::jit

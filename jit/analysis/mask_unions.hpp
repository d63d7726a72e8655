#pragma once
// MaskUnions: within a block, masks as unions of what mask variables held before it, whole or split by a
// condition. It knows no host.
#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/ir/function.hpp"

namespace eum::jit {

class MaskUnions {
 public:
  /// A set of mask variables, a bit each; variable 0 is the execution mask. `anywhere`: nothing is known.
  using Variables = std::uint64_t;
  static constexpr Variables anywhere = ~Variables{0};
  static constexpr unsigned most_variables = 63;

  /// What a mask variable held before the block, or the part of that for which a condition holds, or does
  /// not.
  struct Part {
    std::uint64_t variable;
    ir::ValueId condition = ir::no_value;
    bool negated = false;

    bool whole() const { return condition == ir::no_value; }
    bool completes(const Part& other) const {
      return variable == other.variable && !whole() && condition == other.condition &&
             negated != other.negated;
    }
  };
  /// A union of parts: all of a mask, or some of it.
  struct Union {
    std::vector<Part> parts;
    bool exact = false;  ///< it is all of the mask
  };

  /// The function has at most most_variables + 1 variables.
  explicit MaskUnions(const ir::Function& function) : function_(function), unions_(function.values.size()) {}

  /// Follows masks through the block, of which the rest then tells.
  void follow(const ir::Block& block);
  const Union& of(ir::ValueId mask) const { return unions_[mask]; }
  /// What the variable holds after the block, if that has set it.
  const Union* set(std::uint64_t variable) const;
  /// The variables that contain the channels after the block, if those of `before` do before it, both
  /// together with the execution mask, and `none`, if it is a variable, had no channel.
  Variables behind(Variables before, std::optional<std::uint64_t> none) const;
  /// The variables that contain nothing but some channels after the block, if those of `before`, which may
  /// include the execution mask, do so before it.
  Variables within(Variables before) const;
  /// The variable that had no channel before the block, if the block is left by its edge for no channel.
  std::optional<std::uint64_t> without_any(const ir::Inst& terminator) const;

 private:
  struct Set {
    std::uint64_t variable;
    Union to;
  };

  Union content(std::uint64_t variable) const;
  Variables holders_of(std::uint64_t variable) const;
  void follow(const ir::Inst& inst);
  Union where(const Union& of, const Part& cut) const;
  Part simple(std::uint64_t variable, const Part& cut) const;

  const ir::Function& function_;
  std::vector<Union> unions_;  // of each mask
  std::vector<Set> now_;       // variables that the block has set
};

}  // namespace eum::jit

#pragma once
// The binding table index or sampler index that a surface or sampler variable holds at each instruction, if a
// movs in the same straight-line code sets it. It must not know messages.
#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/visa/kernel.hpp"

namespace eum::visa {

class Surfaces {
 public:
  Surfaces() = default;
  explicit Surfaces(const Kernel& kernel);

  /// The value of the variable's first element before `instruction` (an index), if it is known.
  std::optional<std::uint32_t> known(std::uint32_t instruction, VariableId variable) const;

 private:
  struct Known {
    std::uint32_t instruction;
    VariableId variable;
    std::uint32_t value;
  };
  std::vector<Known> known_;  ///< by instruction, for those that name the variable
};

}  // namespace eum::visa

#pragma once
// Which binding table index or sampler a surface or sampler variable holds at each instruction, where movs
// says so in the same straight run of instructions. It must not know messages.
#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/visa/kernel.hpp"

namespace eum::visa {

class Surfaces {
 public:
  Surfaces() = default;
  explicit Surfaces(const Kernel& kernel);

  /// The value of the variable's first element when `instruction` (an index) begins, if it is known.
  std::optional<std::uint32_t> known(std::uint32_t instruction, VariableId variable) const;

 private:
  struct Known {
    std::uint32_t instruction;
    VariableId variable;
    std::uint32_t value;
  };
  std::vector<Known> known_;  ///< by instruction; of those that name the variable
};

}  // namespace eum::visa

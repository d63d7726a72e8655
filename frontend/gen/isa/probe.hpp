#pragma once
// The result of lowering one instruction. It must not know tables of instructions.
#include <optional>
#include <string>

#include "frontend/gen/instruction.hpp"
#include "frontend/gen/isa/isa.hpp"

namespace eum::gen {

struct Probed {
  Execution execution = Execution::Native;
  std::string reason;  ///< if Unsupported
};

/// Translates and lowers `instruction`, whose offset is 0, in a kernel of 16 channels that ends after it.
Probed probe(const Instruction& instruction, Family family);

}  // namespace eum::gen

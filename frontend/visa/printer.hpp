#pragma once
// From the data of vISA to text that parses to the same.
#include <string>

#include "frontend/visa/kernel.hpp"

namespace eum::visa {

std::string print(const Module& module);
/// One instruction without indent and line end; a label with its colon.
std::string print(const Kernel& kernel, const Instruction& instruction);

}  // namespace eum::visa

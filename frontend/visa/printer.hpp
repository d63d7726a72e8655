#pragma once
// Prints the data of vISA as text that parses to the same data.
#include <string>

#include "frontend/visa/kernel.hpp"

namespace eum::visa {

std::string print(const Module& module);
/// One instruction without indentation and line end; a label with its colon.
std::string print(const Kernel& kernel, const Instruction& instruction);

}  // namespace eum::visa

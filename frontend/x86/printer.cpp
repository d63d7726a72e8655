// Prints from the form table.
#include "frontend/x86/printer.hpp"

#include <fmt/core.h>

namespace eum::x86 {

std::string print(const Instruction& instruction) {
  const FormInfo& form = info(instruction.form);
  std::string data(gpr_names[instruction.data % gpr_count]);
  std::string address = instruction.is_immediate() ? fmt::format("{:#x}", instruction.msr)
                                                   : std::string(gpr_names[instruction.index % gpr_count]);
  const std::string& destination = instruction.is_read() ? data : address;
  const std::string& source = instruction.is_read() ? address : data;
  return fmt::format("{} {}, {}", form.mnemonic, destination, source);
}

}  // namespace eum::x86

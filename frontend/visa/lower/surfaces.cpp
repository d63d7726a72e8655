// Propagates movs of immediates forward within straight-line code.
#include "frontend/visa/lower/surfaces.hpp"

#include <algorithm>
#include <utility>

namespace eum::visa {
namespace {

/// Whether control may arrive at the instruction from elsewhere, or other code may write variables.
bool breaks_run(Opcode opcode) {
  switch (opcode) {
    case Opcode::label:
    case Opcode::subroutine:
    case Opcode::call:
    case Opcode::fccall:
    case Opcode::fcall:
    case Opcode::ifcall:
      return true;
    default:
      return false;
  }
}

}  // namespace

Surfaces::Surfaces(const Kernel& kernel) {
  std::vector<std::pair<VariableId, std::uint32_t>> now;
  const auto find = [&](VariableId variable) {
    return std::find_if(now.begin(), now.end(), [&](const auto& entry) { return entry.first == variable; });
  };
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction& inst = kernel.instructions[i];
    if (breaks_run(inst.opcode)) {
      now.clear();
      continue;
    }
    const std::span<const Operand> operands = kernel.operands_of(inst);
    if (inst.opcode == Opcode::movs && operands[0].kind == OperandKind::State) {
      if (const auto old = find(operands[0].variable); old != now.end()) now.erase(old);
      const bool whole = inst.no_mask && inst.exec_size == 1 && operands[0].column == 0;
      if (whole && operands[1].kind == OperandKind::Immediate)
        now.emplace_back(operands[0].variable, static_cast<std::uint32_t>(operands[1].immediate));
      continue;
    }
    for (const Operand& op : operands)
      if (op.kind == OperandKind::Name)
        if (const auto it = find(op.variable); it != now.end())
          known_.push_back({i, op.variable, it->second});
  }
}

std::optional<std::uint32_t> Surfaces::known(std::uint32_t instruction, VariableId variable) const {
  auto it =
      std::lower_bound(known_.begin(), known_.end(), instruction,
                       [](const Known& entry, std::uint32_t wanted) { return entry.instruction < wanted; });
  for (; it != known_.end() && it->instruction == instruction; ++it)
    if (it->variable == variable) return it->value;
  return std::nullopt;
}

}  // namespace eum::visa

// Computes lifetimes in one pass over the operands and one over the loops of each variable.
#include "frontend/visa/lower/lifetimes.hpp"

#include <algorithm>

namespace eum::visa {
namespace {

bool names_variable(OperandKind kind) {
  switch (kind) {
    case OperandKind::General:
    case OperandKind::Indirect:
    case OperandKind::Address:
    case OperandKind::AddressOf:
    case OperandKind::Predicate:
    case OperandKind::State:
    case OperandKind::Raw:
    case OperandKind::Name:
      return true;
    default:
      return false;
  }
}

bool is_branch(Opcode opcode) {
  return opcode == Opcode::goto_ || opcode == Opcode::jmp || opcode == Opcode::switchjmp;
}

bool is_call(Opcode opcode) {
  return opcode == Opcode::call || opcode == Opcode::fccall || opcode == Opcode::fcall ||
         opcode == Opcode::ifcall;
}

struct Loop {
  std::uint32_t first, last;
};

/// Loops, in order: each from the target of a back edge to the last branch to it; overlapping loops are
/// merged.
std::vector<Loop> loops_of(const Kernel& kernel) {
  std::vector<Loop> loops;
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction& inst = kernel.instructions[i];
    if (!is_branch(inst.opcode)) continue;
    for (const Operand& op : kernel.operands_of(inst))
      if (op.kind == OperandKind::Label)
        if (const std::uint32_t to = kernel.labels[op.variable].instruction; to <= i)
          loops.push_back({to, i});
  }
  std::sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) { return a.first < b.first; });
  std::vector<Loop> merged;
  for (const Loop& loop : loops) {
    if (!merged.empty() && loop.first <= merged.back().last)
      merged.back().last = std::max(merged.back().last, loop.last);
    else
      merged.push_back(loop);
  }
  return merged;
}

/// Index of the operand that an instruction writes entirely, or -1; for messages the response, unless it is
/// merged.
int destination_of(const Kernel& kernel, const Instruction& inst) {
  if (inst.predicate.variable != no_variable || inst.operand_count == 0) return -1;
  switch (inst.opcode) {
    case Opcode::gather_scaled:
    case Opcode::gather4_scaled:
      return 3;
    case Opcode::oword_ld:
    case Opcode::oword_ld_unaligned:
    case Opcode::svm_gather4scaled:
      return 2;
    case Opcode::svm_gather:
    case Opcode::svm_block_ld:
    case Opcode::lsc:
      return 1;
    default:
      break;
  }
  const OperandKind kind = kernel.operands_of(inst)[0].kind;
  return kind == OperandKind::Name || kind == OperandKind::Raw ? -1 : 0;
}

/// What is known of a variable during the pass over the kernel.
struct Seen {
  std::uint32_t block = 0;
  bool one_block = true;
  bool written_first = false;
};

}  // namespace

std::vector<Lifetime> lifetimes(const Kernel& kernel) {
  std::vector<Lifetime> result(kernel.variables.size());
  std::vector<Seen> seen(kernel.variables.size());
  std::uint32_t block = 0;
  bool calls = false;
  const auto note = [&](VariableId variable, std::uint32_t at, Lifetime::Use use, bool writes_all) {
    const VariableId root = kernel.place(variable).root;
    Lifetime& life = result[root];
    Seen& known = seen[root];
    if (life.use == Lifetime::Use::None) known = {block, true, writes_all};
    known.one_block &= known.block == block;
    life.use = std::max(life.use, use);
    life.first = std::min(life.first, at);
    life.last = std::max(life.last, at);
  };
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction& inst = kernel.instructions[i];
    if (inst.opcode == Opcode::label) ++block;
    calls |= is_call(inst.opcode);
    const std::span<const Operand> operands = kernel.operands_of(inst);
    if (inst.predicate.variable != no_variable) note(inst.predicate.variable, i, Lifetime::Use::Named, false);
    const auto note_operand = [&](const Operand& op, bool writes_all) {
      if (!names_variable(op.kind)) return;
      note(op.variable, i,
           op.kind == OperandKind::AddressOf ? Lifetime::Use::Addressed : Lifetime::Use::Named, writes_all);
    };
    // Sources come before the destination: a variable that is read first is live-in.
    const int destination = destination_of(kernel, inst);
    for (int k = 0; k < static_cast<int>(operands.size()); ++k)
      if (k != destination) note_operand(operands[static_cast<std::size_t>(k)], false);
    if (destination >= 0) note_operand(operands[static_cast<std::size_t>(destination)], true);
    if (is_branch(inst.opcode)) ++block;
  }
  const auto end = static_cast<std::uint32_t>(kernel.instructions.size());
  if (calls) {
    for (Lifetime& life : result) {
      life.first = 0;
      life.last = end;
    }
    return result;
  }
  const std::vector<Loop> loops = loops_of(kernel);
  for (VariableId id = 0; id < result.size(); ++id) {
    Lifetime& life = result[id];
    if (life.use == Lifetime::Use::None || (seen[id].one_block && seen[id].written_first)) continue;
    auto loop = std::partition_point(loops.begin(), loops.end(),
                                     [&](const Loop& each) { return each.last < life.first; });
    for (; loop != loops.end() && loop->first <= life.last; ++loop) {
      life.first = std::min(life.first, loop->first);
      life.last = std::max(life.last, loop->last);
    }
  }
  return result;
}

}  // namespace eum::visa

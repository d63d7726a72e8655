#include "jit/passes/control.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "frontend/ir/float_ops.hpp"
#include "jit/analysis/liveness.hpp"

namespace eum::jit {
namespace {

using ir::Inst;
using ir::Op;
using ir::ValueId;

/// Whether a reg_write or reg_scatter may write a part of the dword at `offset` of the register file.
bool touches(const Inst& inst, std::uint32_t offset) {
  if (inst.op == Op::reg_scatter) return true;
  const SlotRange range = slots_of(inst, sizeof(std::uint32_t));
  return offset / sizeof(std::uint32_t) >= range.first && offset / sizeof(std::uint32_t) <= range.last;
}

bool is_dword(const Inst& inst) {
  return inst.lanes == 1 && ir::is_int(inst.type) && ir::size_of(inst.type) == sizeof(std::uint32_t);
}

bool depends_on_mode(const Inst& inst) {
  const ir::Effect effect = ir::info(inst.op).effect;
  return ir::computes_on_floats(inst) || effect == ir::Effect::WritesMemory ||
         effect == ir::Effect::Control || effect == ir::Effect::Effect;
}

void make_constant(Inst& inst, std::uint32_t bits) {
  inst.op = Op::constant;
  inst.mask = ir::no_value;
  inst.arg_count = 0;
  inst.imm = bits;
}

std::optional<std::uint32_t> constant_in(std::span<const Inst> insts, ValueId value) {
  const auto found = std::ranges::find(insts, value, &Inst::result);
  if (found == insts.end() || found->op != Op::constant) return std::nullopt;
  return static_cast<std::uint32_t>(found->imm);
}

/// The op on two constants; nothing for ops with which cr0 is not computed.
std::optional<std::uint32_t> combined(Op op, std::uint32_t a, std::uint32_t b) {
  switch (op) {
    case Op::and_:
      return a & b;
    case Op::or_:
      return a | b;
    case Op::xor_:
      return a ^ b;
    default:
      return std::nullopt;
  }
}

using Known = std::optional<std::uint32_t>;

/// What is known of a number as each block is entered: `begin` at block 0. through(block, known) is what is
/// known after a block.
template <class Through>
std::vector<Known> known_as_entered(const ir::Function& function, Known begin, Through through) {
  std::vector<Known> entered(function.blocks.size());
  if (!is_begun_only(function)) return entered;
  std::vector<bool> reached(function.blocks.size());
  std::vector<ir::BlockId> changed{0};
  entered[0] = begin;
  reached[0] = true;
  while (!changed.empty()) {
    const ir::BlockId block = changed.back();
    changed.pop_back();
    const Known behind = through(block, entered[block]);
    for (const ir::BlockId next : ir::successors(function.blocks[block].insts.back())) {
      if (next == ir::no_block) continue;
      const Known met = !reached[next] || entered[next] == behind ? behind : std::nullopt;
      if (reached[next] && entered[next] == met) continue;
      reached[next] = true;
      entered[next] = met;
      changed.push_back(next);
    }
  }
  return entered;
}

/// The mode after a block.
Known mode_behind(const ir::Function& function, ir::BlockId block, Known mode) {
  const auto& insts = function.blocks[block].insts;
  const auto set =
      std::find_if(insts.rbegin(), insts.rend(), [](const Inst& inst) { return inst.op == Op::fpmode_set; });
  return set == insts.rend() ? mode : constant_in(insts, function.args(*set)[0]);
}

/// cr0.0, whose register is at `offset`, after a block; calls found(inst, bits) for what is computed from it.
/// `known`: of each value, its number if it is a constant that cr0 may be computed from.
template <class Block, class Found>
Known control_behind(const ir::Function& function, Block& block, std::uint32_t offset, Known control,
                     std::vector<Known>& known, Found found) {
  for (auto& inst : block.insts) {
    const bool writes = inst.op == Op::reg_write || inst.op == Op::reg_scatter;
    if (writes && touches(inst, offset)) {
      const bool whole =
          inst.op == Op::reg_write && inst.region.offset == offset && inst.mask == ir::no_value;
      control = whole && is_dword(inst) ? known[function.arg(inst, 0)] : std::nullopt;
    }
    if (!is_dword(inst) || inst.result_count == 0) continue;
    Known& bits = known[inst.result];
    bits.reset();  // it may have been known with what another path brings
    if (inst.op == Op::constant) {
      bits = static_cast<std::uint32_t>(inst.imm);
      continue;
    }
    if (inst.op == Op::reg_read && inst.region.offset == offset) {
      bits = control;
    } else if (inst.arg_count == 2) {
      const Known a = known[function.arg(inst, 0)], b = known[function.arg(inst, 1)];
      if (a && b) bits = combined(inst.op, *a, *b);
    }
    if (bits) found(inst, *bits);
  }
  return control;
}

}  // namespace

bool is_begun_only(const ir::Function& function) {
  return std::ranges::none_of(function.blocks, [](const ir::Block& block) {
    const Inst& end = block.insts.back();
    return end.op == Op::jump_ip ||
           std::ranges::any_of(ir::successors(end), [](ir::BlockId b) { return b == 0; });
  });
}

ModeUse mode_use_of(const ir::Function& function) {
  ModeUse use;
  Known set;
  const auto& begin = function.blocks[0].insts;
  for (const Inst& inst : begin) {
    if (inst.op == Op::fpmode_set) {
      use.first = true;
      set = constant_in(begin, function.args(inst)[0]);
      break;
    }
    if (ir::may_leave(inst.op) || depends_on_mode(inst)) break;
  }
  const auto behind = [&](ir::BlockId block, Known mode) { return mode_behind(function, block, mode); };
  use.entered = known_as_entered(function, std::nullopt, behind);
  if (!set || !is_begun_only(function)) return use;
  for (ir::BlockId b = 0; b < function.blocks.size(); ++b) {
    const Op end = function.blocks[b].insts.back().op;
    if ((end == Op::exit || end == Op::wait) && behind(b, use.entered[b]) != set) return use;
  }
  use.usual = set;
  use.entered[0] = set;
  return use;
}

void fold_control(ir::Function& function, const KnownRegister& control) {
  std::vector<Known> known(function.values.size());
  const auto entered = known_as_entered(function, control.value, [&](ir::BlockId block, Known begin) {
    return control_behind(function, std::as_const(function.blocks[block]), control.offset, begin, known,
                          [](const Inst&, std::uint32_t) {});
  });
  for (ir::BlockId b = 0; b < function.blocks.size(); ++b)
    control_behind(function, function.blocks[b], control.offset, entered[b], known, make_constant);
}

}  // namespace eum::jit

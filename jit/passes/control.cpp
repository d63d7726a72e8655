#include "jit/passes/control.hpp"

#include <algorithm>
#include <unordered_map>

#include "frontend/ir/float_ops.hpp"
#include "jit/passes/liveness.hpp"

namespace eum::jit {
namespace {

using ir::Inst;
using ir::Op;
using ir::ValueId;

bool is_begun_only(const ir::Function& function) {
  return std::ranges::none_of(function.blocks, [](const ir::Block& block) {
    const Inst& end = block.insts.back();
    return end.op == Op::jump_ip ||
           std::ranges::any_of(ir::successors(end), [](ir::BlockId b) { return b == 0; });
  });
}

bool touches(const Inst& inst, std::uint32_t offset) {
  if (inst.op == Op::reg_scatter) return true;
  if (inst.op != Op::reg_write) return false;
  const SlotRange range = slots_of(inst, sizeof(std::uint32_t));
  return offset / sizeof(std::uint32_t) >= range.first && offset / sizeof(std::uint32_t) <= range.last;
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

/// Of two constants; nothing: an op that cr0 is not computed by.
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

}  // namespace

ModeUse mode_use_of(const ir::Function& function) {
  ModeUse use;
  const auto& begin = function.blocks[0].insts;
  for (const Inst& inst : begin) {
    if (inst.op == Op::fpmode_set) {
      use.first = true;
      const auto mode = std::ranges::find(begin, function.args(inst)[0], &Inst::result);
      if (mode->op == Op::constant) use.always = static_cast<std::uint32_t>(mode->imm);
      break;
    }
    if (ir::may_leave(inst.op) || depends_on_mode(inst)) break;
  }
  std::size_t sets = 0;
  for (const ir::Block& block : function.blocks)
    sets += static_cast<std::size_t>(std::ranges::count(block.insts, Op::fpmode_set, &Inst::op));
  if (sets != 1 || !is_begun_only(function)) use.always.reset();
  return use;
}

void fold_control(ir::Function& function, const KnownRegister& control) {
  if (!is_begun_only(function)) return;
  std::unordered_map<ValueId, std::uint32_t> known;
  for (Inst& inst : function.blocks[0].insts) {
    if (inst.op == Op::fpmode_set || touches(inst, control.offset)) return;
    if (inst.lanes != 1 || ir::size_of(inst.type) != sizeof control.value || !ir::is_int(inst.type)) continue;
    if (inst.op == Op::reg_read && inst.region.offset == control.offset) {
      make_constant(inst, control.value);
    } else if (inst.arg_count == 2 && combined(inst.op, 0, 0)) {
      const auto a = known.find(function.arg(inst, 0)), b = known.find(function.arg(inst, 1));
      if (a != known.end() && b != known.end()) make_constant(inst, *combined(inst.op, a->second, b->second));
    }
    if (inst.op == Op::constant) known[inst.result] = static_cast<std::uint32_t>(inst.imm);
  }
}

}  // namespace eum::jit

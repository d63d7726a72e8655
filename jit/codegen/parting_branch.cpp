// Recognises the end of a block that parks channels:
//   %stay = not %go, or the other way round
//   variable |= %stay; execution mask = %go; branch_any %go
#include "jit/codegen/parting_branch.hpp"

namespace eum::jit::codegen {

std::optional<PartingBranch> parting_branch(std::span<const CodeInst> insts) {
  constexpr std::size_t length = 6;
  using ir::Op;
  if (insts.size() < length) return std::nullopt;
  const auto end = insts.last(length);
  const CodeInst &complement = end[0], &get = end[1], &sum = end[2], &park = end[3], &turn_on = end[4],
                 &branch = end[5];
  const bool ops = complement.op == Op::not_ && get.op == Op::mask_get && sum.op == Op::or_ &&
                   park.op == Op::mask_set && turn_on.op == Op::mask_set && branch.op == Op::branch_any;
  if (!ops || get.imm == 0 || park.imm != get.imm || turn_on.imm != 0) return std::nullopt;
  const ir::ValueId whole = complement.args[0], rest = complement.result, on = turn_on.args[0];
  if ((on != whole && on != rest) || branch.args[0] != on || park.args[0] != sum.result) return std::nullopt;
  const ir::ValueId off = on == whole ? rest : whole;
  const bool adds =
      (sum.args[0] == get.result && sum.args[1] == off) || (sum.args[1] == get.result && sum.args[0] == off);
  if (!adds || branch.targets.taken == branch.targets.fallthrough) return std::nullopt;
  return PartingBranch{whole, on == whole, get.imm, insts.size() - length, &branch};
}

}  // namespace eum::jit::codegen

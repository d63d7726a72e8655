#pragma once
// Where channels reconverge: a block that begins with
//   execution mask = execution mask | mask variable k, then mask variable k = 0.
// Doing that twice has the same effect as doing it once. It knows no host.
#include <optional>

#include "frontend/ir/function.hpp"

namespace eum::jit {

/// The instructions of such a block: both masks, `all` of the channels, which are turned on, and an empty
/// mask `none`, to which the variable is set. The rest of the block begins at `end`.
struct Reconvergence {
  static constexpr std::size_t all = 2, turn_on = 3, none = 4, clear = 5, end = 6;
};

/// k, if the block begins like that.
inline std::optional<std::uint64_t> reconverges_from(const ir::Function& function, const ir::Block& block) {
  const auto& insts = block.insts;
  using At = Reconvergence;
  if (insts.size() <= At::end) return std::nullopt;
  const ir::Inst &first = insts[0], &second = insts[1], &all = insts[At::all], &on = insts[At::turn_on],
                 &none = insts[At::none], &clear = insts[At::clear];
  if (first.op != ir::Op::mask_get || second.op != ir::Op::mask_get) return std::nullopt;
  if ((first.imm == 0) == (second.imm == 0)) return std::nullopt;
  const std::uint64_t variable = first.imm + second.imm;
  const auto arg = [&](const ir::Inst& inst, unsigned k) { return function.arg(inst, k); };
  const bool joins =
      all.op == ir::Op::or_ && ((arg(all, 0) == first.result && arg(all, 1) == second.result) ||
                                (arg(all, 0) == second.result && arg(all, 1) == first.result));
  const bool turns_on = on.op == ir::Op::mask_set && on.imm == 0 && joins && arg(on, 0) == all.result;
  const bool clears = none.op == ir::Op::constant && none.imm == 0 && clear.op == ir::Op::mask_set &&
                      clear.imm == variable && arg(clear, 0) == none.result;
  return turns_on && clears ? std::optional(variable) : std::nullopt;
}

/// The same for a block that begins again in its full version if no channel is inactive after that, if it is
/// long enough for that to pay.
inline std::optional<std::uint64_t> begins_again_from(const ir::Function& function, const ir::Block& block) {
  constexpr std::uint32_t worth_it = 4;  // guest instructions
  return block.guest_instructions < worth_it ? std::nullopt : reconverges_from(function, block);
}

}  // namespace eum::jit

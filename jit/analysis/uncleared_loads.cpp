#include "jit/analysis/uncleared_loads.hpp"

#include <algorithm>

#include "jit/analysis/block_needs.hpp"

namespace eum::jit {

UnclearedLoads::UnclearedLoads(const ir::Function& function) {
  const auto is_candidate = [](const ir::Inst& inst) {
    return inst.op == ir::Op::load && inst.mask != ir::no_value;
  };
  found_.resize(function.values.size());
  std::vector<bool> gives_address(function.values.size());
  BlockNeeds needs(function);
  for (const ir::Block& block : function.blocks) {
    if (std::ranges::none_of(block.insts, is_candidate)) continue;
    needs.begin(block);
    for (std::size_t i = block.insts.size(); i-- > 0;) {
      const ir::Inst& inst = block.insts[i];
      const auto args = function.args(inst);
      bool gives = false;
      for (unsigned k = 0; k < inst.result_count; ++k) gives = gives || gives_address[inst.result + k];
      if (gives && ir::is_pure(inst.op))
        for (const ir::ValueId arg : args) gives_address[arg] = true;
      if (ir::shape_of(inst.op).has_memory())
        gives_address[args[function.access(inst).address_operand()]] = true;
      if (!is_candidate(inst) || gives) continue;
      const Need need = needs.of_results(inst);
      found_[inst.result] = need.what == Need::Under && needs.is_within(need.lanes, needs.root(inst.mask));
    }
  }
}

}  // namespace eum::jit

#pragma once
// What passes share that replace an op of one result by several ops.
#include <algorithm>
#include <vector>

#include "frontend/ir/builder.hpp"

namespace eum::jit {

/// append(builder, inst) for each instruction that is wanted(inst), in its place: the last op that it appends
/// gives the result, under the id that it has had.
template <class Wanted, class Append>
void rewrite(ir::Function& function, Wanted wanted, Append append) {
  ir::Builder builder(function);
  for (ir::BlockId id = 0; id < function.blocks.size(); ++id) {
    auto& insts = function.blocks[id].insts;
    const auto first = std::find_if(insts.begin(), insts.end(), wanted);
    if (first == insts.end()) continue;
    const std::pmr::vector<ir::Inst> rest(first, insts.end(), function.resource);
    insts.erase(first, insts.end());
    builder.set_block(id);
    for (const ir::Inst& inst : rest) {
      if (!wanted(inst)) {
        insts.push_back(inst);
        continue;
      }
      builder.set_guest_ip(inst.guest_ip);
      append(builder, inst);
      insts.back().result = inst.result;
      function.values.pop_back();
    }
  }
}

}  // namespace eum::jit

#include "jit/codegen/small_loops.hpp"

#include <algorithm>
#include <cstddef>

namespace eum::jit::codegen {

namespace {

constexpr std::size_t most_vectors = 48;  ///< of eight dwords; 170 bytes each

/// Counts vectors of dwords and qwords that the block loads with one address per lane, and vectors of eight
/// elements that it reads that way from the register file.
std::size_t loaded_vectors(const ir::Function& function, const ir::Block& block) {
  std::size_t bytes = 0;
  for (const ir::Inst& inst : block.insts) {
    const bool loads = inst.op == ir::Op::load && function.access(inst).component_count() == 1;
    const std::size_t element = ir::size_of(inst.type);
    if (loads && element >= 4) bytes += inst.lanes * element;
    if (inst.op == ir::Op::reg_gather && element <= 4) bytes += std::size_t{4} * inst.lanes;
  }
  return bytes / 32;
}

}  // namespace

SmallLoops::SmallLoops(const ir::Function& function, const LoopSlots& loops) {
  const auto blocks = static_cast<ir::BlockId>(function.blocks.size());
  std::vector<std::size_t> before(blocks + 1);  // in front of each block
  for (ir::BlockId b = 0; b < blocks; ++b)
    before[b + 1] = before[b] + loaded_vectors(function, function.blocks[b]);
  blocks_.assign(blocks, before[blocks] <= most_vectors);
  // Inner loops come behind the outer ones that they are in.
  for (ir::BlockId header = 0; header < blocks; ++header) {
    if (!loops.heads_loop(header)) continue;
    const ir::BlockId end = loops.last(header) + 1;
    std::fill(blocks_.begin() + header, blocks_.begin() + end, before[end] - before[header] <= most_vectors);
  }
}

}  // namespace eum::jit::codegen

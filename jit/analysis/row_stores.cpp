#include "jit/analysis/row_stores.hpp"

#include <algorithm>
#include <optional>

#include "jit/analysis/block_facts.hpp"
#include "jit/analysis/loop_steps.hpp"
#include "jit/analysis/row_walks.hpp"

namespace eum::jit {
namespace {

using ir::BlockId;
using ir::Inst;
using ir::Op;

/// Whether the mask is of all lanes if all channels are active.
bool is_execution_mask(const ir::Function& function, const ir::Block& block, ir::ValueId mask) {
  const Inst* const inst = definition(block, mask);
  if (inst && inst->op == Op::slice) return is_execution_mask(function, block, function.arg(*inst, 0));
  return inst && inst->op == Op::mask_get && inst->imm == 0;
}

/// The loop that `b` forms, if it stores along rows.
std::optional<RowStoreLoop> loop_of(const ir::Function& function, const LinearUses& uses, BlockId b) {
  const ir::Block& block = function.blocks[b];
  RowStoreLoop loop{.block = b, .stores = {}, .surfaces = {}};
  std::optional<LoopSteps> steps;
  unsigned lanes = 0;
  for (std::uint32_t i = 0; i < block.insts.size(); ++i) {
    const Inst& inst = block.insts[i];
    if (!ir::shape_of(inst.op).has_memory()) {
      if (RowWalks::may_end(inst.op)) return std::nullopt;
      continue;
    }
    const ir::MemoryAccess& access = function.access(inst);
    const auto surface = static_cast<std::uint8_t>(access.surface);
    if (inst.op == Op::load && access.space == ir::MemSpace::Slm) continue;
    if ((inst.op != Op::load && inst.op != Op::store) || !access.is_fixed_surface()) return std::nullopt;
    if (std::ranges::find(loop.surfaces, surface) == loop.surfaces.end()) loop.surfaces.push_back(surface);
    if (inst.op == Op::load) continue;
    const auto known = uses.of(b, true);
    const auto use = std::ranges::find(known, i, &LinearUse::index);
    const bool is_run = use != known.end() && use->run.run != 0;
    const bool is_whole = inst.mask == ir::no_value || is_execution_mask(function, block, inst.mask);
    lanes += inst.lanes;
    if (is_run || !is_whole || inst.lanes % 8 != 0 || access.component_count() != 1 ||
        ir::size_of(inst.type) != RowStores::element_bytes || lanes > RowStores::most_lanes ||
        std::ranges::find(loop.stores, inst.guest_ip, &RowStore::guest_ip) != loop.stores.end())
      return std::nullopt;
    if (!steps) steps.emplace(function, std::span(&b, 1));
    if (steps->of_address(inst) != RowStores::element_bytes) return std::nullopt;
    const std::uint32_t offset = access.offset + access.component(0) * RowStores::element_bytes;
    loop.stores.push_back({inst.guest_ip, inst.lanes, surface, offset});
  }
  const auto reads_stored = [&](const Inst& inst) {
    if (inst.op != Op::load || !function.access(inst).is_fixed_surface()) return false;
    const auto surface = static_cast<std::uint8_t>(function.access(inst).surface);
    return std::ranges::find(loop.stores, surface, &RowStore::surface) != loop.stores.end();
  };
  if (loop.stores.empty() || std::ranges::any_of(block.insts, reads_stored)) return std::nullopt;
  return loop;
}

}  // namespace

RowStores::RowStores(const ir::Function& function, const LinearUses& uses) {
  for (BlockId b = 0; b < function.blocks.size() && loops.size() < most_loops; ++b) {
    const auto successors = ir::successors(function.blocks[b].insts.back());
    if (std::ranges::find(successors, b) == successors.end()) continue;
    if (auto loop = loop_of(function, uses, b)) loops.push_back(std::move(*loop));
  }
}

}  // namespace eum::jit

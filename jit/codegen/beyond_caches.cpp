#include "jit/codegen/beyond_caches.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "jit/analysis/shared_rows.hpp"

namespace eum::jit::codegen {

namespace {

using ir::Inst;
using ir::MemSpace;
using ir::Op;

/// Numbers of buffers: surfaces, then regions of accesses by address, each of which counts as one buffer,
/// then everything else: buffers known only at run time, and memory that is no buffer.
constexpr std::size_t most = std::numeric_limits<std::uint8_t>::max() + std::size_t{1};
constexpr std::size_t unknown = 2 * most;
using Buffers = std::array<bool, unknown + 1>;

std::size_t buffer_of(const Inst& inst, const ir::MemoryAccess& access, const RegionNumbers& regions) {
  if (ir::info(access.space).in_space) return most + regions.of(inst);
  return access.is_fixed_surface() ? access.surface : unknown;
}

/// Whether the store at `index` is known to write all of a run, if all channels are active, perhaps together
/// with stores of the same rows (SharedRows).
bool fills_run(const Inst& store, std::uint32_t index, const ir::MemoryAccess& access,
               std::span<const ScalarRun> runs) {
  const std::size_t element = ir::size_of(store.type), bytes = access.component_count() * element;
  const auto run = std::ranges::lower_bound(runs, index, {}, &ScalarRun::index);
  if (element < 4 || run == runs.end() || run->index != index || run->run.stride <= 0) return false;
  const std::size_t stride = static_cast<std::size_t>(run->run.stride) * access.scale;
  return stride == bytes ||
         (bytes == SharedRows::bytes && stride % bytes == 0 && stride / bytes <= SharedRows::most);
}

}  // namespace

BeyondCaches::BeyondCaches(const ir::Function& function, const ScalarRuns& runs, const LoopSlots& loops,
                           const RegionNumbers& regions, const Optimisations& optimisations) {
  if (optimisations[Optimisation::streams]) find_streams(function, runs, loops, regions);
  fetches_ahead_ = optimisations[Optimisation::prefetch] && writes_several(function, regions);
}

bool BeyondCaches::writes_several(const ir::Function& function, const RegionNumbers& regions) const {
  Buffers written{};
  bool in_caches = false;
  for (const ir::Block& block : function.blocks)
    for (const Inst& inst : block.insts) {
      if (inst.op != Op::store && inst.op != Op::block_store) continue;
      const ir::MemoryAccess& access = function.access(inst);
      if (!access.is_global()) continue;
      written[buffer_of(inst, access, regions)] = true;
      // Code generation may find that more components do not make whole lines.
      in_caches |= !is_stream(inst) || access.component_count() > 2;
    }
  return in_caches && std::ranges::count(written, true) > 1;
}

void BeyondCaches::find_streams(const ir::Function& function, const ScalarRuns& runs, const LoopSlots& loops,
                                const RegionNumbers& regions) {
  Buffers reads{};
  bool reads_none = true;
  for (const ir::Block& block : function.blocks)
    for (const Inst& inst : block.insts) {
      if (!ir::shape_of(inst.op).has_memory() || inst.op == Op::store || inst.op == Op::block_store) continue;
      const ir::MemoryAccess& access = function.access(inst);
      // Kernels with local memory mostly transpose: each line is far from the one before, and caches reorder
      // the writes, which makes memory faster.
      if (access.space == MemSpace::Slm) return;
      if (!access.is_global()) continue;
      reads[buffer_of(inst, access, regions)] = true;
      reads_none = false;
    }
  // A kernel that only writes is no slower through the caches.
  if (reads_none || reads[unknown]) return;
  streams_.resize(function.accesses.size());
  ir::BlockId behind_loops = 0;  // the end of the loops that have begun
  for (ir::BlockId b = 0; b < function.blocks.size(); ++b) {
    if (loops.heads_loop(b)) behind_loops = std::max(behind_loops, loops.last(b) + 1);
    if (b < behind_loops) continue;
    const auto& insts = function.blocks[b].insts;
    for (std::uint32_t i = 0; i < insts.size(); ++i) {
      if (insts[i].op != Op::store) continue;
      const ir::MemoryAccess& access = function.access(insts[i]);
      const std::size_t buffer = buffer_of(insts[i], access, regions);
      streams_[static_cast<std::size_t>(insts[i].imm)] =
          buffer != unknown && !reads[buffer] && fills_run(insts[i], i, access, runs.of(b, true));
    }
  }
}

}  // namespace eum::jit::codegen

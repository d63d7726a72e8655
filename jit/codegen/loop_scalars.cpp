// Which scalars are worth a register in an innermost loop.
#include "jit/codegen/loop_scalars.hpp"

#include <algorithm>
#include <map>

#include "jit/analysis/liveness.hpp"

namespace eum::jit::codegen {
namespace {

using ir::BlockId;
using ir::Inst;
using ir::Op;

constexpr unsigned dword = 4;

/// How many registers a loop reserves: few where vectors need them.
constexpr unsigned among_vectors = 2, among_scalars = 6;

struct Uses {
  unsigned float_reads = 0, writes = 0;
};

bool is_scalar(const Inst& inst) {
  return inst.lanes == 1 && ir::size_of(inst.type) >= dword &&
         inst.region.offset % ir::size_of(inst.type) == 0;
}

/// The uses in blocks `first` to `last`, by offset and size.
std::map<std::pair<std::uint32_t, std::uint8_t>, Uses> uses_of(const ir::Function& function, BlockId first,
                                                               BlockId last) {
  std::map<std::pair<std::uint32_t, std::uint8_t>, Uses> uses;
  for (BlockId b = first; b <= last; ++b)
    for (const Inst& inst : function.blocks[b].insts) {
      if (inst.op == Op::reg_scatter) return {};
      if ((inst.op != Op::reg_read && inst.op != Op::reg_write) || !is_scalar(inst)) continue;
      Uses& its = uses[{inst.region.offset, ir::size_of(inst.type)}];
      if (inst.op == Op::reg_write)
        ++its.writes;
      else
        its.float_reads += ir::is_float(inst.type) ? 1 : 0;
    }
  std::erase_if(uses, [](const auto& use) { return use.second.float_reads == 0 || use.second.writes == 0; });
  // Nothing else may write any of the bytes.
  for (BlockId b = first; b <= last && !uses.empty(); ++b)
    for (const Inst& inst : function.blocks[b].insts) {
      if (inst.op != Op::reg_write) continue;
      const SlotRange written = slots_of(inst, dword);
      std::erase_if(uses, [&](const auto& use) {
        const auto [offset, bytes] = use.first;
        const bool same = is_scalar(inst) && inst.region.offset == offset && ir::size_of(inst.type) == bytes;
        return !same && overlap(written, {offset / dword, (offset + bytes - 1) / dword});
      });
    }
  return uses;
}

/// Whether nothing in these blocks needs many registers.
bool is_of_scalars(const ir::Function& function, BlockId first, BlockId last) {
  for (BlockId b = first; b <= last; ++b)
    for (const Inst& inst : function.blocks[b].insts) {
      const bool computes = ir::is_pure(inst.op) && !ir::is_mask(inst.type) && inst.op != Op::constant;
      const ir::ShapeInfo& shape = ir::shape_of(inst.op);
      if ((computes || shape.has_memory() || shape.has_image()) && inst.lanes > 1 && inst.op != Op::splat &&
          ir::info(inst.op).shape != ir::Shape::Compare)
        return false;
    }
  return true;
}

}  // namespace

LoopScalars::LoopScalars(const ir::Function& function, const LoopSlots& loops, const Target& target)
    : loops_(1), loop_of_(function.blocks.size(), 0) {
  for (BlockId header = 1; header < function.blocks.size(); ++header) {
    if (!loops.heads_loop(header)) continue;
    const BlockId last = loops.last(header);
    bool innermost = true;
    for (BlockId b = header + 1; b <= last; ++b) innermost &= !loops.heads_loop(b);
    if (!innermost) continue;
    const unsigned most = is_of_scalars(function, header, last) ? among_scalars : among_vectors;
    std::vector<LoopScalar> scalars;
    for (const auto& [place, use] : uses_of(function, header, last)) {
      if (scalars.size() == most) break;
      const auto reg = target.vector_registers - 1 - scalars.size();
      scalars.push_back({place.first, place.second, static_cast<std::uint8_t>(reg)});
    }
    if (scalars.empty()) continue;
    std::fill(loop_of_.begin() + header, loop_of_.begin() + last + 1,
              static_cast<std::uint16_t>(loops_.size()));
    loops_.push_back(std::move(scalars));
    if (loops_.size() > UINT16_MAX) return;
  }
}

}  // namespace eum::jit::codegen

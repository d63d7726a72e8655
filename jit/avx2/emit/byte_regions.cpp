#include "jit/avx2/emit/byte_regions.hpp"

#include <array>
#include <optional>

namespace eum::jit::avx2::emit {

namespace {

constexpr unsigned half_bytes = target.vector_bytes / 2;

/// Where half a register comes from: half a slot, and for each byte of it one there.
struct Half {
  unsigned source = 0;  ///< the n-th half of the register file
  std::array<std::uint8_t, half_bytes> bytes;
};

/// Half `half` of the result, whose elements beyond the lanes may be anything; nothing: its elements lie in
/// several halves of slots.
std::optional<Half> half_of(const CodeInst& inst, unsigned half) {
  const unsigned element = ir::size_of(inst.type), first = half * half_bytes / element;
  Half found;
  found.bytes.fill(0x80);
  found.source = inst.region.byte_of(std::min<unsigned>(first, inst.lanes - 1u), element) / half_bytes;
  for (unsigned i = 0; i < half_bytes && first + i / element < inst.lanes; ++i) {
    const unsigned at = inst.region.byte_of(first + i / element, element) + i % element;
    if (at / half_bytes != found.source) return std::nullopt;
    found.bytes[i] = static_cast<std::uint8_t>(at % half_bytes);
  }
  return found;
}

unsigned halves_of(const CodeInst& inst) {
  return (inst.lanes * ir::size_of(inst.type) + half_bytes - 1) / half_bytes;
}

}  // namespace

bool is_of_bytes(const Compiler& c, const CodeInst& inst) {
  if (!c.optimisations[Optimisation::dword_regions] || ir::size_of(inst.type) > 2) return false;
  for (unsigned half = 0; half < halves_of(inst); ++half)
    if (!half_of(inst, half)) return false;
  return true;
}

void read_bytes(Compiler& c, const CodeInst& inst) {
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const Half low = *half_of(inst, 2 * chunk);
    const bool whole = 2 * chunk + 1 < halves_of(inst);
    const Half high = whole ? *half_of(inst, 2 * chunk + 1) : low;
    x86::Ymm from = c.s.use(low.source / 2), upper = c.s.use(high.source / 2);
    const x86::Ymm to = c.v.define(inst.result, chunk);
    const bool in_place = low.source % 2 == 0 && (!whole || high.source == low.source + 1);
    if (whole && !in_place && high.source % 2 != 0) {
      const x86::Ymm moved = c.v.scratch();
      c.a.vextracti128(moved.xmm(), upper, 1);
      upper = moved;
    }
    if (low.source % 2 != 0) {
      c.a.vextracti128(to.xmm(), from, 1);
      from = to;
    }
    if (whole && !in_place) {
      c.a.vinserti128(to, from, upper.xmm(), 1);
      from = to;
    }
    ConstantPool::Entry shuffle;
    std::copy(low.bytes.begin(), low.bytes.end(), shuffle.begin());
    std::copy(high.bytes.begin(), high.bytes.end(), shuffle.begin() + half_bytes);
    c.a.vpshufb(to, from, c.constant(shuffle));
    c.regs.unpin();
  }
}

}  // namespace eum::jit::avx2::emit

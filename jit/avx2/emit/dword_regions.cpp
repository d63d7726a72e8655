#include "jit/avx2/emit/dword_regions.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace eum::jit::avx2::emit {

namespace {

constexpr unsigned dword = 4, dwords = target.vector_bytes / dword;

/// For each dword of a register, the dword of another register that moves there, or none.
class Places {
 public:
  Places() { from_.fill(none); }
  void set(unsigned to, unsigned from) { from_[to] = static_cast<std::int8_t>(from); }
  bool empty() const { return blend() == 0; }
  /// Bit i: dword i is taken from the other register.
  unsigned blend() const {
    unsigned bits = 0;
    for (unsigned i = 0; i < dwords; ++i) bits |= from_[i] == none ? 0u : 1u << i;
    return bits;
  }
  bool are_own() const {
    return all([](unsigned to, unsigned from) { return to == from; });
  }
  /// The lower half moves to the upper one as a whole.
  bool are_upper_half() const {
    return blend() == 0xf0 && all([](unsigned to, unsigned from) { return to == from + dwords / 2; });
  }
  /// vpermq's immediate, where each dword stays the lower or the upper one of its qword.
  std::optional<unsigned> qwords() const {
    unsigned control = 0;
    for (unsigned q = 0; q < dwords / 2; ++q) {
      std::optional<unsigned> qword;
      for (unsigned i = 2 * q; i < 2 * q + 2; ++i) {
        if (from_[i] == none) continue;
        const auto from = static_cast<unsigned>(from_[i]);
        if (from % 2 != i % 2 || qword.value_or(from / 2) != from / 2) return std::nullopt;
        qword = from / 2;
      }
      control |= qword.value_or(q) << 2 * q;
    }
    return control;
  }
  /// vpermd's indices.
  ConstantPool::Entry indices() const {
    return ConstantPool::dwords(
        [&](std::uint32_t i) { return from_[i] == none ? i : static_cast<std::uint32_t>(from_[i]); });
  }

 private:
  static constexpr std::int8_t none = -1;
  template <class Is>
  bool all(Is is) const {
    for (unsigned i = 0; i < dwords; ++i)
      if (from_[i] != none && !is(i, static_cast<unsigned>(from_[i]))) return false;
    return true;
  }
  std::array<std::int8_t, dwords> from_;
};

unsigned dword_count(const CodeInst& inst) { return inst.lanes * ir::size_of(inst.type) / dword; }

/// The dword of the register file that holds dword `i` of the value.
unsigned file_dword(const CodeInst& inst, unsigned i) {
  const unsigned bytes = ir::size_of(inst.type);
  if (bytes < dword) return inst.region.offset / dword + i;
  return inst.region.byte_of(i * dword / bytes, bytes) / dword + i * dword % bytes / dword;
}

/// Calls each(i, at) for the dwords that chunk `chunk` of the value and `slot` have in common: dword i of the
/// chunk, dword `at` of the slot.
template <class Each>
void for_each_common(const CodeInst& inst, unsigned slot, unsigned chunk, Each each) {
  for (unsigned i = chunk * dwords; i < std::min(dword_count(inst), (chunk + 1) * dwords); ++i)
    if (const unsigned at = file_dword(inst, i); at / dwords == slot) each(i % dwords, at % dwords);
}

/// Where dwords of `slot` come from chunk `chunk` of the value.
Places into_slot(const CodeInst& inst, unsigned slot, unsigned chunk) {
  Places places;
  for_each_common(inst, slot, chunk, [&](unsigned i, unsigned at) { places.set(at, i); });
  return places;
}

/// Where dwords of chunk `chunk` of the value come from `slot`.
Places into_chunk(const CodeInst& inst, unsigned slot, unsigned chunk) {
  Places places;
  for_each_common(inst, slot, chunk, [&](unsigned i, unsigned at) { places.set(i, at); });
  return places;
}

/// `to` = the dwords of `from` at `places`, and of `rest` elsewhere (undefined without `rest`).
void take(Compiler& c, x86::Ymm to, std::optional<x86::Ymm> rest, x86::Ymm from, const Places& places) {
  auto& a = c.a;
  const asmjit::Imm blend(places.blend());
  const bool merges = rest && places.blend() != 0xff;
  if (places.are_own()) {
    if (merges) return (void)a.vpblendd(to, *rest, from, blend);
    return (void)a.vmovaps(to, from);
  }
  if (rest && places.are_upper_half()) return (void)a.vinserti128(to, *rest, from.xmm(), 1);
  const x86::Ymm moved = merges ? c.v.scratch() : to;
  if (const auto control = places.qwords()) {
    a.vpermq(moved, from, *control);
  } else {
    const x86::Ymm indices = merges ? moved : c.v.scratch();
    a.vmovups(indices, c.constant(places.indices()));
    a.vpermd(moved, indices, from);
  }
  if (merges) a.vpblendd(to, *rest, moved, blend);
}

}  // namespace

bool is_of_dwords(const Compiler& c, const CodeInst& inst) {
  if (!c.optimisations[Optimisation::dword_regions]) return false;
  const unsigned bytes = ir::size_of(inst.type);
  const bool packed = inst.region.stride(inst.lanes) == 1;
  if (inst.region.offset % dword != 0 || inst.lanes * bytes % dword != 0) return false;
  if (bytes < dword && (!packed || inst.mask != ir::no_value)) return false;
  const SlotRange range = slots_of(inst, target.vector_bytes);
  return dword_count(inst) >= 2 * (range.last - range.first + 1);
}

void read_dwords(Compiler& c, const CodeInst& inst) {
  const SlotRange range = slots_of(inst, target.vector_bytes);
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk) {
    const x86::Ymm to = c.v.define(inst.result, chunk);
    std::optional<x86::Ymm> rest;
    for (unsigned slot = range.first; slot <= range.last; ++slot) {
      const Places places = into_chunk(inst, slot, chunk);
      if (places.empty()) continue;
      take(c, to, rest, c.s.use(slot), places);
      rest = to;
    }
    c.regs.unpin();
  }
}

void write_dwords(Compiler& c, const CodeInst& inst) {
  const unsigned bytes = ir::size_of(inst.type);
  const SlotRange range = slots_of(inst, target.vector_bytes);
  for (unsigned slot = range.first; slot <= range.last; ++slot) {
    unsigned written = 0;
    for (unsigned chunk = 0; chunk < c.v.chunks(inst.args[0]); ++chunk)
      written |= into_slot(inst, slot, chunk).blend();
    if (written == 0) continue;
    std::optional<x86::Ymm> rest, mask;
    if (written != 0xff || inst.mask != ir::no_value) rest = c.s.use(slot);
    const x86::Ymm to = c.v.scratch(), old = rest.value_or(to);
    for (unsigned chunk = 0; chunk < c.v.chunks(inst.args[0]); ++chunk) {
      const Places places = into_slot(inst, slot, chunk);
      if (places.empty()) continue;
      take(c, to, rest, c.v.use(inst.args[0], chunk), places);
      rest = to;
      if (inst.mask == ir::no_value) continue;
      const x86::Ymm spread = mask ? *mask : c.v.scratch();
      take(c, spread, mask, c.m.lanes(inst.mask, bytes, chunk), places);
      mask = spread;
    }
    // Dwords that are not written have the old content in both operands.
    if (mask) c.a.vpblendvb(to, old, to, *mask);
    c.s.set(slot, to);
    c.regs.unpin();
  }
}

}  // namespace eum::jit::avx2::emit

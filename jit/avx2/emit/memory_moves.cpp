// Moves between guest memory that has been checked and vectors; see memory.hpp.
#include <algorithm>
#include <bit>
#include <numeric>

#include "jit/avx2/emit/memory.hpp"
#include "memory/surface.hpp"

namespace eum::jit::avx2::emit {

using codegen::ConstantPool;

namespace {

/// The first `bytes`, a multiple of 4 below 32, of a chunk as lanes for vpmaskmovd.
ConstantPool::Entry first_dwords(unsigned bytes) {
  ConstantPool::Entry mask{};
  std::fill_n(mask.begin(), bytes, std::uint8_t{0xff});
  return mask;
}

}  // namespace

void MemorySite::load_chunk(x86::Ymm to, const CheckedAddress& from, unsigned offset, unsigned bytes) const {
  auto& a = c_.a;
  switch (bytes) {
    case 32:
      return (void)a.vmovups(to, from.at(offset, 32));
    case 16:
      return (void)a.vmovups(to.xmm(), from.at(offset, 16));
    case 8:
      return (void)a.vmovq(to.xmm(), from.at(offset, 8));
    case 4:
      return (void)a.vmovd(to.xmm(), from.at(offset, 4));
    default:
      a.vmovups(to, c_.constant(first_dwords(bytes)));
      x86::Mem memory = from.at(offset, bytes);
      memory.setSize(32);
      a.vpmaskmovd(to, to, memory);
  }
}

void MemorySite::store_chunk(const CheckedAddress& to, unsigned offset, x86::Ymm from, unsigned bytes,
                             x86::Ymm free) const {
  auto& a = c_.a;
  switch (bytes) {
    case 32:
      return (void)a.vmovups(to.at(offset, 32), from);
    case 16:
      return (void)a.vmovups(to.at(offset, 16), from.xmm());
    case 8:
      return (void)a.vmovq(to.at(offset, 8), from.xmm());
    case 4:
      return (void)a.vmovd(to.at(offset, 4), from.xmm());
    default:
      a.vmovups(free, c_.constant(first_dwords(bytes)));
      x86::Mem memory = to.at(offset, bytes);
      memory.setSize(32);
      a.vpmaskmovd(memory, free, from);
  }
}

bool MemorySite::may_end_inside() const {
  const bool reads_dwords = mem().is_fixed_surface() && element() == 4 && lanes() > 1;
  return reads_dwords && end_of(component_offset(0) + bytes()).has_value();
}

void MemorySite::load_to_end(asmjit::Label entry, asmjit::Label done, asmjit::Label otherwise,
                             x86::Gp address, std::span<const x86::Ymm> results) const {
  c_.out_of_line([site = *this, entry, done, otherwise, address,
                  results = std::vector<x86::Ymm>(results.begin(), results.end())] {
    auto& a = site.c_.a;
    const x86::Gp left = site.reg.base;
    const Window window = site.find_window(otherwise);
    const asmjit::Label outside = a.newLabel();
    const unsigned offset = site.component_offset(0);
    a.bind(entry);
    a.mov(left, window.size);
    a.sub(left, address.r64());
    a.jbe(outside);
    if (offset != 0) {
      a.sub(left, offset);
      a.jbe(outside);
    }
    // Fewer dwords than are wanted: else the check would have found all inside.
    a.shr(left, std::countr_zero(site.element()));
    const x86::Ymm all = results.back();
    a.vmovd(all.xmm(), left.r32());
    a.vpbroadcastd(all, all.xmm());
    a.mov(left, window.base);
    const CheckedAddress memory(site.reg.base, {address.r64()},
                                offset + 32 * static_cast<unsigned>(results.size()));
    for (unsigned i = 0; i < results.size(); ++i) {
      std::array<std::uint32_t, 8> lanes;
      std::iota(lanes.begin(), lanes.end(), 8 * i);
      a.vpcmpgtd(results[i], all, site.c_.constant(std::bit_cast<ConstantPool::Entry>(lanes)));
      a.vpmaskmovd(results[i], results[i], memory.at(offset + 32 * i, 32));
    }
    a.jmp(done);
    a.bind(outside);
    a.mov(left, window.base);
    a.jmp(otherwise);
  });
}

}  // namespace eum::jit::avx2::emit

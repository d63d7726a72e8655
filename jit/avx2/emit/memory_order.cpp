// Accesses of several components of each lane whose registers hold them in the order of memory
// (CodeInst::interleaved).
#include "jit/avx2/emit/lane_site.hpp"

namespace eum::jit::avx2::emit {

namespace {

constexpr unsigned vector = 32, half = vector / 2;

}  // namespace

LaneSite::Parts LaneSite::parts_of_row(std::span<const x86::Ymm> registers, unsigned row) const {
  const unsigned each = element() / 4;  // vectors of a row, of one component
  Parts parts{.count = components() * each};
  for (unsigned part = 0; part < parts.count; ++part)
    parts.of[part] = registers[part % components() * vectors() + row * each + part / components()];
  return parts;
}

void LaneSite::load_parts(const CheckedAddress& memory, unsigned row, const Parts& parts) const {
  auto& a = c_.a;
  for (unsigned part = 0; part < parts.count; ++part) {
    const x86::Ymm to = parts.of[part];
    if (is_without_gaps()) {
      a.vmovups(to, part_of_row(memory, row, part));
    } else {
      a.vmovups(to.xmm(), half_of_part(memory, row, part, 0));
      a.vinsertf128(to, to, half_of_part(memory, row, part, 1), 1);
    }
  }
}

void LaneSite::load_parts_of_one(const CheckedAddress& memory, unsigned row, const Parts& parts,
                                 asmjit::Label otherwise) const {
  auto& a = c_.a;
  find_one_place(row, otherwise);
  const unsigned bytes = components() * element();
  const x86::Mem one = memory.lane(place(), component_offset(0), bytes);
  for (unsigned part = 0; part < parts.count; ++part)
    bytes == half ? a.vbroadcasti128(parts.of[part], one) : a.vbroadcastsd(parts.of[part], one);
}

void LaneSite::load_parts_apart(const CheckedAddress& memory, unsigned row, const Parts& parts) const {
  auto& a = c_.a;
  const asmjit::Label varied = a.newLabel(), done = a.newLabel();
  if (!shared().swapped()) {
    load_parts_of_one(memory, row, parts, varied);
    a.jmp(done);
    a.bind(varied);
  }
  RowPlaces places(*this, shared().swapped() ? swapped_[row] : places_[row]);
  const auto of_lane = [&](unsigned lane, unsigned bytes) {
    return memory.lane(places.of(lane), component_offset(0), bytes);
  };
  const auto qwords = [&](x86::Xmm to, unsigned lane) {
    a.vmovq(to, of_lane(lane, half / 2));
    a.vmovhps(to, to, of_lane(lane + 1, half / 2));
  };
  for (unsigned part = 0; part < parts.count; ++part) {
    const x86::Ymm to = parts.of[part];
    if (components() * element() < half) {
      qwords(to.xmm(), 4 * part);
      qwords(t.xmm(), 4 * part + 2);
      a.vinsertf128(to, to, t.xmm(), 1);
    } else if (has_pairs()) {
      a.vmovups(to, of_lane(2 * part, vector));
    } else {
      a.vmovups(to.xmm(), of_lane(2 * part, half));
      a.vinsertf128(to, to, of_lane(2 * part + 1, half), 1);
    }
  }
  if (!shared().swapped()) a.bind(done);
}

CheckedAddress LaneSite::check_lanes_apart(asmjit::Label otherwise) const {
  if (!shared().swapped()) return check_all_lanes(otherwise);
  swap_addresses(places_, has_pairs());
  return check_lanes({{swapped_.data(), rows()}, {}, t, u, v, bits},
                     component_offset(0) + (has_pairs() ? vector : half), otherwise);
}

void LaneSite::swap_addresses(std::span<const x86::Ymm> from, bool of_pairs) const {
  auto& a = c_.a;
  const auto place = [&](std::uint32_t lane) { return shared().place(of_pairs ? lane & ~1u : lane); };
  a.vmovups(t, c_.constant(ConstantPool::dwords([&](std::uint32_t i) { return place(i) / shared().parts; })));
  const x86::Mem within = c_.constant(ConstantPool::dwords(
      [&](std::uint32_t i) { return place(i) % shared().parts * SharedRows::bytes - shared().before(); }));
  for (unsigned row = 0; row < rows(); ++row) {
    a.vpermd(swapped_[row], t, from[row]);
    a.vpaddd(swapped_[row], swapped_[row], within);
  }
}

void LaneSite::store_parts(const CheckedAddress& memory, unsigned row, const Parts& parts,
                           bool past_caches) const {
  auto& a = c_.a;
  for (unsigned part = 0; part < parts.count; ++part) {
    const x86::Ymm from = parts.of[part];
    if (is_without_gaps()) {
      const x86::Mem to = part_of_row(memory, row, part);
      past_caches ? a.vmovntps(to, from) : a.vmovups(to, from);
    } else {
      a.vmovups(half_of_part(memory, row, part, 0), from.xmm());
      a.vextractf128(half_of_part(memory, row, part, 1), from, 1);
    }
  }
}

x86::Mem LaneSite::part_of_row(const CheckedAddress& memory, unsigned row, unsigned part) const {
  return of_row(memory, row, part * vector, vector);
}

x86::Mem LaneSite::half_of_part(const CheckedAddress& memory, unsigned row, unsigned part,
                                unsigned which) const {
  return of_row(memory, row, (2 * part + which) * run_stride(), half);
}

x86::Mem LaneSite::of_row(const CheckedAddress& memory, unsigned row, unsigned offset, unsigned bytes) const {
  const bool own_run = by_runs() && known_runs() > 1;
  const unsigned before = own_run ? 0 : row * 8 * run_stride();
  return memory.at(component_offset(0) + before + shared().share() + offset, bytes, own_run ? row : 0);
}

void LaneSite::to_memory_order(const Parts& parts) const {
  auto& a = c_.a;
  if (components() == 4) {
    const auto& [x, y, z, last] = parts.of;
    a.vunpcklps(t, x, y);
    a.vunpckhps(u, x, y);
    a.vunpcklps(v, z, last);
    a.vunpckhps(w, z, last);
    a.vunpcklpd(x, t, v);  // lanes 0 and 4
    a.vunpckhpd(y, t, v);
    a.vunpcklpd(z, u, w);
    a.vunpckhpd(last, u, w);
    a.vperm2f128(t, x, y, 0x20);
    a.vperm2f128(u, x, y, 0x31);
    a.vperm2f128(v, z, last, 0x20);
    a.vperm2f128(last, z, last, 0x31);
    a.vmovaps(x, t);
    a.vmovaps(y, v);
    a.vmovaps(z, u);
    return;
  }
  for (unsigned i = 0; i < parts.count; i += 2) {
    const x86::Ymm x = parts.of[i], y = parts.of[i + 1];
    unpack(x, y);
    a.vperm2f128(x, t, u, 0x20);
    a.vperm2f128(y, t, u, 0x31);
  }
}

void LaneSite::unpack(x86::Ymm x, x86::Ymm y) const {
  auto& a = c_.a;
  if (element() == 8) {
    a.vunpcklpd(t, x, y);
    a.vunpckhpd(u, x, y);
  } else {
    a.vunpcklps(t, x, y);
    a.vunpckhps(u, x, y);
  }
}

void LaneSite::to_components(const Parts& parts) const {
  auto& a = c_.a;
  if (components() == 4) {
    const auto& [x, y, z, last] = parts.of;
    a.vperm2f128(t, x, z, 0x20);  // lanes 0 and 4
    a.vperm2f128(u, x, z, 0x31);
    a.vperm2f128(v, y, last, 0x20);
    a.vperm2f128(w, y, last, 0x31);
    return transpose_quads(std::array{t, u, v, w}, {x, y, z, last});
  }
  for (unsigned i = 0; i < parts.count; i += 2) {
    const x86::Ymm x = parts.of[i], y = parts.of[i + 1];
    a.vperm2f128(t, x, y, 0x20);
    a.vperm2f128(u, x, y, 0x31);
    if (element() == 4) {
      a.vshufps(x, t, u, 0x88);
      a.vshufps(y, t, u, 0xdd);
    } else {
      a.vunpcklpd(x, t, u);
      a.vunpckhpd(y, t, u);
    }
  }
}

}  // namespace eum::jit::avx2::emit

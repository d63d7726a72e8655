// Lanes at arbitrary addresses in bounds. See load_site.hpp.
#include "jit/avx2/emit/load_site.hpp"

namespace eum::jit::avx2::emit {

void LoadSite::load_in_bounds() const {
  if (!takes_fourth()) return load_spread(check_all_lanes(slow_), Beyond::None);
  const asmjit::Label exactly = c_.a.newLabel();
  load_spread(check_all_lanes(exactly, element()), Beyond::All);
  c_.out_of_line([site = *this, exactly] {
    site.c_.a.bind(exactly);
    site.load_spread(site.check_all_lanes(site.slow_), Beyond::None);
    site.c_.a.jmp(site.done_);
  });
}

void LoadSite::load_spread(const CheckedAddress& memory, Beyond beyond) const {
  auto& a = c_.a;
  if (element() < 4) return insert_narrow(memory);
  const asmjit::Label end = a.newLabel();
  std::array<asmjit::Label, 2> varied{a.newLabel(), a.newLabel()};
  // Leading rows whose lanes have a single address each.
  const bool looks = element() == 4 && !masked();
  for (unsigned row = 0; looks && row < rows(); ++row) {
    find_one_place(row, varied[row]);
    for (unsigned k = 0; k < components(); ++k)
      a.vbroadcastss(result(k, row), memory.lane(place(), component_offset(k), 4));
  }
  if (looks) a.jmp(end);
  if (lanes_apart()) {
    const auto places = places_in_bounds({t, rows() == 2 ? result(0, element() / 4) : t});
    for (unsigned row = 0; row < rows(); ++row) {
      a.bind(varied[row]);
      load_lanes_apart(memory, row, places[row], beyond);
    }
  } else {
    for (unsigned row = 0; row < rows(); ++row) {
      a.bind(varied[row]);
      element() == 8 ? gather_wide(memory, row) : gather(memory, row);
    }
  }
  a.bind(end);
}

bool LoadSite::lanes_apart() const {
  return side_by_side_components() || (components() == 1 && in_small_loop_);
}

// An inactive lane loads what is in bounds next to its place, rather than from a place that the mask gives:
// the mask is known later than the places, as it may depend on the load before.
std::array<x86::Ymm, 2> LoadSite::places_in_bounds(const std::array<x86::Ymm, 2>& free) const {
  if (!masked()) return places_;
  const x86::Ymm limit = t;
  for (unsigned row = rows(); row-- > 0;) c_.a.vpminud(free[row], limit, places_[row]);
  return free;
}

void LoadSite::go_if_one_place(asmjit::Label one) const {
  auto& a = c_.a;
  a.vpbroadcastd(t, places_[0].xmm());
  a.vpcmpeqd(u, t, places_[0]);
  if (rows() == 2) {
    a.vpcmpeqd(t, t, places_[1]);
    a.vpand(u, u, t);
  }
  a.vmovmskps(bits.r32(), u);
  a.cmp(bits.r32(), 0xff);
  a.je(one);
}

void LoadSite::gather(const CheckedAddress& memory, unsigned row) const {
  const asmjit::Label none = c_.a.newLabel();
  go_if_none(row, none);
  for (unsigned k = 0; k < components(); ++k)
    gather_under(masks_[row], x86::Inst::kIdVpgatherdd, result(k, row),
                 memory.gather(places_[row], component_offset(k), 4));
  c_.a.bind(none);
}

void LoadSite::go_if_none(unsigned row, asmjit::Label none) const {
  if (!masked()) return;
  const asmjit::Label clear = c_.a.newLabel();
  c_.a.test(reg.mask.r32(), 0xffu << 8 * row);
  c_.a.jz(clear);
  // Cleared even if nothing needs the lanes: what the register holds may be slow to compute with, as small
  // integers are, taken for floats.
  c_.out_of_line([site = *this, row, clear, none] {
    auto& a = site.c_.a;
    a.bind(clear);
    const unsigned each = site.element() / 4;
    for (unsigned k = 0; k < site.components(); ++k)
      for (unsigned i = each * row; i < each * (row + 1); ++i)
        a.vpxor(site.result(k, i), site.result(k, i), site.result(k, i));
    a.jmp(none);
  });
}

void LoadSite::gather_wide(const CheckedAddress& memory, unsigned row) const {
  auto& a = c_.a;
  for (unsigned k = 0; k < components(); ++k)
    for (unsigned half = 0; half < 2; ++half) {
      if (masked()) wide_mask(t, row, half);
      x86::Xmm place = places_[row].xmm();
      if (half == 1) {
        place = u.xmm();
        a.vextracti128(place, places_[row], 1);
      }
      gather_under(t, x86::Inst::kIdVpgatherdq, result(k, 2 * row + half),
                   memory.gather(place, component_offset(k), 8));
    }
}

void LoadSite::load_lanes_apart(const CheckedAddress& memory, unsigned row, x86::Ymm from,
                                Beyond beyond) const {
  const asmjit::Label none = c_.a.newLabel();
  go_if_none(row, none);
  RowPlaces places(*this, from);
  load_row_apart(
      [&](unsigned lane_of_row, int behind, unsigned bytes) {
        return memory.lane(places.of(lane_of_row), component_offset(0) + static_cast<unsigned>(behind),
                           bytes);
      },
      beyond, row);
  clear_outside_mask(row);
  c_.a.bind(none);
}

// Each insertion waits for the one before, so that as many registers are filled as are free.
void LoadSite::insert_narrow(const CheckedAddress& memory) const {
  auto& a = c_.a;
  constexpr int second_row = Frame::operands, first_row = second_row + 32;
  const auto all_places = places_in_bounds({t, rows() == 2 ? u : t});
  if (rows() == 2) store_vectors(second_row, {&all_places[1], 1});
  const bool repeats = masked() && components() > 1;  // t changes
  if (repeats) store_vectors(first_row, {&all_places[0], 1});
  const std::array<x86::Xmm, 4> free{x86::Xmm(), v.xmm(), t.xmm(), u.xmm()};
  const unsigned parts = rows() == 2 ? 4 : 2, each = lanes() / parts;
  for (unsigned k = 0; k < components(); ++k) {
    std::array<x86::Xmm, 4> part = free;
    part[0] = result(k).xmm();
    if (repeats && k > 0) a.vmovaps(t, x86::ptr(x86::rsp, first_row, 32));
    RowPlaces places(*this, all_places[0]);
    for (unsigned p = 0; p < parts; ++p) a.vpxor(part[p], part[p], part[p]);
    for (unsigned i = 0; i < each; ++i) {
      for (unsigned p = 0; p < parts; ++p) {
        const unsigned lane = p * each + i;
        // Places of the two rows come by different paths, so that neither waits for the other.
        x86::Gp place = reg.limit;
        if (lane < 8)
          place = places.of(lane);
        else
          fetch_place(place, 0, lane - 8);
        const x86::Mem from = memory.lane(place, component_offset(k), element());
        element() == 1 ? a.vpinsrb(part[p], part[p], from, i) : a.vpinsrw(part[p], part[p], from, i);
      }
    }
    join_parts(std::span(part).first(parts), each * element());
    if (clears_) {
      narrow_mask(t);
      a.vpand(result(k), result(k), t);
    }
  }
}

/// Joins two or four parts, each of so many bytes, in the first one.
void LoadSite::join_parts(std::span<const x86::Xmm> part, unsigned bytes) const {
  auto& a = c_.a;
  const auto join = [&](x86::Xmm low, x86::Xmm high) {
    bytes == 4 ? a.vpunpckldq(low, low, high) : a.vpunpcklqdq(low, low, high);
  };
  join(part[0], part[1]);
  if (part.size() == 2) return;
  join(part[2], part[3]);
  if (bytes == 4) return (void)a.vpunpcklqdq(part[0], part[0], part[2]);
  a.vinserti128(part[0].ymm(), part[0].ymm(), part[2], 1);
}

}  // namespace eum::jit::avx2::emit

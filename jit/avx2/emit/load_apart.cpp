// Rows whose lanes are not adjacent; adjacent elements of a lane take one move or two. See load_site.hpp.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "jit/avx2/emit/load_site.hpp"

namespace eum::jit::avx2::emit {

void LoadSite::load_narrow_apart(const CheckedAddress& memory, unsigned runs, unsigned stride) const {
  constexpr unsigned vector = 16, each = 4;
  constexpr std::uint8_t none = 0x80;
  auto& a = c_.a;
  const x86::Ymm to = result(0);
  const unsigned of_run = lanes() / runs;
  if (element() == 2 && stride == 1 && runs == 1) return load_overlapping_words(memory);
  const unsigned all = (of_run - 1) * stride + element(), window = all < vector ? vector / 2 : vector;
  std::array<ConstantPool::Entry, 2> shuffles{};
  for (unsigned group = 0; group < lanes() / each; ++group) {
    const unsigned first = each * group % of_run, half = group / 2;
    const unsigned begin = std::min(first * stride, all - window);
    const x86::Ymm into = group % 2 == 0 ? to : t;
    const x86::Mem from = memory.at(component_offset(0) + begin, window, each * group / of_run);
    if (window == vector && half == 0)
      a.vmovups(into.xmm(), from);
    else if (window == vector)
      a.vinserti128(into, into, from, 1);
    else
      a.vmovq(half == 0 ? into.xmm() : u.xmm(), from);
    if (window < vector && half != 0) a.vinserti128(into, into, u.xmm(), 1);
    auto* shuffle = shuffles[group % 2].data() + vector * half;
    std::fill_n(shuffle, vector, none);
    for (unsigned i = 0; i < each * element(); ++i)
      shuffle[group % 2 * each * element() + i] =
          static_cast<std::uint8_t>((first + i / element()) * stride + i % element() - begin);
  }
  a.vpshufb(to, to, c_.constant(shuffles[0]));
  a.vpshufb(t, t, c_.constant(shuffles[1]));
  a.vpor(to, to, t);
  if (bytes() == vector && element() == 1) a.vpermq(to, to, 0x08);
}

void LoadSite::load_overlapping_words(const CheckedAddress& memory) const {
  auto& a = c_.a;
  const auto bytes_from = [&](unsigned behind) { return memory.at(component_offset(0) + behind, lanes()); };
  if (rows() == 2) {
    a.vpmovzxbw(result(0), bytes_from(0));
    a.vpmovzxbw(t, bytes_from(1));
  } else {
    a.vpmovzxbw(result(0).xmm(), bytes_from(0));
    a.vpmovzxbw(t.xmm(), bytes_from(1));
  }
  a.vpsllw(t, t, 8);
  a.vpor(result(0), result(0), t);
}

void LoadSite::load_overlapping(const CheckedAddress& memory, unsigned stride) const {
  constexpr unsigned window = 16, each = 4;
  auto& a = c_.a;
  const unsigned all = (lanes() - 1) * stride + element();
  for (unsigned row = 0; row < rows(); ++row) {
    const x86::Ymm to = result(0, row);
    const std::array own{2 * row * each * stride, (2 * row + 1) * each * stride};
    std::array begin{std::min(own[0], all - window), std::min(own[1], all - window)};
    // Lanes close together are all in the first window.
    const bool shares = own[1] + (each - 1) * stride + element() <= begin[0] + window;
    if (shares) begin[1] = begin[0];
    ConstantPool::Entry shuffle;
    for (unsigned i = 0; i < shuffle.size(); ++i) {
      const unsigned half = i / window, byte = i % window;
      shuffle[i] =
          static_cast<std::uint8_t>(own[half] + byte / element() * stride + byte % element() - begin[half]);
    }
    const auto from = [&](unsigned half) { return memory.at(component_offset(0) + begin[half], window); };
    if (shares) {
      a.vbroadcasti128(to, from(0));
    } else {
      a.vmovups(to.xmm(), from(0));
      a.vinserti128(to, to, from(1), 1);
    }
    a.vpshufb(to, to, c_.constant(shuffle));
  }
}

void LoadSite::blend_row(const CheckedAddress& memory, unsigned run, unsigned row, unsigned offset,
                         unsigned stride) const {
  auto& a = c_.a;
  const x86::Ymm to = result(0, row);
  const std::array<BlendedLane, 8> lanes = blended_lanes(row, stride);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const int begin = lanes[i].begin;
    if (i != 0 && begin == lanes[i - 1].begin) continue;
    unsigned positions = 0;
    for (const BlendedLane& lane : lanes)
      if (lane.begin == begin) positions |= 1u << lane.position;
    const x86::Mem from =
        memory.at(component_offset(0) + static_cast<unsigned>(static_cast<int>(offset) + begin), 32, run);
    i == 0 ? a.vmovups(to, from) : a.vpblendd(to, to, from, positions);
  }
  if (lanes[1].position == 1 && lanes[2].position == 2) return;  // in order
  a.vmovups(u, c_.constant(ConstantPool::dwords([&](std::uint32_t i) { return lanes[i].position; })));
  a.vpermd(to, u, to);
}

std::array<LoadSite::BlendedLane, 8> LoadSite::blended_lanes(unsigned row, unsigned stride) const {
  constexpr int vector = 8;  // dwords
  const int step = static_cast<int>(stride / 4), last = 7 * step;
  const bool neighbours = known_runs() == 1 && rows() > 1;
  const bool share = stride % 4 == 0 && step < vector && (step % 2 == 0 || neighbours);
  std::array<BlendedLane, 8> lanes;
  for (int i = 0; i < vector; ++i) {
    const int at = step * i;
    BlendedLane& lane = lanes[static_cast<std::size_t>(i)];
    if (!share) {  // each lane from a vector of its own, at its own position
      lane = {i * (static_cast<int>(stride) - 4), static_cast<unsigned>(i)};
      continue;
    }
    int begin = i / 2 * 7;  // step 4: two lanes per vector
    if (step % 2 == 1) {
      // With an odd step all positions differ already; vectors of the last row end where the row does.
      const int before = row + 1 == rows() ? step - 1 : 0;
      begin = (at + before) / vector * vector - before;
    } else if (step != 4) {
      // Four lanes at even positions, then four at odd ones.
      begin = i < 4 ? at / vector * vector : last - 7 - (last - at) / vector * vector;
    }
    lane = {4 * begin, static_cast<unsigned>(at - begin)};
  }
  return lanes;
}

void LoadSite::load_row_apart(const MemoryOfLane& memory, Beyond beyond, unsigned row) const {
  auto& a = c_.a;
  const auto qwords = [&](x86::Ymm to, unsigned low, unsigned high) {
    for (const auto& [half, lane] : {std::pair{to, low}, std::pair{u, high}}) {
      a.vmovq(half.xmm(), memory(lane, 0, 8));
      a.vmovhps(half.xmm(), half.xmm(), memory(lane + 1, 0, 8));
    }
    a.vinsertf128(to, to, u.xmm(), 1);
  };
  if (element() == 8 && span() == 2) return load_qword_pairs(memory, row);
  if (element() == 8) {
    qwords(result(0, 2 * row), 0, 2);
    return qwords(result(0, 2 * row + 1), 4, 6);
  }
  const x86::Ymm x = result(0, row);
  if (span() == 1) {  // in two dependency chains; a gather takes longer
    for (unsigned i = 0; i < 4; ++i)
      for (const auto& [half, lane] : {std::pair{x.xmm(), i}, std::pair{t.xmm(), i + 4}})
        i == 0 ? a.vmovd(half, memory(lane, 0, 4)) : a.vpinsrd(half, half, memory(lane, 0, 4), i);
    return (void)a.vinserti128(x, x, t.xmm(), 1);
  }
  if (span() == 2) {
    const x86::Ymm y = result(1, row);
    qwords(x, 0, 4);
    qwords(t, 2, 6);
    a.vshufps(y, x, t, 0xdd);
    return (void)a.vshufps(x, x, t, 0x88);
  }
  if (span() == 4) return load_quads(memory, Beyond::All, row);
  if (beyond != Beyond::None) return load_quads(memory, beyond, row);
  const auto triple = [&](x86::Xmm to, unsigned lane) {
    a.vmovq(to, memory(lane, 0, 8));
    a.vinsertps(to, to, memory(lane, 8, 4), 0x20);
  };
  const std::array<x86::Ymm, 4> quad{t, u, v, w};
  for (unsigned i = 0; i < 4; ++i) {
    triple(quad[i].xmm(), i);
    triple(x.xmm(), i + 4);
    a.vinsertf128(quad[i], quad[i], x.xmm(), 1);
  }
  transpose(row);
}

void LoadSite::load_quads(const MemoryOfLane& memory, Beyond beyond, unsigned row) const {
  auto& a = c_.a;
  const std::array<x86::Ymm, 4> quad{t, u, v, w};
  const x86::Xmm last = result(0, row).xmm();
  for (unsigned i = 0; i < 4; ++i) a.vmovups(quad[i].xmm(), memory(i, 0, 16));
  for (unsigned i = 0; i < 3; ++i) a.vinsertf128(quad[i], quad[i], memory(i + 4, 0, 16), 1);
  if (beyond == Beyond::All) {
    a.vinsertf128(quad[3], quad[3], memory(7, 0, 16), 1);
  } else {
    a.vmovups(last, memory(7, -4, 16));
    a.vpsrldq(last, last, 4);
    a.vinsertf128(quad[3], quad[3], last, 1);
  }
  transpose(row);
}

void LoadSite::transpose(unsigned row) const {
  const auto place = [&](unsigned k) { return mem().component(k) - mem().component(0); };
  std::array<std::optional<x86::Ymm>, 4> to;
  for (unsigned k = 0; k < components(); ++k) to[place(k)] = result(k, row);
  transpose_quads(std::array{t, u, v, w}, to);
}

void LoadSite::load_qword_pairs(const MemoryOfLane& memory, unsigned row) const {
  auto& a = c_.a;
  for (unsigned half = 0; half < 2; ++half) {
    const x86::Ymm x = result(0, 2 * row + half), y = result(1, 2 * row + half);
    const unsigned lane = 4 * half;
    for (const auto& [pairs, first] : {std::pair{x, lane}, std::pair{t, lane + 1}}) {
      a.vmovups(pairs.xmm(), memory(first, 0, 16));
      a.vinsertf128(pairs, pairs, memory(first + 2, 0, 16), 1);
    }
    a.vunpckhpd(y, x, t);
    a.vunpcklpd(x, x, t);
  }
}

}  // namespace eum::jit::avx2::emit

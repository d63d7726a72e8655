// Loads whose lanes walk along rows: the elements of several loop iterations are fetched at once into the
// frame and transposed, so that each iteration takes vectors. Each iteration checks that the window has what
// its lanes need. The window equals memory: such loops write nothing but surfaces that are found to be other
// memory when it is filled, and whatever else may change memory invalidates it.
//
// On an EPYC of Zen 4, eight dwords at arbitrary addresses take eight cycles (eleven by a gather), and
// fetching eight rows of eight dwords about thirty.
#include "jit/avx2/emit/lane_site.hpp"

namespace eum::jit::avx2::emit {
namespace {

/// Prefetch distance in bytes for rows that closely follow one another. Rows farther apart may fall on the
/// same lines of a cache, and processors prefetch along long rows by themselves.
constexpr int rows_ahead = 1024;

/// Fetching pays from `least_turns` iterations on. After more than `short_rows_before` successive rows that
/// were left earlier, the next `short_rows_after` or so are not fetched.
constexpr int least_turns = 4, short_rows_before = 1, short_rows_after = 126;

}  // namespace

void LaneSite::take_from_window(std::span<const x86::Ymm> results, asmjit::Label miss, asmjit::Label serve,
                                bool clears) const {
  auto& a = c_.a;
  const RowWindow& window = *window_;
  if (in_space()) {
    a.mov(bits, region(offsetof(CachedRegion, start), 8));
    a.cmp(bits, window.region_start());
    a.jne(miss);
  }
  a.mov(bits.r32(), window.at());
  a.cmp(bits.r32(), RowWindow::row_bytes - static_cast<int>(element()));
  a.ja(miss);
  a.vpbroadcastd(t, window.at());
  for (unsigned row = 0; row < rows(); ++row) {
    const x86::Ymm agrees = row == 0 ? u : v;
    if (window.down) {
      a.vmovups(agrees, window.firsts(row));
      a.vpsubd(agrees, agrees, t);
    } else {
      a.vpaddd(agrees, t, window.firsts(row));
    }
    a.vpcmpeqd(agrees, agrees, places_[row]);
    if (masked()) a.vpandn(agrees, agrees, masks_[row]);
  }
  if (rows() == 2 && masked())
    a.vpor(u, u, v);
  else if (rows() == 2)
    a.vpand(u, u, v);
  a.vmovmskps(lane.r32(), u);
  if (masked())
    a.test(lane.r32(), lane.r32());
  else
    a.cmp(lane.r32(), 0xff);
  a.jne(miss);
  a.bind(serve);
  if (element() == 4) {
    for (unsigned row = 0; row < rows(); ++row) {
      a.vmovups(results[row], window.dwords(row, bits));
      if (clears) a.vpand(results[row], results[row], masks_[row]);
    }
  } else {
    narrow_from_window(results[0], clears);
  }
  a.add(bits.r32(), window.step);
  a.mov(window.at(), bits.r32());
}

/// Elements of 1 or 2 bytes, none of which crosses the boundary of a dword of its row.
void LaneSite::narrow_from_window(x86::Ymm to, bool clears) const {
  auto& a = c_.a;
  a.mov(place().r32(), bits.r32());
  if (window_->down) {
    a.mov(lane.r32(), RowWindow::row_bytes - static_cast<int>(element()));
    a.sub(lane.r32(), bits.r32());
  } else {
    a.mov(lane.r32(), bits.r32());
  }
  a.and_(place().r32(), -4);
  a.and_(lane.r32(), 3);
  a.shl(lane.r32(), 3);
  a.vmovd(t.xmm(), lane.r32());
  for (unsigned row = 0; row < rows(); ++row) {
    const x86::Ymm dwords = row == 0 ? to : v;
    a.vmovups(dwords, window_->dwords(row, place()));
    a.vpsrld(dwords, dwords, t.xmm());
    a.vpand(dwords, dwords, c_.splat(element() == 1 ? 0xff : 0xffff, 4));
    if (clears) a.vpand(dwords, dwords, masks_[row]);
  }
  pack_narrow(to, v);
}

// Jumps if the row overlaps a surface that the loop writes.
void LaneSite::go_if_written(asmjit::Label otherwise) const {
  if (mem().space != ir::MemSpace::Surface) return;
  auto& a = c_.a;
  const auto field = [](unsigned surface, std::size_t at) {
    return x86::ptr(surfaces_reg, static_cast<int>(surface * sizeof(mem::Surface) + at), 8);
  };
  constexpr std::size_t base = offsetof(mem::Surface, base), direct = offsetof(mem::Surface, direct),
                        size = offsetof(mem::Surface, size);
  const x86::Gp distance = lane, bytes = bits;
  for (const std::uint8_t written : c_.written_surfaces()) {
    if (written == mem().surface) continue;
    a.mov(bytes, field(written, size));
    a.cmp(bytes, field(written, direct));
    a.jne(otherwise);
    a.mov(distance, field(written, base));
    a.sub(distance, field(mem().surface, base));
    a.cmp(distance, field(mem().surface, direct));
    a.jb(otherwise);
    a.neg(distance);
    a.cmp(distance, bytes);
    a.jb(otherwise);
  }
}

// Inactive lanes get the row and the place of an active one: should one of them become active there, the
// window is right for it.
void LaneSite::store_firsts() const {
  auto& a = c_.a;
  const RowWindow& window = *window_;
  if (in_space()) {
    a.mov(bits, region(offsetof(CachedRegion, start), 8));
    a.mov(window.region_start(), bits);
  }
  if (masked()) {
    store_vectors(Frame::operands, {places_.data(), rows()});
    a.tzcnt(bits.r32(), reg.mask.r32());
    a.vpbroadcastd(t, x86::ptr(x86::rsp, bits, 2, Frame::operands, 4));
  }
  for (unsigned row = 0; row < rows(); ++row) {
    if (masked()) places_or(t, row, u);
    a.vmovups(window.firsts(row), masked() ? u : places_[row]);
  }
}

/// Jumps if rows are left after few iterations: fetching them costs more than it saves.
void LaneSite::go_if_short(asmjit::Label otherwise) const {
  auto& a = c_.a;
  const RowWindow& window = *window_;
  const asmjit::Label skip = a.newLabel(), is_short = a.newLabel(), fill = a.newLabel();
  a.cmp(window.short_rows(), short_rows_before);
  a.ja(skip);
  a.mov(bits.r32(), window.at());
  a.and_(bits.r32(), RowWindow::forgotten - 1);
  a.cmp(bits.r32(), std::min(least_turns * window.step, RowWindow::row_bytes));
  a.jb(is_short);
  a.mov(window.short_rows(), 0);
  a.jmp(fill);
  a.bind(is_short);
  a.inc(window.short_rows());
  a.cmp(window.short_rows(), short_rows_before);
  a.jbe(fill);
  a.mov(window.at(), RowWindow::forgotten + RowWindow::row_bytes);
  a.mov(window.short_rows(), short_rows_before + short_rows_after + 1);
  a.bind(skip);
  a.dec(window.short_rows());
  a.jmp(otherwise);
  a.bind(fill);
}

void LaneSite::fill_window(std::span<const x86::Ymm> results, asmjit::Label otherwise,
                           asmjit::Label serve) const {
  auto& a = c_.a;
  go_if_short(otherwise);
  go_if_written(otherwise);
  std::array<x86::Ymm, 2> begins = places_;
  if (window_->down) {
    begins = {results[0], element() == 4 ? results.back() : w};
    for (unsigned row = 0; row < rows(); ++row)
      a.vpsubd(begins[row], places_[row], c_.splat(static_cast<unsigned>(down_bytes()), 4));
  }
  const CheckedAddress memory =
      check_lanes({{begins.data(), rows()}, masks(), t, u, v, bits},
                  component_offset(0) + static_cast<unsigned>(RowWindow::row_bytes), otherwise);
  store_firsts();
  // Six vectors, of which some have to be borrowed.
  std::vector<x86::Ymm> free{t, u, v};
  free.insert(free.end(), results.begin(), results.end());
  std::vector<x86::Ymm> borrowed;
  for (unsigned id = 0; free.size() + borrowed.size() < 6; ++id) {
    const auto is = [&](const x86::Ymm& other) { return other.isValid() && other.id() == id; };
    if (std::ranges::none_of(free, is) && std::ranges::none_of(places_, is) &&
        std::ranges::none_of(masks_, is))
      borrowed.push_back(x86::ymm(id));
  }
  const auto kept = [](const x86::Ymm& vector) {
    return x86::ptr(x86::rsp, Frame::saved_vectors + static_cast<int>(vector.id()) * 32, 32);
  };
  for (const x86::Ymm& vector : borrowed) a.vmovaps(kept(vector), vector);
  free.insert(free.end(), borrowed.begin(), borrowed.end());
  for (unsigned row = 0; row < rows(); ++row) {
    for (int half = 0; half < 2; ++half) transpose_half(free, memory, row, half);
    prefetch_rows(memory, row);
  }
  for (const x86::Ymm& vector : borrowed) a.vmovaps(vector, kept(vector));
  a.xor_(bits.r32(), bits.r32());
  a.jmp(serve);
}

/// Prefetches the rows of the next threads, if rows closely follow one another.
void LaneSite::prefetch_rows(const CheckedAddress& memory, unsigned row) const {
  if (!does(Optimisation::prefetch) || of_one_host_thread()) return;
  auto& a = c_.a;
  const RowWindow& window = *window_;
  const x86::Gp distance = lane;
  const asmjit::Label apart = a.newLabel();
  a.mov(distance.r32(), window.first(8 * row + 7));
  a.sub(distance.r32(), window.first(8 * row));
  a.cmp(distance.r32(), rows_ahead);
  a.ja(apart);
  for (unsigned i = 0; i < 8; ++i) {
    a.mov(place().r32(), window.first(8 * row + i));
    a.prefetcht0(memory.ahead_of_lane(place(), component_offset(0), rows_ahead));
  }
  a.bind(apart);
}

/// Four dwords of eight rows. `free`: six vectors.
void LaneSite::transpose_half(std::span<const x86::Ymm> free, const CheckedAddress& memory, unsigned row,
                              int half) const {
  constexpr int half_bytes = RowWindow::row_bytes / 2;
  auto& a = c_.a;
  const RowWindow& window = *window_;
  const auto part_of = [&](unsigned lane_of_row) {
    a.mov(place().r32(), window.first(8 * row + lane_of_row));
    if (window.down) a.sub(place().r32(), down_bytes());
    return memory.lane(place(), component_offset(0) + static_cast<unsigned>(half * half_bytes), half_bytes);
  };
  for (unsigned i = 0; i < 4; ++i) {
    a.vmovups(free[i].xmm(), part_of(i));
    a.vinsertf128(free[i], free[i], part_of(i + 4), 1);
  }
  const std::array dwords{free[4], free[2], free[5], free[3]};
  transpose_quads(free.first<4>(), {dwords[0], dwords[1], dwords[2], dwords[3]});
  int offset = half * half_bytes;
  for (const x86::Ymm& of_all : dwords) {
    a.vmovups(window.dwords(row, window.down ? RowWindow::row_bytes - 4 - offset : offset), of_all);
    offset += 4;
  }
}

}  // namespace eum::jit::avx2::emit

#include "jit/avx2/row_stores.hpp"

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "jit/avx2/compiler.hpp"

namespace eum::jit::avx2 {
namespace {

using Window = RowStoreWindow;

/// Lanes so many bytes apart, or a multiple, fall on four lines' worth of places in a cache, or fewer. Fewer
/// bytes leave room for 32 lanes.
constexpr std::uint32_t conflict_bytes = 1024;
/// After a loop that does not collect.
constexpr std::uint32_t untried_times = 63;

int bytes_of(const RowStoreLoop& loop) {
  std::size_t bytes = sizeof(RowStoreState);
  for (const RowStore& store : loop.stores) bytes += store.lanes / Window::lanes * sizeof(Window);
  return static_cast<int>(bytes);
}

// ---- Called by translated code

/// The elements of a loop that is running.
class Rows {
 public:
  Rows(const ThreadState& thread, const RowStoreCode& code, std::byte* frame)
      : surfaces_(thread.environment->surfaces),
        code_(code),
        state_(*reinterpret_cast<RowStoreState*>(frame + code.frame)),
        windows_(reinterpret_cast<Window*>(&state_ + 1)) {}

  void decide() {
    const bool collects = state_.done == code_.all() && surfaces_are_apart() && windows_suit();
    state_.done = 0;
    state_.mode = RowStoreState::Apart;
    if (!collects) {
      state_.untried = untried_times;
      return;
    }
    // From now on, what is stored at once are whole lines.
    advance(RowStores::element_bytes);
    const auto behind =
        static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(row(0, 0)) % Window::row_bytes);
    const auto begins_before = [&](const Window& window) { return std::ranges::min(window.firsts) < behind; };
    if (behind % RowStores::element_bytes != 0 || !have_room() ||
        std::ranges::any_of(std::span(windows_, code_.windows.size()), begins_before))
      return;
    advance(0 - behind);
    state_.at = behind;
    state_.begin = behind / RowStores::element_bytes;
    state_.mode = RowStoreState::Collecting;
  }
  void store_full() {
    for (std::size_t w = 0; w < code_.windows.size(); ++w)
      if (state_.begin == 0)
        store_whole(w);
      else
        store_part(w);
    advance(Window::row_bytes);
    state_.at = state_.begin = 0;
    if (!have_room()) state_.mode = RowStoreState::Apart;
  }
  void abandon() {
    if (state_.mode == RowStoreState::Collecting)
      for (std::size_t w = 0; w < code_.windows.size(); ++w) store_part(w);
    state_.mode = RowStoreState::Apart;
    state_.at = state_.done = state_.begin = 0;
  }
  void leave() {
    abandon();
    state_.mode = RowStoreState::Undecided;
  }

 private:
  const mem::Surface& surface(std::size_t window) const { return surfaces_[code_.windows[window].surface]; }
  std::byte* row(std::size_t window, std::size_t lane) const {
    return surface(window).base + code_.windows[window].offset + windows_[window].firsts[lane];
  }

  /// Whether what the loop stores is other memory than what else it accesses, all of it in one piece.
  bool surfaces_are_apart() const {
    for (const RowStoreCode::Window& window : code_.windows)
      for (const std::uint8_t other : code_.surfaces) {
        const mem::Surface &stored = surfaces_[window.surface], &accessed = surfaces_[other];
        for (const mem::Surface* one : {&stored, &accessed})
          if (one->base == nullptr || one->direct != one->size) return false;
        if (other != window.surface && stored.base < accessed.base + accessed.size &&
            accessed.base < stored.base + stored.size)
          return false;
      }
    return true;
  }
  /// Whether the rows of each window are equally far apart, on few lines of a cache, and not between those of
  /// another window: no two rows share bytes then, wherever they go on together.
  bool windows_suit() const {
    for (std::size_t w = 0; w < code_.windows.size(); ++w) {
      const auto& firsts = windows_[w].firsts;
      const std::uint32_t apart = firsts[1] - firsts[0];
      if (apart == 0 || apart % conflict_bytes != 0) return false;
      for (std::size_t lane = 1; lane < firsts.size(); ++lane)
        if (firsts[lane] - firsts[lane - 1] != apart) return false;
      const auto [low, high] = std::ranges::minmax(firsts);
      if (std::uint64_t{high} - low != std::uint64_t{Window::lanes - 1} * std::min(apart, 0 - apart))
        return false;
      for (std::size_t other = 0; other < w; ++other) {
        const auto [its_low, its_high] = std::ranges::minmax(windows_[other].firsts);
        if (code_.windows[other].surface != code_.windows[w].surface) continue;
        const std::uint64_t begin = std::uint64_t{low} + code_.windows[w].offset,
                            end = std::uint64_t{high} + code_.windows[w].offset + conflict_bytes,
                            its_begin = std::uint64_t{its_low} + code_.windows[other].offset,
                            its_end = std::uint64_t{its_high} + code_.windows[other].offset + conflict_bytes;
        if (begin < its_end && its_begin < end) return false;
      }
    }
    return true;
  }
  /// Whether the next line of each row is in bounds, and no address wraps around behind it.
  bool have_room() const {
    for (std::size_t w = 0; w < code_.windows.size(); ++w) {
      const std::uint64_t highest = std::ranges::max(windows_[w].firsts);
      const std::uint64_t end = std::min<std::uint64_t>(surface(w).size, UINT32_MAX);
      if (highest + code_.windows[w].offset + Window::row_bytes > end) return false;
    }
    return true;
  }
  void advance(std::uint32_t bytes) {
    for (std::size_t w = 0; w < code_.windows.size(); ++w)
      for (std::uint32_t& first : windows_[w].firsts) first += bytes;
  }

  /// The rows' lines are requested together: waiting for one after the other takes most of the time.
  [[gnu::target("avx2,prfchw")]] void store_whole(std::size_t w) const {
    std::array<std::byte*, Window::lanes> rows;
    for (std::size_t lane = 0; lane < Window::lanes; ++lane) {
      rows[lane] = row(w, lane);
      __builtin_prefetch(rows[lane], 1);
    }
    for (std::size_t first = 0; first < Window::columns; first += 8) {
      __m256i columns[8];
      for (std::size_t k = 0; k < 8; ++k)
        columns[k] = _mm256_load_si256(reinterpret_cast<const __m256i*>(&windows_[w].elements[first + k]));
      // Of columns 0 to 3 and 4 to 7: lanes 0 and 4, 1 and 5, ...
      __m256i quads[2][4];
      for (std::size_t half = 0; half < 2; ++half) {
        const __m256i* const four = columns + 4 * half;
        const __m256i a = _mm256_unpacklo_epi32(four[0], four[1]),
                      b = _mm256_unpacklo_epi32(four[2], four[3]),
                      c = _mm256_unpackhi_epi32(four[0], four[1]),
                      d = _mm256_unpackhi_epi32(four[2], four[3]);
        quads[half][0] = _mm256_unpacklo_epi64(a, b);
        quads[half][1] = _mm256_unpackhi_epi64(a, b);
        quads[half][2] = _mm256_unpacklo_epi64(c, d);
        quads[half][3] = _mm256_unpackhi_epi64(c, d);
      }
      for (std::size_t k = 0; k < 4; ++k) {
        const __m256i low = _mm256_permute2x128_si256(quads[0][k], quads[1][k], 0x20),
                      high = _mm256_permute2x128_si256(quads[0][k], quads[1][k], 0x31);
        const std::size_t behind = first * RowStores::element_bytes;
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(rows[k] + behind), low);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(rows[k + 4] + behind), high);
      }
    }
  }
  /// What has been collected, this iteration's elements included.
  void store_part(std::size_t w) const {
    const std::size_t columns = state_.at / RowStores::element_bytes + (state_.done >> w & 1);
    for (std::size_t lane = 0; lane < Window::lanes; ++lane)
      for (std::size_t column = state_.begin; column < columns; ++column)
        std::memcpy(row(w, lane) + column * RowStores::element_bytes, &windows_[w].elements[column][lane],
                    RowStores::element_bytes);
  }

  const mem::Surface* surfaces_;
  const RowStoreCode& code_;
  RowStoreState& state_;
  Window* windows_;
};

void on_event(const ThreadState* thread, const CodeData* data, std::byte* frame, std::uint32_t event) {
  Rows rows(*thread, data->row_stores[event / row_store_events], frame);
  switch (static_cast<RowStoreEvent>(event % row_store_events)) {
    case RowStoreEvent::Decide:
      return rows.decide();
    case RowStoreEvent::Full:
      return rows.store_full();
    case RowStoreEvent::Abandon:
      return rows.abandon();
    case RowStoreEvent::Leave:
      return rows.leave();
  }
}

std::uint32_t event_of(const RowStoreSite& site, RowStoreEvent event) {
  return site.loop * row_store_events + static_cast<std::uint32_t>(event);
}

}  // namespace

const void* row_store_function() { return reinterpret_cast<const void*>(&on_event); }

int bytes_of_row_stores(const RowStores& stores) {
  int bytes = 0;
  for (const RowStoreLoop& loop : stores.loops) bytes += bytes_of(loop);
  return bytes;
}

// ---- Code

void Compiler::plan_row_stores(int frame) {
  for (const RowStoreLoop& loop : row_stores_.loops) {
    RowStoreCode& code = data.row_stores.emplace_back();
    code.frame = frame;
    code.surfaces = loop.surfaces;
    for (const RowStore& store : loop.stores)
      for (unsigned lane = 0; lane < store.lanes; lane += Window::lanes)
        code.windows.push_back({store.surface, store.offset});
    frame += bytes_of(loop);
  }
}

RowStoreSite Compiler::row_stores_of(std::uint32_t loop) const {
  return {loop, data.row_stores[loop].frame, 0};
}

std::optional<RowStoreSite> Compiler::row_store(const CodeInst& inst, unsigned first_lane) const {
  if (!collects_rows_) return std::nullopt;
  unsigned window = first_lane / Window::lanes;
  for (const RowStore& store : row_stores_.loops[*collects_rows_].stores) {
    if (store.guest_ip == inst.guest_ip)
      return RowStoreSite(*collects_rows_, data.row_stores[*collects_rows_].frame, window);
    window += store.lanes / Window::lanes;
  }
  return std::nullopt;
}

void Compiler::row_store_event(const RowStoreSite& site, RowStoreEvent event) {
  a.mov(x86::ptr(x86::rsp, Frame::site, 4), event_of(site, event));
  a.call(row_store_stub_);
}

/// As threads begin, or begin again.
void Compiler::begin_row_stores() {
  for (const RowStoreCode& code : data.row_stores) {
    a.vpxor(x86::xmm0, x86::xmm0, x86::xmm0);
    a.vmovups(x86::ptr(x86::rsp, code.frame, sizeof(RowStoreState)), x86::ymm0);
  }
}

/// Where a loop is left to a block, or where channels become inactive in it.
void Compiler::begin_behind_row_stores(ir::BlockId id, bool full) {
  collects_rows_.reset();
  for (std::uint32_t l = 0; l < row_stores_.loops.size(); ++l) {
    const ir::BlockId block = row_stores_.loops[l].block;
    if (block == id && full) {
      collects_rows_ = l;
      continue;
    }
    const auto successors = ir::successors(function.blocks[block].insts.back());
    if (std::ranges::find(successors, id) == successors.end()) continue;
    const asmjit::Label left = a.newLabel(), on = a.newLabel();
    const RowStoreSite state = row_stores_of(l);
    a.cmp(state.mode(), RowStoreState::Undecided);
    a.jne(left);
    a.bind(on);
    out_of_line([this, left, on, state] {
      const asmjit::Label is_collecting = a.newLabel();
      a.bind(left);
      a.cmp(state.mode(), RowStoreState::Collecting);
      a.je(is_collecting);
      a.mov(state.mode(), RowStoreState::Undecided);
      a.jmp(on);
      a.bind(is_collecting);
      row_store_event(state, RowStoreEvent::Leave);
      a.jmp(on);
    });
  }
}

/// Behind the stores of an iteration.
void Compiler::end_row_iteration() {
  if (!collects_rows_) return;
  const RowStoreCode& code = data.row_stores[*collects_rows_];
  const RowStoreSite state = row_stores_of(*collects_rows_);
  const asmjit::Label ends = a.newLabel(), on = a.newLabel();
  a.cmp(state.mode(), RowStoreState::Apart);
  a.jne(ends);
  a.bind(on);
  out_of_line([this, state, ends, on, all = code.all()] {
    const asmjit::Label undecided = a.newLabel(), decide = a.newLabel(), part = a.newLabel(),
                        full = a.newLabel();
    a.bind(ends);
    a.cmp(state.mode(), RowStoreState::Undecided);
    a.je(undecided);
    a.cmp(state.done(), all);
    a.jne(part);
    a.mov(state.done(), 0);
    a.add(state.at(), RowStores::element_bytes);
    a.cmp(state.at(), Window::row_bytes);
    a.jne(on);
    a.bind(full);
    row_store_event(state, RowStoreEvent::Full);
    a.jmp(on);
    a.bind(part);
    row_store_event(state, RowStoreEvent::Abandon);
    a.jmp(on);
    a.bind(undecided);
    a.cmp(state.untried(), 0);
    a.je(decide);
    a.dec(state.untried());
    a.mov(state.mode(), RowStoreState::Apart);
    a.mov(state.done(), 0);
    a.jmp(on);
    a.bind(decide);
    row_store_event(state, RowStoreEvent::Decide);
    a.jmp(on);
  });
}

/// Where the code is left: by now the vector registers are saved. esi is kept.
void Compiler::leave_row_stores() {
  for (std::uint32_t l = 0; l < row_stores_.loops.size(); ++l) {
    const asmjit::Label skip = a.newLabel();
    const RowStoreSite state = row_stores_of(l);
    a.cmp(state.mode(), RowStoreState::Collecting);
    a.jne(skip);
    a.mov(x86::ptr(x86::rsp, Frame::site, 4), x86::esi);
    a.mov(x86::rdi, state_reg);
    a.mov(x86::rsi, asmjit::Imm(reinterpret_cast<std::uint64_t>(&data)));
    a.mov(x86::rdx, x86::rsp);
    a.mov(x86::ecx, event_of(state, RowStoreEvent::Leave));
    a.vzeroupper();
    a.mov(x86::rax, asmjit::Imm(reinterpret_cast<std::uint64_t>(row_store_function())));
    a.call(x86::rax);
    a.mov(x86::esi, x86::ptr(x86::rsp, Frame::site, 4));
    a.bind(skip);
  }
}

/// Calls the function for the event in Frame::site, all registers kept.
void Compiler::row_store_stub() {
  if (data.row_stores.empty()) return;
  a.bind(row_store_stub_);
  const int frame = save_registers();
  a.mov(x86::rdi, state_reg);
  a.mov(x86::rsi, asmjit::Imm(reinterpret_cast<std::uint64_t>(&data)));
  a.lea(x86::rdx, x86::ptr(x86::rsp, frame));
  a.mov(x86::ecx, x86::ptr(x86::rdx, Frame::site, 4));
  a.vzeroupper();
  a.mov(x86::rax, asmjit::Imm(reinterpret_cast<std::uint64_t>(row_store_function())));
  a.call(x86::rax);
  restore_registers();
  a.ret();
}

}  // namespace eum::jit::avx2

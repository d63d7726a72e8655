// Stores: rows of consecutive elements, lane by lane, or by call.
#include "jit/avx2/emit/few_lanes.hpp"
#include "jit/avx2/emit/lane_site.hpp"
#include "jit/avx2/emit/one_address.hpp"
#include "jit/avx2/emit/scalar.hpp"

namespace eum::jit::avx2::emit {

namespace {

class StoreSite : public LaneSite {
 public:
  StoreSite(Compiler& c, const CodeInst& inst, unsigned first_lane, unsigned lanes)
      : LaneSite(c, inst, first_lane, lanes),
        merges_(masked() && element() < 4 && components() == 1 && inst.is_run_of_all) {
    fetch_mask_bits();
    for (unsigned k = 0; k < components(); ++k)
      for (unsigned i = 0; i < vectors(); ++i) data_.push_back(c.v.use(data(k), first_chunk() + i));
    acquire();
    streamed_ = is_streamed();
    if (streamed_) first_byte_ = c.g.scratch();
  }

  void emit() {
    auto& a = c_.a;
    slow_ = a.newLabel();
    done_ = a.newLabel();
    const unsigned stride =
        masked() && !merges_ && (element() < 4 || components() > 2) ? 0 : possible(row_stride());
    if (masked() && (stride == 0 || rows() > 1)) {  // skips long checks and slow stores
      a.test(reg.mask.r32(), reg.mask.r32());
      a.jz(done_);
    }
    if (by_runs()) return emit_runs();
    collect_in_row(data_, done_);
    locate(slow_);
    if (stride != 0) {
      const asmjit::Label spread = a.newLabel();
      if (merges_ && !of_one_host_thread()) c_.go_unless_exclusive(spread);
      count_scattered();
      go_if_scattered();
      if (masked()) {
        store_runs_under_mask(check_run_under_mask(stride, spread), 1, stride);
      } else {
        store_runs(check_run(stride, spread, slow_), 1, stride);
      }
      c_.out_of_line([site = *this, spread, stride] { site.store_otherwise(spread, stride); });
    } else {
      store_spread(check_all_lanes(slow_));
    }
    a.bind(done_);
    call_out_of_line(slow_, done_, on_data<jit::store>, {.addresses = address_registers(), .data = data_});
  }

 private:
  void emit_runs() const {
    const CheckedAddress memory = check_known_runs(slow_);
    if (!streamed_) prefetch(memory, true);
    if (masked())
      store_runs_under_mask(memory, known_runs(), known_stride());
    else if (goes_down())
      store_reversed(memory);
    else if (streamed_)
      stream(memory);
    else
      store_known_runs(memory);
    c_.a.bind(done_);
    if (has_window()) return;
    if (interleaved_) return call_for_interleaved();
    asmjit::Label call = slow_;
    if (may_retry()) {
      call = c_.a.newLabel();
      c_.out_of_line([site = *this, call] { site.store_known_lanes(call); });
    }
    call_for_runs(call, done_, on_data<jit::store>, {.data = data_});
  }

  /// From slow_ on: known runs of which only active lanes are in bounds.
  void store_known_lanes(asmjit::Label otherwise) const {
    auto& a = c_.a;
    a.bind(slow_);
    go_if_no_lane({}, done_);
    const CheckedAddress memory = check_known_lanes(otherwise);
    spill_values(data_, components());
    for_each_known_lane([&](const LaneSite& site) { store_lane(site, memory); });
    a.jmp(done_);
  }

  void store_reversed(const CheckedAddress& memory) const {
    c_.a.vmovups(t, reversing());
    for (unsigned row = 0; row < rows(); ++row) {
      c_.a.vpermd(u, t, from(0, row));
      c_.a.vmovups(reversed_row(memory, row), u);
    }
  }

  void store_known_runs(const CheckedAddress& memory) const {
    if (!interleaved_) return store_runs(memory, known_runs(), known_stride());
    for (unsigned row = 0; row < rows(); ++row)
      store_parts(memory, row, parts_of_row(data_, row), past_caches_);
  }

  // ---- Past the caches

  /// Whether the run consists of whole cache lines, if it begins at one.
  bool is_streamed() const {
    const bool whole =
        (components() == 1 || interleaved_ || (components() == 2 && side_by_side_components())) &&
        is_without_gaps();
    return c_.beyond_caches().is_stream(inst()) && by_runs() && !masked() && !goes_down() &&
           known_runs() == 1 && whole && lanes() * known_stride() % cache_line == 0;
  }
  void stream(const CheckedAddress& memory) const {
    auto& a = c_.a;
    const asmjit::Label within_line = a.newLabel();
    a.lea(first_byte_, memory.at(component_offset(0), 1));
    a.test(first_byte_.r8(), cache_line - 1);
    a.jnz(within_line);
    StoreSite streamed = *this;
    streamed.past_caches_ = true;
    streamed.store_known_runs(memory);
    c_.fence_when_left();  // other host threads may read then
    c_.out_of_line([site = *this, memory, within_line] {
      site.c_.a.bind(within_line);
      site.store_known_runs(memory);
      site.c_.a.jmp(site.done_);
    });
  }
  void put(const x86::Mem& to, x86::Ymm vector) const {
    past_caches_ ? c_.a.vmovntps(to, vector) : c_.a.vmovups(to, vector);
  }

  /// The call expects each component in registers of its own.
  void call_for_interleaved() const {
    auto& a = c_.a;
    const asmjit::Label parted = a.newLabel(), called = a.newLabel();
    c_.out_of_line([site = *this, parted, called] {
      auto& code = site.c_.a;
      code.bind(site.slow_);
      for (unsigned row = 0; row < site.rows(); ++row) site.to_components(site.parts_of_row(site.data_, row));
      code.jmp(parted);
      // Later code may use the data registers.
      code.bind(called);
      for (unsigned row = 0; row < site.rows(); ++row)
        site.to_memory_order(site.parts_of_row(site.data_, row));
      code.jmp(site.done_);
    });
    call_for_runs(parted, called, on_data<jit::store>, {.data = data_});
  }
  x86::Ymm from(unsigned component, unsigned vector = 0) const {
    return data_[component * vectors() + vector];
  }

  // ---- Rows

  void store_otherwise(asmjit::Label entry, unsigned stride) const {
    auto& a = c_.a;
    a.bind(entry);
    if (rows() == 2 && !masked()) {
      const asmjit::Label spread = a.newLabel();
      store_runs(check_second_row(stride, spread, slow_), 2, stride);
      a.jmp(done_);
      a.bind(spread);
    }
    bind_scattered();
    if (masked() && rows() == 1) {
      a.test(reg.mask.r32(), reg.mask.r32());
      a.jz(done_);
    }
    store_spread(check_all_lanes(slow_));
    a.jmp(done_);
  }

  /// One run of all rows, or one per row.
  void store_runs(const CheckedAddress& memory, unsigned runs, unsigned stride) const {
    if (element() == 1 && components() > 1) return store_dense_bytes(memory, runs);
    if (components() > 1 || runs > 1 || stride != row_stride()) {
      for (unsigned row = 0; row < rows(); ++row)
        store_row(memory, runs > 1 ? row : 0, row, runs > 1 ? 0 : 8 * row * stride, stride);
      return;
    }
    for (unsigned i = 0; i < vectors(); ++i)
      if (const unsigned at = component_offset(0) + 32 * i; bytes() >= 32)
        put(memory.at(at, 32), from(0, i));
      else
        store_chunk(memory, at, from(0, i), bytes(), t);
  }

  /// Two or three bytes of each lane, in the order of memory: is_dense_bytes().
  void store_dense_bytes(const CheckedAddress& memory, unsigned runs) const {
    const unsigned each = lanes() / runs;
    for (unsigned run = 0; run < runs; ++run) store_dense_run(memory, run, run * each, each);
  }
  void store_dense_run(const CheckedAddress& memory, unsigned run, unsigned first, unsigned count) const {
    auto& a = c_.a;
    constexpr unsigned half = 16;
    const unsigned end = count * components();
    for (unsigned at = 0; at < end; at += half) {
      for (unsigned k = 0; k < components(); ++k) {
        codegen::ConstantPool::Entry shuffle;
        for (unsigned byte = 0; byte < shuffle.size(); ++byte) {
          const unsigned to = at + byte % half;
          shuffle[byte] =
              static_cast<std::uint8_t>(to % components() == k ? first + to / components() : 0x80);
        }
        const x86::Xmm bytes = k == 0 ? t.xmm() : u.xmm();
        a.vpshufb(bytes, from(k).xmm(), c_.constant(shuffle));
        if (k != 0) a.vpor(t.xmm(), t.xmm(), bytes);
      }
      const x86::Mem to = memory.at(component_offset(0) + at, std::min(half, end - at), run);
      end - at >= half ? a.vmovups(to, t.xmm()) : a.vmovq(to, t.xmm());
    }
  }

  /// Row `row` of the data to `offset` bytes after the start of run `run`.
  void store_row(const CheckedAddress& memory, unsigned run, unsigned row, unsigned offset,
                 unsigned stride) const {
    auto& a = c_.a;
    const auto at = [&](unsigned behind, unsigned bytes) {
      return memory.at(component_offset(0) + offset + behind, bytes, run);
    };
    if (stride != row_stride() || components() > 2)
      return store_row_apart(
          [&](unsigned i, unsigned behind, unsigned bytes) { return at(i * stride + behind, bytes); },
          {.no_overlap = true, .side_by_side = stride == components() * element()}, row);
    if (components() == 2) {
      for (unsigned half = 0; half < element() / 4; ++half) {
        interleave(row, half);
        put(at(64 * half, 32), v);
        put(at(64 * half + 32, 32), u);
      }
      return;
    }
    switch (element()) {
      case 8:
        a.vmovups(at(0, 32), from(0, 2 * row));
        return (void)a.vmovups(at(32, 32), from(0, 2 * row + 1));
      case 4:
        return (void)a.vmovups(at(0, 32), from(0, row));
      case 2:
        if (row == 0) return (void)a.vmovups(at(0, 16), from(0).xmm());
        return (void)a.vextracti128(at(0, 16), from(0), 1);
      default:
        if (row == 0) return (void)a.vmovq(at(0, 8), from(0).xmm());
        return (void)a.vmovhps(at(0, 8), from(0).xmm());
    }
  }

  /// Interleaves x0 x1 ... and y0 y1 ...: v = x0 y0 x1 y1 ..., u = the rest; of qwords, half a row.
  void interleave(unsigned row, unsigned half = 0) const {
    auto& a = c_.a;
    unpack_pairs(row, half);
    a.vperm2f128(v, t, u, 0x20);
    a.vperm2f128(u, t, u, 0x31);
  }
  /// unpack() of row `row`; of qwords, half of it.
  void unpack_pairs(unsigned row, unsigned half) const {
    const unsigned i = row * (element() / 4) + half;
    unpack(from(0, i), from(1, i));
  }

  // ---- Lanes that are not adjacent: adjacent elements of a lane take one move or two

  struct Layout {
    bool no_overlap;    ///< lanes do not overlap: their order does not matter
    bool side_by_side;  ///< each lane begins where the one before it ends
  };

  /// memory(i, behind, bytes) is memory of lane i, `behind` bytes after its address.
  template <class Memory>
  void store_row_apart(Memory memory, Layout layout, unsigned row) const {
    auto& a = c_.a;
    if (components() > 2) return store_transposed(memory, layout, row);
    if (components() == 2 && element() == 8) return store_qword_pairs(memory, row);
    const auto qwords = [&](unsigned first, x86::Ymm pairs) {
      for (unsigned half = 0; half < 2; ++half) {
        const x86::Xmm part = half == 0 ? pairs.xmm() : t.xmm();
        if (half == 1) a.vextractf128(part, pairs, 1);
        a.vmovlps(memory(first + 2 * half, 0, 8), part);
        a.vmovhps(memory(first + 2 * half + 1, 0, 8), part);
      }
    };
    if (components() == 2) interleave(row);
    if (components() == 2 || element() == 8) {
      qwords(0, components() == 2 ? v : from(0, 2 * row));
      return qwords(4, components() == 2 ? u : from(0, 2 * row + 1));
    }
    // Eight lanes of 4, 2 or 1 bytes from byte 8 * row * element on.
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned byte = (8 * row + i) * element();
      x86::Xmm part = from(0, byte / 32).xmm();
      if (byte % 32 >= 16) {
        part = t.xmm();
        if (byte % 16 == 0) a.vextracti128(part, from(0, byte / 32), 1);
      }
      store_element(c_, memory(i, 0, element()), part, byte % 16 / element());
    }
  }

  /// Two qwords of each lane, in the order of the lanes.
  template <class Memory>
  void store_qword_pairs(Memory memory, unsigned row) const {
    auto& a = c_.a;
    for (unsigned half = 0; half < 2; ++half) {
      unpack_pairs(row, half);
      for (unsigned i = 0; i < 4; ++i) {
        const x86::Ymm pairs = i % 2 == 0 ? t : u;
        const x86::Mem to = memory(4 * half + i, 0, 16);
        i < 2 ? a.vmovups(to, pairs.xmm()) : a.vextractf128(to, pairs, 1);
      }
    }
  }

  /// Three or four components, transposed to eight lanes of 16 bytes of which 12 or all are stored.
  template <class Memory>
  void store_transposed(Memory memory, Layout layout, unsigned row) const {
    auto& a = c_.a;
    const auto low = [&](unsigned lane, x86::Xmm quad) {
      // The next lane, stored later, overwrites the excess.
      if (components() == 4 || (layout.side_by_side && lane % 4 < 3)) {
        const unsigned bytes = components() == 4 ? 16 : 12;
        x86::Mem to = memory(lane, 0, bytes);
        to.setSize(16);
        return (void)a.vmovups(to, quad);
      }
      a.vmovlps(memory(lane, 0, 8), quad);
      a.vextractps(memory(lane, 8, 4), quad, 2);
    };
    const auto high = [&](unsigned lane, x86::Ymm quad) {
      if (components() == 4) return (void)a.vextractf128(memory(lane, 0, 16), quad, 1);
      a.vextractf128(w.xmm(), quad, 1);
      low(lane, w.xmm());
    };
    if (layout.no_overlap)
      return for_each_quad(row, [&](unsigned lane, x86::Ymm quad) {
        low(lane, quad.xmm());
        high(lane + 4, quad);
      });
    for_each_quad(row, [&](unsigned lane, x86::Ymm quad) { low(lane, quad.xmm()); });
    for_each_quad(row, [&](unsigned lane, x86::Ymm quad) { high(lane + 4, quad); });
  }

  /// Calls put(lane, quad): the lower half is lane `lane`, the upper one lane `lane` + 4.
  template <class Put>
  void for_each_quad(unsigned row, Put put) const {
    auto& a = c_.a;
    const x86::Ymm last = from(components() - 1, row);
    a.vunpcklps(t, from(0, row), from(1, row));
    a.vunpcklps(u, from(2, row), last);
    a.vunpcklpd(v, t, u);
    put(0, v);
    a.vunpckhpd(v, t, u);
    put(1, v);
    a.vunpckhps(t, from(0, row), from(1, row));
    a.vunpckhps(u, from(2, row), last);
    a.vunpcklpd(v, t, u);
    put(2, v);
    a.vunpckhpd(v, t, u);
    put(3, v);
  }

  /// With several rows often all channels are active, and AMD's processors take ten times as long for a
  /// masked store. With one row that is too rare.
  void store_runs_under_mask(const CheckedAddress& memory, unsigned runs, unsigned stride) const {
    const asmjit::Label all = c_.a.newLabel();
    if (!c_.host.evex() && rows() > 1) {
      c_.a.cmp(reg.mask.r32(), asmjit::Imm(static_cast<std::int32_t>(ir::lane_mask(lanes()))));
      c_.a.je(all);
      c_.out_of_line([site = *this, memory, runs, stride, all] {
        site.c_.a.bind(all);
        site.store_runs(memory, runs, stride);
        site.c_.a.jmp(site.done_);
      });
    }
    if (element() < 4) {
      if (by_runs()) store_lanes_unless_exclusive(memory);
      return merge_narrow(memory);
    }
    for (unsigned row = 0; row < rows(); ++row)
      store_row_under_mask(memory, runs > 1 ? row : 0, row, runs > 1 ? 0 : 8 * row * stride);
  }

  /// Elements of the active lanes one by one, if other host threads may write those between them.
  void store_lanes_unless_exclusive(const CheckedAddress& memory) const {
    if (of_one_host_thread()) return;
    const asmjit::Label shared = c_.a.newLabel();
    c_.go_unless_exclusive(shared);
    c_.out_of_line([site = *this, memory, shared] {
      site.c_.a.bind(shared);
      site.store_lanes_of_run(memory);
      site.c_.a.jmp(site.done_);
    });
  }
  /// With registers that are taken from other values in the meantime.
  void store_lanes_of_run(const CheckedAddress& memory) const {
    auto& a = c_.a;
    spill_values(data_, 1);
    std::array<x86::Gp, 4> borrowed;
    std::uint32_t free = c_.host.target.general_registers & ~(1u << reg.mask.id());
    for (x86::Gp& one : borrowed) {
      one = x86::gpq(static_cast<std::uint32_t>(std::countr_zero(free)));
      free &= free - 1;
      a.mov(saved(one), one);
    }
    const auto& [first, at, left, content] = borrowed;
    const asmjit::Label next = a.newLabel(), end = a.newLabel();
    a.lea(first, memory.at(component_offset(0), element()));
    a.mov(left.r32(), reg.mask.r32());
    a.test(left.r32(), left.r32());
    a.jz(end);
    a.bind(next);
    a.tzcnt(at.r32(), left.r32());
    const x86::Gp part = low_part(content, element());
    a.mov(part, frame_element(at, 0, lanes(), element()));
    a.mov(x86::ptr(first, at, element() / 2, 0, element()), part);
    a.blsr(left.r32(), left.r32());
    a.jnz(next);
    a.bind(end);
    for (const x86::Gp& one : borrowed) a.mov(one, saved(one));
  }

  void merge_narrow(const CheckedAddress& memory) const {
    auto& a = c_.a;
    const x86::Mem at = memory.at(component_offset(0), bytes());
    narrow_mask(t);
    if (bytes() == 32) {
      a.vmovups(u, at);
      a.vpblendvb(u, u, from(0), t);
      return (void)a.vmovups(at, u);
    }
    const x86::Xmm merged = u.xmm();
    bytes() == 16 ? a.vmovups(merged, at) : a.vmovq(merged, at);
    a.vpblendvb(merged, merged, from(0).xmm(), t.xmm());
    bytes() == 16 ? a.vmovups(at, merged) : a.vmovq(at, merged);
  }

  void store_row_under_mask(const CheckedAddress& memory, unsigned run, unsigned row, unsigned offset) const {
    auto& a = c_.a;
    const auto at = [&](unsigned behind) {
      return memory.at(component_offset(0) + offset + behind, 32, run);
    };
    if (element() == 4 && components() == 1) {
      if (!is_rewritten()) return (void)a.vmaskmovps(at(0), masks_[row], from(0, row));
      a.vmovups(t, at(0));
      a.vblendvps(t, t, from(0, row), masks_[row]);
      return (void)a.vmovups(at(0), t);
    }
    const bool pairs = components() == 2;
    const unsigned qwords = components() * element() / 8;  // of a lane
    for (unsigned i = 0; i < 2 * qwords; ++i) {
      if (pairs && i % 2 == 0) interleave(row, i / 2);
      const x86::Ymm changed = i % 2 == 0 ? v : u, data = pairs ? changed : from(0, 2 * row + i);
      wide_mask(t, row, i / qwords);
      if (qwords == 2) a.vpermq(t, t, i % 2 == 0 ? 0x50 : 0xfa);
      if (!is_rewritten()) {
        a.vmaskmovpd(at(32 * i), t, data);
        continue;
      }
      a.vxorpd(changed, data, at(32 * i));
      a.vandpd(changed, changed, t);
      a.vxorpd(changed, changed, at(32 * i));
      a.vmovups(at(32 * i), changed);
    }
  }
  /// Whether memory can be read, merged and written back, as no other host thread writes it: AMD's processors
  /// take a third of the time of a masked store.
  bool is_rewritten() const { return !c_.host.evex() && of_one_host_thread(); }

  // ---- Lanes that are in bounds

  void store_spread(const CheckedAddress& memory) const {
    store_vectors(Frame::operands, {places_.data(), rows()});
    if (masked()) return store_under_mask(memory);
    if (components() > 1 && !side_by_side_components()) {
      c_.a.mov(bits.r32(), ir::lane_mask(lanes()));
      return store_left_lanes(memory);
    }
    for (unsigned row = 0; row < rows(); ++row) store_row_spread(memory, row);
  }
  void store_row_spread(const CheckedAddress& memory, unsigned row) const {
    store_row_apart(
        [&, fetched = 8u](unsigned i, unsigned behind, unsigned bytes) mutable {
          if (i != std::exchange(fetched, i)) fetch_place(place(), row, i);
          return memory.lane(place(), component_offset(0) + behind, bytes);
        },
        {.no_overlap = false, .side_by_side = false}, row);
  }

  /// Active lanes, one at least, one by one; but tuples of rows of which all are active at once, as long as
  /// these rows come first: in the last thread of a group, active channels do. For single elements it gains
  /// nothing.
  void store_under_mask(const CheckedAddress& memory) const {
    auto& a = c_.a;
    const asmjit::Label whole = a.newLabel(), left = a.newLabel();
    a.mov(bits.r32(), reg.mask.r32());
    if (side_by_side_components()) {
      a.cmp(bits.r8(), whole_row);
      a.je(whole);
      c_.out_of_line([site = *this, memory, whole, left] {
        auto& code = site.c_.a;
        code.bind(whole);
        site.store_row_spread(memory, 0);
        if (site.rows() == 2) {
          code.sub(site.bits.r32(), whole_row);
          code.jz(site.done_);
          code.cmp(site.bits.r32(), whole_row << 8);
          code.jne(left);
          site.store_row_spread(memory, 1);
        }
        code.jmp(site.done_);
      });
    }
    a.bind(left);
    store_left_lanes(memory);
  }

  /// Those in `bits`, one at least, one by one: if lanes share an address the last one wins, as on the
  /// hardware.
  void store_left_lanes(const CheckedAddress& memory) const {
    if (side_by_side_components() && element() == 4) return store_tuples(memory);
    spill_values(data_, components());
    loop_over_left_lanes(Frame::operands, [&] { store_lane(*this, memory); });
  }
  /// The lane of a loop over lanes, of values that spill_values has put into the frame.
  void store_lane(const LaneSite& site, const CheckedAddress& memory) const {
    for (unsigned k = 0; k < components(); ++k) {
      const x86::Gp element_of_lane = low_part(site.value(), element());
      c_.a.mov(element_of_lane, frame_element(site.lane, k, lanes(), element()));
      c_.a.mov(memory.lane(site.place(), component_offset(k), element()), element_of_lane);
    }
  }

  /// The same for adjacent dwords, which are first arranged by lanes in the frame, 8 or 16 bytes each.
  void store_tuples(const CheckedAddress& memory) const {
    auto& a = c_.a;
    const auto tuple = [](unsigned at, unsigned bytes) {
      return x86::ptr(x86::rsp, Frame::data + static_cast<int>(at), bytes);
    };
    for (unsigned row = 0; row < rows(); ++row) {
      if (components() == 2) {
        interleave(row);
        a.vmovups(tuple(64 * row, 32), v);
        a.vmovups(tuple(64 * row + 32, 32), u);
        continue;
      }
      for_each_quad(row, [&](unsigned lane_of_row, x86::Ymm quad) {
        const unsigned at = (8 * row + lane_of_row) * 16;
        a.vmovups(tuple(at, 16), quad.xmm());
        a.vextractf128(tuple(at + 4 * 16, 16), quad, 1);
      });
    }
    const auto to = [&](unsigned behind, unsigned bytes) {
      return memory.lane(place(), component_offset(0) + behind, bytes);
    };
    const x86::Xmm quad = t.xmm();
    loop_over_left_lanes(Frame::operands, [&] {
      if (components() == 2) {
        a.mov(value(), x86::ptr(x86::rsp, lane, 3, Frame::data, 8));
        return (void)a.mov(to(0, 8), value());
      }
      a.add(lane.r32(), lane.r32());
      a.vmovups(quad, x86::ptr(x86::rsp, lane, 3, Frame::data, 16));
      if (components() == 4) return (void)a.vmovups(to(0, 16), quad);
      a.vmovlps(to(0, 8), quad);
      a.vextractps(to(8, 4), quad, 2);
    });
  }

  static constexpr int whole_row = 0xff;  ///< of a mask

  std::vector<x86::Ymm> data_;
  /// Whether bytes or words under a mask, for which there are no stores, are merged with what is in memory if
  /// they are a run and no other host thread writes it.
  bool merges_;
  bool streamed_ = false;
  x86::Gp first_byte_;        ///< of a stream
  bool past_caches_ = false;  ///< whether put() bypasses the caches
  asmjit::Label slow_, done_;
};

}  // namespace

void emit_store(Compiler& c, const CodeInst& inst) {
  MemorySite site(c, inst);
  if (c.regs.is_scalar(site.data(0))) {
    if (site.data_count() == 1 && site.fits_in_line()) return store_one_lane(c, inst);
    return site.call_inline(on_data<jit::store>);
  }
  if (is_of_few_lanes(site)) return store_few_lanes(c, inst);
  const unsigned lanes = LaneSite::lanes_at_once(c, inst, site.components());
  if (lanes == 0) return site.call_inline(on_data<jit::store>);
  for (unsigned first = 0; first < inst.lanes; first += lanes) {
    StoreSite(c, inst, first, lanes).emit();
    c.regs.unpin();
  }
}

}  // namespace eum::jit::avx2::emit

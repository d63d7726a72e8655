// Loads: rows of consecutive elements, one address for all lanes, gathered, or by call.
#include "jit/avx2/emit/few_lanes.hpp"
#include "jit/avx2/emit/lane_site.hpp"
#include "jit/avx2/emit/one_address.hpp"

namespace eum::jit::avx2::emit {

namespace {

class LoadSite : public LaneSite {
 public:
  LoadSite(Compiler& c, const CodeInst& inst, unsigned first_lane, unsigned lanes)
      : LaneSite(c, inst, first_lane, lanes) {
    fetch_mask_bits();
    for (unsigned k = 0; k < components(); ++k)
      for (unsigned i = 0; i < vectors(); ++i) {
        if (i > 0 && all_lanes_alike()) {
          results_.push_back(results_.back());
          c.v.bind(inst.result + k, first_chunk() + i, results_.back());
        } else {
          results_.push_back(c.v.define(inst.result + k, first_chunk() + i));
        }
      }
    acquire();
  }

  void emit() {
    auto& a = c_.a;
    slow_ = a.newLabel();
    done_ = a.newLabel();
    if (by_runs()) return emit_runs();
    const unsigned stride = row_stride() != 0 ? row_stride() : side_by_side();
    locate(slow_);
    if (goes_along_rows()) {
      emit_rows();
    } else if (stride != 0) {
      const asmjit::Label spread = a.newLabel(), scattered = a.newLabel();
      count_scattered();
      go_if_scattered(scattered);
      load_run(stride, spread);
      note_run();
      c_.out_of_line(
          [site = *this, spread, scattered, stride] { site.load_otherwise(spread, scattered, stride); });
    } else {
      load_spread(check_all_lanes(slow_));
    }
    a.bind(done_);
    call_out_of_line(slow_, done_, on_data<jit::load>,
                     {.addresses = address_registers(), .results = results_});
  }

 private:
  void emit_rows() {
    auto& a = c_.a;
    const asmjit::Label miss = a.newLabel();
    serve_ = a.newLabel();
    take_from_window(results_, miss, serve_);
    count_scattered();
    c_.out_of_line([site = *this, miss] {
      auto& a = site.c_.a;
      const unsigned stride = site.row_stride();
      a.bind(miss);
      if (site.masked()) site.go_if_no_lane(site.results_, site.done_);
      if (stride == 0) return site.load_apart(a.newLabel());
      const asmjit::Label spread = a.newLabel(), scattered = a.newLabel();
      site.go_if_scattered(scattered);
      site.load_run(stride, spread);
      site.note_run();
      a.jmp(site.done_);
      site.load_otherwise(spread, scattered, stride);
    });
  }

  void emit_runs() const {
    const CheckedAddress memory = check_known_runs(slow_);
    prefetch(memory, false);
    if (interleaved_) return emit_interleaved(memory);
    if (goes_down())
      load_reversed(memory);
    else
      load_runs(memory, known_runs(), known_stride());
    if (masked() && !is_gathered_run(known_stride())) clear_outside_mask();
    c_.a.bind(done_);
    asmjit::Label call = slow_;
    if (masked()) {
      call = c_.a.newLabel();
      c_.out_of_line(
          [site = *this, call] { site.retry_under_mask(site.slow_, site.done_, call, site.results_); });
    }
    call_for_runs(call, done_, on_data<jit::load>, {.results = results_});
  }

  void load_reversed(const CheckedAddress& memory) const {
    c_.a.vmovups(t, reversing());
    for (unsigned row = 0; row < rows(); ++row) c_.a.vpermd(result(0, row), t, reversed_row(memory, row));
  }

  void emit_interleaved(const CheckedAddress& memory) const {
    auto& a = c_.a;
    for (unsigned row = 0; row < rows(); ++row)
      for (unsigned k = 0; k < components(); ++k) a.vmovups(result(k, row), part_of_row(memory, row, k));
    a.bind(done_);
    const asmjit::Label called = a.newLabel();
    c_.out_of_line([site = *this, called] {
      site.c_.a.bind(called);
      for (unsigned row = 0; row < site.rows(); ++row) site.interleave_quads(site.quad(row));
      site.c_.a.jmp(site.done_);
    });
    call_for_runs(slow_, called, on_data<jit::load>, {.results = results_});
  }
  std::array<x86::Ymm, 4> quad(unsigned row) const {
    return {result(0, row), result(1, row), result(2, row), result(3, row)};
  }

  x86::Ymm result(unsigned component, unsigned vector = 0) const {
    return results_[component * vectors() + vector];
  }
  // ---- Rows

  void load_otherwise(asmjit::Label entry, asmjit::Label scattered, unsigned stride) const {
    auto& a = c_.a;
    a.bind(entry);
    if (rows() == 2 && !masked()) {
      const asmjit::Label spread = a.newLabel();
      load_runs(check_second_row(stride, spread, slow_), 2, stride);
      note_run();
      a.jmp(done_);
      a.bind(spread);
    }
    if (side_by_side() != 0 && stride != side_by_side()) {
      const asmjit::Label spread = a.newLabel();
      load_run(side_by_side(), spread);
      note_run();
      a.jmp(done_);
      a.bind(spread);
    }
    load_apart(scattered);
  }

  /// Of lanes that are no run.
  void load_apart(asmjit::Label scattered) const {
    auto& a = c_.a;
    bind_scattered(scattered);
    if (goes_along_rows()) {
      const asmjit::Label near_end = a.newLabel();
      fill_window(results_, near_end, serve_);
      a.bind(near_end);
    }
    load_spread(check_all_lanes(slow_));
    a.jmp(done_);
  }

  /// The stride of lanes whose dwords lie side by side, though each takes several: neighbours read the same
  /// ones, as stencils do. 0: elements are no such dwords.
  unsigned side_by_side() const {
    return does(Optimisation::rows) && components() > 1 && element() == 4 ? element() : 0;
  }

  /// All rows from one address on.
  void load_run(unsigned stride, asmjit::Label otherwise) const {
    load_runs(masked() ? check_run_under_mask(stride, otherwise) : check_run(stride, otherwise, slow_), 1,
              stride);
    if (masked()) clear_outside_mask();
  }

  /// One run of all rows, or one a row.
  void load_runs(const CheckedAddress& memory, unsigned runs, unsigned stride) const {
    if (element() < 4 && stride != 0 && stride != row_stride()) return load_narrow_apart(memory, stride);
    if (components() > 1 || runs > 1 || stride != row_stride()) {
      for (unsigned row = 0; row < rows(); ++row)
        load_row(memory, runs > 1 ? row : 0, row, runs > 1 ? 0 : 8 * row * stride, stride);
    } else {
      for (unsigned i = 0; i < vectors(); ++i)
        load_chunk(result(0, i), memory, component_offset(0) + 32 * i, std::min(32u, bytes()));
    }
  }

  /// is_narrow_and_apart: four lanes from each 16 bytes that hold them, or 8 where all have fewer, none of
  /// which is behind the last lane.
  void load_narrow_apart(const CheckedAddress& memory, unsigned stride) const {
    constexpr unsigned vector = 16, each = 4;
    constexpr std::uint8_t none = 0x80;
    auto& a = c_.a;
    const x86::Ymm to = result(0);
    const unsigned all = (lanes() - 1) * stride + element(), window = all < vector ? vector / 2 : vector;
    std::array<ConstantPool::Entry, 2> shuffles;
    for (unsigned group = 0; group < lanes() / each; ++group) {
      const unsigned begin = std::min(each * group * stride, all - window), half = group / 2;
      const x86::Ymm into = group % 2 == 0 ? to : t;
      const x86::Mem from = memory.at(component_offset(0) + begin, window);
      if (window < vector)
        a.vmovq(into.xmm(), from);
      else if (half == 0)
        a.vmovups(into.xmm(), from);
      else
        a.vinserti128(into, into, from, 1);
      auto* shuffle = shuffles[group % 2].data() + vector * half;
      std::fill_n(shuffle, vector, none);
      for (unsigned i = 0; i < each * element(); ++i)
        shuffle[group % 2 * each * element() + i] =
            static_cast<std::uint8_t>((each * group + i / element()) * stride + i % element() - begin);
    }
    a.vpshufb(to, to, c_.constant(shuffles[0]));
    a.vpshufb(t, t, c_.constant(shuffles[1]));
    a.vpor(to, to, t);
    if (bytes() == vector && element() == 1) a.vpermq(to, to, 0x08);
  }

  /// Row `row` of the results from `offset` behind the address that run `run` begins at.
  void load_row(const CheckedAddress& memory, unsigned run, unsigned row, unsigned offset,
                unsigned stride) const {
    auto& a = c_.a;
    const auto at = [&](unsigned behind, unsigned bytes) {
      return memory.at(component_offset(0) + offset + behind, bytes, run);
    };
    if (stride == 0) return load_one_address(memory, run, row);
    if (is_gathered_run(stride)) return gather_row(memory, run, row, offset);
    if (stride == side_by_side()) {
      for (unsigned k = 0; k < components(); ++k)
        a.vmovups(result(k, row), memory.at(component_offset(k) + offset, 32, run));
      return;
    }
    if (stride != row_stride() || span() == 3)
      return load_row_apart(
          [&](unsigned i, int behind, unsigned bytes) {
            return at(i * stride + static_cast<unsigned>(behind), bytes);
          },
          stride >= 4, row);
    if (element() == 8 && span() == 2)
      return load_qword_pairs([&](unsigned i) { return at(16 * i, 16); }, row);
    if (span() == 2) return load_pairs(at(0, 32), at(32, 32), row);
    if (span() == 4) return load_quads([&](unsigned i) { return at(16 * i, 16); }, row);
    switch (element()) {
      case 8:
        a.vmovups(result(0, 2 * row), at(0, 32));
        return (void)a.vmovups(result(0, 2 * row + 1), at(32, 32));
      case 4:
        return (void)a.vmovups(result(0, row), at(0, 32));
      case 2:
        if (row == 0) return (void)a.vmovups(result(0).xmm(), at(0, 16));
        return (void)a.vinserti128(result(0), result(0), at(0, 16), 1);
      default:
        if (row == 0) return (void)a.vmovq(result(0).xmm(), at(0, 8));
        return (void)a.vmovhps(result(0).xmm(), result(0).xmm(), at(0, 8));
    }
  }

  void gather_row(const CheckedAddress& memory, unsigned run, unsigned row, unsigned offset) const {
    auto& a = c_.a;
    if (row == run) memory.point_to(a, bits, run);
    if (row == 0) a.vmovups(u, distances(0, known_stride()));
    gather_under(masked() ? masks_[row] : t, x86::Inst::kIdVpgatherdd, result(0, row),
                 memory.gather_run(bits, u, 7 * known_stride(), component_offset(0) + offset, 4));
  }

  /// The same for every lane.
  void load_one_address(const CheckedAddress& memory, unsigned run, unsigned row) const {
    namespace I = x86::Inst;
    constexpr std::array<std::uint32_t, 9> broadcast{
        0, I::kIdVpbroadcastb, I::kIdVpbroadcastw, 0, I::kIdVbroadcastss, 0, 0, 0, I::kIdVbroadcastsd};
    const unsigned each = std::max(1u, vectors() / rows());  // vectors of a row
    if (row > 0 && vectors() == 1) return;                   // rows of bytes and words share one
    for (unsigned k = 0; k < components(); ++k) {
      const x86::Ymm first = result(k, run * each);
      if (row == run) c_.a.emit(broadcast[element()], first, memory.at(component_offset(k), element(), run));
      for (unsigned i = row == run ? 1 : 0; i < each; ++i)
        if (const x86::Ymm to = result(k, row * each + i); to != first) c_.a.vmovaps(to, first);
    }
  }

  /// x0 y0 x1 y1 ... to x0 x1 ... and y0 y1 ...
  void load_pairs(const x86::Mem& low, const x86::Mem& high, unsigned row) const {
    auto& a = c_.a;
    const x86::Ymm x = result(0, row), y = result(1, row);
    a.vmovups(x, low);
    a.vmovups(t, high);
    a.vshufps(y, x, t, 0xdd);
    a.vshufps(x, x, t, 0x88);
    a.vpermq(y, y, 0xd8);
    a.vpermq(x, x, 0xd8);
  }

  /// The same of qwords; memory(i) is what lane i has.
  template <class Memory>
  void load_qword_pairs(Memory memory, unsigned row) const {
    auto& a = c_.a;
    for (unsigned half = 0; half < 2; ++half) {
      const x86::Ymm x = result(0, 2 * row + half), y = result(1, 2 * row + half);
      const unsigned lane = 4 * half;
      for (const auto& [pairs, first] : {std::pair{x, lane}, std::pair{t, lane + 1}}) {
        a.vmovups(pairs.xmm(), memory(first));
        a.vinsertf128(pairs, pairs, memory(first + 2), 1);
      }
      a.vunpckhpd(y, x, t);
      a.vunpcklpd(x, x, t);
    }
  }

  void clear_outside_mask() const {
    auto& a = c_.a;
    if (element() < 4) {
      narrow_mask(t);
      return (void)a.vpand(result(0), result(0), t);
    }
    for (unsigned row = 0; row < rows(); ++row) clear_outside_mask(row);
  }
  /// Of elements of 4 or 8 bytes.
  void clear_outside_mask(unsigned row) const {
    auto& a = c_.a;
    const unsigned each = element() / 4;
    for (unsigned i = 0; i < each; ++i) {
      const x86::Ymm mask = each == 1 ? masks_[row] : t;
      if (each > 1) wide_mask(mask, row, i);
      for (unsigned k = 0; k < components(); ++k)
        a.vpand(result(k, each * row + i), result(k, each * row + i), mask);
    }
  }

  /// Eight lanes of 16 bytes, four components, transposed; memory(i) is what lane i has.
  template <class Memory>
  void load_quads(Memory memory, unsigned row) const {
    const std::array<x86::Ymm, 4> quad{t, u, v, w};
    for (unsigned i = 0; i < 4; ++i) c_.a.vmovups(quad[i].xmm(), memory(i));
    for (unsigned i = 0; i < 4; ++i) c_.a.vinsertf128(quad[i], quad[i], memory(i + 4), 1);
    transpose(row);
  }

  /// Lanes i and i + 4 in the halves of t, u, v, w to the components of a span of three or four, of which the
  /// first one and the last one are wanted.
  void transpose(unsigned row) const {
    const auto place = [&](unsigned k) { return mem().component(k) - mem().component(0); };
    std::array<std::optional<x86::Ymm>, 4> to;
    for (unsigned k = 0; k < components(); ++k) to[place(k)] = result(k, row);
    transpose_quads(std::array{t, u, v, w}, to);
  }

  // ---- Lanes that lie apart: what one has, side by side, comes with one move or two

  /// memory(i, behind, bytes) is memory of lane i, `behind` its address, in the order of the lanes. `ahead`:
  /// so that lanes but the last have another dword behind what they load, and the last one before it.
  template <class Memory>
  void load_row_apart(Memory memory, bool ahead, unsigned row) const {
    auto& a = c_.a;
    const auto qwords = [&](x86::Ymm to, unsigned low, unsigned high) {
      for (const auto& [half, lane] : {std::pair{to, low}, std::pair{u, high}}) {
        a.vmovq(half.xmm(), memory(lane, 0, 8));
        a.vmovhps(half.xmm(), half.xmm(), memory(lane + 1, 0, 8));
      }
      a.vinsertf128(to, to, u.xmm(), 1);
    };
    if (element() == 8 && span() == 2)
      return load_qword_pairs([&](unsigned i) { return memory(i, 0, 16); }, row);
    if (element() == 8) {
      qwords(result(0, 2 * row), 0, 2);
      return qwords(result(0, 2 * row + 1), 4, 6);
    }
    const x86::Ymm x = result(0, row);
    if (span() == 2) {
      const x86::Ymm y = result(1, row);
      qwords(x, 0, 4);
      qwords(t, 2, 6);
      a.vshufps(y, x, t, 0xdd);
      return (void)a.vshufps(x, x, t, 0x88);
    }
    if (span() == 4) return load_quads([&](unsigned i) { return memory(i, 0, 16); }, row);
    const auto triple = [&](x86::Xmm to, unsigned lane) {
      if (!ahead) {
        a.vmovq(to, memory(lane, 0, 8));
        a.vinsertps(to, to, memory(lane, 8, 4), 0x20);
      } else if (lane < 7) {
        a.vmovups(to, memory(lane, 0, 16));
      } else {
        a.vmovups(to, memory(lane, -4, 16));
        a.vpsrldq(to, to, 4);
      }
    };
    const std::array<x86::Ymm, 4> quad{t, u, v, w};
    for (unsigned i = 0; i < 4; ++i) {
      triple(quad[i].xmm(), i);
      triple(x.xmm(), i + 4);
      a.vinsertf128(quad[i], quad[i], x.xmm(), 1);
    }
    transpose(row);
  }

  // ---- Lanes that are in bounds

  void load_spread(const CheckedAddress& memory) const {
    auto& a = c_.a;
    if (element() < 4) return masked() ? gather_narrow(memory) : insert_narrow(memory);
    if (element() == 8 || masked()) return gather_from(0, memory);
    // Rows of one address each, as long as there are such.
    const asmjit::Label end = a.newLabel();
    std::array<asmjit::Label, 2> varied{a.newLabel(), a.newLabel()};
    for (unsigned row = 0; row < rows(); ++row) {
      const x86::Ymm all = places_[row];
      a.vpbroadcastd(t, all.xmm());
      a.vpcmpeqd(t, t, all);
      a.vmovmskps(bits.r32(), t);
      a.cmp(bits.r32(), 0xff);
      a.jne(varied[row]);
      a.vmovd(place().r32(), all.xmm());
      for (unsigned k = 0; k < components(); ++k)
        a.vbroadcastss(result(k, row), memory.lane(place(), component_offset(k), 4));
    }
    for (unsigned row = 0; row < rows(); ++row) {
      a.jmp(end);
      a.bind(varied[row]);
      gather_from(row, memory);
    }
    a.bind(end);
  }

  void gather_from(unsigned first_row, const CheckedAddress& memory) const {
    for (unsigned row = first_row; row < rows(); ++row) {
      if (side_by_side_components()) {
        load_lanes_apart(memory, row);
      } else if (element() == 8) {
        gather_wide(memory, row);
      } else {
        gather(memory, row);
      }
    }
  }

  void gather(const CheckedAddress& memory, unsigned row) const {
    const asmjit::Label none = c_.a.newLabel();
    go_if_none(row, none);
    for (unsigned k = 0; k < components(); ++k)
      gather_under(masks_[row], x86::Inst::kIdVpgatherdd, result(k, row),
                   memory.gather(places_[row], component_offset(k), 4));
    c_.a.bind(none);
  }

  /// The results of a row are 0 and that is all where none of its lanes is on. Lanes that have left a loop
  /// are off for long, and a gather of none takes as long as one of all.
  void go_if_none(unsigned row, asmjit::Label none) const {
    if (!masked()) return;
    const unsigned each = element() / 4;
    for (unsigned k = 0; k < components(); ++k)
      for (unsigned i = each * row; i < each * (row + 1); ++i)
        c_.a.vpxor(result(k, i), result(k, i), result(k, i));
    c_.a.test(reg.mask.r32(), 0xffu << 8 * row);
    c_.a.jz(none);
  }

  void gather_wide(const CheckedAddress& memory, unsigned row) const {
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

  /// Components side by side, of a lane wherever it is. Lanes that are off load what one that is on does.
  void load_lanes_apart(const CheckedAddress& memory, unsigned row) const {
    auto& a = c_.a;
    const asmjit::Label none = a.newLabel();
    go_if_none(row, none);
    store_vectors(Frame::operands, {&places_[row], 1});
    if (masked()) {
      a.mov(bits.r32(), reg.mask.r32());
      if (row != 0) a.shr(bits.r32(), 8 * row);
      a.tzcnt(bits.r32(), bits.r32());
      a.vpbroadcastd(t, x86::ptr(x86::rsp, bits, 2, Frame::operands, 4));
      places_or(t, row, u);
      store_vectors(Frame::operands, {&u, 1});
    }
    load_row_apart(
        [&, fetched = 8u](unsigned i, int behind, unsigned bytes) mutable {
          if (i != std::exchange(fetched, i)) fetch_place(0, i);
          return memory.lane(place(), component_offset(0) + static_cast<unsigned>(behind), bytes);
        },
        false, row);
    if (masked()) clear_outside_mask(row);
    a.bind(none);
  }

  /// Elements of 1 or 2 bytes, one after the other, in two chains: a gather would have to be of the dwords
  /// around them.
  void insert_narrow(const CheckedAddress& memory) const {
    auto& a = c_.a;
    store_vectors(Frame::operands, {places_.data(), rows()});
    for (unsigned k = 0; k < components(); ++k) {
      const x86::Xmm low = result(k).xmm(), high = u.xmm();
      for (const x86::Xmm& half : {low, high}) a.vpxor(half, half, half);
      for (unsigned i = 0; i < lanes(); ++i) {
        const unsigned lane = i / 2 + i % 2 * (lanes() / 2);
        fetch_place(lane / 8, lane % 8);
        const x86::Mem from = memory.lane(place(), component_offset(k), element());
        const x86::Xmm half = i % 2 == 0 ? low : high;
        element() == 1 ? a.vpinsrb(half, half, from, i / 2) : a.vpinsrw(half, half, from, i / 2);
      }
      if (bytes() == 32)
        a.vinserti128(result(k), result(k), high, 1);
      else if (bytes() == 16)
        a.vpunpcklqdq(low, low, high);
      else
        a.vpunpckldq(low, low, high);
    }
  }

  /// Elements of 1 or 2 bytes, each from a dword around it: the one that begins there, or the last of the
  /// window.
  void gather_narrow(const CheckedAddress& memory) const {
    auto& a = c_.a;
    for (unsigned k = 0; k < components(); ++k) {
      for (unsigned row = 0; row < rows(); ++row) {
        const x86::Ymm to = row == 0 ? result(k) : w, from = u, shift = v;
        a.lea(bits, x86::ptr(reg.limit, static_cast<int>(extent() - component_offset(k)) - 4));
        a.vmovd(t.xmm(), bits.r32());
        a.vpbroadcastd(t, t.xmm());
        a.vpminsd(from, t, places_[row]);
        a.vpsubd(shift, places_[row], from);
        a.vpslld(shift, shift, 3);
        gather_under(masks_[row], x86::Inst::kIdVpgatherdd, to,
                     memory.gather_around(from, component_offset(k)));
        a.vpsrlvd(to, to, shift);
        a.vpand(to, to, c_.splat(element() == 1 ? 0xff : 0xffff, 4));
      }
      pack_narrow(result(k), w);
    }
  }

  std::vector<x86::Ymm> results_;
  asmjit::Label slow_, done_, serve_;
};

}  // namespace

void emit_load(Compiler& c, const CodeInst& inst) {
  MemorySite site(c, inst);
  if (c.regs.is_scalar(inst.result)) {
    if (inst.result_count == 1 && site.fits_in_line()) return load_one_lane(c, inst);
    return site.call_inline(on_data<jit::load>);
  }
  if (is_of_few_lanes(site)) return load_few_lanes(c, inst);
  const unsigned lanes = LaneSite::lanes_at_once(c, inst, site.components());
  if (lanes == 0) return site.call_inline(on_data<jit::load>);
  for (unsigned first = 0; first < inst.lanes; first += lanes) {
    LoadSite(c, inst, first, lanes).emit();
    c.regs.unpin();
  }
}

void emit_probe(Compiler& c, const CodeInst& inst) { MemorySite(c, inst).call_inline(on_data<jit::probe>); }

}  // namespace eum::jit::avx2::emit

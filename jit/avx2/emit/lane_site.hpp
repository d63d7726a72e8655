#pragma once
// Accesses with an address a lane: eight lanes, a row, in each vector, one or two rows at once. What the
// addresses look like decides which path is taken, at run time unless jit/passes/linear knows it:
//   - all lanes lie side by side, or each row does (a vector move a row, with shuffles between components),
//   - all lanes are in bounds (gathers, or a loop over the lanes),
//   - anything else (a call).
#include <vector>

#include "jit/avx2/emit/memory.hpp"

namespace eum::jit::avx2::emit {

class LaneSite : public MemorySite {
 public:
  /// How many lanes of `inst` are accessed at once, so that everything fits the registers: all, 16 or 8; 0:
  /// it is left to the call. `values`: vectors of elements, as many as components or sources.
  static unsigned lanes_at_once(Compiler& c, const CodeInst& inst, unsigned values);

  LaneSite(Compiler& c, const CodeInst& inst, unsigned first_lane, unsigned lanes)
      : MemorySite(c, inst, first_lane, lanes),
        linear_(inst.linear),
        run_lanes_(run_lanes(inst)),
        interleaved_(inst.interleaved),
        window_(by_runs() ? std::nullopt : c.row_window(inst.result, first_lane)),
        side_by_side_(has_side_by_side_components(inst.op, mem(), element())),
        alike_bits_(by_runs() ? 0 : c.alike_bits().of(addresses())) {}

  unsigned rows() const { return lanes() / 8; }
  /// Vectors that hold a row of elements, or the rows of all.
  unsigned vectors() const { return std::max(1u, bytes() / 32); }
  /// The chunk of a value of the instruction that is the first here.
  unsigned first_chunk() const { return first_lane() * element() / 32; }

  /// Brings the bits of the mask into a register, before anything is pinned: a mask in vectors takes up to
  /// four.
  void fetch_mask_bits();
  /// Takes the other registers, and brings addresses and mask into registers.
  void acquire();

  /// In the address space: the offsets of the lanes in the region that the site used last; jumps where they
  /// are none of 32 bits. Known runs of distances need none.
  void locate(asmjit::Label otherwise) const;
  /// In front of what follows, which all come or none does: takes a counter.
  void count_scattered();
  /// Jumps, for some times, where the lanes of this access have not been a run again and again. A guess:
  /// whatever comes of it is right.
  void go_if_scattered() const;
  /// Where they have been found to be none, and where go_if_scattered has jumped to.
  void bind_scattered() const;
  /// Jumps to `otherwise` unless the addresses of all rows are `stride` bytes apart, and to `outside` unless
  /// they are in bounds.
  CheckedAddress check_run(unsigned stride, asmjit::Label otherwise, asmjit::Label outside) const;
  /// Of an access that is done by runs: bytes between neighbours; and how many runs these lanes are, one of
  /// all rows, or one a row.
  unsigned known_stride() const {
    return goes_down() ? element() : static_cast<unsigned>(linear_.stride) * mem().scale;
  }
  unsigned known_runs() const { return run_lanes_ >= lanes() ? 1 : rows(); }
  /// Then they are of dwords side by side, and the last lane has the first address.
  bool goes_down() const { return by_runs() && linear_.stride < 0; }
  /// Jumps to `outside` unless those are in bounds.
  CheckedAddress check_known_runs(asmjit::Label outside) const;
  static constexpr unsigned cache_line = 64;
  /// What the next threads will access, if they go on where this run ends, on its way into the caches.
  void prefetch(const CheckedAddress& memory, bool writes) const;
  /// Where no lane is on: the results are 0, and jumps.
  void go_if_no_lane(std::span<const x86::Ymm> results, asmjit::Label done) const;
  /// Of known runs under a mask, some of which are not in bounds: what does the access from `entry` on, where
  /// the lanes that are on have it in bounds. Neighbours beyond an edge are mostly off.
  void retry_under_mask(asmjit::Label entry, asmjit::Label done, asmjit::Label otherwise,
                        std::span<const x86::Ymm> results) const;
  /// As call_out_of_line, which begins with the address of each lane.
  void call_for_runs(asmjit::Label entry, asmjit::Label done, AccessFunction function,
                     const CallRegisters& registers) const;
  /// Where check_run has jumped to `otherwise`, and there are two rows: the same of each of them, which are
  /// two runs. So groups eight wide access rows of what they work on.
  CheckedAddress check_second_row(unsigned stride, asmjit::Label otherwise, asmjit::Label outside) const;
  /// Jumps unless the addresses under the mask, all rows together, are `stride` bytes apart, and those
  /// between them in bounds as well. The run begins where lane 0 would be.
  CheckedAddress check_run_under_mask(unsigned stride, asmjit::Label otherwise) const;
  /// The check of all lanes.
  CheckedAddress check_all_lanes(asmjit::Label otherwise) const;

  // ---- Of a load whose lanes go along rows: row_window.cpp
  bool goes_along_rows() const { return window_.has_value(); }
  /// Takes the elements from what has been fetched of the rows; jumps where that is not what the lanes want.
  /// Binds `serve`, where they are taken from a window that has just been filled.
  void take_from_window(std::span<const x86::Ymm> results, asmjit::Label miss, asmjit::Label serve) const;
  /// Fetches what the lanes, one of which is on, want in this turn and the next ones, and jumps to `serve`;
  /// to `otherwise` where not all of it is in bounds, or what the function writes is of the same memory.
  void fill_window(std::span<const x86::Ymm> results, asmjit::Label otherwise, asmjit::Label serve) const;

  /// A gather, vpgatherdd or vpgatherdq, under the mask, which has lanes as wide as the elements, or of all
  /// lanes; t changes. Lanes that are off become 0.
  void gather_under(x86::Ymm mask, std::uint32_t id, x86::Ymm to, const x86::Mem& memory) const;
  /// `to` = the mask of half a row, with lanes of 64 bits.
  void wide_mask(x86::Ymm to, unsigned row, unsigned half) const;
  /// `to` = the mask with lanes as wide as elements of 1 or 2 bytes.
  void narrow_mask(x86::Ymm to) const;
  /// `to` = the places of the row's lanes, of those that are off `chosen`.
  void places_or(x86::Ymm chosen, unsigned row, x86::Ymm to) const;

  /// Elements of 1 or 2 bytes in the dwords of `to`, which has the first row, and `second` become vectors of
  /// such elements in `to`; t changes.
  void pack_narrow(x86::Ymm to, x86::Ymm second) const;
  /// Lanes i and i + 4 of four dwords in the halves of from[i], which change: to[k] = dword k of all lanes,
  /// where that is wanted. Of the last two one is.
  void transpose_quads(std::span<const x86::Ymm, 4> from,
                       const std::array<std::optional<x86::Ymm>, 4>& to) const;

  /// `to` = the offset in memory of lane `lane` of the row, where store_vectors has put the places.
  void fetch_place(x86::Gp to, unsigned row, unsigned lane) const;
  /// The places of a row, of lanes that are off 0, which is in bounds as well; under a mask t has them.
  x86::Ymm places_in_bounds(unsigned row) const;
  /// As fetch_place, but without memory, for loads: processors store by the way that vectors take to general
  /// registers. Making it brings the places of a row there, two in each; t and u change.
  class RowPlaces {
   public:
    RowPlaces(const LaneSite& site, unsigned row);
    /// A register with the offset in memory of the lane; of two neighbours the even one is asked for first.
    /// It holds that until another lane is asked for.
    x86::Gp of(unsigned lane);

   private:
    Assembler& a_;
    std::array<x86::Gp, 4> pairs_;
    x86::Gp even_;
    unsigned last_ = ~0u;
    unsigned parted_ = 0;  ///< bit i: of pair i the odd lane is left
  };
  /// Calls emit(): `lane` and `place`, its offset in memory, are registers of each lane in its turn.
  void for_each_lane(const std::function<void()>& emit) const;
  x86::Gp lane, bits;
  x86::Gp place() const { return reg.first[0]; }
  x86::Gp value() const { return reg.first[1]; }

  x86::Ymm t, u, v, w;  ///< free; w only where needs_fourth()

 protected:
  void store_vectors(int frame_offset, std::span<const x86::Ymm> from) const;
  void spill_values(std::span<const x86::Ymm> data, unsigned count) const;

  /// x y z w of eight lanes, a register each, to the order of memory, two lanes a register; and back. t, u,
  /// v, w change.
  void interleave_quads(std::span<const x86::Ymm, 4> quad) const;
  void part_quads(std::span<const x86::Ymm, 4> quad) const;
  /// Of eight lanes with four components, which known runs have: the vector `part` in memory's order.
  x86::Mem part_of_row(const CheckedAddress& memory, unsigned row, unsigned part) const;

  bool side_by_side_components() const { return side_by_side_; }
  /// Known runs of single dwords that vectors around them hold some of each are blended of those.
  static constexpr unsigned farthest_in_vectors = 64;
  bool is_blended_run(unsigned stride) const {
    return by_runs() && element() == 4 && components() == 1 && stride > element() &&
           stride <= farthest_in_vectors;
  }
  /// For vpermd: the eight dwords of a register in the other order.
  x86::Mem reversing() const;
  /// Where a row of a run that goes down begins.
  x86::Mem reversed_row(const CheckedAddress& memory, unsigned row) const;
  /// How far lanes of a row are from lane 0 of the access.
  x86::Mem distances(unsigned row, unsigned stride) const;
  /// Components from the first one to the last.
  unsigned span() const { return component_span(mem()); }
  /// Bytes between the addresses of neighbours that access rows; 0: there is no such distance.
  unsigned row_stride() const {
    return does(Optimisation::rows) && (components() == 1 || side_by_side_components()) ? span() * element()
                                                                                        : 0;
  }

  /// The stride, if lanes that are a run may be so many bytes apart, else 0.
  unsigned possible(unsigned stride) const {
    if (!does(Optimisation::apart)) return stride;
    const unsigned apart = alike_bits_ + static_cast<unsigned>(std::countr_zero(mem().scale));
    return stride != 0 && apart <= static_cast<unsigned>(std::countr_zero(stride)) ? stride : 0;
  }

  /// Every lane of a load is known to get the same: one register serves for all of its vectors.
  bool all_lanes_alike() const { return is_one_address() && known_runs() == 1 && !masked(); }
  unsigned address_vectors() const { return by_runs() ? 0 : wide() ? 2 * rows() : rows(); }
  std::span<const x86::Ymm> address_registers() const { return {addresses_.data(), address_vectors()}; }

  LinearRun linear_;            // where the access is done by runs
  unsigned run_lanes_;          // of each of them
  unsigned counter_ = 0;        // of Frame::scattered
  asmjit::Label look_, noted_;  // whether there is a run; where there have been none lately
  bool interleaved_;            // CodeInst::interleaved
  std::optional<RowWindow> window_;
  bool side_by_side_;    // several components of a lane are accessed together
  unsigned alike_bits_;  // of addresses that are not known to be a run
  std::array<x86::Ymm, 2> places_, masks_;
  std::array<x86::Ymm, 4> addresses_;
  std::array<x86::Gp, 2> starts_;  // of runs

 private:
  static unsigned run_lanes(const CodeInst& inst) { return inst.runs == 0 ? 0 : inst.lanes / inst.runs; }
  /// The scalar that run `run` of these lanes begins with, and how many lanes of it are in front of these.
  struct RunBegin {
    x86::Gp address;
    unsigned lanes_before;
  };
  RunBegin run_begin(unsigned run) const {
    const unsigned at = first_lane() + run * 8;
    return {starts_[run], at % run_lanes_};
  }
  x86::Mem scattered_times() const;
  /// Local memory and bytes are mostly runs, so that it would cost more than it gives.
  bool counts_scattered() const {
    return does(Optimisation::scattered) && !of_one_host_thread() && element() >= 4;
  }
  void narrow_from_window(x86::Ymm to) const;
  void store_firsts() const;
  void go_if_short(asmjit::Label otherwise) const;
  /// Of a row that lanes go down: from its first byte to the element that they are at.
  int down_bytes() const { return RowWindow::row_bytes - static_cast<int>(element()); }
  void go_if_written(asmjit::Label otherwise) const;
  void prefetch_rows(const CheckedAddress& memory, unsigned row) const;
  void transpose_half(std::span<const x86::Ymm> free, const CheckedAddress& memory, unsigned row,
                      int half) const;
  /// From the first byte that a known run accesses to the last.
  unsigned run_bytes() const { return (lanes() / known_runs() - 1) * known_stride() + extent(); }
  /// The addresses of known runs are compared as they are.
  bool has_end() const {
    if (!by_runs() || goes_down() || !end_of(run_bytes())) return false;
    for (unsigned run = 0; run < known_runs(); ++run)
      if (run_begin(run).lanes_before != 0) return false;
    return true;
  }
  /// Every lane of a run is known to access the same.
  bool is_one_address() const { return by_runs() && linear_.stride == 0; }
  bool needs_two_more() const {
    if (!by_runs() || masked() || goes_down()) return true;
    return !is_one_address() && (components() > 1 || element() != 4 || known_stride() != element());
  }
  void call_for_lanes(asmjit::Label entry, asmjit::Label done, AccessFunction function,
                      const CallRegisters& registers) const;
  void store_known_addresses() const;
  /// `to` = the addresses of a row of known runs.
  void known_addresses(unsigned row, x86::Ymm to) const;
  /// `to` = from the start of the region to the base of distances.
  void base_in_region(x86::Gp to) const;
  void locate_distances(asmjit::Label otherwise) const;
  bool needs_fourth() const {
    const bool quads = components() > 2 || (side_by_side_ && span() > 2);
    return !is_one_address() && (quads || (element() < 4 && goes_along_rows()));
  }
  std::span<const x86::Ymm> masks() const { return {masks_.data(), masked() ? rows() : 0}; }
};

/// The element of one lane in the frame's area for data, where spill_values has put it.
inline x86::Mem frame_element(x86::Gp lane, unsigned value, unsigned lanes, unsigned element) {
  return x86::ptr(x86::rsp, lane, static_cast<unsigned>(__builtin_ctz(element)),
                  Frame::data + static_cast<int>(value * lanes * element), element);
}

}  // namespace eum::jit::avx2::emit

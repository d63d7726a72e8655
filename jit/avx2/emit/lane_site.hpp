#pragma once
// Accesses with one address per lane: eight lanes, a row, in each vector, one or two rows at once. The
// pattern of the addresses decides which path is taken, at run time unless jit/analysis/linear knows it:
//   - all lanes are adjacent, or each row is (a vector move per row, with shuffles between components),
//   - all lanes are in bounds (gathers, or a loop over the lanes),
//   - anything else (a call).
#include <vector>

#include "jit/avx2/emit/memory.hpp"

namespace eum::jit::avx2::emit {

class LaneSite : public MemorySite {
 public:
  /// How many lanes of `inst` are accessed at once, so that everything fits the registers: all, 16 or 8; 0:
  /// the call does it. `values`: vectors of elements, as many as components or sources.
  static unsigned lanes_at_once(Compiler& c, const CodeInst& inst, unsigned values);

  LaneSite(Compiler& c, const CodeInst& inst, unsigned first_lane, unsigned lanes)
      : MemorySite(c, inst, first_lane, lanes),
        linear_(inst.linear),
        run_lanes_(run_lanes(inst)),
        interleaved_(inst.interleaved),
        window_(by_runs() ? std::nullopt : c.row_window(inst.result, first_lane)),
        side_by_side_(has_side_by_side_components(inst.op, mem(), element())),
        alike_bits_(by_runs() ? 0 : c.alike_bits().of(addresses())) {}

  /// The access has been checked for several threads at once: no code for others is needed.
  bool has_window() const { return inst().window != 0; }
  unsigned rows() const { return lanes() / 8; }
  /// Vectors that hold one component of all lanes.
  unsigned vectors() const { return std::max(1u, bytes() / 32); }
  /// The chunk of the instruction's values at which these lanes begin.
  unsigned first_chunk() const { return first_lane() * element() / 32; }

  /// Brings the bits of the mask into a register, before anything is pinned: a mask in vectors takes up to
  /// four registers.
  void fetch_mask_bits();
  /// Takes the other registers, and brings addresses and mask into registers. Not `with_lanes`: of the mask
  /// only the bits.
  void acquire(bool with_lanes = true);

  /// In the address space: computes the offsets of the lanes in the region that the site used last; jumps if
  /// they do not fit 32 bits. Known runs of distances need none.
  void locate(asmjit::Label otherwise) const;
  /// Takes a counter. Comes before the functions below, of which either all are called or none.
  void count_scattered();
  /// Skips the check for some time if the lanes of this access have repeatedly not been a run. A guess:
  /// either outcome is correct.
  void go_if_scattered() const;
  /// Where the check has failed, and where go_if_scattered has jumped to.
  void bind_scattered() const;
  /// Jumps to `otherwise` unless the addresses of all rows are `stride` bytes apart, and to `outside` unless
  /// they are in bounds.
  CheckedAddress check_run(unsigned stride, asmjit::Label otherwise, asmjit::Label outside) const;
  /// For an access that is done by runs: bytes between neighbours; and how many runs these lanes form, one of
  /// all rows, or one per row.
  unsigned known_stride() const {
    return goes_down() ? element() : static_cast<unsigned>(linear_.stride) * mem().scale;
  }
  unsigned known_runs() const { return run_lanes_ >= lanes() ? 1 : rows(); }
  /// Then elements are adjacent dwords, and the last lane has the first address.
  bool goes_down() const { return by_runs() && linear_.stride < 0; }
  /// Jumps to `outside` unless the known runs are in bounds.
  CheckedAddress check_known_runs(asmjit::Label outside) const;
  static constexpr unsigned cache_line = 64;
  /// Prefetches what the next threads will access, if they continue where this run ends.
  void prefetch(const CheckedAddress& memory, bool writes) const;
  /// If no lane is active: sets the results to 0, and jumps.
  void go_if_no_lane(std::span<const x86::Ymm> results, asmjit::Label done) const;
  /// For known runs under a mask some of which are out of bounds, as lanes beyond an edge are that are mostly
  /// inactive: whether it can be done for the active lanes alone.
  bool may_retry() const { return by_runs() && masked() && !based() && !interleaved_ && !has_window(); }
  /// Puts the addresses of the lanes into the frame, where a call expects them; jumps unless those of active
  /// lanes are in bounds.
  CheckedAddress check_known_lanes(asmjit::Label otherwise) const;
  /// Where their offsets in memory are then, those of a row.
  int places_of_known_lanes(unsigned row) const {
    return Frame::operands + (in_space() ? Frame::operand_bytes : 0) + static_cast<int>(row) * 32;
  }
  /// Then, for each of the active lanes: for_each_lane with registers that are taken from other values in the
  /// meantime.
  void for_each_known_lane(const std::function<void(const LaneSite&)>& emit) const;
  /// Where a general register is kept while it is taken from its value.
  static x86::Mem saved(const x86::Gp& one) {
    return x86::ptr(x86::rsp, Frame::saved_generals + static_cast<int>(one.id()) * 8, 8);
  }
  /// As call_out_of_line, after computing the address of each lane, unless may_retry(): check_known_lanes has
  /// done that.
  void call_for_runs(asmjit::Label entry, asmjit::Label done, AccessFunction function,
                     const CallRegisters& registers) const;
  /// After check_run has jumped to `otherwise`, with two rows: checks whether each row is a run of its own.
  /// Groups eight wide access the rows of their data like that.
  CheckedAddress check_second_row(unsigned stride, asmjit::Label otherwise, asmjit::Label outside) const;
  /// Jumps unless the addresses under the mask, all rows together, are `stride` bytes apart, and those
  /// between them in bounds as well. The run begins where lane 0 would be.
  CheckedAddress check_run_under_mask(unsigned stride, asmjit::Label otherwise) const;
  /// Jumps unless all lanes of the row have one address: place() is that.
  void find_one_place(unsigned row, asmjit::Label otherwise) const;
  /// The bounds check of all lanes, with so many bytes beyond what each accesses.
  CheckedAddress check_all_lanes(asmjit::Label otherwise, unsigned beyond = 0) const;

  // ---- Loads whose lanes walk along rows: row_window.cpp
  bool goes_along_rows() const { return window_.has_value(); }
  /// Takes the elements from the fetched parts of the rows; jumps to `miss` if those are not what the lanes
  /// need. Binds `serve`, where they are taken from a window that has just been filled.
  void take_from_window(std::span<const x86::Ymm> results, asmjit::Label miss, asmjit::Label serve,
                        bool clears) const;
  /// Fetches what the lanes, at least one of which is active, need in this iteration and the next ones, and
  /// jumps to `serve`; to `otherwise` if not all of it is in bounds, or if the function writes the same
  /// memory.
  void fill_window(std::span<const x86::Ymm> results, asmjit::Label otherwise, asmjit::Label serve) const;

  /// For stores of dwords that walk along rows: the code goes on at `done` if the elements have been
  /// collected, else behind. row_store.cpp
  void collect_in_row(std::span<const x86::Ymm> values, asmjit::Label done) const;

  /// A gather, vpgatherdd or vpgatherdq, under the mask, which has lanes as wide as the elements, or of all
  /// lanes; t changes. Inactive lanes become 0.
  void gather_under(x86::Ymm mask, std::uint32_t id, x86::Ymm to, const x86::Mem& memory) const;
  /// `to` = the mask of half a row, with lanes of 64 bits.
  void wide_mask(x86::Ymm to, unsigned row, unsigned half) const;
  /// `to` = the mask with lanes as wide as elements of 1 or 2 bytes.
  void narrow_mask(x86::Ymm to) const;
  /// `to` = the places of the row's lanes; inactive lanes get `chosen`.
  void places_or(x86::Ymm chosen, unsigned row, x86::Ymm to) const;

  /// Packs elements of 1 or 2 bytes, in the dwords of `to` (the first row) and of `second`, into `to`; t
  /// changes.
  void pack_narrow(x86::Ymm to, x86::Ymm second) const;
  /// from[i], which change, hold four dwords each of lanes i and i + 4 in their halves: to[k] = dword k of
  /// all lanes, if wanted. At least one of the last two is.
  void transpose_quads(std::span<const x86::Ymm, 4> from,
                       const std::array<std::optional<x86::Ymm>, 4>& to) const;

  /// `to` = the offset in memory of lane `lane` of the row, from where store_vectors has put the places.
  void fetch_place(x86::Gp to, unsigned row, unsigned lane) const;
  /// As fetch_place, but without memory, for loads: stores compete for the path from vectors to general
  /// registers. The constructor moves the places of a row to general registers, two in each; t and u change.
  class RowPlaces {
   public:
    RowPlaces(const LaneSite& site, x86::Ymm places);
    /// A register with the offset in memory of the lane; of two neighbours the even one must be requested
    /// first. It stays valid until another lane is requested.
    x86::Gp of(unsigned lane);

   private:
    Assembler& a_;
    std::array<x86::Gp, 4> pairs_;
    x86::Gp even_;
    unsigned last_ = ~0u;
    unsigned parted_ = 0;  ///< bit i: pair i holds only the odd lane
  };
  /// Calls emit() in a loop over the lanes, whose registers `lane` and `place`, its offset in memory, it may
  /// use.
  void for_each_lane(const std::function<void()>& emit) const;
  /// The same if the offsets are in the frame already, from `places` on.
  void loop_over_lanes(int places, const std::function<void()>& emit) const;
  /// The same for the lanes whose bits are set in `bits`, of which there is one at least.
  void loop_over_left_lanes(int places, const std::function<void()>& emit) const;
  x86::Gp lane, bits;
  x86::Gp place() const { return reg.first[0]; }
  x86::Gp value() const { return reg.first[1]; }

  x86::Ymm t, u, v, w;  ///< free; w only where needs_fourth()

 protected:
  void store_vectors(int frame_offset, std::span<const x86::Ymm> from) const;
  /// Elements of `count` components to Frame::data, as frame_element finds them, and back.
  void spill_values(std::span<const x86::Ymm> data, unsigned count) const;
  void restore_values(std::span<const x86::Ymm> data, unsigned count) const;

  // ---- Several components of each lane in memory order (CodeInst::interleaved): memory_order.cpp
  /// The registers that hold a row's components, each the next 32 bytes of memory.
  struct Parts {
    unsigned count = 0;
    std::array<x86::Ymm, 4> of{};
  };
  /// `registers`: of the components, one after the other.
  Parts parts_of_row(std::span<const x86::Ymm> registers, unsigned row) const;
  void load_parts(const CheckedAddress& memory, unsigned row, const Parts& parts) const;
  /// With swapped rows: swapped_ = what the lanes of the access address, given their own addresses, or
  /// `of_pairs`, an even lane's twice.
  void swap_addresses(std::span<const x86::Ymm> from, bool of_pairs) const;
  /// Jumps to `otherwise` unless lanes at arbitrary addresses are in bounds, for load_parts_apart.
  CheckedAddress check_lanes_apart(asmjit::Label otherwise) const;
  void load_parts_apart(const CheckedAddress& memory, unsigned row, const Parts& parts) const;
  /// The same if all lanes have one address; else jumps.
  void load_parts_of_one(const CheckedAddress& memory, unsigned row, const Parts& parts,
                         asmjit::Label otherwise) const;
  void store_parts(const CheckedAddress& memory, unsigned row, const Parts& parts, bool past_caches) const;
  /// From components in registers of their own to memory order, and back. t, u, v, w change.
  void to_memory_order(const Parts& parts) const;
  void to_components(const Parts& parts) const;
  /// Interleaves two components in each 128-bit half: t = x0 y0 x1 y1 | x4 y4 x5 y5 and u = the pairs between
  /// them; of qwords t = x0 y0 | x2 y2 and u = x1 y1 | x3 y3.
  void unpack(x86::Ymm x, x86::Ymm y) const;

  bool side_by_side_components() const { return side_by_side_; }
  /// Known runs of single dwords up to this stride are blended from vectors that hold some of them each.
  static constexpr unsigned farthest_in_vectors = 64;
  bool is_blended_run(unsigned stride) const {
    return by_runs() && element() == 4 && components() == 1 && stride > element() &&
           stride <= farthest_in_vectors;
  }
  /// For vpermd: reverses the eight dwords of a register.
  x86::Mem reversing() const;
  /// Where a row of a descending run begins.
  x86::Mem reversed_row(const CheckedAddress& memory, unsigned row) const;
  /// How far lanes of a row are from lane 0 of the access.
  x86::Mem distances(unsigned row, unsigned stride) const;
  /// The number of components from the first one to the last.
  unsigned span() const { return component_span(mem()); }
  /// Bytes between the addresses of neighbours in a row; 0: rows are not possible.
  unsigned row_stride() const {
    return does(Optimisation::rows) && (components() == 1 || side_by_side_components()) ? span() * element()
                                                                                        : 0;
  }

  /// The stride, if a run with this stride is possible, else 0.
  unsigned possible(unsigned stride) const {
    if (!does(Optimisation::apart)) return stride;
    const unsigned apart = alike_bits_ + static_cast<unsigned>(std::countr_zero(mem().scale));
    return stride != 0 && apart <= static_cast<unsigned>(std::countr_zero(stride)) ? stride : 0;
  }

  /// Every lane of a load is known to get the same value: one register serves for all of its vectors.
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
  unsigned alike_bits_;  // low bits that the addresses share, if not known runs
  std::array<x86::Ymm, 2> places_, masks_;
  std::array<x86::Ymm, 2> swapped_;  // of the access, if its addresses are not known runs
  std::array<x86::Ymm, 4> addresses_;
  std::array<x86::Gp, 2> starts_;  // of runs

  /// Bytes between neighbours, if lanes form runs.
  unsigned run_stride() const {
    if (shared().swapped()) return shared().row_bytes();
    return by_runs() ? known_stride() : row_stride();
  }
  /// Whether nothing lies between the components of neighbours.
  bool is_without_gaps() const { return shared().swapped() || run_stride() == components() * element(); }

 private:
  x86::Mem part_of_row(const CheckedAddress& memory, unsigned row, unsigned part) const;
  /// One lane's 16 bytes.
  x86::Mem half_of_part(const CheckedAddress& memory, unsigned row, unsigned part, unsigned which) const;
  x86::Mem of_row(const CheckedAddress& memory, unsigned row, unsigned offset, unsigned bytes) const;
  /// Whether two lanes of the access, an even one and the next, do adjacent bytes.
  bool has_pairs() const { return shared().parts % 2 == 0; }
  static unsigned run_lanes(const CodeInst& inst) { return inst.runs == 0 ? 0 : inst.lanes / inst.runs; }
  /// The scalar that run `run` of these lanes begins with, and how many of its lanes precede these.
  struct RunBegin {
    x86::Gp address;
    unsigned lanes_before;
  };
  RunBegin run_begin(unsigned run) const {
    const unsigned at = first_lane() + run * 8;
    return {starts_[run], at % run_lanes_};
  }
  x86::Mem scattered_times() const;
  /// Accesses of local memory and of bytes are mostly runs, so that it would cost more than it saves.
  bool counts_scattered() const {
    return does(Optimisation::scattered) && !of_one_host_thread() && element() >= 4;
  }
  void narrow_from_window(x86::Ymm to, bool clears) const;
  void store_firsts() const;
  void go_if_short(asmjit::Label otherwise) const;
  /// For rows walked downwards: from the first byte of a row to the element that the lane is at.
  int down_bytes() const { return RowWindow::row_bytes - static_cast<int>(element()); }
  void go_if_written(asmjit::Label otherwise) const;
  void prefetch_rows(const CheckedAddress& memory, unsigned row) const;
  void transpose_half(std::span<const x86::Ymm> free, const CheckedAddress& memory, unsigned row,
                      int half) const;
  /// From the first byte that a known run accesses to the last.
  unsigned run_bytes() const {
    const unsigned each = lanes() / known_runs();
    return bytes_of_run(each, run_stride());
  }
  unsigned bytes_of_run(unsigned lanes, unsigned stride) const {
    return shared().swapped() ? lanes * stride + component_offset(0) : (lanes - 1) * stride + extent();
  }
  /// Whether the addresses of known runs can be compared with a stored end.
  bool has_end() const {
    if (!by_runs() || goes_down() || shared().before() != 0 || !end_of(run_bytes())) return false;
    for (unsigned run = 0; run < known_runs(); ++run)
      if (run_begin(run).lanes_before != 0) return false;
    return true;
  }
  /// Whether every lane of a run is known to access the same element.
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
  /// `to` = the offset in the region of the base of distances.
  void base_in_region(x86::Gp to) const;
  void locate_distances(asmjit::Label otherwise) const;
  bool needs_fourth() const {
    const bool quads = components() > 2 || (side_by_side_ && span() > 2);
    return !is_one_address() && (quads || (element() < 4 && goes_along_rows()));
  }
  std::span<const x86::Ymm> masks() const { return {masks_.data(), masked() ? rows() : 0}; }
};

/// The element of a lane in the frame's area for data, where spill_values has put it.
inline x86::Mem frame_element(x86::Gp lane, unsigned value, unsigned lanes, unsigned element) {
  return x86::ptr(x86::rsp, lane, static_cast<unsigned>(__builtin_ctz(element)),
                  Frame::data + static_cast<int>(value * lanes * element), element);
}

}  // namespace eum::jit::avx2::emit

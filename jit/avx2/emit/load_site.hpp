#pragma once
// Loads with one address per lane. load.cpp has the order in which paths are tried, and rows; load_apart.cpp
// rows with lanes at known distances; load_spread.cpp lanes at arbitrary addresses in bounds.
#include <array>
#include <functional>

#include "jit/avx2/emit/lane_site.hpp"

namespace eum::jit::avx2::emit {

class LoadSite : public LaneSite {
 public:
  LoadSite(Compiler& c, const CodeInst& inst, unsigned first_lane, unsigned lanes);

  void emit();

 private:
  /// `bytes` bytes of a lane, from `behind` bytes after its address.
  using MemoryOfLane = std::function<x86::Mem(unsigned lane, int behind, unsigned bytes)>;

  /// `stride`: of a possible run, or 0.
  void emit_rows(unsigned stride);
  void emit_runs() const;
  bool may_make_lanes_late() const;
  /// From slow_ on: known runs of which only active lanes are in bounds.
  void load_known_lanes(asmjit::Label otherwise) const;
  void load_reversed(const CheckedAddress& memory) const;
  void emit_interleaved(const CheckedAddress& memory) const;
  /// The same at arbitrary addresses.
  void emit_interleaved_apart();
  /// Code out of line behind the call, which leaves each component in registers of its own.
  asmjit::Label interleave_called() const;
  x86::Ymm result(unsigned component, unsigned vector = 0) const {
    return results_[component * vectors() + vector];
  }

  // ---- Rows
  void load_otherwise(asmjit::Label entry, unsigned stride) const;
  /// Lanes that are not a run.
  void load_anywhere() const;
  /// The stride of lanes that begin an element apart, though each takes several: neighbours read the same
  /// ones, as stencils do. 0: the access cannot be like that.
  unsigned side_by_side() const {
    return does(Optimisation::rows) && components() > 1 && element() >= 4 ? element() : 0;
  }
  /// All rows as one run.
  void load_run(unsigned stride, asmjit::Label otherwise) const;
  /// One run of all rows, or one per row.
  void load_runs(const CheckedAddress& memory, unsigned runs, unsigned stride) const;
  /// Row `row` of the results, from `offset` bytes after the start of run `run`.
  void load_row(const CheckedAddress& memory, unsigned run, unsigned row, unsigned offset,
                unsigned stride) const;
  /// The same element for every lane.
  void load_one_address(const CheckedAddress& memory, unsigned run, unsigned row) const;
  /// Separates x0 y0 x1 y1 ... into x0 x1 ... and y0 y1 ...
  void load_pairs(const x86::Mem& low, const x86::Mem& high, unsigned row) const;
  void clear_outside_mask() const;
  /// For elements of 4 or 8 bytes.
  void clear_outside_mask(unsigned row) const;

  // ---- Lanes that are not adjacent
  /// For is_narrow_and_apart: four lanes are taken from each 16 bytes that hold them, or 8 if all lanes of a
  /// run span fewer; none of these bytes is beyond its last lane.
  void load_narrow_apart(const CheckedAddress& memory, unsigned runs, unsigned stride) const;
  /// Words a byte apart, of one run, as pairs of neighbouring bytes are: low bytes, and high ones.
  void load_overlapping_words(const CheckedAddress& memory) const;
  /// Whether dwords `stride` bytes apart, of one run, share bytes: compilers read several neighbouring bytes
  /// of each lane at once.
  bool are_overlapping(unsigned stride) const {
    return element() == 4 && components() == 1 && span() == 1 && stride != 0 && stride < 4 && lanes() > 8;
  }
  /// Takes four lanes from each 16 bytes, none of which is beyond the last lane.
  void load_overlapping(const CheckedAddress& memory, unsigned stride) const;
  /// Blends eight dwords from vectors that hold some of them each, in distinct lanes, none of which reaches
  /// beyond the run; a gather takes longer.
  void blend_row(const CheckedAddress& memory, unsigned run, unsigned row, unsigned offset,
                 unsigned stride) const;
  struct BlendedLane {
    int begin;          ///< of its vector, bytes after the address of the row's first lane; never decreases
    unsigned position;  ///< its dword in that vector
  };
  std::array<BlendedLane, 8> blended_lanes(unsigned row, unsigned stride) const;
  /// Behind the elements of which lanes one more dword can be read; if not of the last, then before its own.
  enum class Beyond { None, ButLast, All };
  /// Calls `memory` in the order of the lanes.
  void load_row_apart(const MemoryOfLane& memory, Beyond beyond, unsigned row) const;
  /// Eight lanes of 16 bytes, transposed; of the last lane the twelve that end there, if not all can be read.
  void load_quads(const MemoryOfLane& memory, Beyond beyond, unsigned row) const;
  /// Separates x0 y0 x1 y1 ... of qwords into x0 x1 ... and y0 y1 ...
  void load_qword_pairs(const MemoryOfLane& memory, unsigned row) const;
  /// Transposes lanes i and i + 4 in the halves of t, u, v, w to the components of a span of three or four,
  /// of which the first and the last are wanted.
  void transpose(unsigned row) const;

  // ---- Lanes that are in bounds
  /// Checks that they are, and loads them.
  void load_in_bounds() const;
  /// Of three dwords each, of which a single load takes four, as nearly all lanes of a float3 can.
  bool takes_fourth() const { return element() == 4 && span() == 3 && lanes_apart(); }
  void load_spread(const CheckedAddress& memory, Beyond beyond) const;
  /// Jumps if all lanes have a single address, which load_spread broadcasts: a window would fetch a row for
  /// each lane.
  void go_if_one_place(asmjit::Label one) const;
  /// Whether lanes are loaded one by one.
  bool lanes_apart() const;
  /// The places of each row; under a mask in `free`, none of them beyond the limit that check_lanes has left
  /// in t, which the first row's may replace.
  std::array<x86::Ymm, 2> places_in_bounds(const std::array<x86::Ymm, 2>& free) const;
  void gather(const CheckedAddress& memory, unsigned row) const;
  /// Sets the results of a row to 0 and jumps if none of its lanes is active. Lanes that have left a loop
  /// stay inactive for long, and a gather of no lane takes as long as one of all.
  void go_if_none(unsigned row, asmjit::Label none) const;
  void gather_wide(const CheckedAddress& memory, unsigned row) const;
  /// Loads adjacent elements of a lane, or a single one, with one or two moves, at arbitrary addresses.
  void load_lanes_apart(const CheckedAddress& memory, unsigned row, x86::Ymm from, Beyond beyond) const;
  /// Elements of 1 or 2 bytes, one after the other, in two or four dependency chains.
  void insert_narrow(const CheckedAddress& memory) const;
  void join_parts(std::span<const x86::Xmm> part, unsigned bytes) const;

  std::vector<x86::Ymm> results_;
  bool in_small_loop_;
  bool clears_;                  ///< lanes outside the mask, to 0
  bool lanes_are_late_ = false;  ///< only code out of line needs the mask as lanes, and makes them
  asmjit::Label slow_, done_, serve_;
};

}  // namespace eum::jit::avx2::emit

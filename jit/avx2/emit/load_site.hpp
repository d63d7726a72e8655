#pragma once
// Loads with an address a lane. load.cpp has what they try in turn, and rows; load_apart.cpp lanes of a row
// that lie apart, at places that are known; load_spread.cpp lanes wherever they are in bounds.
#include <array>
#include <functional>

#include "jit/avx2/emit/lane_site.hpp"

namespace eum::jit::avx2::emit {

class LoadSite : public LaneSite {
 public:
  LoadSite(Compiler& c, const CodeInst& inst, unsigned first_lane, unsigned lanes);

  void emit();

 private:
  /// `bytes` of what a lane loads, from `behind` its address.
  using MemoryOfLane = std::function<x86::Mem(unsigned lane, int behind, unsigned bytes)>;

  /// `stride`: of a run, or 0.
  void emit_rows(unsigned stride);
  void emit_runs() const;
  void load_reversed(const CheckedAddress& memory) const;
  void emit_interleaved(const CheckedAddress& memory) const;
  std::array<x86::Ymm, 4> quad(unsigned row) const {
    return {result(0, row), result(1, row), result(2, row), result(3, row)};
  }
  x86::Ymm result(unsigned component, unsigned vector = 0) const {
    return results_[component * vectors() + vector];
  }

  // ---- Rows
  void load_otherwise(asmjit::Label entry, unsigned stride) const;
  /// Lanes that are no run.
  void load_anywhere() const;
  /// The stride of lanes whose dwords lie side by side, though each takes several: neighbours read the same
  /// ones, as stencils do. 0: elements are no such dwords.
  unsigned side_by_side() const {
    return does(Optimisation::rows) && components() > 1 && element() == 4 ? element() : 0;
  }
  /// All rows from one address on.
  void load_run(unsigned stride, asmjit::Label otherwise) const;
  /// One run of all rows, or one a row.
  void load_runs(const CheckedAddress& memory, unsigned runs, unsigned stride) const;
  /// Row `row` of the results from `offset` behind the address that run `run` begins at.
  void load_row(const CheckedAddress& memory, unsigned run, unsigned row, unsigned offset,
                unsigned stride) const;
  /// The same for every lane.
  void load_one_address(const CheckedAddress& memory, unsigned run, unsigned row) const;
  /// x0 y0 x1 y1 ... to x0 x1 ... and y0 y1 ...
  void load_pairs(const x86::Mem& low, const x86::Mem& high, unsigned row) const;
  void clear_outside_mask() const;
  /// Of elements of 4 or 8 bytes.
  void clear_outside_mask(unsigned row) const;

  // ---- Lanes that lie apart
  /// is_narrow_and_apart: four lanes from each 16 bytes that hold them, or 8 where all have fewer, none of
  /// which is behind the last lane.
  void load_narrow_apart(const CheckedAddress& memory, unsigned stride) const;
  /// Eight dwords of vectors that hold some each, every one in a lane of its own, and none of which reaches
  /// beyond the run: a processor gathers for longer.
  void blend_row(const CheckedAddress& memory, unsigned run, unsigned row, unsigned offset,
                 unsigned stride) const;
  struct BlendedLane {
    int begin;          ///< of its vector, bytes behind the address of the row's first lane; never goes down
    unsigned position;  ///< its dword in that vector
  };
  std::array<BlendedLane, 8> blended_lanes(unsigned row, unsigned stride) const;
  /// Asks for memory in the order of the lanes. `ahead`: so that lanes but the last have another dword behind
  /// what they load, and the last one before it.
  void load_row_apart(const MemoryOfLane& memory, bool ahead, unsigned row) const;
  /// Eight lanes of 16 bytes, four components, transposed.
  void load_quads(const MemoryOfLane& memory, unsigned row) const;
  /// x0 y0 x1 y1 ... of qwords to x0 x1 ... and y0 y1 ...
  void load_qword_pairs(const MemoryOfLane& memory, unsigned row) const;
  /// Lanes i and i + 4 in the halves of t, u, v, w to the components of a span of three or four, of which the
  /// first one and the last one are wanted.
  void transpose(unsigned row) const;

  // ---- Lanes that are in bounds
  void load_spread(const CheckedAddress& memory) const;
  /// Where all lanes are at the same place, which load_spread broadcasts: rows of it would be fetched for
  /// each.
  void go_if_one_place(asmjit::Label one) const;
  void load_row_spread(const CheckedAddress& memory, unsigned row) const;
  void gather(const CheckedAddress& memory, unsigned row) const;
  /// The results of a row are 0 and that is all where none of its lanes is on. Lanes that have left a loop
  /// are off for long, and a gather of none takes as long as one of all.
  void go_if_none(unsigned row, asmjit::Label none) const;
  void gather_wide(const CheckedAddress& memory, unsigned row) const;
  /// What a lane has side by side comes with one move or two, wherever it is; also where that is one element.
  void load_lanes_apart(const CheckedAddress& memory, unsigned row) const;
  /// Elements of 1 or 2 bytes, one after the other, in two chains.
  void insert_narrow(const CheckedAddress& memory) const;

  std::vector<x86::Ymm> results_;
  bool in_small_loop_;
  asmjit::Label slow_, done_, serve_;
};

}  // namespace eum::jit::avx2::emit

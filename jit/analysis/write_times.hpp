#pragma once
// When each granule of the register file was last written: what was known of a region holds as long as none
// of its granules has a later time.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/liveness.hpp"

namespace eum::jit {

class WriteTimes {
 public:
  /// The time of an instruction, which grows through the function; 0 is before all of them.
  using Time = std::uint32_t;
  static constexpr unsigned granule = 4;

  explicit WriteTimes(const ir::Function& function)
      : times_(function.file_bytes / granule + 64), indirect_end_(function.indirect_end()) {}

  /// The instruction writes at this time.
  void note(const ir::Inst& inst, Time time) {
    if (inst.op == ir::Op::reg_write)
      each(inst, [&](unsigned first, unsigned last) {
        std::fill(times_.begin() + first, times_.begin() + last + 1, time);
        return true;
      });
    else if (inst.op == ir::Op::reg_scatter)
      std::fill_n(times_.begin(), (indirect_end_ + granule - 1) / granule, time);
  }

  /// Whether nothing of the region that the instruction reads or writes was written after `since`.
  bool is_kept(const ir::Inst& inst, Time since) const {
    return each(inst, [&](unsigned first, unsigned last) {
      for (unsigned g = first; g <= last; ++g)
        if (times_[g] > since) return false;
      return true;
    });
  }

  /// When one instruction wrote all granules of the region, and none wrote any of them since; 0: there is
  /// none.
  Time last_write(const ir::Inst& inst) const {
    const auto [first, last] = slots_of(inst, granule);
    for (unsigned g = first + 1; g <= last; ++g)
      if (times_[g] != times_[first]) return 0;
    return times_[first];
  }

 private:
  /// Calls visit(first, last) for the granules of the region, as long as it returns true: lane by lane, if
  /// there are gaps between lanes.
  template <class Visit>
  static bool each(const ir::Inst& inst, Visit visit) {
    const unsigned element = ir::size_of(inst.type);
    const int stride = inst.region.stride(inst.lanes);
    if (stride <= 1 || element % granule != 0 || inst.region.offset % granule != 0) {
      const auto [first, last] = slots_of(inst, granule);
      return visit(first, last);
    }
    for (unsigned lane = 0; lane < inst.lanes; ++lane) {
      const unsigned first = inst.region.byte_of(lane, element) / granule;
      if (!visit(first, first + element / granule - 1)) return false;
    }
    return true;
  }

  std::vector<Time> times_;
  unsigned indirect_end_;
};

}  // namespace eum::jit

#pragma once
// When each granule of the register file was last written: what was known of a region holds as long as none
// of its granules has a later time.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/passes/liveness.hpp"

namespace eum::jit {

class WriteTimes {
 public:
  /// Of an instruction, growing through the function; 0 is before all of them.
  using Time = std::uint32_t;
  static constexpr unsigned granule = 4;

  explicit WriteTimes(const ir::Function& function)
      : times_(function.file_bytes / granule + 64), indirect_end_(function.indirect_end()) {}

  /// What the instruction writes, it writes at this time.
  void note(const ir::Inst& inst, Time time) {
    if (inst.op == ir::Op::reg_write) {
      const auto [first, last] = slots_of(inst, granule);
      std::fill(times_.begin() + first, times_.begin() + last + 1, time);
    } else if (inst.op == ir::Op::reg_scatter) {
      std::fill_n(times_.begin(), (indirect_end_ + granule - 1) / granule, time);
    }
  }

  /// Nothing of the region that the instruction reads or writes was written later.
  bool is_kept(const ir::Inst& inst, Time since) const {
    const auto [first, last] = slots_of(inst, granule);
    for (unsigned g = first; g <= last; ++g)
      if (times_[g] > since) return false;
    return true;
  }

  /// When one instruction wrote to all granules of the region, and none to any of them since; 0: no one did.
  Time last_write(const ir::Inst& inst) const {
    const auto [first, last] = slots_of(inst, granule);
    for (unsigned g = first + 1; g <= last; ++g)
      if (times_[g] != times_[first]) return 0;
    return times_[first];
  }

 private:
  std::vector<Time> times_;
  unsigned indirect_end_;
};

}  // namespace eum::jit

#pragma once
// Loads in loops in which each lane walks along memory of its own, a row, a few bytes per iteration. Code
// generation may fetch what such a load needs in several iterations at once.
#include <cstdint>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/linear.hpp"

namespace eum::jit {

struct RowWalk {
  ir::ValueId result = ir::no_value;  ///< of the load
  std::uint8_t lanes = 0;
  std::int8_t step = 0;  ///< presumed bytes from one iteration to the next
  ir::MemSpace space = {};
  std::uint8_t surface = 0;
};

struct RowWalks {
  /// If a function has more, only the first ones are found.
  static constexpr std::size_t most = 16;

  /// Loads of one component whose addresses are not known to be runs, in loops that write nothing that the
  /// loads may read: their results are the same whenever in the loop memory is read. The steps of addresses
  /// are a guess, which users have to check.
  RowWalks(const ir::Function& function, const LinearUses& uses);
  RowWalks() = default;

  bool empty() const { return found.empty(); }
  /// Whether the op writes memory, orders what others write, or lets others run.
  static bool may_end(ir::Op op);
  /// Whether memory that the walk has read may differ after the instruction, or another thread may run. A
  /// surface is assumed to share no memory with others: users of a walk have to check those that are written.
  static bool ends(const ir::Function& function, const ir::Inst& inst, const RowWalk& walk);

  std::vector<RowWalk> found;
  std::vector<std::uint8_t> written;  ///< surfaces that the function writes
};

}  // namespace eum::jit

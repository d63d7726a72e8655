#pragma once
// Loads of loops in which each lane goes along memory of its own, a row, a few bytes in each turn. Code
// generation may fetch what such a load will want in several turns at once.
#include <cstdint>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/passes/linear.hpp"

namespace eum::jit {

struct RowWalk {
  ir::ValueId result = ir::no_value;  ///< of the load
  std::uint8_t lanes = 0;
  std::int8_t step = 0;  ///< bytes from one turn to the next, probably
  ir::MemSpace space = {};
  std::uint8_t surface = 0;
};

struct RowWalks {
  /// In a function with more of them only the first ones are found.
  static constexpr std::size_t most = 16;

  /// Loads of one component whose addresses are not known to be runs, in loops in which nothing is written
  /// that they may read: what they get is the same whenever in the loop it is read. How far addresses go in a
  /// turn is a guess, and whoever makes use of it has to look.
  RowWalks(const ir::Function& function, const LinearUses& uses);
  RowWalks() = default;

  bool empty() const { return found.empty(); }
  /// Whether memory that the walk has read may be other memory behind the instruction, or another thread goes
  /// on. A surface is taken to have no memory in common with others: whoever makes use of a walk has to look
  /// at those that are written.
  static bool ends(const ir::Function& function, const ir::Inst& inst, const RowWalk& walk);

  std::vector<RowWalk> found;
  std::vector<std::uint8_t> written;  ///< surfaces that the function writes
};

}  // namespace eum::jit

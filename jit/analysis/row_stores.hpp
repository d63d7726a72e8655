#pragma once
// Stores in loops in which each lane walks along memory of its own, a row, one element per iteration. Where
// rows are a power of two long, all lanes fall on the same few lines of a cache, and each store evicts what
// the next iteration needs. Code generation may collect elements and store several of each row at once.
#include <cstdint>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/linear.hpp"

namespace eum::jit {

struct RowStore {
  std::uint32_t guest_ip = 0;  ///< which no other store of the loop has
  std::uint8_t lanes = 0;
  std::uint8_t surface = 0;
  std::uint32_t offset = 0;  ///< bytes, of what is stored from the address
};

/// A loop of one block.
struct RowStoreLoop {
  ir::BlockId block = ir::no_block;
  std::vector<RowStore> stores;        ///< all that the block does
  std::vector<std::uint8_t> surfaces;  ///< that it reads, or writes
};

struct RowStores {
  /// If a function has more loops, only the first ones are found; loops with more lanes are left out.
  static constexpr std::size_t most_loops = 2;
  static constexpr unsigned most_lanes = 64;
  static constexpr std::uint32_t element_bytes = 4;

  /// Loops whose stores all are of one dword per lane, in all lanes if all channels are active, at addresses
  /// that go up by a dword per iteration, and that read nothing of the surfaces to which they store. The
  /// steps are a guess; and other surfaces may be the same memory: users have to check both.
  RowStores(const ir::Function& function, const LinearUses& uses);
  RowStores() = default;

  std::vector<RowStoreLoop> loops;
};

}  // namespace eum::jit

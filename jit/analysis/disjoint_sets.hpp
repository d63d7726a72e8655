#pragma once
// Which instructions of a block belong together: sets that can be joined, each named by its first member.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace eum::jit {

class DisjointSets {
 public:
  /// Makes a set of each of 0 to count - 1.
  void reset(std::size_t count) {
    parent_.resize(count);
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  /// The first member of the set.
  std::uint32_t first(std::uint32_t member) {
    while (parent_[member] != member) member = parent_[member] = parent_[parent_[member]];
    return member;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = first(a);
    b = first(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;  // of each: towards the first one
};

}  // namespace eum::jit

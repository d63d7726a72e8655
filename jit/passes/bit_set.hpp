#pragma once
// BitSet: a set of numbers below a bound, for dataflow.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace eum::jit {

class BitSet {
 public:
  BitSet() = default;
  explicit BitSet(std::size_t bound) : words_((bound + 63) / 64) {}

  bool operator[](std::size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  void reset(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << i % 64); }
  void set_range(std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) set(i);
  }
  void reset_range(std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) reset(i);
  }
  bool any_in_range(std::size_t first, std::size_t count) const {
    for (std::size_t i = first; i < first + count; ++i)
      if ((*this)[i]) return true;
    return false;
  }
  /// Every number below the bound, and those that only the last word has room for.
  void fill() {
    for (std::uint64_t& word : words_) word = ~std::uint64_t{0};
  }
  void clear() {
    for (std::uint64_t& word : words_) word = 0;
  }
  BitSet& operator|=(const BitSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  friend BitSet operator|(BitSet a, const BitSet& b) { return a |= b; }
  bool operator==(const BitSet&) const = default;

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace eum::jit

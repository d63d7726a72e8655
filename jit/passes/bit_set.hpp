#pragma once
// BitSet: a set of numbers below a bound, for dataflow.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace eum::jit {

class BitSet {
 public:
  BitSet() = default;
  explicit BitSet(std::size_t bound) : bound_(bound), words_((bound + 63) / 64) {}

  bool operator[](std::size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  void reset(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << i % 64); }
  void set_range(std::size_t first, std::size_t count) {
    each_word(first, count, [&](std::size_t word, std::uint64_t bits) { words_[word] |= bits; });
  }
  void reset_range(std::size_t first, std::size_t count) {
    each_word(first, count, [&](std::size_t word, std::uint64_t bits) { words_[word] &= ~bits; });
  }
  bool any_in_range(std::size_t first, std::size_t count) const {
    bool any = false;
    each_word(first, count, [&](std::size_t word, std::uint64_t bits) { any |= (words_[word] & bits) != 0; });
    return any;
  }
  /// Calls visit(number) for each number of one set or the other, of the same bound, in ascending order.
  template <class Visit>
  static void each_of_either(const BitSet& a, const BitSet& b, Visit visit) {
    for (std::size_t word = 0; word < a.words_.size(); ++word)
      for (std::uint64_t left = a.words_[word] | b.words_[word]; left != 0; left &= left - 1)
        visit(word * 64 + static_cast<std::size_t>(std::countr_zero(left)));
  }
  /// Every number below the bound.
  void fill() { set_range(0, bound_); }
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
  /// Calls visit(word, bits) for the words of a range, with the bits of it.
  template <class Visit>
  static void each_word(std::size_t first, std::size_t count, Visit visit) {
    for (const std::size_t end = first + count; first < end;) {
      const std::size_t bits = std::min(end - first, 64 - first % 64);
      visit(first / 64, ~std::uint64_t{0} >> (64 - bits) << first % 64);
      first += bits;
    }
  }

  std::size_t bound_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace eum::jit

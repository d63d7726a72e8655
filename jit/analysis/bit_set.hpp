#pragma once
// BitSet: a set of numbers below a bound, for dataflow.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace eum::jit {

class BitSet {
 public:
  BitSet() = default;
  explicit BitSet(std::size_t bound) : bound_(bound) {
    if (count() > few_.size()) many_.resize(count());
  }

  bool operator[](std::size_t i) const { return (words()[i / 64] >> (i % 64) & 1) != 0; }
  void set(std::size_t i) { words()[i / 64] |= std::uint64_t{1} << i % 64; }
  void reset(std::size_t i) { words()[i / 64] &= ~(std::uint64_t{1} << i % 64); }
  void set_range(std::size_t first, std::size_t count) {
    each_word(first, count, [&](std::size_t word, std::uint64_t bits) { words()[word] |= bits; });
  }
  void reset_range(std::size_t first, std::size_t count) {
    each_word(first, count, [&](std::size_t word, std::uint64_t bits) { words()[word] &= ~bits; });
  }
  bool any_in_range(std::size_t first, std::size_t count) const {
    bool any = false;
    each_word(first, count,
              [&](std::size_t word, std::uint64_t bits) { any |= (words()[word] & bits) != 0; });
    return any;
  }
  /// Calls visit(number) for each number of one set or the other, of the same bound, in ascending order.
  template <class Visit>
  static void each_of_either(const BitSet& a, const BitSet& b, Visit visit) {
    for (std::size_t word = 0; word < a.count(); ++word)
      for (std::uint64_t left = a.words()[word] | b.words()[word]; left != 0; left &= left - 1)
        visit(word * 64 + static_cast<std::size_t>(std::countr_zero(left)));
  }
  /// Every number below the bound.
  void fill() { set_range(0, bound_); }
  void clear() { reset_range(0, bound_); }
  BitSet& operator|=(const BitSet& other) {
    for (std::size_t i = 0; i < count(); ++i) words()[i] |= other.words()[i];
    return *this;
  }
  friend BitSet operator|(BitSet a, const BitSet& b) { return a |= b; }
  bool operator==(const BitSet&) const = default;

 private:
  std::size_t count() const { return (bound_ + 63) / 64; }
  std::uint64_t* words() { return many_.empty() ? few_.data() : many_.data(); }
  const std::uint64_t* words() const { return many_.empty() ? few_.data() : many_.data(); }
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
  std::array<std::uint64_t, 4> few_{};  ///< enough for the registers that most guests have
  std::vector<std::uint64_t> many_;     ///< instead of them
};

}  // namespace eum::jit

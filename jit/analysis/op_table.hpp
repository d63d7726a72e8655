#pragma once
// What has been computed: pure ops and reads of state by op, attributes and operands.
#include <array>
#include <cstdint>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/write_times.hpp"

namespace eum::jit {

/// What makes two instructions the same computation.
struct OpKey {
  std::uint64_t head = 0;  // op, type, lanes, from
  std::uint64_t attribute = 0;
  std::array<ir::ValueId, ir::max_pure_operands> args{};
  ir::ValueId mask = ir::no_value;
  bool operator==(const OpKey& other) const {
    return head == other.head && attribute == other.attribute && pair(0) == other.pair(0) &&
           pair(1) == other.pair(1) && mask == other.mask;
  }

  std::uint64_t hash() const {
    // The products do not wait for each other. They carry upwards only: the upper half comes down in the end.
    std::uint64_t h = head * 0x9e3779b97f4a7c15 + attribute * 0xbf58476d1ce4e5b9 + mask * 0x94d049bb133111eb +
                      pair(0) * 0xd6e8feb86659fd93 + pair(1) * 0xa0761d6478bd642f;
    h = (h ^ h >> 32) * 0xe7037ed1a0b428db;
    return h >> 32;
  }

 private:
  static_assert(ir::max_pure_operands == 4);
  /// Two operands.
  std::uint64_t pair(unsigned k) const { return args[2 * k] | std::uint64_t{args[2 * k + 1]} << 32; }
};

/// Values of a block by what computes them; memory is kept from block to block.
class OpTable {
 public:
  struct Entry {
    OpKey key;
    ir::ValueId value = ir::no_value;
    std::uint32_t generation = 0;
    WriteTimes::Time time = 0;
  };
  /// The entry of `key`, which is made if there is none.
  Entry& at(const OpKey& key) {
    if (used_ * 2 > entries_.size()) grow();
    Entry& entry = entries_[place_of(key)];
    if (entry.generation != generation_) {
      entry = {key, ir::no_value, generation_, 0};
      ++used_;
    }
    return entry;
  }
  /// The entry of `key`, or null.
  const Entry* find(const OpKey& key) const {
    const Entry& entry = entries_[place_of(key)];
    return entry.generation == generation_ ? &entry : nullptr;
  }
  void clear() {
    ++generation_;
    used_ = 0;
  }

 private:
  /// Where `key` is, or would be.
  std::size_t place_of(const OpKey& key) const {
    std::size_t i = key.hash() & (entries_.size() - 1);
    while (entries_[i].generation == generation_ && !(entries_[i].key == key))
      i = (i + 1) & (entries_.size() - 1);
    return i;
  }
  void grow() {
    std::vector<Entry> old(entries_.size() * 4);
    old.swap(entries_);
    used_ = 0;
    for (const Entry& entry : old)
      if (entry.generation == generation_) at(entry.key) = entry;
  }
  std::vector<Entry> entries_ = std::vector<Entry>(256);
  std::size_t used_ = 0;
  std::uint32_t generation_ = 1;
};

}  // namespace eum::jit

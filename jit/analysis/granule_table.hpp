#pragma once
// What is known of places of the register file within a block, by the granule in which they begin.
#include <cstddef>
#include <vector>

#include "jit/analysis/write_times.hpp"

namespace eum::jit {

template <class Entry>
class GranuleTable {
 public:
  explicit GranuleTable(const ir::Function& function)
      : entry_at_(function.file_bytes / WriteTimes::granule + 64) {}

  /// Forgets what blocks before it had; memory is kept.
  void begin_block() {
    before_ += entries_.size();
    entries_.clear();
  }
  /// The entry of the granule in which a region access begins, or null; valid until the next add().
  Entry* find(const ir::Inst& access) {
    const std::size_t at = entry_at_[granule_of(access)];
    return at > before_ ? &entries_[at - before_ - 1] : nullptr;
  }
  /// A new one, in place of that.
  Entry& add(const ir::Inst& access) {
    entry_at_[granule_of(access)] = before_ + entries_.size() + 1;
    return entries_.emplace_back();
  }

 private:
  static std::size_t granule_of(const ir::Inst& access) { return access.region.offset / WriteTimes::granule; }

  std::vector<Entry> entries_;         // of this block
  std::size_t before_ = 0;             // how many entries blocks before it had
  std::vector<std::size_t> entry_at_;  // by granule: the number of the entry, from 1 on through all blocks
};

}  // namespace eum::jit

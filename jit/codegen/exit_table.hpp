#pragma once
// ExitTable: for each place where a thread may leave translated code out of line (a fault, a pause) which
// slots are newer in registers than in memory. The code there only names its row, by which memory is then
// brought up to date.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "jit/codegen/entry_state.hpp"
#include "memory/base/heap_bytes.hpp"

namespace eum::jit::codegen {

class ExitTable {
 public:
  explicit ExitTable(unsigned slot_bytes) : slot_bytes_(slot_bytes) {}

  /// The row of an exit with these dirty slots. Consecutive exits with the same slots share a row.
  std::uint32_t add(const EntryState& dirty) {
    if (rows_.empty() || !std::ranges::equal(slots(last_row()), dirty)) {
      rows_.push_back({static_cast<std::uint32_t>(slots_.size()), static_cast<std::uint32_t>(dirty.size())});
      slots_.insert(slots_.end(), dirty.begin(), dirty.end());
    }
    return last_row();
  }
  /// Valid until the next add().
  std::span<const CachedSlot> slots(std::uint32_t row) const {
    return std::span(slots_).subspan(rows_[row].first, rows_[row].count);
  }
  /// No more rows will be added.
  void finish() {
    rows_.shrink_to_fit();
    slots_.shrink_to_fit();
  }
  std::size_t bytes() const { return heap_bytes(rows_) + heap_bytes(slots_); }
  /// Brings the register file at `file` up to date from the vector registers saved at `vectors`.
  void write_back(std::uint32_t row, std::byte* file, const std::byte* vectors) const {
    for (const CachedSlot& dirty : slots(row))
      std::memcpy(file + std::size_t{dirty.slot} * slot_bytes_,
                  vectors + std::size_t{dirty.reg} * slot_bytes_, slot_bytes_);
  }

 private:
  struct Row {
    std::uint32_t first, count;
  };
  std::uint32_t last_row() const { return static_cast<std::uint32_t>(rows_.size() - 1); }

  unsigned slot_bytes_;
  std::vector<Row> rows_;
  std::vector<CachedSlot> slots_;
};

}  // namespace eum::jit::codegen

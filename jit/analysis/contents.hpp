#pragma once
// What analysis/linear knows of the register file within a block.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "jit/analysis/symbols.hpp"

namespace eum::jit {

/// The difference between a dword and the one before.
using Step = std::int8_t;
constexpr Step varies = INT8_MIN;  ///< not known, or too large to be kept

/// The first dword of a register is `distance` above that of another one: the halves of the channels have
/// registers of their own, and values continue from one to the other.
struct Relation {
  std::uint16_t dword, other;
  std::uint32_t distance;  ///< modulo 2^32
  bool operator==(const Relation&) const = default;
};

/// What is known of the register file before a block.
struct FileState {
  static constexpr std::size_t eight = 8;

  std::vector<Step> above;     ///< dword g + 1 minus dword g; a multiple of eight of them
  std::uint32_t id_parts = 0;  ///< bit p: part p of the ids is as the thread began with it
  /// If all channels are active, between first dwords of registers; no `other` is the `dword` of a relation.
  std::vector<Relation> relations;
  bool reached = false;

  /// Keeps what holds in both. True: it has changed.
  bool meet(const FileState& other) {
    if (!reached) {
      *this = other;
      return true;
    }
    bool changed = (id_parts & ~other.id_parts) != 0;
    id_parts &= other.id_parts;
    changed |= std::erase_if(relations, [&](const Relation& relation) {
                 return std::ranges::find(other.relations, relation) == other.relations.end();
               }) != 0;
    // Mostly nothing has changed, so that eight at a time are compared first.
    for (std::size_t g = 0; g < above.size(); g += eight) {
      if (std::memcmp(&above[g], &other.above[g], eight) == 0) continue;
      for (std::size_t i = g; i < g + eight; ++i) {
        if (above[i] == other.above[i] || above[i] == varies) continue;
        above[i] = varies;
        changed = true;
      }
    }
    return changed;
  }
};

/// What the dwords of the register file hold, in one version of a block.
class Contents {
 public:
  Contents(Symbols& symbols, std::size_t dwords) : symbols_(symbols), written_(dwords) {}

  /// Begins a block before which these hold.
  void begin(std::span<const Relation> relations) {
    ++era_;
    entry_.assign(relations.begin(), relations.end());
    known_.clear();
  }
  /// Something unknown is written to dwords [begin, end).
  void lose(unsigned begin, unsigned end) {
    std::fill(written_.begin() + begin, written_.begin() + end, Written{{}, era_});
  }
  /// Sets a dword that has just been lost.
  void set(unsigned g, const SymbolicSum& sum) {
    written_[g].sum = sum;
    if (g % dwords_of_register == 0) known_.push_back(g);
  }
  /// The content of dword g, which may be part of a run of `stride`.
  SymbolicSum of(unsigned g, std::span<const Step> above, Step stride) {
    if (is_written(g)) return written_[g].sum;
    // From the beginning of a run, so that all of it has one symbol.
    constexpr unsigned farthest = 64;
    unsigned begin = g;
    if (above[g] == stride)
      while (begin > 0 && g - begin < farthest && above[begin - 1] == stride && !is_written(begin - 1))
        --begin;
    if (begin % dwords_of_register == 0) known_.push_back(begin);
    SymbolicSum sum = at_entry(begin);
    sum.offset += (g - begin) * static_cast<std::uint32_t>(stride);
    return sum;
  }
  /// What holds after the block.
  std::vector<Relation> relations();
  /// How far dword g + 1 is above dword g, if the block has written both.
  Step step(unsigned g) const {
    if (!is_written(g) || !is_written(g + 1)) return varies;
    const SymbolicSum &low = written_[g].sum, &high = written_[g + 1].sum;
    const auto step = static_cast<std::int32_t>(high.offset - low.offset);
    const bool known = low.symbol != no_symbol && low.symbol == high.symbol;
    return known && step > varies && step <= INT8_MAX ? static_cast<Step>(step) : varies;
  }

 private:
  struct Written {
    SymbolicSum sum;
    std::uint32_t era = 0;  ///< other than era_: not written
  };
  static constexpr unsigned dwords_of_register = 8;
  bool is_written(unsigned g) const { return written_[g].era == era_; }
  /// What dword g held as the block began.
  SymbolicSum at_entry(unsigned g) {
    const auto relation = std::ranges::find(entry_, g, &Relation::dword);
    if (relation == entry_.end()) return {symbols_.of({Symbols::Content, g}), 0};
    return {symbols_.of({Symbols::Content, relation->other}), relation->distance};
  }

  Symbols& symbols_;
  std::vector<Written> written_;
  std::uint32_t era_ = 0;
  std::vector<Relation> entry_;  // before the block
  std::vector<unsigned> known_;  // first dwords of registers that have been read, or written
};

}  // namespace eum::jit

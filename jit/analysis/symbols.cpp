#include "jit/analysis/symbols.hpp"

#include <algorithm>

namespace eum::jit {

void Symbols::clear() {
  ++era_;
  used_ = 0;
  last_ = zero_symbol;
}

Symbol Symbols::of(const Key& key) {
  if (2 * used_ >= table_.size()) grow();
  Entry& at = find(key);
  if (at.era != era_) {
    at = {key, ++last_, era_};
    ++used_;
  }
  return at.symbol;
}

SymbolicSum Symbols::sum(const SymbolicSum& a, const SymbolicSum& b) {
  if (a.symbol == no_symbol || b.symbol == no_symbol) return {};
  const std::uint32_t offset = a.offset + b.offset;
  if (a.symbol == zero_symbol) return {b.symbol, offset};
  if (b.symbol == zero_symbol) return {a.symbol, offset};
  return {of({Sum, std::min(a.symbol, b.symbol), std::max(a.symbol, b.symbol)}), offset};
}

SymbolicSum Symbols::difference(const SymbolicSum& a, const SymbolicSum& b) {
  if (a.symbol == no_symbol || b.symbol == no_symbol) return {};
  const std::uint32_t offset = a.offset - b.offset;
  if (b.symbol == zero_symbol) return {a.symbol, offset};
  return {of({Difference, a.symbol, b.symbol}), offset};
}

SymbolicSum Symbols::product(const SymbolicSum& a, std::uint32_t factor) {
  if (a.symbol == no_symbol) return {};
  if (a.symbol == zero_symbol) return {zero_symbol, a.offset * factor};
  return {of({Product, a.symbol, factor}), a.offset * factor};
}

Symbols::Entry& Symbols::find(const Key& key) {
  std::uint64_t hash = 0;
  for (const std::uint32_t word : key) hash = (hash ^ word) * 0x9e3779b97f4a7c15 ^ hash >> 29;
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = hash >> 32 & mask;; i = (i + 1) & mask)
    if (table_[i].era != era_ || table_[i].key == key) return table_[i];
}

void Symbols::grow() {
  constexpr std::size_t least = 64;
  std::vector<Entry> old(table_.empty() ? least : 2 * table_.size());
  old.swap(table_);
  for (const Entry& entry : old)
    if (entry.era == era_) find(entry.key) = entry;
}

}  // namespace eum::jit

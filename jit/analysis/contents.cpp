#include "jit/analysis/contents.hpp"

namespace eum::jit {

std::vector<Relation> Contents::relations() {
  constexpr std::size_t most = 64;
  for (const Relation& relation : entry_)
    for (const unsigned g : {relation.dword, relation.other})
      if (!is_written(g)) known_.push_back(g);
  std::ranges::sort(known_);
  known_.erase(std::unique(known_.begin(), known_.end()), known_.end());
  struct Known {
    SymbolicSum sum;
    unsigned g;
  };
  std::vector<Known> registers;
  for (const unsigned g : known_) {
    const SymbolicSum sum = is_written(g) ? written_[g].sum : at_entry(g);
    if (sum.symbol > zero_symbol) registers.push_back({sum, g});
  }
  // Relates each register to the first one with the same symbol.
  std::ranges::stable_sort(registers, {}, [](const Known& known) { return known.sum.symbol; });
  std::vector<Relation> relations;
  std::size_t first = 0;
  for (std::size_t i = 1; i < registers.size() && relations.size() < most; ++i) {
    if (registers[i].sum.symbol != registers[first].sum.symbol) {
      first = i;
      continue;
    }
    relations.push_back({static_cast<std::uint16_t>(registers[i].g),
                         static_cast<std::uint16_t>(registers[first].g),
                         registers[i].sum.offset - registers[first].sum.offset});
  }
  return relations;
}

}  // namespace eum::jit

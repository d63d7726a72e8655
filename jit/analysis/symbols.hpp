#pragma once
// Unknown numbers, identified by how they are computed: what is computed in the same way from the same
// operands has one symbol.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace eum::jit {

using Symbol = std::uint32_t;
constexpr Symbol no_symbol = 0;    ///< nothing is known
constexpr Symbol zero_symbol = 1;  ///< the number is 0

/// A symbol and what is added to it, modulo 2^32.
struct SymbolicSum {
  Symbol symbol = no_symbol;
  std::uint32_t offset = 0;
  bool operator==(const SymbolicSum&) const = default;
};

class Symbols {
 public:
  /// How a number is computed: an operation and its operands.
  using Key = std::array<std::uint32_t, 8>;

  /// Forgets all symbols; later ones are unrelated to them.
  void clear();
  /// The symbol of what is computed like that.
  Symbol of(const Key& key);

  // Arithmetic: nothing is known of the result unless something is known of all operands.
  SymbolicSum sum(const SymbolicSum& a, const SymbolicSum& b);
  SymbolicSum difference(const SymbolicSum& a, const SymbolicSum& b);
  SymbolicSum product(const SymbolicSum& a, std::uint32_t factor);

  /// Word 0 of keys.
  enum Origin : std::uint32_t { Itself, Content, Ids, Sum, Difference, Product, Computed };

 private:
  struct Entry {
    Key key;
    Symbol symbol = no_symbol;
    std::uint32_t era = 0;  ///< other than the table's: free
  };
  Entry& find(const Key& key);
  void grow();

  std::vector<Entry> table_;  ///< a power of two of them, or none
  std::size_t used_ = 0;
  std::uint32_t era_ = 1;
  Symbol last_ = zero_symbol;
};

}  // namespace eum::jit

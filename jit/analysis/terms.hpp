#pragma once
// Symbolic values in a counting loop: values computed in the same way from the same operands are one term.
// What depends on the counter alone is known, as a table by values of the counter.
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "frontend/ir/ops.hpp"

namespace eum::jit {

using Term = std::uint32_t;
inline constexpr Term no_term = ~Term{0};

/// A set of values of the counter: bit c is c.
using Turns = std::uint64_t;
/// By the counter's value: the bits of a number, or 0 and 1 of a truth.
using Table = std::array<std::uint64_t, 64>;

constexpr std::uint64_t ones_of(ir::Type type) {
  return ir::is_mask(type) ? 1 : ~std::uint64_t{0} >> (64 - 8 * ir::size_of(type));
}

/// Where a value is before the turn: some consecutive lanes in the register file, or some bits of the flags
/// or of a mask variable.
struct Place {
  enum Space : std::uint8_t { File, Flags, Mask };
  Space space = File;
  std::uint8_t bytes = 0;  ///< of a lane in the register file
  std::uint8_t lanes = 0;
  std::uint32_t first = 0;  ///< byte of the file, or bit; of masks lane 32 * variable + lane
  bool operator==(const Place&) const = default;

  ir::Type type() const { return space == File ? ir::int_type(bytes, false) : ir::Type::m; }
  std::uint32_t end() const { return first + lanes * (space == File ? bytes : 1u); }
  bool overlaps(const Place& other) const {
    return space == other.space && first < other.end() && other.first < end();
  }
};

/// The terms of one loop. All lanes of a place have one term, which says how each of them is computed.
class Terms {
 public:
  enum class Kind : std::uint8_t {
    Constant,  ///< args[0] and args[1] are the low and high half of its bits
    Known,     ///< by the counter: args[0] is the table
    Initial,   ///< args[0] is the place
    Unknown,   ///< equal to no other term
    Computed,  ///< by op of args
  };
  struct Entry {
    Kind kind = Kind::Unknown;
    bool uniform = false;  ///< the same in every lane
    ir::Op op{};
    ir::Type type = ir::Type::u32, from = ir::Type::u32;
    std::array<Term, 3> args{no_term, no_term, no_term};
    bool operator==(const Entry&) const = default;
  };

  Term known(const Table& table);
  Term constant(std::uint64_t bits) {
    return add({.kind = Kind::Constant,
                .uniform = true,
                .args = {static_cast<Term>(bits), static_cast<Term>(bits >> 32), no_term}});
  }
  /// The number c for each value c of the counter.
  Term counter();
  Term truth(bool value) { return constant(value ? 1 : 0); }
  Term initial(const Place& place);
  Term unknown();
  /// The result of a lanewise op, on as many terms as it has operands. Types lose their sign where it does
  /// not matter, and comparisons become cmp_eq and cmp_lt.
  Term compute(ir::Op op, ir::Type type, std::span<const Term> args, ir::Type from = ir::Type::u32);
  Term compute(ir::Op op, ir::Type type, std::initializer_list<Term> args) {
    return compute(op, type, std::span(args.begin(), args.size()));
  }

  const Entry& operator[](Term term) const { return entries_[term]; }
  std::size_t size() const { return entries_.size(); }
  const Place& place(Term initial) const { return places_[entries_[initial].args[0]]; }
  bool is_constant(Term term) const { return entries_[term].kind == Kind::Constant; }
  bool is_known(Term term) const { return is_constant(term) || entries_[term].kind == Kind::Known; }
  /// Bits of a known term in a turn.
  std::uint64_t value(Term known, unsigned turn) const {
    const Entry& entry = entries_[known];
    if (entry.kind == Kind::Constant) return entry.args[0] | std::uint64_t{entry.args[1]} << 32;
    return (*tables_[entry.args[0]])[turn];
  }
  /// A known truth, if it is the same in these turns.
  std::optional<bool> truth(Term term, Turns turns) const;
  /// Whether a known number is this in all of these turns.
  bool is(Term term, std::uint64_t bits, Turns turns) const;
  bool is(Term term, std::uint64_t bits) const { return is_constant(term) && value(term, 0) == bits; }
  /// Values of the counter where a known truth holds.
  Turns where(Term known) const;

  /// Whether all that the term is computed from and that is not known, initial and unknown terms, is
  /// wanted(leaf).
  template <class Wanted>
  bool all_leaves(Term term, Wanted wanted) const {
    std::vector<bool> is_seen(size());
    std::vector<Term> pending{term};
    while (!pending.empty()) {
      const Term next = pending.back();
      pending.pop_back();
      if (next == no_term || is_seen[next] || is_known(next)) continue;
      is_seen[next] = true;
      const Entry& entry = entries_[next];
      if (entry.kind == Kind::Computed)
        pending.insert(pending.end(), entry.args.begin(), entry.args.end());
      else if (!wanted(next))
        return false;
    }
    return true;
  }

  /// What replaces a term that is not known, or no_term. The operands of a computed one have been replaced
  /// already.
  using Decide = std::function<Term(const Entry&, Term)>;
  /// Terms as they are in some turns, with replacements.
  class Rebuilt {
   public:
    Rebuilt(Terms& terms, Turns turns, Decide decide)
        : terms_(terms), turns_(turns), decide_(std::move(decide)) {}
    Term operator()(Term term);

   private:
    Term rebuilt(Term term);

    Terms& terms_;
    Turns turns_;
    Decide decide_;
    std::vector<Term> done_;  // by term
  };

 private:
  struct Hash {
    std::size_t operator()(const Entry& entry) const;
  };
  Term add(const Entry& entry);
  Term computed(Entry entry);
  Term evaluate(const Entry& entry, std::size_t operands);
  Term restricted(Term known, Turns turns);
  Term simplified(const Entry& entry);
  bool is_complement(Term term, Term of) const;
  Term not_of(Term truth) { return compute(ir::Op::not_, ir::Type::m, {truth}); }

  struct TableHash {
    std::size_t operator()(const Table& table) const;
  };

  std::vector<Entry> entries_;
  std::unordered_map<Table, Term, TableHash> known_;
  struct PlaceHash {
    std::size_t operator()(const Place& place) const;
  };
  std::unordered_map<Place, Term, PlaceHash> initial_;
  std::vector<const Table*> tables_;
  std::vector<Place> places_;
  std::unordered_map<Entry, Term, Hash> found_;
};

}  // namespace eum::jit

#include "jit/analysis/terms.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "frontend/ir/semantics/lane_function.hpp"

namespace eum::jit {

using namespace ir;

namespace {

/// Whether the result has the same bits for signed and unsigned operands.
bool is_signless(Op op) {
  switch (op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::not_:
    case Op::shl:
    case Op::shr:
    case Op::cmp_eq:
      return true;
    default:
      return false;
  }
}

bool commutes(Op op) {
  return op == Op::add || op == Op::mul || op == Op::and_ || op == Op::or_ || op == Op::xor_ ||
         op == Op::cmp_eq;
}

}  // namespace

std::size_t Terms::Hash::operator()(const Entry& entry) const {
  std::uint64_t hash = static_cast<std::uint64_t>(entry.kind) | std::uint64_t{entry.uniform} << 8 |
                       static_cast<std::uint64_t>(entry.op) << 16 |
                       static_cast<std::uint64_t>(entry.type) << 24 |
                       static_cast<std::uint64_t>(entry.from) << 32;
  for (const Term arg : entry.args) {
    hash = (hash ^ arg) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 32;
  }
  return hash;
}

Term Terms::add(const Entry& entry) {
  const auto [found, is_new] = found_.try_emplace(entry, static_cast<Term>(entries_.size()));
  if (is_new) entries_.push_back(entry);
  return found->second;
}

std::size_t Terms::TableHash::operator()(const Table& table) const {
  std::uint64_t hash = 0;
  for (const unsigned turn : {0u, 1u, 2u, 31u, 32u, 63u}) hash = (hash ^ table[turn]) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 32;
}

Term Terms::known(const Table& table) {
  if (std::ranges::adjacent_find(table, std::not_equal_to()) == table.end()) return constant(table[0]);
  const auto [found, is_new] = known_.try_emplace(table, static_cast<Term>(tables_.size()));
  if (is_new) tables_.push_back(&found->first);
  return add({.kind = Kind::Known, .uniform = true, .args = {found->second, no_term, no_term}});
}

Term Terms::counter() {
  Table table;
  for (unsigned c = 0; c < table.size(); ++c) table[c] = c;
  return known(table);
}

std::size_t Terms::PlaceHash::operator()(const Place& place) const {
  const std::uint64_t word = place.first | std::uint64_t{place.lanes} << 32 |
                             std::uint64_t{place.bytes} << 40 | std::uint64_t{place.space} << 48;
  return word * 0x9e3779b97f4a7c15ull >> 32;
}

Term Terms::initial(const Place& place) {
  const auto [found, is_new] = initial_.try_emplace(place, static_cast<Term>(entries_.size()));
  if (is_new) {
    const auto index = static_cast<Term>(places_.size());
    entries_.push_back(
        {.kind = Kind::Initial, .uniform = place.lanes == 1, .args = {index, no_term, no_term}});
    places_.push_back(place);
  }
  return found->second;
}

Term Terms::unknown() {
  entries_.push_back({});
  return static_cast<Term>(entries_.size() - 1);
}

std::optional<bool> Terms::truth(Term term, Turns turns) const {
  if (!is_known(term)) return std::nullopt;
  const Turns holds = where(term) & turns;
  if (holds != 0 && holds != turns) return std::nullopt;
  return holds != 0;
}

bool Terms::is(Term term, std::uint64_t bits, Turns turns) const {
  if (is_constant(term) || !is_known(term)) return is(term, bits);
  for (Turns left = turns; left != 0; left &= left - 1)
    if (value(term, static_cast<unsigned>(std::countr_zero(left))) != bits) return false;
  return true;
}

Turns Terms::where(Term known) const {
  if (is_constant(known)) return value(known, 0) != 0 ? ~Turns{0} : 0;
  Turns turns = 0;
  for (unsigned turn = 0; turn < 64; ++turn) turns |= (value(known, turn) & 1) << turn;
  return turns;
}

Term Terms::compute(Op op, Type type, std::span<const Term> args, Type from) {
  Entry entry{.kind = Kind::Computed, .op = op, .type = type, .from = from};
  std::ranges::copy(args, entry.args.begin());
  const auto as = [&](Op other, Term a, Term b) { return compute(other, type, {a, b}); };
  switch (op) {
    case Op::bitcast:
      return args[0];
    case Op::andn:
      return as(Op::and_, compute(Op::not_, type, {args[0]}), args[1]);
    case Op::neg:
      if (is_int(type)) return as(Op::sub, constant(0), args[0]);
      break;
    case Op::sub:
      if (is_int(type) && is_known(args[1]) && !is_known(args[0]))
        return as(Op::add, args[0], as(Op::sub, constant(0), args[1]));
      break;
    case Op::select:
      entry.type = int_type(size_of(type), false);
      break;
    case Op::cmp_ne:
      if (is_int(type)) return not_of(as(Op::cmp_eq, args[0], args[1]));
      break;
    case Op::cmp_gt:
      if (is_int(type)) return as(Op::cmp_lt, args[1], args[0]);
      break;
    case Op::cmp_ge:
      if (is_int(type)) return not_of(as(Op::cmp_lt, args[0], args[1]));
      break;
    case Op::cmp_le:
      if (is_int(type)) return not_of(as(Op::cmp_lt, args[1], args[0]));
      break;
    case Op::convert:
      if (!is_int(type) || !is_int(from)) break;
      if (size_of(type) == size_of(from)) return args[0];
      entry.type = int_type(size_of(type), false);
      if (size_of(type) < size_of(from)) entry.from = int_type(size_of(from), false);
      break;
    default:
      break;
  }
  if (is_signless(op) && is_int(type)) entry.type = int_type(size_of(type), false);
  if (commutes(op) && entry.args[0] > entry.args[1]) std::swap(entry.args[0], entry.args[1]);
  return computed(entry);
}

Term Terms::computed(Entry entry) {
  const auto operands = static_cast<std::size_t>(std::ranges::find(entry.args, no_term) - entry.args.begin());
  const auto args = std::span(entry.args).first(operands);
  entry.uniform = std::ranges::all_of(args, [&](Term arg) { return entries_[arg].uniform; });
  const bool takes_numbers = is_int(entry.type) || is_mask(entry.type);
  if (takes_numbers && std::ranges::all_of(args, [&](Term arg) { return is_known(arg); }))
    if (const Term result = evaluate(entry, operands); result != no_term) return result;
  if (takes_numbers)
    if (const Term same = simplified(entry); same != no_term) return same;
  return add(entry);
}

/// Evaluates an op of known operands by its semantics, for each value of the counter.
Term Terms::evaluate(const Entry& entry, std::size_t operands) {
  const bool converts = shape_of(entry.op).has_from();
  if (converts && !is_int(entry.from)) return no_term;
  const LaneFunction function = lane_function(entry.op, entry.type, entry.from);
  if (function == nullptr) return no_term;
  const auto args = std::span(entry.args).first(operands);
  const bool is_one = std::ranges::all_of(args, [&](Term arg) { return is_constant(arg); });
  const bool is_truth = is_mask(entry.type) || shape_of(entry.op).results.rules[0].type == TypeRule::Mask;
  const unsigned bytes = size_of(entry.type), from_bytes = converts ? size_of(entry.from) : bytes;
  const unsigned lanes = is_one ? 1 : max_lanes, turns = is_one ? 1 : std::tuple_size_v<Table>;
  Table result{};
  for (unsigned first = 0; first < turns; first += lanes) {
    std::array<std::array<std::byte, 8 * max_lanes>, 3> packed;
    std::array<const void*, 3> pointers{};
    for (unsigned k = 0; k < operands; ++k) {
      std::uint32_t truths = 0;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const std::uint64_t bits = value(args[k], first + lane);
        std::memcpy(packed[k].data() + lane * from_bytes, &bits, from_bytes);
        truths |= static_cast<std::uint32_t>(bits & 1) << lane;
      }
      if (is_mask(entry.type) || (entry.op == Op::select && k == 0))
        std::memcpy(packed[k].data(), &truths, sizeof truths);
      pointers[k] = packed[k].data();
    }
    std::array<std::byte, 8 * max_lanes> computed{};
    function(computed.data(), pointers.data(), lanes);
    std::uint32_t truths = 0;
    std::memcpy(&truths, computed.data(), sizeof truths);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      if (is_truth)
        result[first + lane] = truths >> lane & 1;
      else
        std::memcpy(&result[first + lane], computed.data() + lane * bytes, bytes);
    }
  }
  return is_one ? constant(result[0]) : known(result);
}

bool Terms::is_complement(Term term, Term of) const {
  const Entry& entry = entries_[term];
  return entry.kind == Kind::Computed && entry.op == Op::not_ && entry.args[0] == of;
}

/// A simpler term that equals the op; no_term: there is none.
Term Terms::simplified(const Entry& entry) {
  const Term a = entry.args[0], b = entry.args[1];
  const std::uint64_t ones = ones_of(entry.type);
  const auto other_than = [&](std::uint64_t bits) { return is(a, bits) ? b : is(b, bits) ? a : no_term; };
  switch (entry.op) {
    case Op::and_:
      if (is(a, 0) || is(b, 0) || is_complement(a, b) || is_complement(b, a)) return constant(0);
      return a == b ? a : other_than(ones);
    case Op::or_:
      if (is(a, ones) || is(b, ones) || is_complement(a, b) || is_complement(b, a)) return constant(ones);
      return a == b ? a : other_than(0);
    case Op::add:
    case Op::xor_:
      return other_than(0);
    case Op::sub:
    case Op::shl:
    case Op::shr:
      return is(b, 0) ? a : no_term;
    case Op::not_:
      return entries_[a].kind == Kind::Computed && entries_[a].op == Op::not_ ? entries_[a].args[0] : no_term;
    case Op::select:
      if (is(a, 1) || b == entry.args[2]) return b;
      return is(a, 0) ? entry.args[2] : no_term;
    case Op::cmp_eq:
      return a == b && is_int(entry.type) ? constant(1) : no_term;
    case Op::cmp_lt:
      return a == b || (is(b, 0) && is_int(entry.type) && !is_signed(entry.type)) ? constant(0) : no_term;
    default:
      return no_term;
  }
}

/// The known term in these turns; in the others it gets the value of the first of these.
Term Terms::restricted(Term known, Turns turns) {
  if (is_constant(known)) return known;
  Table table = *tables_[entries_[known].args[0]];
  const std::uint64_t first = table[static_cast<unsigned>(std::countr_zero(turns)) % table.size()];
  for (unsigned turn = 0; turn < table.size(); ++turn)
    if ((turns >> turn & 1) == 0) table[turn] = first;
  return this->known(table);
}

Term Terms::Rebuilt::operator()(Term term) {
  if (done_.size() <= term) done_.resize(std::max<std::size_t>(terms_.size(), term + 1), no_term);
  if (done_[term] == no_term) {
    const Term now = rebuilt(term);
    done_[term] = now;
  }
  return done_[term];
}

Term Terms::Rebuilt::rebuilt(Term term) {
  const Entry entry = terms_[term];
  Term now = term;
  if (entry.kind == Kind::Known) {
    now = terms_.restricted(term, turns_);
  } else if (entry.kind == Kind::Computed) {
    Entry changed = entry;
    for (Term& arg : changed.args)
      if (arg != no_term) arg = (*this)(arg);
    if (commutes(changed.op) && changed.args[0] > changed.args[1])
      std::swap(changed.args[0], changed.args[1]);
    if (changed != entry) now = terms_.computed(changed);
  }
  if (terms_.is_known(now)) return now;
  const Term decided = decide_(terms_[now], now);
  return decided != no_term ? decided : now;
}

}  // namespace eum::jit

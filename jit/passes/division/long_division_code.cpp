// The code that replaces a loop that divides.
#include <algorithm>

#include "jit/passes/division/long_division.hpp"

namespace eum::jit {

using namespace ir;

void LongDivision::replace() {
  // Some of the loop's blocks are used again.
  std::vector<BlockId> blocks{loop_.header};
  for (BlockId block = 0; block < function_.blocks.size(); ++block)
    if (loop_.blocks[block] && block != loop_.header) blocks.push_back(block);
  // Threads that have paused in the loop must not continue here: no block begins at an ip of the loop any
  // more.
  const std::uint32_t block_ip = function_.blocks[loop_.before].guest_ip;
  const std::uint32_t ip = function_.blocks[loop_.header].guest_ip;
  for (const BlockId block : blocks) function_.blocks[block].insts.clear();
  Builder builder(function_);
  builder.set_guest_ip(ip);
  const auto begin = [&](unsigned index, std::uint64_t instructions) {
    Block& block = function_.blocks[blocks[index]];
    block.guest_ip = block_ip;
    block.guest_instructions = static_cast<std::uint32_t>(instructions);
    builder.set_block(blocks[index]);
  };
  // What all channels get, whatever active ones get then.
  const auto write_known = [&](const std::vector<Other>& others) {
    for (const Other& other : others) {
      if (other.divider != nullptr && other.off == no_term) continue;
      const Term known = other.divider != nullptr ? other.off : other.term;
      write_other(builder, other.at, constant(builder, known, other.at.type(), other.at.lanes), no_value);
    }
  };
  const auto end = [&](std::uint64_t counter, BlockId next) {
    // The loop would have stopped a thread whose budget is used up.
    function_.blocks[next].safepoint = true;
    if (counter_.front().lanes == 1)
      builder.reg_write(Region::packed(counter_.front().first), builder.constant(Type::u32, 1, counter));
    builder.jump(next);
  };
  if (ends_without_channels_) {
    begin(1, instructions_without_);
    write_known(others_without_);
    if (is_scalar()) {
      const Divided divided = divide(builder, dividers_.front(), no_value, true);
      write(builder, dividers_.front(), divided, no_value, true);
      if (one_without_ != 0) builder.spend(Op::spend_bits, one_without_, divided.quotient);
    }
    end(counter_without_, exit_without_);
    // The block before the loop decides between the two.
    function_.blocks[loop_.before].insts.pop_back();
    builder.set_block(loop_.before);
    builder.branch_any(builder.mask_get(0), blocks[0], blocks[1]);
  }
  begin(0, instructions_);
  write_known(others_);
  const ValueId on = builder.mask_get(0);
  std::vector<ValueId> zeros, ones;  // of active channels
  for (const Divider& divider : dividers_) {
    const ValueId own =
        is_scalar() ? no_value : builder.slice(on, group_lanes * divider.group(), group_lanes);
    const Divided divided = divide(builder, divider, own, false);
    // Results overwrite what is read here.
    TurnCode code{.divider = &divider, .divided = divided, .on = own};
    std::vector<ValueId> values;
    for (const Other& other : others_)
      if (other.divider == &divider) values.push_back(value_of(builder, code, other.term, other.at.type()));
    write(builder, divider, divided, own, false);
    auto value = values.begin();
    for (const Other& other : others_)
      if (other.divider == &divider) write_other(builder, other.at, *value++, own);
    const auto of_own = [&](ValueId bits) {
      return is_scalar() ? bits : builder.select(own, bits, builder.constant(Type::u64, group_lanes, 0));
    };
    if (!ones_.empty()) ones.push_back(of_own(divided.quotient));
    if (!zeros_.empty()) zeros.push_back(of_own(builder.lanewise(Op::not_, {divided.quotient})));
  }
  count(builder, ones_, ones);
  count(builder, zeros_, zeros);
  for (unsigned variable = 0; variable < masks_.size(); ++variable) {
    const MaskBehind behind = masks_[variable];
    if (behind == MaskBehind::None) builder.mask_set(variable, builder.constant(Type::m, function_.simd, 0));
    if (behind == MaskBehind::Execution) builder.mask_set(variable, on);
    if (behind == MaskBehind::Added)
      builder.mask_set(variable, builder.lanewise(Op::or_, {builder.mask_get(variable), on}));
  }
  for (unsigned group = 0; group < counter_.size() && counter_.front().lanes > 1; ++group)
    builder.reg_write(Region::packed(counter_[group].first),
                      builder.constant(Type::u32, group_lanes, counter_behind_),
                      builder.slice(on, group_lanes * group, group_lanes));
  end(counter_behind_, exit_);
}

ValueId LongDivision::read(Builder& builder, Term part, Type type, unsigned lanes, ValueId on) {
  if (terms_.is_known(part)) return builder.constant(type, lanes, terms_.value(part, 0));
  const Place& place = terms_.place(part);
  if (place.lanes == lanes) return builder.reg_read(type, lanes, Region::packed(place.first), on);
  return builder.splat(builder.reg_read(type, 1, Region::packed(place.first)), lanes);
}

/// Divides like all turns, or like the first one: the highest bit alone.
LongDivision::Divided LongDivision::divide(Builder& builder, const Divider& divider, ValueId on,
                                           bool first_turn) {
  const unsigned lanes = divider.is_scalar() ? 1 : group_lanes;
  const auto number = [&](const Number& of) {
    if (of.is_whole()) return read(builder, of.low, Type::u64, lanes, on);
    const ValueId low = read(builder, of.low, Type::u32, lanes, on);
    return builder.join(low, read(builder, of.high, Type::u32, lanes, on));
  };
  const auto last = [&] { return builder.constant(Type::u64, lanes, last_bit); };
  Divided divided{number(divider.dividend()), number(divider.divisor()), no_value, no_value};
  if (first_turn) divided.dividend = builder.lanewise(Op::shr, {divided.dividend, last()});
  // As in the loop, x/0 is all ones, with the remainder x.
  divided.quotient = builder.lanewise(Op::quot, {divided.dividend, divided.divisor});
  if (first_turn)
    divided.quotient = builder.lanewise(Op::and_, {divided.quotient, builder.constant(Type::u64, lanes, 1)});
  const ValueId product = builder.lanewise(Op::mul, {divided.quotient, divided.divisor});
  divided.remainder = builder.lanewise(Op::sub, {divided.dividend, product});
  if (first_turn) divided.quotient = builder.lanewise(Op::shl, {divided.quotient, last()});
  return divided;
}

void LongDivision::write(Builder& builder, const Divider& divider, const Divided& divided, ValueId on,
                         bool first_turn) {
  const unsigned lanes = divider.is_scalar() ? 1 : group_lanes;
  // The places that are added to are read before any of them is written.
  std::vector<ValueId> values;
  for (const Divider::Result& result : divider.results()) {
    ValueId value = result.is_quotient ? divided.quotient : divided.remainder;
    if (result.first != 0)
      value = builder.lanewise(Op::shr, {value, builder.constant(Type::u64, lanes, result.first)});
    const Type type = result.at.type();
    if (type != Type::u64) value = builder.convert(Op::convert, type, value);
    if (result.is_quotient && !before_.holds(result.added_to, divider.group(), 0)) {
      const ValueId before = builder.reg_read(type, lanes, Region::packed(result.added_to.first), on);
      value = builder.lanewise(Op::or_, {value, before});
    }
    values.push_back(value);
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!first_turn || results_without_[i].is_written)
      builder.reg_write(Region::packed(divider.results()[i].at.first), values[i], on);
}

/// Counts instructions that turns add if some channel's quotient gets their bit.
void LongDivision::count(Builder& builder, const std::map<std::uint64_t, std::uint64_t>& costs,
                         const std::vector<ValueId>& quotients) {
  if (costs.empty()) return;
  ValueId all = quotients.front();
  for (std::size_t i = 1; i < quotients.size(); ++i) all = builder.lanewise(Op::or_, {all, quotients[i]});
  const unsigned lanes = builder.lanes_of(all);
  for (const auto& [instructions, bits] : costs) {
    const bool all_bits = bits == ~std::uint64_t{0};
    builder.spend(
        Op::spend_bits, instructions,
        all_bits ? all : builder.lanewise(Op::and_, {all, builder.constant(Type::u64, lanes, bits)}));
  }
}

/// A known term in the last turn.
ValueId LongDivision::constant(Builder& builder, Term known, Type type, unsigned lanes) {
  const std::uint64_t bits = terms_.value(known, 0);
  return builder.constant(type, lanes, is_mask(type) && bits != 0 ? lane_mask(lanes) : bits);
}

/// A term in the last turn. Terms do not keep the signs of types: the value gets `type`, of the same size.
ValueId LongDivision::value_of(Builder& builder, TurnCode& code, Term term, Type type) {
  const unsigned lanes = code.divider->is_scalar() ? 1 : group_lanes;
  if (terms_.is_known(term)) return constant(builder, term, type, lanes);
  auto found = code.values.find(term);
  if (found == code.values.end()) {
    const Terms::Entry entry = terms_[term];
    ValueId value = no_value;
    if (entry.kind == Terms::Kind::Initial) {
      value = initial_of(builder, code, term);
    } else {
      const Type own = shape_of(entry.op).has_from() ? entry.from : entry.type;
      std::vector<ValueId> args;
      for (std::size_t k = 0; k < entry.args.size() && entry.args[k] != no_term; ++k)
        args.push_back(
            value_of(builder, code, entry.args[k], entry.op == Op::select && k == 0 ? Type::m : own));
      Inst inst = Builder::make(entry.op, entry.type, lanes);
      inst.from = entry.from;
      value = builder.append(inst, args);
    }
    found = code.values.emplace(term, value).first;
  }
  return is_mask(type) ? found->second : builder.convert(Op::bitcast, type, found->second);
}

/// What a place held before the last turn.
ValueId LongDivision::initial_of(Builder& builder, TurnCode& code, Term term) {
  const Divider& divider = *code.divider;
  const unsigned lanes = divider.is_scalar() ? 1 : group_lanes;
  const Place& place = terms_.place(term);
  const Type type = place.type();
  const auto number = [&](std::uint64_t bits) { return builder.constant(Type::u64, lanes, bits); };
  const auto part = [&](ValueId whole, unsigned first) {
    if (first != 0) whole = builder.lanewise(Op::shr, {whole, number(first)});
    return builder.convert(Op::convert, type, whole);
  };
  const Number& remainder = divider.remainder();
  if (term == remainder.low || term == remainder.high) {
    if (code.shifted == no_value) {
      // It was not below the divisor if the quotient got a 1.
      const ValueId last = builder.lanewise(Op::and_, {code.divided.quotient, number(1)});
      const ValueId is_one = builder.compare(Op::cmp_ne, last, number(0));
      const ValueId subtracted = builder.select(is_one, code.divided.divisor, number(0));
      code.shifted = builder.lanewise(Op::add, {code.divided.remainder, subtracted});
    }
    return part(builder.lanewise(Op::shr, {code.shifted, number(1)}), term == remainder.low ? 0 : 32);
  }
  for (const Divider::Result& result : divider.results()) {
    if (!result.is_quotient || result.added_to != place) continue;
    const ValueId before = builder.reg_read(type, lanes, Region::packed(place.first), code.on);
    const ValueId bits = builder.lanewise(Op::and_, {code.divided.quotient, number(~std::uint64_t{1})});
    return builder.lanewise(Op::or_, {before, part(bits, result.first)});
  }
  return read(builder, term, type, lanes, code.on);
}

void LongDivision::write_other(Builder& builder, const Place& place, ValueId value, ValueId on) {
  if (place.space == Place::Flags)
    builder.flag_write(place.first, value, on);
  else
    builder.reg_write(Region::packed(place.first), value, on);
}

}  // namespace eum::jit

#pragma once
// In which range a block's integers of up to 32 bits lie, read as numbers of their type.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "jit/passes/rewrite.hpp"

namespace eum::jit {

struct Range {
  std::int64_t low, high;
  bool operator==(const Range&) const = default;
  bool holds(const Range& other) const { return low <= other.low && other.high <= high; }
};

/// Of an integer type of up to 32 bits.
constexpr Range range_of(ir::Type type) {
  const unsigned bits = 8 * ir::size_of(type);
  if (ir::is_signed(type)) return {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
  return {0, (std::int64_t{1} << bits) - 1};
}

class ValueRanges {
 public:
  /// Looks at the definitions in `out`.
  ValueRanges(const ir::Function& function, const NewBlock& out) : function_(function), out_(out) {}

  /// Finds that of an op's first result, from those of its operands.
  void find(const ir::Inst& inst) {
    if (inst.result_count == 0) return;
    if (const auto range = result_of(inst)) set(inst.result, *range);
  }
  void set(ir::ValueId value, const Range& range) {
    if (value >= known_.size()) known_.resize(std::max<std::size_t>(value + 1, function_.values.size()));
    known_[value] = range;
  }
  /// None: it is no integer of up to 32 bits.
  std::optional<Range> of(ir::ValueId value) const {
    const ir::Type type = function_.values[value].type;
    if (!is_small(type)) return std::nullopt;
    return value < known_.size() && known_[value] ? known_[value] : range_of(type);
  }
  bool lies_in(ir::ValueId value, const Range& range) const {
    const auto own = of(value);
    return own && range.holds(*own);
  }
  std::optional<std::int64_t> constant(ir::ValueId value) const {
    const ir::Inst* inst = out_.definition(value);
    if (!inst || inst->op != ir::Op::constant || !is_small(inst->type)) return std::nullopt;
    return number_of(*inst);
  }

 private:
  static bool is_small(ir::Type type) { return ir::is_int(type) && ir::size_of(type) <= 4; }
  static std::int64_t number_of(const ir::Inst& constant) {
    const unsigned unused = 64 - 8 * ir::size_of(constant.type);
    return ir::is_signed(constant.type) ? static_cast<std::int64_t>(constant.imm << unused) >> unused
                                        : static_cast<std::int64_t>(constant.imm << unused >> unused);
  }

  /// None: any number of the type.
  std::optional<Range> result_of(const ir::Inst& inst) const {
    using ir::Op;
    if (!is_small(inst.type) || inst.mask != ir::no_value) return std::nullopt;
    const Range all = range_of(inst.type);
    const auto fit = [&](std::int64_t low, std::int64_t high) {
      const Range range{low, high};
      return all.holds(range) ? std::optional(range) : std::nullopt;
    };
    if (inst.op == Op::constant) return fit(number_of(inst), number_of(inst));
    std::array<Range, 3> args{};
    const unsigned first = inst.op == Op::select || inst.op == Op::bfi2 ? 1 : 0;
    const unsigned count =
        std::min<unsigned>(inst.arg_count, first + 3) - std::min<unsigned>(inst.arg_count, first);
    for (unsigned k = 0; k < count; ++k) {
      const auto arg = of(function_.arg(inst, first + k));
      if (!arg) return std::nullopt;
      args[k] = *arg;
    }
    const auto [a, b, c] = args;
    const auto by = count == 2 ? constant(function_.arg(inst, first + 1)) : std::nullopt;
    const bool shifts = by && *by >= 0 && *by < 8 * static_cast<std::int64_t>(ir::size_of(inst.type));
    switch (inst.op) {
      case Op::add:
        return fit(a.low + b.low, a.high + b.high);
      case Op::sub:
        return fit(a.low - b.high, a.high - b.low);
      case Op::neg:
        return fit(-a.high, -a.low);
      case Op::not_:
        return fit(-1 - a.high, -1 - a.low);
      case Op::abs:
        return a.low >= 0 ? a : fit(a.high <= 0 ? -a.high : 0, std::max(-a.low, a.high));
      case Op::mul:
      case Op::mul_wide:
      case Op::mad: {
        const Range product = product_of(a, b);
        return fit(product.low + c.low, product.high + c.high);
      }
      case Op::mul_high: {
        const Range product = product_of(a, b);
        return fit(product.low >> 16, product.high >> 16);
      }
      case Op::and_:
        if (a.low < 0 && b.low < 0) return signed_bits_of(a, b);
        return fit(0, std::min(a.low < 0 ? b.high : a.high, b.low < 0 ? a.high : b.high));
      case Op::or_:
      case Op::xor_:
      case Op::bfi2:
        if (a.low < 0 || b.low < 0)
          return inst.op == Op::bfi2 ? std::nullopt : std::optional(signed_bits_of(a, b));
        return fit(0, static_cast<std::int64_t>(
                          std::bit_ceil(static_cast<std::uint64_t>(std::max(a.high, b.high)) + 1) - 1));
      case Op::min:
        return fit(std::min(a.low, b.low), std::min(a.high, b.high));
      case Op::max:
        return fit(std::max(a.low, b.low), std::max(a.high, b.high));
      case Op::select:
        return fit(std::min(a.low, b.low), std::max(a.high, b.high));
      case Op::shl:
        return shifts ? fit(a.low << *by, a.high << *by) : std::nullopt;
      case Op::shr:
        return shifts && a.low >= 0 ? fit(a.low >> *by, a.high >> *by) : std::nullopt;
      case Op::asr:
        // A shift of bits, whatever the type says of the sign.
        return shifts && range_of(ir::int_type(ir::size_of(inst.type), true)).holds(a)
                   ? fit(a.low >> *by, a.high >> *by)
                   : std::nullopt;
      case Op::convert_sat:
        return Range{std::clamp(a.low, all.low, all.high), std::clamp(a.high, all.low, all.high)};
      case Op::bitcast:
      case Op::convert:
      case Op::splat:
      case Op::slice:
        return fit(a.low, a.high);
      default:
        return std::nullopt;
    }
  }
  /// Any bits of signed numbers of as many bits as these.
  static Range signed_bits_of(const Range& a, const Range& b) {
    const std::int64_t most = std::max({a.high, b.high, -1 - a.low, -1 - b.low});
    const auto power = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(most) + 1));
    return {-power, power - 1};
  }
  static Range product_of(const Range& a, const Range& b) {
    // Factors have up to 32 bits, of which only two unsigned ones can have a product that does not fit.
    constexpr std::int64_t most = std::int64_t{1} << 31;
    if (a.high > most || b.high > most) return {0, std::int64_t{1} << 62};
    const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    return {low, high};
  }

  const ir::Function& function_;
  const NewBlock& out_;
  std::vector<std::optional<Range>> known_;
};

}  // namespace eum::jit

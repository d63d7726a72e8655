// Addresses of 64 bits per lane that are a base plus distances of 32 bits are accessed in that form: with
// half of the vectors, a scalar bounds check where the distances are known, and without the sums.
#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using ir::Inst;
using ir::MemSpace;
using ir::Op;
using ir::Type;
using ir::ValueId;

/// base + convert(distance) * scale, the base a sum of scalars and a constant.
struct Form {
  struct Term {
    ValueId scalar = ir::no_value;  ///< one lane of 64 bits
    std::uint64_t scale = 1;
    ValueId high = ir::no_value;  ///< if given, `scalar` has 32 bits, and these are the upper ones
    bool operator==(const Term&) const = default;
  };
  static constexpr std::size_t most_terms = 4, most_parts = 4;
  std::array<Term, most_terms> terms;
  std::size_t count = 0;
  std::uint64_t constant = 0;
  std::array<ValueId, most_parts> distances;  ///< values with lanes of the distance, and their first lanes
  std::array<unsigned, most_parts> firsts;
  std::size_t parts = 0;
  Type type = Type::s32;  ///< of the distance: how it is widened
  std::uint64_t scale = 1;

  bool add(const Term& term) {
    if (count == most_terms) return false;
    terms[count++] = term;
    return true;
  }
  bool add(ValueId distance, unsigned first, Type of, std::uint64_t by) {
    if (parts != 0) return false;
    distances[0] = distance;
    firsts[0] = first;
    parts = 1;
    type = of;
    scale = by;
    return true;
  }
};

/// Traces addresses back to their parts.
class Finder {
 public:
  explicit Finder(ir::Function& function)
      : function_(function), definitions_(function.values.size(), nowhere) {}

  void run(ir::Block& block) {
    bool any = false;
    for (const Inst& inst : block.insts) any |= candidate(inst);
    if (!any) return;
    out_.clear();
    bases_.clear();
    for (Inst inst : block.insts) {
      if (candidate(inst)) rewrite(inst);
      append(inst);
    }
    block.insts.assign(out_.begin(), out_.end());
  }

 private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  static constexpr unsigned most_depth = 12;
  static constexpr std::uint32_t most_offset = 4096;  ///< that code can always encode
  static constexpr std::uint64_t most_scale = ir::MemoryAccess::most_scale;

  bool candidate(const Inst& inst) const {
    return (inst.op == Op::load || inst.op == Op::store) && inst.lanes % 8 == 0 &&
           function_.access(inst).space == MemSpace::A64;
  }

  void append(const Inst& inst) {
    for (unsigned k = 0; k < inst.result_count; ++k) {
      if (inst.result + k >= definitions_.size()) definitions_.resize(inst.result + k + 1, nowhere);
      definitions_[inst.result + k] = static_cast<std::uint32_t>(out_.size());
    }
    out_.push_back(inst);
  }
  const Inst* definition(ValueId value) const {
    if (value >= definitions_.size() || definitions_[value] >= out_.size()) return nullptr;
    const Inst& inst = out_[definitions_[value]];
    return value - inst.result < inst.result_count ? &inst : nullptr;
  }

  /// `count` lanes of a value, from `first` on.
  struct Lanes {
    ValueId value = ir::no_value;
    unsigned first = 0;
    unsigned count = 0;
    bool operator==(const Lanes&) const = default;
  };
  Lanes all_lanes(ValueId value) const { return {value, 0, function_.values[value].lanes}; }
  /// The lanes from which these come by slices, concats and bitcasts.
  Lanes source(Lanes lanes) const {
    for (const Inst* inst = definition(lanes.value); inst != nullptr; inst = definition(lanes.value)) {
      if (inst->op == Op::slice) {
        lanes.first += static_cast<unsigned>(inst->imm);
        lanes.value = function_.arg(*inst, 0);
      } else if (inst->op == Op::bitcast && ir::size_of(inst->from) == ir::size_of(inst->type)) {
        lanes.value = function_.arg(*inst, 0);
      } else if (inst->op == Op::concat) {
        const unsigned low = function_.values[function_.arg(*inst, 0)].lanes;
        const bool of_high = lanes.first >= low;
        if (!of_high && lanes.first + lanes.count > low) break;
        if (of_high) lanes.first -= low;
        lanes.value = function_.arg(*inst, of_high ? 1 : 0);
      } else {
        break;
      }
    }
    return lanes;
  }
  /// The same lanes of an operand.
  Lanes arg(const Inst& inst, unsigned k, const Lanes& lanes) const {
    return source({function_.arg(inst, k), lanes.first, lanes.count});
  }
  /// The constant that every lane of a value equals.
  std::optional<std::uint64_t> constant(ValueId value) const {
    const Inst* inst = definition(source(all_lanes(value)).value);
    if (inst == nullptr || inst->op != Op::constant) return std::nullopt;
    return inst->imm;
  }

  /// Adds value * scale, of 64 bits, to the form.
  bool add(Form& form, Lanes value, std::uint64_t scale, unsigned depth) const {
    value = source(value);
    const Inst* inst = definition(value.value);
    if (inst == nullptr || depth == most_depth || scale == 0 || scale > most_scale) return false;
    const auto add_arg = [&](unsigned k, std::uint64_t by) {
      return by <= most_scale && add(form, arg(*inst, k, value), scale * by, depth + 1);
    };
    switch (inst->op) {
      case Op::constant:
        form.constant += inst->imm * scale;
        return true;
      case Op::splat:
        return form.add({function_.arg(*inst, 0), scale});
      case Op::add:
        return add_arg(0, 1) && add_arg(1, 1);
      case Op::shl: {
        const std::optional<std::uint64_t> by = constant(function_.arg(*inst, 1));
        return by && add_arg(0, std::uint64_t{1} << *by % 64);
      }
      case Op::mul:
        for (const unsigned k : {0u, 1u})
          if (const auto factor = constant(function_.arg(*inst, k))) return add_arg(1 - k, *factor);
        return false;
      case Op::convert:
        if (ir::size_of(inst->from) == 8 && ir::is_int(inst->from)) return add_arg(0, 1);
        if (inst->from != Type::s32 && inst->from != Type::u32) return false;
        return form.add(function_.arg(*inst, 0), value.first, inst->from, scale);
      case Op::join:
        return add_halves(form, arg(*inst, 0, value), arg(*inst, 1, value), scale, depth + 1);
      case Op::concat:
        return value.first == 0 && value.count == inst->lanes && add_parts(form, *inst, scale, depth + 1);
      default:
        return false;
    }
  }

  /// Adds a concat of two parts that have the same base.
  bool add_parts(Form& form, const Inst& concat, std::uint64_t scale, unsigned depth) const {
    Form low, high;
    if (form.parts != 0 || !add(low, all_lanes(function_.arg(concat, 0)), scale, depth) ||
        !add(high, all_lanes(function_.arg(concat, 1)), scale, depth))
      return false;
    if (low.terms != high.terms || low.count != high.count || low.constant != high.constant ||
        low.type != high.type || low.scale != high.scale || low.parts == 0 || low.parts != high.parts ||
        2 * low.parts > Form::most_parts)
      return false;
    for (std::size_t k = 0; k < low.count; ++k)
      if (!form.add(low.terms[k])) return false;
    form.constant += low.constant;
    form.parts = 2 * low.parts;
    form.type = low.type;
    form.scale = low.scale;
    for (std::size_t k = 0; k < low.parts; ++k) {
      form.distances[k] = low.distances[k];
      form.firsts[k] = low.firsts[k];
      form.distances[low.parts + k] = high.distances[k];
      form.firsts[low.parts + k] = high.firsts[k];
    }
    return true;
  }

  // ---- Numbers of 64 bits whose halves were computed separately, as Gen9's compiler does

  /// The summands of an upper half; none: it is 0.
  using Terms = std::span<const Lanes>;
  static constexpr std::size_t most_summands = 6;

  /// Adds (low | high << 32) * scale.
  bool add_halves(Form& form, Lanes low, Lanes high, std::uint64_t scale, unsigned depth) const {
    std::array<Lanes, most_summands> terms;
    std::size_t count = 0;
    return flatten(high, terms, count) && add_halves(form, low, Terms(terms).first(count), scale, depth);
  }
  bool flatten(Lanes value, std::array<Lanes, most_summands>& terms, std::size_t& count) const {
    const Inst* inst = definition(value.value);
    if (inst != nullptr && inst->op == Op::add)
      return flatten(arg(*inst, 0, value), terms, count) && flatten(arg(*inst, 1, value), terms, count);
    if (count == terms.size()) return false;
    terms[count++] = value;
    return true;
  }

  bool add_halves(Form& form, Lanes low, Terms high, std::uint64_t scale, unsigned depth) const {
    const Inst* l = definition(low.value);
    if (l == nullptr || depth >= most_depth) return false;
    if (l->op == Op::addc && low.value == l->result) return add_sum(form, low, high, scale, depth);
    if (l->op == Op::mul_wide && low.value == l->result) return add_product(form, low, high, scale);
    if (high.size() > 1) return false;
    const Inst* h = high.empty() ? nullptr : definition(high[0].value);
    if (l->op == Op::splat)
      return h != nullptr && h->op == Op::splat &&
             form.add({function_.arg(*l, 0), scale, function_.arg(*h, 0)});
    if (!high.empty() && (h == nullptr || h->op != Op::constant))
      return add_widened(form, low, high[0], scale, depth);
    const std::uint64_t above = h == nullptr ? 0 : h->imm;
    if (l->op == Op::constant) {
      form.constant += ((l->imm & 0xffffffff) | above << 32) * scale;
      return true;
    }
    return above == 0 && form.add(low.value, low.first, Type::u32, scale);
  }

  /// The lower half is a sum of two; one term of the upper half is the carry, and each other term belongs to
  /// one of the two.
  bool add_sum(Form& form, Lanes low, Terms high, std::uint64_t scale, unsigned depth) const {
    const Inst& sum = *definition(low.value);
    const auto carry = std::ranges::find(high, Lanes{sum.result + 1, low.first, low.count});
    if (carry == high.end()) return false;
    for (unsigned of_first = 0; of_first < 1u << (high.size() - 1); ++of_first) {
      std::array<std::array<Lanes, most_summands>, 2> terms;
      std::array<std::size_t, 2> counts{};
      unsigned left = of_first;
      for (auto term = high.begin(); term != high.end(); ++term) {
        if (term == carry) continue;
        const unsigned k = left & 1;
        left >>= 1;
        terms[k][counts[k]++] = *term;
      }
      Form with = form;
      if (add_halves(with, arg(sum, 0, low), Terms(terms[0]).first(counts[0]), scale, depth + 1) &&
          add_halves(with, arg(sum, 1, low), Terms(terms[1]).first(counts[1]), scale, depth + 1)) {
        form = with;
        return true;
      }
    }
    return false;
  }

  /// Both halves of x * factor: one term of the upper half is that of the product and, for signed x, another
  /// one accounts for its sign above 32 bits.
  bool add_product(Form& form, Lanes low, Terms high, std::uint64_t scale) const {
    const Inst& product = *definition(low.value);
    const Lanes upper{product.result + 1, low.first, low.count};
    for (const unsigned k : {0u, 1u}) {
      const std::optional<std::uint64_t> factor = constant(function_.arg(product, k));
      // As unsigned 32 bits: a small factor is the same number in a signed op.
      if (!factor || *factor > most_scale) continue;
      const Lanes of = arg(product, 1 - k, low);
      const auto by = scale * *factor;
      if (by == 0 || by > most_scale) return false;
      if (high.size() == 1 && high[0] == upper) return form.add(of.value, of.first, product.type, by);
      if (high.size() != 2 || product.type != Type::u32) return false;
      const auto own = std::ranges::find(high, upper);
      if (own == high.end()) return false;
      return is_sign_times(high[own == high.begin() ? 1 : 0], of, *factor) &&
             form.add(of.value, of.first, Type::s32, by);
    }
    return false;
  }
  /// Whether the lanes are the sign of `of`, in every bit, times the factor.
  bool is_sign_times(const Lanes& lanes, const Lanes& of, std::uint64_t factor) const {
    const Inst* inst = definition(lanes.value);
    if (inst == nullptr || inst->op != Op::mul) return false;
    for (const unsigned k : {0u, 1u})
      if (constant(function_.arg(*inst, k)) == factor) return is_sign(arg(*inst, 1 - k, lanes)) == of;
    return false;
  }

  /// The upper half is the sign of the lower one; or the lower one is x << k, and the upper one the bits
  /// shifted out: x is 32 bits that are widened, or the lower half of 64.
  bool add_widened(Form& form, Lanes low, Lanes high, std::uint64_t scale, unsigned depth) const {
    if (is_sign(high) == low) return form.add(low.value, low.first, Type::s32, scale);
    const Inst& shift = *definition(low.value);
    if (shift.op != Op::shl) return false;
    const Lanes of = arg(shift, 0, low);
    const unsigned left = shift_of(shift);
    const std::uint64_t by = scale << left;
    if (left == 0 || by > most_scale) return false;
    if (const std::optional<Type> type = lost(high, of, left)) return form.add(of.value, of.first, *type, by);
    const Inst* both = definition(high.value);
    if (both == nullptr || both->op != Op::or_) return false;
    for (const unsigned k : {0u, 1u}) {
      const Lanes upper = arg(*both, k, high), bits = arg(*both, 1 - k, high);
      const Inst* own = definition(upper.value);
      if (own != nullptr && own->op == Op::shl && shift_of(*own) == left && lost(bits, of, left) == Type::u32)
        return add_halves(form, of, arg(*own, 0, upper), by, depth + 1);
    }
    return false;
  }
  unsigned shift_of(const Inst& inst) const { return constant(function_.arg(inst, 1)).value_or(0) % 32; }
  /// The lanes whose sign, in every bit, these are.
  std::optional<Lanes> is_sign(Lanes lanes) const {
    const Inst* inst = definition(lanes.value);
    if (inst == nullptr || inst->op != Op::asr || shift_of(*inst) != 31) return std::nullopt;
    return arg(*inst, 0, lanes);
  }
  /// If the lanes are the upper half of `of`, widened to 64 bits, << `left`: how it was widened.
  std::optional<Type> lost(Lanes lanes, Lanes of, unsigned left) const {
    const Inst* inst = definition(lanes.value);
    if (inst == nullptr || (inst->op != Op::shr && inst->op != Op::asr) || shift_of(*inst) != 32 - left ||
        !(arg(*inst, 0, lanes) == of))
      return std::nullopt;
    return inst->op == Op::shr ? Type::u32 : Type::s32;
  }

  // ---- New instructions

  ValueId define(Inst inst, std::initializer_list<ValueId> args) {
    inst.type = Type::u64;
    inst.lanes = 1;
    inst.result_count = 1;
    inst.result = function_.add_value(Type::u64, 1);
    function_.set_args(inst, args);
    append(inst);
    return inst.result;
  }
  ValueId constant_of(std::uint64_t bits, std::uint32_t ip) {
    Inst inst;
    inst.op = Op::constant;
    inst.imm = bits;
    inst.guest_ip = ip;
    return define(inst, {});
  }
  ValueId widened(ValueId scalar, std::uint32_t ip) {
    Inst inst;
    inst.guest_ip = ip;
    inst.op = Op::convert;
    inst.from = function_.values[scalar].type;
    if (ir::is_signed(inst.from)) {
      Inst bits = make_op(Op::bitcast, Type::u32, 1, ip);
      bits.from = inst.from;
      function_.set_args(bits, {scalar});
      bits.result = function_.add_value(Type::u32, 1);
      append(bits);
      scalar = bits.result;
      inst.from = Type::u32;
    }
    return define(inst, {scalar});
  }
  ValueId scalar_of(const Form::Term& term, std::uint32_t ip) {
    Inst inst;
    inst.guest_ip = ip;
    ValueId value = term.scalar;
    if (term.high != ir::no_value) {
      const ValueId low = widened(term.scalar, ip), high = widened(term.high, ip);
      inst.op = Op::shl;
      const ValueId upper = define(inst, {high, constant_of(32, ip)});
      inst.op = Op::or_;
      value = define(inst, {low, upper});
    } else if (function_.values[value].type != Type::u64) {
      inst.op = Op::bitcast;
      inst.from = function_.values[value].type;
      value = define(inst, {value});
      inst.from = {};
    }
    if (term.scale == 1) return value;
    const bool shifts = std::has_single_bit(term.scale);
    inst.op = shifts ? Op::shl : Op::mul;
    const auto by = shifts ? static_cast<unsigned>(std::countr_zero(term.scale)) : term.scale;
    return define(inst, {value, constant_of(by, ip)});
  }

  ValueId define_lanes(Inst inst, std::initializer_list<ValueId> args) {
    function_.set_args(inst, args);
    inst.result = function_.add_value(inst.type, inst.lanes);
    append(inst);
    return inst.result;
  }
  /// The distance of all lanes.
  ValueId distance_of(const Form& form, unsigned lanes, std::uint32_t ip) {
    const auto each = static_cast<unsigned>(lanes / form.parts);
    bool together = true;
    for (std::size_t k = 1; k < form.parts; ++k)
      together &= form.distances[k] == form.distances[0] && form.firsts[k] == form.firsts[0] + k * each;
    const auto part = [&](std::size_t k, unsigned count) {
      ValueId value = form.distances[k];
      const ir::ValueInfo from = function_.values[value];
      if (from.lanes != count) {
        Inst slice = make_op(Op::slice, from.type, count, ip);
        slice.imm = form.firsts[k];
        value = define_lanes(slice, {value});
      }
      if (from.type == form.type) return value;
      Inst cast = make_op(Op::bitcast, form.type, count, ip);
      cast.from = from.type;
      return define_lanes(cast, {value});
    };
    if (together) return part(0, lanes);
    ValueId all = part(0, each);
    for (std::size_t k = 1; k < form.parts; ++k)
      all = define_lanes(make_op(Op::concat, form.type, static_cast<unsigned>(k + 1) * each, ip),
                         {all, part(k, each)});
    return all;
  }

  /// The sum of the terms, which accesses of the block by one pointer share.
  ValueId base_of(const Form& form, std::uint32_t ip) {
    for (const Base& base : bases_)
      if (base.terms == form.terms && base.count == form.count && base.constant == form.constant)
        return base.value;
    ValueId base = ir::no_value;
    const auto add = [&](ValueId term) {
      Inst sum;
      sum.op = Op::add;
      sum.guest_ip = ip;
      base = base == ir::no_value ? term : define(sum, {base, term});
    };
    for (std::size_t k = 0; k < form.count; ++k) add(scalar_of(form.terms[k], ip));
    if (form.constant != 0 || form.count == 0) add(constant_of(form.constant, ip));
    constexpr std::size_t most_bases = 32;
    if (bases_.size() < most_bases) bases_.push_back({form.terms, form.count, form.constant, base});
    return base;
  }

  void rewrite(Inst& inst) {
    Form form;
    if (!add(form, all_lanes(function_.arg(inst, 0)), 1, 0) || form.parts == 0) return;
    ir::MemoryAccess access = function_.access(inst);
    // A constant becomes the access's offset, so that neighbouring accesses share the base.
    if (form.count != 0 && access.offset <= most_offset && form.constant <= most_offset - access.offset)
      access.offset += static_cast<std::uint32_t>(std::exchange(form.constant, 0));
    const ValueId base = base_of(form, inst.guest_ip);
    std::vector<ValueId> args{base, distance_of(form, inst.lanes, inst.guest_ip)};
    const auto old = function_.args(inst);
    args.insert(args.end(), old.begin() + 1, old.end());
    access.space = form.type == Type::s32 ? MemSpace::From : MemSpace::FromUnsigned;
    access.surface_is_operand = true;
    access.scale = static_cast<std::uint32_t>(form.scale);
    function_.set_access(inst, access);
    function_.set_args(inst, args);
  }

  ir::Function& function_;
  std::vector<std::uint32_t> definitions_;  ///< by value: index in out_
  std::vector<Inst> out_;
  struct Base {
    std::array<Form::Term, Form::most_terms> terms;
    std::size_t count;
    std::uint64_t constant;
    ValueId value;
  };
  std::vector<Base> bases_;  ///< of the block
};

}  // namespace

void distances(ir::Function& function) {
  Finder finder(function);
  for (ir::Block& block : function.blocks) finder.run(block);
}

}  // namespace eum::jit

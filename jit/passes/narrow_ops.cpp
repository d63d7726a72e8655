// Dwords that become bytes or words. C computes on int whatever the operands are, and GEN's shifts and
// products take dwords, so that kernels of bytes widen them, compute, and cut the results:
//   convert.u8 (shr.u32 (add.u32 (convert.u32.u8 %a), (convert.u32.u8 %b)), 1)
//     -> convert.u8 (shr.u16 (add.u16 (convert.u16.u8 %a), (convert.u16.u8 %b)), 1)
// If nothing needs the dwords, the ops are done on as many bits as the result has, or on 16: that is a half
// or a quarter of the host's vectors. Sums, products and logic give the low bits from low bits; other ops
// also need that their operands fit.
#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "jit/analysis/block_cost.hpp"
#include "jit/analysis/liveness.hpp"
#include "jit/passes/narrow_forms.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

constexpr unsigned least_lanes = 16;  ///< whose words fill a register

class NarrowOps : NarrowForms {
 public:
  explicit NarrowOps(Function& function)
      : NarrowForms(function), liveness_(function, cost_vector_bytes, false) {}

  void run(Block& block) {
    out_.clear();
    find_wide(block);
    bool changed = false;
    for (std::size_t i = 0; i < block.insts.size(); ++i) {
      Inst inst = block.insts[i];
      same_.resolve(function_, inst);
      const ValueId narrow = cuts(inst) && is_needed(block, i) ? narrowed(inst) : widened(inst);
      if (chooses(inst) && is_needed(block, i)) changed |= narrow_mask(inst);
      // What was narrowed may be part of what becomes narrower still: then its definition is looked at.
      out_.keep(inst);
      ranges_.find(inst);
      if (narrow == no_value) continue;
      same_.add(inst.result, narrow);
      before_.emplace(narrow, inst.result);
      changed = true;
    }
    if (changed) out_.replace(block);
  }

  static bool may_change(const Inst& inst) { return cuts(inst) || chooses(inst); }

 private:
  static bool cuts(const Inst& inst) {
    return inst.op == Op::convert && inst.mask == no_value && inst.lanes >= least_lanes &&
           is_int(inst.type) && is_int(inst.from) && size_of(inst.type) < size_of(inst.from) &&
           size_of(inst.from) <= 4;
  }
  /// Among bytes or words.
  static bool chooses(const Inst& inst) {
    return inst.op == Op::select && is_int(inst.type) && size_of(inst.type) <= 2 && inst.lanes >= least_lanes;
  }
  bool is_needed(const Block& block, std::size_t index) const {
    return liveness_.is_needed(static_cast<BlockId>(&block - function_.blocks.data()), index);
  }

  // ---- What is needed with all its bits

  /// On how few bits the op can be done if nothing needs the others: hosts have no products of bytes. 0: on
  /// all of them only.
  static unsigned least_bits(const Inst& inst) {
    if (inst.mask != no_value || (!is_mask(inst.type) && !is_int(inst.type))) return 0;
    if (info(inst.op).shape == Shape::Compare) return 8;
    switch (inst.op) {
      case Op::bitcast:
      case Op::convert:
        return is_int(inst.from) ? 8 : 0;
      case Op::add:
      case Op::sub:
      case Op::and_:
      case Op::or_:
      case Op::xor_:
      case Op::andn:
      case Op::not_:
      case Op::neg:
      case Op::abs:
      case Op::min:
      case Op::max:
      case Op::select:
      case Op::bfi2:
      case Op::cbit:
      case Op::shl:
      case Op::shr:
      case Op::asr:
        return 8;
      case Op::mul:
      case Op::mad:
      case Op::mul_wide:
        return 16;
      default:
        return 0;
    }
  }
  void find_wide(const Block& block) {
    for (std::size_t i = block.insts.size(); i-- > 0;) {
      const Inst& inst = block.insts[i];
      if (!is_needed(block, i) || cuts(inst)) continue;
      bool is_wide = least_bits(inst) == 0;
      for (unsigned k = 0; k < inst.result_count; ++k) is_wide |= is_wide_[inst.result + k];
      if (inst.mask != no_value) is_wide_[inst.mask] = true;
      if (!is_wide) continue;
      for (unsigned k = chooses(inst) ? 1 : 0; k < inst.arg_count; ++k) is_wide_[arg(inst, k)] = true;
    }
  }

  // ---- Which values have their low bits from low bits

  /// Of a value and a width: whether it can be computed in so many bits, and what that has given.
  struct Known {
    enum : std::uint8_t { NotAsked, No, Yes } answer = NotAsked;
    bool computes = false;  ///< by ops, not only from what has so many bits
    ValueId built = no_value;
  };
  Known& known(ValueId value) {
    auto& all = known_[width_ == 8 ? 0 : 1];
    if (all.size() <= value) all.resize(value + 1);
    return all[value];
  }

  /// In which sense each of the operands is what its low bits are; none: in none.
  std::optional<bool> sign_of(const Inst& inst) const { return common_sign(function_.args(inst)); }
  bool can_all(const Inst& inst) {
    for (unsigned k = 0; k < inst.arg_count; ++k)
      if (!can(arg(inst, k))) return false;
    return true;
  }
  bool can(ValueId value) {
    if (const auto answer = known(value).answer; answer != Known::NotAsked) return answer == Known::Yes;
    constexpr unsigned deepest = 100;
    if (depth_ == deepest) return false;
    ++depth_;
    const bool answer = is_mask(type_of(value)) ? can_mask(value) : can_number(value);
    --depth_;
    known(value).answer = answer ? Known::Yes : Known::No;
    return answer;
  }
  bool can_number(ValueId value) {
    const Type own = type_of(value);
    if (!is_int(own) || size_of(own) > 4) return false;
    const Inst* const inst = definition(value);
    if (bits_of(own) <= width_) {
      if (bits_of(own) == width_ && inst && cuts(*inst) && can(arg(*inst, 0)))
        known(value).computes = known(arg(*inst, 0)).computes;
      return true;
    }
    if (!inst || inst->mask != no_value || inst->result != before(value)) return false;  // a second result
    switch (inst->op) {
      case Op::constant:
      case Op::splat:
        return true;
      case Op::bitcast:
      case Op::convert: {
        const ValueId of = arg(*inst, 0);
        if (!is_int(inst->from) || !can(of)) return false;
        known(value).computes = known(of).computes;
        return true;
      }
      default:
        return known(value).computes = !is_wide(value) && can_op(*inst);
    }
  }
  bool can_op(const Inst& inst) {
    const unsigned least = least_bits(inst);
    if (least == 0 || width_ < least) return false;
    switch (inst.op) {
      case Op::bfi2:
        return inserts_all(inst) ? can(arg(inst, 1)) : can_all(inst);
      case Op::shl:
        return can_shift(inst);
      case Op::shr:
      case Op::asr:
        if (const auto mean = mean_of(inst)) return can(mean->a) && can(mean->b);
        if (const auto field = field_of(inst)) return can(field->value);
        return can_shift(inst) && shifts_number(inst);
      case Op::cbit:
        return fits(inst, false) && can(arg(inst, 0));
      case Op::abs:
        return is_signed(inst.type) && fits(inst, true) && can(arg(inst, 0));
      case Op::min:
      case Op::max:
        if (const auto clamped = clamped_of(inst)) return can(clamped->a) && can(clamped->b);
        return sign_of(inst) && can_all(inst);
      default:
        return can_all(inst);
    }
  }
  /// By less than the width, in each lane; by one constant, if these are bytes.
  bool can_shift(const Inst& inst) {
    if (shift_of(inst)) return can(arg(inst, 0));
    return width_ == 16 && ranges_.lies_in(arg(inst, 1), {0, width_ - 1}) && can_all(inst);
  }
  /// Whether the low bits are all from the inserted value.
  bool inserts_all(const Inst& bfi2) const { return keeps_all(arg(bfi2, 0)); }
  bool keeps_all(ValueId mask) const {
    const auto bits = ranges_.constant(mask);
    return bits && (~*bits & range_of(type()).high) == 0;
  }
  /// Whether the mask's lanes are as wide as the values are now, or have no width.
  bool can_mask(ValueId mask) {
    const Inst* const inst = definition(mask);
    if (!inst) return false;
    if (info(inst->op).shape == Shape::Compare) {
      if (!is_int(inst->type)) return false;
      if (bits_of(inst->type) <= width_) return bits_of(inst->type) == width_;
      if (is_wide(mask) || size_of(inst->type) > 4) return false;
      if (sign_of(*inst)) return known(mask).computes = can_all(*inst);
      const auto limit = limited_of(*inst);
      return known(mask).computes = limit && can(arg(*inst, 1 - limit->operand));
    }
    switch (inst->op) {
      case Op::and_:
      case Op::or_:
      case Op::andn:
      case Op::not_:
        if (!can_all(*inst)) return false;
        for (const ValueId part : function_.args(*inst)) known(mask).computes |= known(part).computes;
        return true;
      case Op::constant:
      case Op::mask_get:
      case Op::flag_read:
        return true;
      case Op::slice:
        known(mask).computes = !is_state(arg(*inst, 0));
        parts_left_ = most_parts;
        return can_part(arg(*inst, 0), *inst);
      default:
        return false;
    }
  }
  /// Masks that are bits.
  bool is_state(ValueId mask) const {
    const Inst* const inst = definition(mask);
    return inst && (inst->op == Op::mask_get || inst->op == Op::flag_read);
  }
  /// Whether what `slice` would be of another mask can be computed from parts of its operands.
  bool can_part(ValueId whole, const Inst& slice) {
    const Inst* const inst = definition(whole);
    if (is_state(whole)) return true;
    if (!inst || parts_left_ == 0) return false;
    --parts_left_;
    switch (inst->op) {
      case Op::concat: {
        const ValueId part = joined_part(*inst, slice);
        return part != no_value && can(part);
      }
      case Op::and_:
      case Op::or_:
      case Op::andn:
      case Op::not_:
        return std::ranges::all_of(function_.args(*inst), [&](ValueId of) { return can_part(of, slice); });
      default:
        return false;
    }
  }
  /// The operand that is that part; none: no_value.
  ValueId joined_part(const Inst& concat, const Inst& slice) const {
    const unsigned low = function_.values[arg(concat, 0)].lanes;
    for (const unsigned k : {0u, 1u})
      if (slice.imm == k * low && function_.values[arg(concat, k)].lanes == slice.lanes)
        return arg(concat, k);
    return no_value;
  }

  // ---- Building

  ValueId narrowed(const Inst& root) {
    const ValueId source = arg(root, 0);
    for (const unsigned width : {8u, 16u}) {
      if (width < bits_of(root.type) || width > bits_of(root.from)) continue;
      width_ = width;
      if (!can(source) || !(known(source).computes || is_widened(source, root))) continue;
      at_ = root;
      const ValueId value = build(source);
      return width == bits_of(root.type) ? cast(value, root.type) : cut(value, root.type);
    }
    return no_value;
  }
  /// Whether what a conversion cuts has been widened from no more bits than are left.
  bool is_widened(ValueId value, const Inst& cut) const {
    const Inst* inst = definition(value);
    return inst && inst->op == Op::convert && is_int(inst->from) && size_of(inst->from) <= size_of(cut.type);
  }
  /// Bytes of words, which are the words if they are widened again.
  ValueId cut(ValueId words, Type to) {
    const ValueId bytes = convert(words, to);
    if (ranges_.lies_in(words, range_of(to))) words_of_.emplace(bytes, words);
    return bytes;
  }
  /// What is widened after it was cut without a loss need not have been cut.
  ValueId widened(const Inst& inst) {
    if (inst.op != Op::convert || !is_int(inst.type) || size_of(inst.type) > 4 || inst.mask != no_value)
      return no_value;
    const ValueId value = arg(inst, 0);
    ValueId whole = no_value;
    if (const auto found = words_of_.find(value); found != words_of_.end()) {
      whole = found->second;
    } else if (const Inst* made = definition(value); made && cuts(*made) && made->result == before(value)) {
      whole = arg(*made, 0);
      if (!ranges_.lies_in(whole, range_of(made->type))) return no_value;
    }
    if (whole == no_value || size_of(type_of(whole)) > size_of(inst.type)) return no_value;
    at_ = inst;
    return size_of(type_of(whole)) == size_of(inst.type) ? cast(whole, inst.type) : convert(whole, inst.type);
  }
  /// Numbers that choose among bytes or words are compared as such.
  bool narrow_mask(Inst& choice) {
    width_ = bits_of(choice.type);
    const ValueId mask = arg(choice, 0);
    if (!can(mask) || !known(mask).computes) return false;
    at_ = choice;
    function_.set_args(choice, {build(mask), arg(at_, 1), arg(at_, 2)});
    return true;
  }
  ValueId remembered(ValueId value) {
    ranges_.find(out_.insts().back());
    return value;
  }
  ValueId append(Op op, Type type, std::span<const ValueId> args) {
    return remembered(out_.append(make_op(op, type, at_.lanes, at_.guest_ip), args));
  }
  ValueId append(Op op, Type type, std::initializer_list<ValueId> args) {
    return append(op, type, std::span(args.begin(), args.size()));
  }
  ValueId constant(Type type, std::uint64_t bits) {
    return remembered(out_.constant(type, at_.lanes, bits, at_.guest_ip));
  }
  ValueId converted(Op op, ValueId value, Type to) {
    return type_of(value) == to ? value : remembered(out_.converted(op, to, value, at_.guest_ip));
  }
  ValueId convert(ValueId value, Type to) { return converted(Op::convert, value, to); }
  ValueId cast(ValueId value, Type to) { return converted(Op::bitcast, value, to); }

  ValueId build(ValueId value) {
    if (const ValueId built = known(value).built; built != no_value) return built;
    const ValueId built = is_mask(type_of(value)) ? build_mask(value) : build_number(value);
    known(value).built = built;
    return built;
  }
  /// A value of type().
  ValueId build_number(ValueId value) {
    const Type own = type_of(value);
    if (bits_of(own) == width_)
      return known(value).computes ? build_arg(*definition(value), 0) : cast(value, type());
    if (bits_of(own) < width_) return convert(value, type());
    const Inst inst = *definition(value);
    switch (inst.op) {
      case Op::constant:
        return constant(type(), inst.imm & (~std::uint64_t{0} >> (64 - width_)));
      case Op::splat:
        return append(Op::splat, type(), {convert(arg(inst, 0), type())});
      case Op::bitcast:
      case Op::convert: {
        const ValueId of = arg(inst, 0);
        // A value that was narrower has its own sign.
        return bits_of(type_of(of)) < width_ ? cast(convert(of, type(is_signed(type_of(of)))), type())
                                             : build(of);
      }
      case Op::mad: {
        const ValueId product = append(Op::mul, type(), {build_arg(inst, 0), build_arg(inst, 1)});
        return append(Op::add, type(), {product, build_arg(inst, 2)});
      }
      case Op::mul_wide:
        return build_op(Op::mul, type(), inst);
      case Op::shr:
      case Op::asr: {
        if (const auto mean = mean_of(inst)) return build_mean(*mean);
        if (const auto field = field_of(inst)) return build_field(inst, *field);
        const bool has_sign = inst.op == Op::asr && !fits(inst, false);
        const Type as = type(has_sign);
        const ValueId value = cast(build_arg(inst, 0), as);
        const auto count = shift_of(inst);
        const ValueId by = count ? constant(as, *count) : cast(build_arg(inst, 1), as);
        return cast(append(has_sign ? Op::asr : Op::shr, as, {value, by}), type());
      }
      case Op::abs:
        return cast(build_op(inst.op, type(true), inst), type());
      case Op::min:
      case Op::max:
        if (const auto clamped = clamped_of(inst)) return build_clamped(*clamped);
        return cast(build_op(inst.op, type(*sign_of(inst)), inst), type());
      case Op::and_:
        for (const unsigned k : {0u, 1u})
          if (keeps_all(arg(inst, k))) return build_arg(inst, 1 - k);
        break;
      case Op::bfi2:
        if (inserts_all(inst)) return build_arg(inst, 1);
        break;
      default:
        break;
    }
    return build_op(inst.op, type(), inst);
  }
  ValueId build_arg(const Inst& inst, unsigned k) { return build(arg(inst, k)); }
  /// An op of that type on the operands of `inst`.
  ValueId build_op(Op op, Type of, const Inst& inst) {
    std::array<ValueId, max_pure_operands> args{};
    for (unsigned k = 0; k < inst.arg_count; ++k) {
      args[k] = build_arg(inst, k);
      if (!is_mask(type_of(args[k]))) args[k] = cast(args[k], of);
    }
    return append(op, of, std::span(args).first(inst.arg_count));
  }
  ValueId build_field(const Inst& shift, const Field& field) {
    const ValueId value = build(field.value);
    if (field.bits >= width_) return value;
    const unsigned by = width_ - field.bits;
    const Type as = type(shift.op == Op::asr);
    const ValueId up = cast(append(Op::shl, type(), {value, constant(type(), by)}), as);
    return cast(append(shift.op, as, {up, constant(as, by)}), type());
  }
  ValueId build_mean(const Mean& mean) {
    const ValueId a = build(mean.a), b = build(mean.b);
    const Type as = type(mean.is_signed);
    const ValueId up = cast(append(Op::avg, as, {cast(a, as), cast(b, as)}), type());
    if (mean.is_rounded_up) return up;
    const ValueId one = constant(type(), 1);
    const ValueId odd = append(Op::and_, type(), {append(Op::xor_, type(), {a, b}), one});
    return append(Op::sub, type(), {up, odd});
  }
  ValueId build_clamped(const Clamped& clamped) {
    const Type as = type(clamped.is_signed);
    return cast(append(clamped.op, as, {cast(build(clamped.a), as), cast(build(clamped.b), as)}), type());
  }
  ValueId build_mask(ValueId mask) {
    const Inst inst = *definition(mask);
    if (info(inst.op).shape == Shape::Compare) {
      if (bits_of(inst.type) == width_) return mask;
      const auto sign = sign_of(inst);
      return sign ? build_op(inst.op, type(*sign), inst) : build_limited(inst);
    }
    if (!known(mask).computes) return mask;
    return inst.op == Op::slice ? build_part(arg(inst, 0), inst) : build_op(inst.op, Type::m, inst);
  }
  ValueId build_limited(const Inst& compare) {
    const Limited limit = *limited_of(compare);
    const Type as = type(is_signed(compare.type));
    std::array<ValueId, 2> args{};
    args[limit.operand] = append(Op::splat, as, {convert(limited(limit, compare), as)});
    args[1 - limit.operand] = cast(build_arg(compare, 1 - limit.operand), as);
    return append(compare.op, as, args);
  }
  ValueId build_part(ValueId whole, const Inst& slice) {
    const Inst inst = *definition(whole);
    if (inst.op == Op::concat) return build(joined_part(inst, slice));
    if (is_state(whole)) {
      Inst part = make_op(Op::slice, Type::m, at_.lanes, at_.guest_ip);
      part.imm = slice.imm;
      return remembered(out_.append(part, {whole}));
    }
    std::array<ValueId, 2> parts{};
    for (unsigned k = 0; k < inst.arg_count; ++k) parts[k] = build_part(arg(inst, k), slice);
    return append(inst.op, Type::m, std::span(parts).first(inst.arg_count));
  }

  static constexpr unsigned most_parts = 16;  // operands may have operands in common

  Liveness liveness_;
  SameValues same_;
  std::array<std::vector<Known>, 2> known_;  ///< for 8 and 16 bits
  std::map<ValueId, ValueId> words_of_;      ///< of bytes that were cut from them without a loss
  unsigned depth_ = 0, parts_left_ = 0;
  Inst at_;
};

}  // namespace

void narrow_ops(Function& function) { run_on_blocks_with<NarrowOps>(function, NarrowOps::may_change); }

}  // namespace eum::jit

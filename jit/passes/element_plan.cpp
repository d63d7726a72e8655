#include "jit/passes/element_plan.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "jit/passes/possible_bits.hpp"

namespace eum::jit {

using namespace ir;

namespace {

constexpr std::uint32_t even_bytes = 0x00ff00ff;

}  // namespace

ValueId ElementPlanBuilder::op(Op op, Type type, std::initializer_list<ValueId> args) {
  return out_.append(make_op(op, type, function_.values[args.end()[-1]].lanes, guest_ip_), args);
}

ValueId ElementPlanBuilder::dword_constant(std::uint32_t bits, unsigned lanes) {
  const ValueId value = out_.constant(Type::u32, lanes, bits, guest_ip_);
  made_constants_.emplace(value, bits);
  return value;
}

ValueId ElementPlanBuilder::with_constant(Op bitwise, ValueId value, std::uint32_t bits) {
  return op(bitwise, Type::u32, {value, dword_constant(bits, function_.values[value].lanes)});
}

ValueId ElementPlanBuilder::recast(Type type, ValueId value) {
  const ValueInfo from = function_.values[value];
  if (size_of(from.type) == size_of(type)) return converted(Op::bitcast, type, value);
  Inst inst = make_op(Op::recast, type, from.lanes * size_of(from.type) / size_of(type), guest_ip_);
  inst.from = from.type;
  return out_.append(inst, {value});
}

ValueId ElementPlanBuilder::low_element(ValueId value) {
  const Type type = function_.values[value].type;
  value = converted(Op::bitcast, int_type(size_of(type), false), value);
  value = converted(Op::convert, Type::u32, value);
  return 8 * size_of(type) == width_ ? value : with_constant(Op::and_, value, element_mask());
}

unsigned ElementPlan::operand_count() const {
  if (kind == Choose) return value == no_value ? 4 : 2;
  if (kind == Words) return 2;
  if (kind != Compute) return 0;
  return bits != 0 ? 1 : shape_of(op).operands.count;
}

ValueId ElementPlanBuilder::build(std::span<const ElementPlan> plans, ElementPlan::Id root, unsigned lanes,
                                  std::uint32_t guest_ip) {
  lanes_ = lanes;
  guest_ip_ = guest_ip;
  // Operands have lower numbers. Nothing needs what was planned in vain.
  std::vector<bool> needed(root + 1);
  needed[root] = true;
  for (Plan::Id id = root + 1; id-- > 0;)
    if (needed[id])
      for (unsigned k = 0; k < plans[id].operand_count(); ++k) needed[plans[id].of[k]] = true;
  std::vector<ValueId> values(root + 1, no_value);
  for (Plan::Id id = 0; id <= root; ++id) {
    if (!needed[id]) continue;
    Operands of{};
    for (unsigned k = 0; k < plans[id].operand_count(); ++k) of[k] = values[plans[id].of[k]];
    values[id] = build(plans[id], of);
  }
  return values[root];
}

template <class ComputePart>
ValueId ElementPlanBuilder::by_parts(Type type, const Operands& of, unsigned count, ComputePart compute) {
  const unsigned each = std::min(lanes_, max_lanes * size_of(type) / 4);
  ValueId whole = no_value;
  for (unsigned first = 0; first < lanes_; first += each) {
    Operands part{};
    for (unsigned k = 0; k < count; ++k) {
      if (const auto same = same_in_each(of[k], type)) {
        part[k] = out_.constant(type, each * 4 / size_of(type), *same, guest_ip_);
        continue;
      }
      part[k] = of[k];
      if (each < lanes_) {
        Inst slice = make_op(Op::slice, Type::u32, each, guest_ip_);
        slice.imm = first;
        part[k] = out_.append(slice, {of[k]});
      }
      part[k] = recast(type, part[k]);
    }
    const ValueId dwords = recast(Type::u32, compute(part));
    whole = first == 0
                ? dwords
                : out_.append(make_op(Op::concat, Type::u32, first + each, guest_ip_), {whole, dwords});
  }
  return whole;
}

ValueId ElementPlanBuilder::build(const Plan& plan, const Operands& of) {
  width_ = plan.width;
  switch (plan.kind) {
    case Plan::Value:
      return converted(Op::bitcast, Type::u32, plan.value);
    case Plan::Constant:
      return dword_constant(plan.bits, lanes_);
    case Plan::Splat: {
      ValueId& made = splats_.try_emplace({plan.value, width_, lanes_}, no_value).first->second;
      if (made != no_value) return made;
      const ValueId dword = with_constant(Op::mul, low_element(plan.value), in_each_element(1, width_));
      return made = out_.append(make_op(Op::splat, Type::u32, lanes_, guest_ip_), {dword});
    }
    case Plan::Repeat: {
      ValueId value = low_element(plan.value);
      for (unsigned bits = width_; bits < 32; bits *= 2)
        value = op(Op::or_, Type::u32, {value, with_constant(Op::shl, value, bits)});
      return value;
    }
    case Plan::Extend:
      return extended(plan, converted(Op::bitcast, Type::u32, plan.value));
    case Plan::Words:
      return bytes_of_words(plan, of[0], of[1]);
    case Plan::Compute:
      return plan.bits != 0 ? shifted(plan, of[0]) : computed(plan, of);
    case Plan::Choose:
      if (plan.value != no_value) return op(Op::select, Type::u32, {plan.value, of[0], of[1]});
      return by_parts(plan.type, of, 4, [&](const Operands& part) {
        Inst compare = make_op(plan.op, plan.type, function_.values[part[2]].lanes, guest_ip_);
        const ValueId mask = out_.append(compare, {part[2], part[3]});
        return op(Op::select, plan.type, {mask, part[0], part[1]});
      });
  }
  return no_value;
}

ValueId ElementPlanBuilder::extended(const Plan& plan, ValueId dwords) {
  if (!is_signed(plan.type))
    return plan.bits == 0 ? with_constant(Op::and_, dwords, even_bytes)
                          : shifted_words(Op::shr, plan.type, dwords, 8);
  if (plan.bits == 0) dwords = shifted_words(Op::shl, plan.type, dwords, 8);
  return shifted_words(Op::asr, plan.type, dwords, 8);
}

ValueId ElementPlanBuilder::bytes_of_words(const Plan& plan, ValueId even, ValueId odd) {
  const unsigned shift = plan.bits;
  if (shift != 0) even = shifted_words(Op::shr, Type::u16, even, shift);
  if (shift != 8) odd = shifted_words(Op::shl, Type::u16, odd, 8 - shift);
  if (shift != 8 && !plan.are_bytes) even = with_constant(Op::and_, even, even_bytes);
  if (shift != 0) odd = with_constant(Op::and_, odd, ~even_bytes);
  return op(Op::or_, Type::u32, {even, odd});
}

// Hosts multiply words, but no bytes. The products of odd bytes come from factors of which one is in the
// low byte, the other in the high one.
ValueId ElementPlanBuilder::product_of_bytes(ValueId a, ValueId b) {
  if (made_constants_.contains(a)) std::swap(a, b);
  const auto known = made_constants_.find(b);
  const ValueId odd_a = shifted_words(Op::shr, Type::u16, a, 8);
  const ValueId odd_b = known != made_constants_.end() ? dword_constant(known->second & ~even_bytes, lanes_)
                                                       : with_constant(Op::and_, b, ~even_bytes);
  const ValueId low = in_lanes(Op::mul, Type::u16, {a, b}, 2);
  const ValueId high = in_lanes(Op::mul, Type::u16, {odd_a, odd_b}, 2);
  return op(Op::or_, Type::u32, {with_constant(Op::and_, low, even_bytes), high});
}

ValueId ElementPlanBuilder::computed(const Plan& plan, const Operands& of) {
  const unsigned count = plan.operand_count();
  if (width_ == 8 && (plan.op == Op::mul || plan.op == Op::mad)) {
    const ValueId product = product_of_bytes(of[0], of[1]);
    if (plan.op == Op::mul) return product;
    return in_lanes(Op::add, Type::u8, {product, of[2]}, 2);
  }
  return in_lanes(plan.op, plan.type, of, count);
}

// Hosts shift words, but no bytes: bits that came from another element are cleared.
ValueId ElementPlanBuilder::shifted(const Plan& plan, ValueId value) {
  if (width_ == 16) return shifted_words(plan.op, element_type(plan.op == Op::asr), value, plan.bits);
  const bool is_left = plan.op == Op::shl;
  value = with_constant(is_left ? Op::shl : Op::shr, value, plan.bits);
  const std::uint32_t kept =
      is_left ? element_mask() << plan.bits & element_mask() : element_mask() >> plan.bits;
  value = with_constant(Op::and_, value, in_each_element(kept, width_));
  if (plan.op != Op::asr) return value;
  // (x ^ sign) - sign extends the sign.
  const std::uint32_t sign = in_each_element(1u << (width_ - 1 - plan.bits), width_);
  return in_lanes(Op::sub, Type::u8, {with_constant(Op::xor_, value, sign), dword_constant(sign, lanes_)}, 2);
}

ValueId ElementPlanBuilder::shifted_words(Op by, Type type, ValueId value, unsigned bits) {
  return by_parts(type, {value}, 1, [&](const Operands& part) {
    const unsigned lanes = function_.values[part[0]].lanes;
    return op(by, type, {part[0], out_.constant(type, lanes, bits, guest_ip_)});
  });
}

std::optional<std::uint64_t> ElementPlanBuilder::same_in_each(ValueId dwords, Type type) const {
  const auto found = made_constants_.find(dwords);
  const unsigned width = 8 * size_of(type);
  if (found == made_constants_.end() || std::rotl(found->second, static_cast<int>(width)) != found->second)
    return std::nullopt;
  return found->second & PossibleBits::low_bits(width);
}

ValueId ElementPlanBuilder::in_lanes(Op by, Type type, const Operands& of, unsigned count) {
  return by_parts(type, of, count, [&](const Operands& part) {
    return out_.append(make_op(by, type, function_.values[part[0]].lanes, guest_ip_),
                       std::span(part).first(count));
  });
}

}  // namespace eum::jit

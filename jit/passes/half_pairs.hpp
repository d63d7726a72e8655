#pragma once
// Pairs of dwords that are the halves of 64 bits, and the ops on both halves that are one op on 64 bits: what
// compilers make of 64-bit integers for hardware that computes on dwords only.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "jit/passes/rewrite.hpp"

namespace eum::jit {

/// Whether an access moves pairs of dwords: components 0 and 1, 2 and 3, ...
constexpr bool is_of_pairs(const ir::MemoryAccess& access) {
  constexpr std::uint64_t even = 0x5555555555555555;
  return (access.components & even) == (access.components >> 1 & even);
}

/// Low and high halves; without a high one the low one is widened with zeros.
using HalfPair = std::pair<ir::ValueId, ir::ValueId>;

/// A comparison of 64 bits.
struct WideCompare {
  ir::Op op;
  ir::Type type;
  HalfPair a, b;
};

class HalfPairs {
 public:
  /// `definitions`: of the values of the block, by id. `same`: what replaces values that are gone.
  HalfPairs(const ir::Function& function, const std::vector<const ir::Inst*>& definitions,
            const SameValues& same)
      : function_(function), definitions_(definitions), same_(same) {}

  /// For another block.
  void clear() {
    steps_left_ = most_steps;
    forms_.clear();
    built_.clear();
  }
  /// Finds the pairs of which a pair consists: halves of registers, or components of a load. False: it is put
  /// together in another way.
  bool find(HalfPair pair, std::vector<HalfPair>& leaves) {
    std::set<HalfPair> seen;
    if (!finds(pair)) return false;
    add_leaves(uncast(pair), leaves, seen);
    return true;
  }
  /// The 64 bits of a pair that find() finds, appended to `out`; `whole` has those of the leaves.
  template <class Whole>
  ir::ValueId build(HalfPair pair, NewBlock& out, std::uint32_t guest_ip, Whole whole);
  /// Calls visit(dword) for each dword that ops compute on the way to a pair that find() finds.
  template <class Visit>
  void visit_computed(HalfPair pair, Visit visit) {
    std::set<HalfPair> seen;
    visit_computed(pair, visit, seen);
  }
  /// The comparison of 64 bits that an op on masks completes.
  std::optional<WideCompare> compare(const ir::Inst& inst) const;

  /// The value behind casts between types of 32 bits.
  ir::ValueId uncast(ir::ValueId value) const;
  /// Whether it reads every other dword.
  static bool is_half(const ir::Inst& read);
  /// Whether the reads are of the two halves of the same qwords.
  static bool is_other_half(const ir::Inst& read, const ir::Inst& other);

 private:
  static constexpr unsigned most_steps = 4096, deepest = 200;
  /// How a pair is made.
  struct Form {
    enum Kind : std::uint8_t {
      Leaf,
      Constant,
      Split,   ///< of `value`, of 64 bits
      Splat,   ///< of `value` and `high`, in all lanes
      Extend,  ///< of `value`, of 32 bits and of the type `from`
      Op,      ///< `op` on pairs, after `value` if that is a mask
      Shift,   ///< `op` of a pair, by `imm` bits
      Rotate,  ///< of a pair, to the left by `imm` bits
    } kind;
    ir::Op op = ir::Op::constant;
    unsigned lanes = 0;
    unsigned count = 0;  ///< of pairs
    HalfPair of[2]{};
    ir::ValueId value = ir::no_value;
    std::array<ir::ValueId, 4> inner{ir::no_value, ir::no_value, ir::no_value,
                                     ir::no_value};  ///< dwords in between
    ir::ValueId high = ir::no_value;
    ir::Type from = ir::Type::u32;
    std::uint64_t imm = 0;
  };

  const ir::Inst* definition(ir::ValueId value) const {
    const ir::Inst* inst = value < definitions_.size() ? definitions_[value] : nullptr;
    return inst && (inst->mask == ir::no_value || !ir::is_pure(inst->op)) ? inst : nullptr;
  }
  /// The definition behind casts, if it is this op.
  const ir::Inst* as(ir::ValueId value, ir::Op op) const {
    const ir::Inst* inst = definition(uncast(value));
    return inst && inst->op == op ? inst : nullptr;
  }
  std::optional<std::uint32_t> constant(ir::ValueId value) const {
    const ir::Inst* inst = as(value, ir::Op::constant);
    return inst ? std::optional(static_cast<std::uint32_t>(inst->imm)) : std::nullopt;
  }
  bool are_same(ir::ValueId a, ir::ValueId b) const { return uncast(a) == uncast(b); }

  template <class Whole>
  ir::ValueId build(HalfPair pair, const Form& form, NewBlock& out, std::uint32_t guest_ip, Whole whole);
  HalfPair uncast(HalfPair pair) const {
    return {uncast(pair.first), pair.second == ir::no_value ? pair.second : uncast(pair.second)};
  }
  template <class Visit>
  void visit_computed(HalfPair pair, Visit visit, std::set<HalfPair>& seen);
  void add_leaves(HalfPair pair, std::vector<HalfPair>& leaves, std::set<HalfPair>& seen);
  bool finds(HalfPair pair) { return form_of(pair).has_value(); }
  /// Nothing if not all of the pair is found.
  std::optional<Form> form_of(HalfPair pair);
  std::optional<Form> new_form(HalfPair pair);
  std::optional<Form> moved(HalfPair pair, const ir::Inst& a, const ir::Inst& b) const;
  std::optional<Form> computed(HalfPair pair, const ir::Inst& a, const ir::Inst& b);
  std::optional<Form> widened(ir::ValueId low, ir::ValueId high) const;
  std::optional<Form> shifted(const ir::Inst& a, const ir::Inst& b) const;
  std::optional<Form> sum(const ir::Inst& low, ir::ValueId high);
  std::optional<Form> difference(const ir::Inst& low, ir::ValueId high);
  static Form of_pairs(ir::Op op, unsigned lanes, HalfPair first, HalfPair second) {
    return {.kind = Form::Op, .op = op, .lanes = lanes, .count = 2, .of = {first, second}};
  }

  /// A value shifted by a constant.
  struct Shifted {
    ir::ValueId value;
    std::uint32_t by;
  };
  std::optional<Shifted> shifted_by(ir::ValueId value, ir::Op op) const;
  /// The halves that a shift to the left by `by`, or right by 32 - `by`, combines: high bits of one, low bits
  /// of the other.
  struct Funnel {
    ir::ValueId left, right;
    std::uint32_t by;
    std::array<ir::ValueId, 2> shifts;
  };
  std::optional<Funnel> funnel(const ir::Inst& inst) const;

  const ir::Function& function_;
  const std::vector<const ir::Inst*>& definitions_;
  const SameValues& same_;
  unsigned steps_left_ = most_steps, depth_ = 0;
  std::map<HalfPair, std::optional<Form>> forms_;
  std::map<HalfPair, ir::ValueId> built_;
};

template <class Visit>
void HalfPairs::visit_computed(HalfPair pair, Visit visit, std::set<HalfPair>& seen) {
  pair = uncast(pair);
  const auto form = form_of(pair);
  if (!form || !seen.insert(pair).second) return;
  if (form->kind == Form::Op || form->kind == Form::Shift || form->kind == Form::Rotate) {
    visit(pair.first);
    if (pair.second != ir::no_value) visit(pair.second);
    for (const ir::ValueId value : form->inner)
      if (value != ir::no_value) visit(uncast(value));
  }
  for (unsigned k = 0; k < form->count; ++k) visit_computed(form->of[k], visit, seen);
}

template <class Whole>
ir::ValueId HalfPairs::build(HalfPair pair, NewBlock& out, std::uint32_t guest_ip, Whole whole) {
  pair = uncast(pair);
  if (const auto found = built_.find(pair); found != built_.end()) return found->second;
  const ir::ValueId value = build(pair, *form_of(pair), out, guest_ip, whole);
  built_.emplace(pair, value);
  return value;
}

template <class Whole>
ir::ValueId HalfPairs::build(HalfPair pair, const Form& form, NewBlock& out, std::uint32_t guest_ip,
                             Whole whole) {
  using ir::Op, ir::Type;
  const auto made = [&](ir::Op op) { return make_op(op, Type::u64, form.lanes, guest_ip); };
  const auto operand = [&](unsigned k) { return build(form.of[k], out, guest_ip, whole); };
  const auto bits = [&](std::uint64_t value) { return out.constant(Type::u64, form.lanes, value, guest_ip); };
  switch (form.kind) {
    case Form::Leaf:
      return whole(pair);
    case Form::Constant:
      return bits(form.imm);
    case Form::Split:
      return out.converted(Op::bitcast, Type::u64, same_.resolve(form.value), guest_ip);
    case Form::Splat: {
      const auto half = [&](ir::ValueId value) {
        return out.converted(Op::bitcast, Type::u32, same_.resolve(value), guest_ip);
      };
      const ir::ValueId low = half(form.value), high = half(form.high);
      const ir::ValueId joined = out.append(make_op(Op::join, Type::u64, 1, guest_ip), {low, high});
      return out.append(made(Op::splat), {joined});
    }
    case Form::Extend: {
      const ir::ValueId narrow = out.converted(Op::bitcast, form.from, form.value, guest_ip);
      return out.converted(Op::convert, Type::u64, narrow, guest_ip);
    }
    case Form::Shift: {
      const Type type = form.op == Op::asr ? Type::s64 : Type::u64;
      const ir::ValueId number = out.converted(Op::bitcast, type, operand(0), guest_ip);
      const ir::ValueId by = out.constant(type, form.lanes, form.imm, guest_ip);
      const ir::ValueId shifted = out.append(make_op(form.op, type, form.lanes, guest_ip), {number, by});
      return out.converted(Op::bitcast, Type::u64, shifted, guest_ip);
    }
    case Form::Rotate: {
      const ir::ValueId value = operand(0);
      const ir::ValueId left_by = bits(form.imm), right_by = bits(64 - form.imm);
      const ir::ValueId left = out.append(made(Op::shl), {value, left_by});
      return out.append(made(Op::or_), {left, out.append(made(Op::shr), {value, right_by})});
    }
    case Form::Op:
      break;
  }
  ir::Inst inst = made(form.op);
  inst.imm = form.imm;
  std::vector<ir::ValueId> args;
  if (form.value != ir::no_value) args.push_back(form.value);
  for (unsigned k = 0; k < form.count; ++k) args.push_back(operand(k));
  return out.append(inst, args);
}

}  // namespace eum::jit

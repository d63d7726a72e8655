#pragma once
// Pairs of dwords that are the halves of 64 bits, and the ops on both halves that are one op on 64 bits: what
// compilers make of 64-bit integers for hardware that computes on dwords only. half_products.cpp finds
// products.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
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

  /// For another block, whose definitions are known.
  void begin(const ir::Block& block) {
    steps_left_ = most_steps;
    forms_.clear();
    built_.clear();
    concats_.clear();
    low_of_.clear();
    for (const ir::Inst& inst : block.insts)
      if (inst.op == ir::Op::concat && !ir::is_mask(inst.type)) one_of(inst.result);
  }
  /// Finds the pairs of which a pair consists: halves of registers, or components of a load. False: it is put
  /// together in another way.
  bool find(HalfPair pair, std::vector<HalfPair>& leaves) {
    std::set<HalfPair> seen;
    if (!finds(pair)) return false;
    add_leaves(one_of(pair), leaves, seen);
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
  using Values = std::vector<ir::ValueId>;
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
      Merge,   ///< `op` of a pair and of the same one, shifted to the right by `imm` bits
    } kind;
    ir::Op op = ir::Op::constant;
    unsigned lanes = 0;
    unsigned count = 0;  ///< of pairs
    std::array<HalfPair, 4> of{};
    std::array<unsigned, 2> parts{1, 1};  ///< of how many pairs an operand of `op` consists, lane after lane
    ir::ValueId value = ir::no_value;
    Values inner{};                         ///< dwords in between
    std::optional<std::uint64_t> factor{};  ///< of a product, behind its pairs
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
  /// Of the values that consist of the same parts, one after the other, the first one.
  ir::ValueId one_of(ir::ValueId value) const;
  bool are_same(ir::ValueId a, ir::ValueId b) const { return one_of(a) == one_of(b); }

  template <class Whole>
  ir::ValueId build(HalfPair pair, const Form& form, NewBlock& out, std::uint32_t guest_ip, Whole whole);
  HalfPair one_of(HalfPair pair) const {
    return {one_of(pair.first), pair.second == ir::no_value ? pair.second : one_of(pair.second)};
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
  std::optional<Form> shifted(const ir::Inst& a, const ir::Inst& b);
  std::optional<Form> shifted_far(ir::ValueId low) const;
  std::optional<Form> merged_far(const ir::Inst& low, ir::ValueId high) const;
  std::optional<Form> product(HalfPair pair) const;
  std::optional<Form> sum(const ir::Inst& low, ir::ValueId high);
  std::optional<Form> sum(const ir::Inst& low, ir::ValueId high, unsigned deepest_sum);
  std::optional<Form> difference(const ir::Inst& low, ir::ValueId high);
  static Form of_pairs(ir::Op op, unsigned lanes, HalfPair first, HalfPair second) {
    return {.kind = Form::Op, .op = op, .lanes = lanes, .count = 2, .of = {first, second}};
  }

  /// Lanes [first, first + lanes) of a value.
  struct Lanes {
    ir::ValueId value;
    unsigned first, lanes;
    ir::ValueId own = ir::no_value;  ///< a value that has these lanes and no others
  };
  /// A product of dwords, some lanes of it from `first` on, and the lanes of its operands.
  struct Product {
    const ir::Inst* inst;
    unsigned first;
    std::array<Lanes, 2> of;
  };
  std::optional<Lanes> origin(Lanes at) const;
  bool are_same(const Lanes& a, const Lanes& b) const;
  std::optional<Product> product_of(const Lanes& at, bool high, Values& passed) const;
  unsigned lanes_of_one_op(ir::ValueId value, unsigned first) const;
  ir::ValueId whole_of(std::span<const Lanes> parts) const;
  std::vector<HalfPair> pairs_of(std::span<const Lanes> low, std::span<const Lanes> high) const;

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
  std::map<ir::ValueId, ir::ValueId> low_of_;  ///< high halves that have been met with a low one
  mutable std::map<std::pair<ir::ValueId, ir::ValueId>, ir::ValueId> concats_;
};

template <class Visit>
void HalfPairs::visit_computed(HalfPair pair, Visit visit, std::set<HalfPair>& seen) {
  pair = one_of(pair);
  const auto form = form_of(pair);
  if (!form || !seen.insert(pair).second) return;
  if (form->kind >= Form::Op) {
    visit(pair.first);
    if (pair.second != ir::no_value) visit(pair.second);
    for (const ir::ValueId value : form->inner) visit(uncast(value));
  }
  for (unsigned k = 0; k < form->count; ++k) visit_computed(form->of[k], visit, seen);
}

template <class Whole>
ir::ValueId HalfPairs::build(HalfPair pair, NewBlock& out, std::uint32_t guest_ip, Whole whole) {
  pair = one_of(pair);
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
    case Form::Merge: {
      const ir::ValueId value = operand(0), by = bits(form.imm);
      return out.append(made(form.op), {value, out.append(made(Op::shr), {value, by})});
    }
    case Form::Op:
      break;
  }
  ir::Inst inst = made(form.op);
  inst.imm = form.imm;
  std::vector<ir::ValueId> args;
  if (form.value != ir::no_value) args.push_back(form.value);
  for (unsigned k = 0, at = 0; at < form.count; at += form.parts[k++]) {
    ir::ValueId arg = operand(at);
    if (form.parts[k] == 2) {
      const ir::ValueId rest = operand(at + 1);
      arg = out.append(made(Op::concat), {arg, rest});
    }
    args.push_back(arg);
  }
  if (form.factor) args.push_back(bits(*form.factor));
  return out.append(inst, args);
}

}  // namespace eum::jit

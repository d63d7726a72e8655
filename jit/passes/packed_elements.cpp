// Vectors of bytes and words, as char4 and short2 are. Compilers take dwords of memory apart, compute each
// element by instructions of its own, and insert the results into dwords again, which takes a host several
// times as many instructions as the computation. Where all elements of a dword undergo the same ops, those
// are done on all of them at once: in the dwords, as more lanes of 8 or 16 bits.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <vector>

#include "jit/passes/element_bytes.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

class PackedElements {
 public:
  explicit PackedElements(Function& function) : function_(function), out_(function), bytes_(function, out_) {}

  void run(Block& block) {
    out_.clear();
    // What several dwords are computed from is planned for each of them, even where that fails.
    constexpr std::size_t plans_per_op = 16;
    plans_left_ = plans_per_op * block.insts.size();
    bool changed = false;
    for (const Inst& inst : block.insts) {
      Inst own = inst;
      same_.resolve(function_, own);
      if (const ValueId packed = may_be_whole(own) ? pack(own) : no_value; packed != no_value) {
        same_.add(own.result, packed);
        changed = true;
      } else {
        out_.keep(own);
        bytes_.see(own);
      }
    }
    if (changed) out_.replace(block);
  }

  static bool may_be_whole(const Inst& inst) {
    return inst.op == Op::or_ && inst.type == Type::u32 && inst.mask == no_value && inst.lanes % 8 == 0;
  }

 private:
  /// The elements of a dword, the lowest one first.
  using Elements = std::vector<Element>;
  using PlanId = std::size_t;
  /// What computes the dwords.
  struct Plan {
    enum Kind : std::uint8_t { Value, Constant, Repeat, Splat, Compute, Choose } kind;
    Op op = Op::constant;      ///< of Compute; of Choose: the comparison, or constant if `value` is the mask
    Type type = Type::u32;     ///< of the elements that `op` takes
    ValueId value = no_value;  ///< the dwords; of Repeat and Splat: the element, in its low bits
    std::uint32_t bits = 0;    ///< of a constant; of a shift: by how much
    std::array<PlanId, 4> of{};
  };

  unsigned bits_of(ValueId value) const { return 8 * size_of(function_.values[value].type); }
  std::optional<std::uint64_t> constant(ValueId value) const { return bytes_.constant(value); }
  /// A constant of `width_` bits in each element.
  std::uint32_t in_each(std::uint32_t bits) const {
    return width_ == 8 ? bits * 0x01010101u : bits * 0x00010001u;
  }
  std::uint32_t element_mask() const { return (1u << width_) - 1; }
  Type element_type(bool is_signed) const { return int_type(width_ / 8, is_signed); }

  ValueId pack(const Inst& root) {
    const auto bytes = bytes_.of(root);
    if (!bytes) return no_value;
    lanes_ = root.lanes;
    guest_ip_ = root.guest_ip;
    for (const unsigned width : {16u, 8u}) {
      const auto elements = elements_of(*bytes, width);
      if (!elements) continue;
      width_ = width;
      plans_.clear();
      known_.clear();
      computes_ = false;
      if (const auto plan = plan_for(*elements, 0); plan && (computes_ || plans_[*plan].kind == Plan::Value))
        return build(*plan);
    }
    return no_value;
  }

  static std::optional<Elements> elements_of(const DwordBytes& bytes, unsigned width) {
    const unsigned each = width / 8;
    Elements elements;
    for (unsigned first = 0; first < bytes.size(); first += each) {
      for (unsigned k = 1; k < each; ++k)
        if (bytes[first + k] != Element{bytes[first].value, bytes[first].shift + 8 * k}) return std::nullopt;
      elements.push_back(bytes[first]);
    }
    return elements;
  }

  // Planning.

  std::optional<PlanId> add(const Plan& plan) {
    plans_.push_back(plan);
    return plans_.size() - 1;
  }

  std::optional<PlanId> plan_for(Elements elements, unsigned depth) {
    constexpr unsigned deepest = 40;
    if (depth > deepest || plans_left_ == 0) return std::nullopt;
    --plans_left_;
    for (Element& element : elements) element = bytes_.source(element, width_);
    if (const auto found = known_.find(elements); found != known_.end()) return found->second;
    const auto plan = new_plan(elements, depth);
    known_.emplace(std::move(elements), plan);
    return plan;
  }

  std::optional<PlanId> new_plan(const Elements& elements, unsigned depth) {
    if (const auto bits = constants(elements)) return add({.kind = Plan::Constant, .bits = *bits});
    const Element first = elements[0];
    if (first.value == no_value) return std::nullopt;
    const auto is_at = [&](unsigned step) {
      for (unsigned k = 0; k < elements.size(); ++k)
        if (elements[k] != Element{first.value, first.shift + k * step}) return false;
      return true;
    };
    if (first.shift == 0 && bits_of(first.value) == 32 && is_at(width_))
      return add({.kind = Plan::Value, .value = first.value});
    if (is_at(0) && first.shift == 0) {
      const Inst* splat = out_.definition(first.value);
      if (splat && splat->op == Op::splat)
        return add({.kind = Plan::Splat, .value = function_.arg(*splat, 0)});
      return add({.kind = Plan::Repeat, .value = first.value});
    }
    return plan_of_ops(elements, depth);
  }

  std::optional<std::uint32_t> constants(const Elements& elements) const {
    std::uint32_t bits = 0;
    for (unsigned k = 0; k < elements.size(); ++k) {
      std::uint64_t own = 0;
      if (elements[k].value != no_value) {
        const auto known = constant(elements[k].value);
        if (!known) return std::nullopt;
        own = *known >> elements[k].shift;
      }
      bits |= (static_cast<std::uint32_t>(own) & element_mask()) << k * width_;
    }
    return bits;
  }

  /// The definitions of the elements, if they are the same op on the same types.
  std::optional<std::vector<const Inst*>> alike(const std::vector<ValueId>& values) const {
    std::vector<const Inst*> insts;
    for (const ValueId value : values) {
      const Inst* inst = out_.definition(value);
      if (!inst || inst->mask != no_value || !is_pure(inst->op) || inst->result_count != 1)
        return std::nullopt;
      const Inst* first = insts.empty() ? inst : insts[0];
      if (inst->op != first->op || inst->type != first->type || inst->from != first->from)
        return std::nullopt;
      insts.push_back(inst);
    }
    return insts;
  }
  std::vector<ValueId> operands(const std::vector<const Inst*>& insts, unsigned k) const {
    std::vector<ValueId> values;
    for (const Inst* inst : insts) values.push_back(function_.arg(*inst, k));
    return values;
  }
  std::optional<PlanId> plan_operand(const std::vector<ValueId>& values, unsigned shift, unsigned depth) {
    Elements elements;
    for (const ValueId value : values) elements.push_back({value, shift});
    return plan_for(std::move(elements), depth + 1);
  }

  std::optional<PlanId> plan_of_ops(const Elements& elements, unsigned depth) {
    std::vector<ValueId> values;
    for (const Element& element : elements) {
      if (element.value == no_value || element.shift != elements[0].shift) return std::nullopt;
      values.push_back(element.value);
    }
    const unsigned shift = elements[0].shift;
    if (shift != 0 && shift < width_)
      if (const Extension extension = extension_of(values); extension != Extension::None)
        return plan_shift(extension == Extension::Sign ? Op::asr : Op::shr, shift, values, depth);
    const auto insts = alike(values);
    if (!insts || !is_int((*insts)[0]->type)) return std::nullopt;
    const Inst inst = *(*insts)[0];
    const bool is_lowest = shift == 0;
    switch (inst.op) {
      case Op::and_:
      case Op::or_:
      case Op::xor_:
      case Op::not_:
        return plan_compute(*insts, inst.op, Type::u32, shift, depth);
      case Op::add:
      case Op::sub:
      case Op::neg:
      case Op::mul:
      case Op::mad:
        return is_lowest ? plan_compute(*insts, inst.op, element_type(is_signed(inst.type)), 0, depth)
                         : std::nullopt;
      case Op::min:
      case Op::max: {
        const auto type = is_lowest ? compared_type(*insts) : std::nullopt;
        return type ? plan_compute(*insts, inst.op, *type, 0, depth) : std::nullopt;
      }
      case Op::avg:
      case Op::abs:
        return is_lowest && 8 * size_of(inst.type) == width_ && (inst.op == Op::abs || !is_signed(inst.type))
                   ? plan_compute(*insts, inst.op, inst.type, 0, depth)
                   : std::nullopt;
      case Op::shl:
      case Op::shr:
      case Op::asr:
        return is_lowest ? plan_shift(*insts, depth) : std::nullopt;
      case Op::select:
        return plan_choice(*insts, shift, depth);
      default:
        return std::nullopt;
    }
  }

  std::optional<PlanId> plan_compute(const std::vector<const Inst*>& insts, Op op, Type type, unsigned shift,
                                     unsigned depth) {
    Plan plan{.kind = Plan::Compute, .op = op, .type = type};
    for (unsigned k = 0; k < insts[0]->arg_count; ++k) {
      const auto operand = plan_operand(operands(insts, k), shift, depth);
      if (!operand) return std::nullopt;
      plan.of[k] = *operand;
    }
    computes_ = true;
    return add(plan);
  }

  /// Shifts by the same constant. Which bits enter depends on what the operands have above the element.
  std::optional<PlanId> plan_shift(const std::vector<const Inst*>& insts, unsigned depth) {
    const auto by = constant(function_.arg(*insts[0], 1));
    if (!by || *by == 0 || *by >= width_) return std::nullopt;
    for (const ValueId value : operands(insts, 1))
      if (constant(value) != by) return std::nullopt;
    Op op = insts[0]->op;
    if (op != Op::shl && 8 * size_of(insts[0]->type) != width_) {
      const Extension extension = extension_of(operands(insts, 0));
      const bool is_within = *by + width_ <= 8 * size_of(insts[0]->type);
      if (extension == Extension::None || (!is_within && extension == Extension::Sign && op == Op::shr))
        return std::nullopt;
      op = extension == Extension::Sign ? Op::asr : Op::shr;
    }
    return plan_shift(op, static_cast<unsigned>(*by), operands(insts, 0), depth);
  }
  std::optional<PlanId> plan_shift(Op op, unsigned by, const std::vector<ValueId>& values, unsigned depth) {
    const auto operand = plan_operand(values, 0, depth);
    if (!operand) return std::nullopt;
    computes_ = true;
    return add({.kind = Plan::Compute, .op = op, .bits = by, .of = {*operand}});
  }

  std::optional<PlanId> plan_choice(const std::vector<const Inst*>& insts, unsigned shift, unsigned depth) {
    Plan plan{.kind = Plan::Choose};
    const std::vector<ValueId> masks = operands(insts, 0);
    if (std::ranges::adjacent_find(masks, std::not_equal_to{}) == masks.end()) {
      plan.value = masks[0];
    } else {
      const auto comparisons = alike(masks);
      if (!comparisons || info((*comparisons)[0]->op).shape != Shape::Compare ||
          !is_int((*comparisons)[0]->type) || shift != 0)
        return std::nullopt;
      const auto type = compared_type(*comparisons);
      if (!type) return std::nullopt;
      plan.op = (*comparisons)[0]->op;
      plan.type = *type;
      for (const unsigned k : {0u, 1u}) {
        const auto operand = plan_operand(operands(*comparisons, k), 0, depth);
        if (!operand) return std::nullopt;
        plan.of[2 + k] = *operand;
      }
    }
    for (const unsigned k : {0u, 1u}) {
      const auto operand = plan_operand(operands(insts, 1 + k), shift, depth);
      if (!operand) return std::nullopt;
      plan.of[k] = *operand;
    }
    computes_ = true;
    return add(plan);
  }

  /// The type of elements that are in the same order as both operands.
  std::optional<Type> compared_type(const std::vector<const Inst*>& insts) const {
    const Type type = insts[0]->type;
    if (8 * size_of(type) == width_) return type;
    if (8 * size_of(type) < width_) return std::nullopt;
    const Extension extension = common(extension_of(operands(insts, 0)), extension_of(operands(insts, 1)));
    if (extension == Extension::None) return std::nullopt;
    return element_type(extension == Extension::Sign && is_signed(type));
  }

  Extension extension_of(const std::vector<ValueId>& values) const {
    Extension all = Extension::Both;
    for (const ValueId value : values) all = common(all, bytes_.extension_of(value, width_));
    return all;
  }

  // Building.

  ValueId op(Op op, Type type, std::initializer_list<ValueId> args) {
    return out_.append(make_op(op, type, function_.values[args.end()[-1]].lanes, guest_ip_), args);
  }
  ValueId dword_constant(std::uint32_t bits, unsigned lanes) {
    const ValueId value = out_.constant(Type::u32, lanes, bits, guest_ip_);
    made_constants_.emplace(value, bits);
    return value;
  }
  ValueId with_constant(Op bitwise, ValueId value, std::uint32_t bits) {
    return op(bitwise, Type::u32, {value, dword_constant(bits, function_.values[value].lanes)});
  }
  ValueId converted(Op by, Type type, ValueId value) { return out_.converted(by, type, value, guest_ip_); }
  /// The same bits as lanes of this type.
  ValueId recast(Type type, ValueId value) {
    const ValueInfo from = function_.values[value];
    if (size_of(from.type) == size_of(type)) return converted(Op::bitcast, type, value);
    Inst inst = make_op(Op::recast, type, from.lanes * size_of(from.type) / size_of(type), guest_ip_);
    inst.from = from.type;
    return out_.append(inst, {value});
  }
  /// The element in the low bits of a value, and zeros.
  ValueId low_element(ValueId value) {
    const Type type = function_.values[value].type;
    value = converted(Op::bitcast, int_type(size_of(type), false), value);
    value = converted(Op::convert, Type::u32, value);
    return 8 * size_of(type) == width_ ? value : with_constant(Op::and_, value, element_mask());
  }

  static unsigned operand_count(const Plan& plan) {
    if (plan.kind == Plan::Choose) return plan.value == no_value ? 4 : 2;
    if (plan.kind != Plan::Compute) return 0;
    return plan.bits != 0 ? 1 : shape_of(plan.op).operands.count;
  }
  ValueId build(PlanId root) {
    // Operands have lower numbers. Nothing needs what was planned in vain.
    std::vector<bool> needed(root + 1);
    needed[root] = true;
    for (PlanId id = root + 1; id-- > 0;)
      if (needed[id])
        for (unsigned k = 0; k < operand_count(plans_[id]); ++k) needed[plans_[id].of[k]] = true;
    std::vector<ValueId> values(root + 1, no_value);
    for (PlanId id = 0; id <= root; ++id) {
      if (!needed[id]) continue;
      std::array<ValueId, 4> of{};
      for (unsigned k = 0; k < operand_count(plans_[id]); ++k) of[k] = values[plans_[id].of[k]];
      values[id] = build(plans_[id], of);
    }
    return values[root];
  }
  ValueId build(const Plan& plan, const std::array<ValueId, 4>& of) {
    switch (plan.kind) {
      case Plan::Value:
        return converted(Op::bitcast, Type::u32, plan.value);
      case Plan::Constant:
        return dword_constant(plan.bits, lanes_);
      case Plan::Splat: {
        const ValueId dword = with_constant(Op::mul, low_element(plan.value), in_each(1));
        return out_.append(make_op(Op::splat, Type::u32, lanes_, guest_ip_), {dword});
      }
      case Plan::Repeat: {
        ValueId value = low_element(plan.value);
        for (unsigned bits = width_; bits < 32; bits *= 2)
          value = op(Op::or_, Type::u32, {value, with_constant(Op::shl, value, bits)});
        return value;
      }
      case Plan::Compute:
        return plan.bits != 0 ? shifted(plan, of[0]) : computed(plan, of);
      case Plan::Choose:
        if (plan.value != no_value) return op(Op::select, Type::u32, {plan.value, of[0], of[1]});
        return by_parts(plan.type, of, 4, [&](const std::array<ValueId, 4>& part) {
          Inst compare = make_op(plan.op, plan.type, function_.values[part[2]].lanes, guest_ip_);
          const ValueId mask = out_.append(compare, {part[2], part[3]});
          return op(Op::select, plan.type, {mask, part[0], part[1]});
        });
    }
    return no_value;
  }
  /// Hosts multiply words, but no bytes. The products of odd bytes come from factors of which one is in the
  /// low byte, the other in the high one.
  ValueId product_of_bytes(ValueId a, ValueId b) {
    constexpr std::uint32_t even = 0x00ff00ff;
    const ValueId odd_a = with_constant(Op::and_, with_constant(Op::shr, a, 8), even);
    const ValueId odd_b = with_constant(Op::and_, b, ~even);
    const ValueId low = in_lanes(Op::mul, Type::u16, {a, b}, 2);
    const ValueId high = in_lanes(Op::mul, Type::u16, {odd_a, odd_b}, 2);
    return op(Op::or_, Type::u32, {with_constant(Op::and_, low, even), high});
  }
  ValueId computed(const Plan& plan, const std::array<ValueId, 4>& of) {
    const unsigned count = operand_count(plan);
    if (width_ == 8 && (plan.op == Op::mul || plan.op == Op::mad)) {
      const ValueId product = product_of_bytes(of[0], of[1]);
      if (plan.op == Op::mul) return product;
      return in_lanes(Op::add, Type::u8, {product, of[2]}, 2);
    }
    return in_lanes(plan.op, plan.type, of, count);
  }
  /// Hosts shift words, but no bytes: bits that came from another element are cleared.
  ValueId shifted(const Plan& plan, ValueId value) {
    const auto of_words = [&](const std::array<ValueId, 4>& part) {
      const Type type = element_type(plan.op == Op::asr);
      const unsigned lanes = function_.values[part[0]].lanes;
      return op(plan.op, type, {part[0], out_.constant(type, lanes, plan.bits, guest_ip_)});
    };
    if (width_ == 16) return by_parts(element_type(plan.op == Op::asr), {value}, 1, of_words);
    const bool is_left = plan.op == Op::shl;
    value = with_constant(is_left ? Op::shl : Op::shr, value, plan.bits);
    const std::uint32_t kept =
        is_left ? element_mask() << plan.bits & element_mask() : element_mask() >> plan.bits;
    value = with_constant(Op::and_, value, in_each(kept));
    if (plan.op != Op::asr) return value;
    // (x ^ sign) - sign extends the sign.
    const std::uint32_t sign = in_each(1u << (width_ - 1 - plan.bits));
    return in_lanes(Op::sub, Type::u8, {with_constant(Op::xor_, value, sign), dword_constant(sign, lanes_)},
                    2);
  }

  /// The constant that all lanes of `type` in these dwords are.
  std::optional<std::uint64_t> same_in_each(ValueId dwords, Type type) const {
    const auto found = made_constants_.find(dwords);
    const unsigned width = 8 * size_of(type);
    if (found == made_constants_.end() || std::rotl(found->second, static_cast<int>(width)) != found->second)
      return std::nullopt;
    return found->second & PossibleBits::low_bits(width);
  }
  /// The op on lanes of `type`, with the first `count` dwords as operands.
  ValueId in_lanes(Op by, Type type, const std::array<ValueId, 4>& of, unsigned count) {
    return by_parts(type, of, count, [&](const std::array<ValueId, 4>& part) {
      return out_.append(make_op(by, type, function_.values[part[0]].lanes, guest_ip_),
                         std::span(part).first(count));
    });
  }
  /// compute(operands) on lanes of `type`, as many of the dwords at a time as an op may have lanes.
  template <class ComputePart>
  ValueId by_parts(Type type, const std::array<ValueId, 4>& of, unsigned count, ComputePart compute) {
    const unsigned each = std::min(lanes_, max_lanes * size_of(type) / 4);
    ValueId whole = no_value;
    for (unsigned first = 0; first < lanes_; first += each) {
      std::array<ValueId, 4> part{};
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

  Function& function_;
  SameValues same_;
  NewBlock out_;
  ElementBytes bytes_;
  unsigned width_ = 8;  ///< of an element, in bits
  unsigned lanes_ = 0;  ///< of the dwords
  std::uint32_t guest_ip_ = 0;
  std::vector<Plan> plans_;
  std::map<Elements, std::optional<PlanId>> known_;
  std::map<ValueId, std::uint32_t> made_constants_;  ///< dwords
  bool computes_ = false;                            ///< some plan has an op
  std::size_t plans_left_ = 0;                       ///< that may be made for this block
};

}  // namespace

void packed_elements(Function& function) {
  run_on_blocks_with<PackedElements>(function, PackedElements::may_be_whole);
}

}  // namespace eum::jit

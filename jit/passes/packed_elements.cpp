// Vectors of bytes and words, as char4 and short2 are. Compilers take dwords of memory apart, compute each
// element by instructions of its own, and insert the results into dwords again, which takes a host several
// times as many instructions as the computation. Where all elements of a dword undergo the same ops, those
// are done on all of them at once: in the dwords, as more lanes of 8 or 16 bits. What is computed of bytes in
// more than 8 bits is done on words: on bytes of even number, and on those of odd number.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "jit/passes/element_bytes.hpp"
#include "jit/passes/element_plan.hpp"
#include "jit/passes/narrow_forms.hpp"
#include "jit/passes/passes.hpp"

namespace eum::jit {
namespace {

using namespace ir;

class PackedElements : NarrowForms {
 public:
  explicit PackedElements(Function& function)
      : NarrowForms(function), bytes_(function, out_, ranges_), builder_(function, out_) {}

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
        ranges_.find(own);
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
  using Plan = ElementPlan;
  using PlanId = ElementPlan::Id;

  unsigned bits_of(ValueId value) const { return 8 * size_of(function_.values[value].type); }
  std::optional<std::uint64_t> constant(ValueId value) const { return bytes_.constant(value); }
  std::uint32_t element_mask() const { return (1u << width_) - 1; }
  Type element_type(bool is_signed) const { return int_type(width_ / 8, is_signed); }

  ValueId pack(const Inst& root) {
    const auto bytes = bytes_.of(root);
    if (!bytes) return no_value;
    for (const unsigned width : {16u, 8u}) {
      const auto elements = elements_of(*bytes, width);
      if (!elements) continue;
      width_ = wanted_ = width;
      plans_.clear();
      known_.clear();
      computes_ = false;
      if (const auto plan = plan_for(*elements, 0); plan && (computes_ || plans_[*plan].kind == Plan::Value))
        return builder_.build(plans_, *plan, root.lanes, root.guest_ip);
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
    plans_.back().width = width_;
    return plans_.size() - 1;
  }

  std::optional<PlanId> plan_for(Elements elements, unsigned depth) {
    constexpr unsigned deepest = 40;
    if (depth > deepest || plans_left_ == 0) return std::nullopt;
    --plans_left_;
    for (Element& element : elements) element = bytes_.source(element, wanted_);
    const std::tuple key(width_, wanted_, std::move(elements));
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    const auto plan = new_plan(std::get<2>(key), depth);
    known_.emplace(key, plan);
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
    if (bits_of(first.value) < first.shift + wanted_) return std::nullopt;
    if (first.shift == 0 && bits_of(first.value) == 32 && is_at(width_))
      return add({.kind = Plan::Value, .value = first.value});
    if (is_at(0) && first.shift == 0) {
      const Inst* splat = out_.definition(first.value);
      if (splat && splat->op == Op::splat)
        return add({.kind = Plan::Splat, .value = function_.arg(*splat, 0)});
      return add({.kind = Plan::Repeat, .value = first.value});
    }
    if (const auto plan = width_ == 16 ? plan_extended(elements) : std::nullopt) return plan;
    if (const auto plan = plan_of_ops(elements, depth)) return plan;
    return width_ == 8 ? plan_words(elements, depth) : std::nullopt;
  }

  /// Every second byte of dwords, extended to words.
  std::optional<PlanId> plan_extended(const Elements& elements) {
    Extension extension = wanted_ == 8 ? Extension::Zero : Extension::Both;
    const Element first = bytes_.source(elements[0], 8);
    for (unsigned k = 0; k < elements.size(); ++k) {
      if (elements[k].value == no_value || (elements[k].shift != 0 && wanted_ != 8)) return std::nullopt;
      if (bytes_.source(elements[k], 8) != Element{first.value, first.shift + 16 * k}) return std::nullopt;
      if (wanted_ != 8) extension = common(extension, bytes_.extension_of(elements[k].value, 8));
    }
    if (first.shift % 8 != 0 || first.shift > 8 || bits_of(first.value) != 32 || extension == Extension::None)
      return std::nullopt;
    return add({.kind = Plan::Extend,
                .type = element_type(extension == Extension::Sign),
                .value = first.value,
                .bits = first.shift});
  }

  /// Bytes that are computed in more than 8 bits, in 16: those of even number, and those of odd number.
  std::optional<PlanId> plan_words(const Elements& bytes, unsigned depth) {
    const unsigned shift = bytes[0].shift;
    if (shift > 8 || std::ranges::any_of(bytes, [&](const Element& byte) {
          return byte.value == no_value || byte.shift != shift;
        }))
      return std::nullopt;
    Plan plan{.kind = Plan::Words, .bits = shift};
    plan.are_bytes = std::ranges::all_of(bytes, [&](const Element& byte) {
      return common(bytes_.extension_of(byte.value, 8), Extension::Zero) == Extension::Zero;
    });
    width_ = 16;
    const auto halves = [&](unsigned wanted) {
      wanted_ = wanted;
      const auto even = plan_operand({bytes[0].value, bytes[2].value}, 0, depth);
      const auto odd = even ? plan_operand({bytes[1].value, bytes[3].value}, 0, depth) : std::nullopt;
      if (odd) plan.of = {*even, *odd};
      return odd.has_value();
    };
    // Bytes that are clean need no mask.
    bool found = (plan.are_bytes || shift != 0) && halves(16);
    if (!found && shift == 0) {
      plan.are_bytes = false;
      found = halves(8);
    }
    width_ = wanted_ = 8;
    return found ? add(plan) : std::nullopt;
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

  /// The same if no bits of the operand may be anything else.
  std::optional<PlanId> plan_whole(const std::vector<ValueId>& values, unsigned shift, unsigned depth) {
    const unsigned wanted = std::exchange(wanted_, width_);
    const auto plan = plan_operand(values, shift, depth);
    wanted_ = wanted;
    return plan;
  }
  /// Whether low bits of the result depend only on low bits of the operands.
  static bool carries_up(Op op) {
    switch (op) {
      case Op::and_:
      case Op::or_:
      case Op::xor_:
      case Op::not_:
      case Op::add:
      case Op::sub:
      case Op::neg:
      case Op::mul:
      case Op::mad:
        return true;
      default:
        return false;
    }
  }

  std::optional<PlanId> plan_of_ops(const Elements& elements, unsigned depth) {
    std::vector<ValueId> values;
    for (const Element& element : elements) {
      if (element.value == no_value || element.shift != elements[0].shift) return std::nullopt;
      values.push_back(element.value);
    }
    const unsigned shift = elements[0].shift;
    if (shift != 0 && shift + wanted_ <= width_) return plan_shift(Op::shr, shift, values, depth);
    if (shift != 0 && shift < width_)
      if (const Extension extension = extension_of(values); extension != Extension::None)
        return plan_shift(extension == Extension::Sign ? Op::asr : Op::shr, shift, values, depth);
    if (shift == 1)
      if (const auto mean = plan_mean(values, depth)) return mean;
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
        if (const auto clamped = is_lowest ? plan_clamped(*insts, depth) : std::nullopt) return clamped;
        const auto type = is_lowest ? compared_type(*insts) : std::nullopt;
        return type ? plan_compute(*insts, inst.op, *type, 0, depth) : std::nullopt;
      }
      case Op::add_sat:
      case Op::sub_sat:
        return is_lowest && 8 * size_of(inst.type) == width_
                   ? plan_compute(*insts, inst.op, inst.type, 0, depth)
                   : std::nullopt;
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
      const auto values = operands(insts, k);
      const auto operand =
          carries_up(op) ? plan_operand(values, shift, depth) : plan_whole(values, shift, depth);
      if (!operand) return std::nullopt;
      plan.of[k] = *operand;
    }
    computes_ = true;
    return add(plan);
  }

  std::optional<PlanId> plan_two(Op op, Type type, std::optional<PlanId> a, std::optional<PlanId> b) {
    if (!a || !b) return std::nullopt;
    computes_ = true;
    return add({.kind = Plan::Compute, .op = op, .type = type, .of = {*a, *b}});
  }
  /// Halves of these sums, if they are means of numbers without sign.
  std::optional<PlanId> plan_mean(const std::vector<ValueId>& sums, unsigned depth) {
    std::vector<ValueId> a, b;
    bool is_rounded_up = false;
    for (const ValueId sum : sums) {
      const auto mean = mean_of_sum(sum);
      if (!mean || mean->is_signed || (!a.empty() && mean->is_rounded_up != is_rounded_up))
        return std::nullopt;
      is_rounded_up = mean->is_rounded_up;
      a.push_back(mean->a);
      b.push_back(mean->b);
    }
    const auto x = plan_whole(a, 0, depth), y = x ? plan_whole(b, 0, depth) : std::nullopt;
    const auto mean = plan_two(Op::avg, element_type(false), x, y);
    if (!mean || is_rounded_up) return mean;
    const auto one = add({.kind = Plan::Constant, .bits = in_each_element(1, width_)});
    const auto rounded = plan_two(Op::and_, Type::u32, plan_two(Op::xor_, Type::u32, x, y), one);
    return plan_two(Op::sub, element_type(false), mean, rounded);
  }
  /// Sums or differences that are limited to what an element holds.
  std::optional<PlanId> plan_clamped(const std::vector<const Inst*>& limits, unsigned depth) {
    std::vector<ValueId> a, b;
    std::optional<Clamped> first;
    for (const Inst* limit : limits) {
      const auto clamped = clamped_of(*limit);
      if (!clamped) return std::nullopt;
      if (!first) first = clamped;
      if (clamped->op != first->op || clamped->is_signed != first->is_signed) return std::nullopt;
      a.push_back(clamped->a);
      b.push_back(clamped->b);
    }
    const auto x = plan_whole(a, 0, depth), y = x ? plan_whole(b, 0, depth) : std::nullopt;
    return plan_two(first->op, element_type(first->is_signed), x, y);
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
    const auto operand = op == Op::shl ? plan_operand(values, 0, depth) : plan_whole(values, 0, depth);
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
      const auto limit = type ? std::nullopt : common_limit(*comparisons);
      if (!type && !limit) return std::nullopt;
      plan.op = (*comparisons)[0]->op;
      plan.type = type ? *type : element_type(is_signed((*comparisons)[0]->type));
      for (const unsigned k : {0u, 1u}) {
        const auto operand = limit && limit->operand == k
                                 ? add({.kind = Plan::Splat, .value = limited(*limit, *(*comparisons)[0])})
                                 : plan_whole(operands(*comparisons, k), 0, depth);
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

  /// What all elements are compared with, if it need not fit.
  std::optional<Limited> common_limit(const std::vector<const Inst*>& comparisons) const {
    std::optional<Limited> all;
    for (const Inst* comparison : comparisons) {
      const auto one = limited_of(*comparison);
      if (!one || (all && (one->operand != all->operand || one->number != all->number))) return std::nullopt;
      if (all) {
        all->limits = {std::min(all->limits.low, one->limits.low),
                       std::max(all->limits.high, one->limits.high)};
      } else {
        all = one;
      }
    }
    return all;
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

  SameValues same_;
  ElementBytes bytes_;
  ElementPlanBuilder builder_;
  unsigned wanted_ = 8;  ///< low bits of each element; others may be anything
  std::vector<Plan> plans_;
  std::map<std::tuple<unsigned, unsigned, Elements>, std::optional<PlanId>> known_;  ///< by width and wanted_
  bool computes_ = false;                                                            ///< some plan has an op
  std::size_t plans_left_ = 0;  ///< that may be made for this block
};

}  // namespace

void packed_elements(Function& function) {
  run_on_blocks_with<PackedElements>(function, PackedElements::may_be_whole);
}

}  // namespace eum::jit

// The formulas of frontend/ir/semantics/transcendental.hpp, instantiated with a builder of ops.
#include "jit/passes/expand_math.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "frontend/ir/builder.hpp"
#include "frontend/ir/semantics/lane.hpp"
#include "frontend/ir/semantics/transcendental.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

/// What the formulas compute with: each call appends one op of `lanes` lanes.
class OpMath {
 public:
  OpMath(Builder& builder, unsigned lanes) : builder_(builder), lanes_(lanes) {}

  template <class T>
  ValueId constant(T value) {
    return builder_.constant(type_of_lane<T>, lanes_, std::bit_cast<Bits<T>>(value));
  }
  ValueId constant_like(ValueId x, double value) {
    return builder_.type_of(x) == Type::f64 ? constant(value) : constant(static_cast<float>(value));
  }
  ValueId integer_like(ValueId x, std::int64_t value) {
    return builder_.constant(builder_.type_of(x), lanes_, static_cast<std::uint64_t>(value));
  }
  bool is_signed(ValueId x) const { return ir::is_signed(builder_.type_of(x)); }
  ValueId quot(ValueId a, ValueId b) { return builder_.lanewise(Op::quot, {a, b}); }
  ValueId add(ValueId a, ValueId b) { return builder_.lanewise(Op::add, {a, b}); }
  ValueId sub(ValueId a, ValueId b) { return builder_.lanewise(Op::sub, {a, b}); }
  ValueId mul(ValueId a, ValueId b) { return builder_.lanewise(Op::mul, {a, b}); }
  ValueId fma(ValueId a, ValueId b, ValueId c) { return builder_.lanewise(Op::fma, {a, b, c}); }
  ValueId min(ValueId a, ValueId b) { return builder_.lanewise(Op::min, {a, b}); }
  ValueId max(ValueId a, ValueId b) { return builder_.lanewise(Op::max, {a, b}); }
  ValueId rnde(ValueId a) { return builder_.lanewise(Op::rnde, {a}); }
  ValueId rndz(ValueId a) { return builder_.lanewise(Op::rndz, {a}); }
  ValueId abs(ValueId a) { return builder_.lanewise(Op::abs, {a}); }
  ValueId and_(ValueId a, ValueId b) { return builder_.lanewise(Op::and_, {a, b}); }
  ValueId xor_(ValueId a, ValueId b) { return builder_.lanewise(Op::xor_, {a, b}); }
  ValueId shl(ValueId a, ValueId b) { return builder_.lanewise(Op::shl, {a, b}); }
  ValueId asr(ValueId a, ValueId b) { return builder_.lanewise(Op::asr, {a, b}); }
  ValueId cmp_eq(ValueId a, ValueId b) { return builder_.compare(Op::cmp_eq, a, b); }
  ValueId cmp_ne(ValueId a, ValueId b) { return builder_.compare(Op::cmp_ne, a, b); }
  ValueId cmp_lt(ValueId a, ValueId b) { return builder_.compare(Op::cmp_lt, a, b); }
  ValueId cmp_gt(ValueId a, ValueId b) { return builder_.compare(Op::cmp_gt, a, b); }
  ValueId cmp_un(ValueId a, ValueId b) { return builder_.compare(Op::cmp_un, a, b); }
  ValueId select(ValueId mask, ValueId a, ValueId b) { return builder_.select(mask, a, b); }
  template <class T>
  ValueId convert(ValueId a) {
    return builder_.convert(Op::convert, type_of_lane<T>, a);
  }
  template <class T>
  ValueId bitcast(ValueId a) {
    return builder_.convert(Op::bitcast, type_of_lane<T>, a);
  }

 private:
  Builder& builder_;
  unsigned lanes_;
};

using Args = std::array<ValueId, max_pure_operands>;

template <Op op>
void append_formula(OpMath& math, const Args& args) {
  [&]<std::size_t... k>(std::index_sequence<k...>) { math::Formula<op>::build(math, args[k]...); }
  (std::make_index_sequence<shape_of(op).operands.count>());
}

using AppendFormula = void (*)(OpMath&, const Args&);
template <Op op>
constexpr AppendFormula formula_entry() {
  if constexpr (info(op).backend == Backend::Expand) {
    return &append_formula<op>;
  } else {
    return nullptr;
  }
}
constexpr auto formulas = []<std::size_t... o>(std::index_sequence<o...>) {
  return std::array<AppendFormula, op_count>{formula_entry<static_cast<Op>(o)>()...};
}
(std::make_index_sequence<op_count>());

bool expands(const Inst& inst) { return info(inst.op).backend == Backend::Expand; }

/// Appends the ops that compute `inst`.
void expand(Builder& builder, const Inst& inst) {
  const Function& function = builder.function();
  OpMath math(builder, inst.lanes);
  Args args{};
  std::ranges::copy(function.args(inst), args.begin());
  const bool through_f32 = inst.type == Type::f16;
  if (through_f32)
    for (std::size_t k = 0; k < inst.arg_count; ++k) args[k] = math.convert<float>(args[k]);
  formulas[static_cast<std::size_t>(inst.op)](math, args);
  if (through_f32) math.convert<Half>(function.blocks[builder.block()].insts.back().result);
}

}  // namespace

void expand_math(Function& function) { rewrite(function, expands, expand); }

}  // namespace eum::jit

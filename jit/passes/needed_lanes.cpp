// Masks that are looked at under another mask only. A flag that an instruction writes under the execution
// mask keeps its other channels: f = (~mask & old) | (mask & compared). Whoever reads it under the same mask,
// as nearly everything does, needs `compared` alone, which is in vectors already.
#include <algorithm>
#include <array>
#include <span>

#include "jit/passes/block_needs.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

class BlockSimplifier {
 public:
  explicit BlockSimplifier(Function& function)
      : function_(function), needs_(function), made_(function.values.size()), out_(function) {}

  void run(Block& block) {
    // Flags are written by masks that are put together: without an or there is nothing to do.
    bool any = false;
    for (const Inst& inst : block.insts) any |= inst.op == Op::or_ && is_mask(inst.type);
    if (!any) return;
    needs_.begin(block);
    out_.clear();
    changes_ = false;
    for (const Inst& inst : block.insts) {
      const Inst rewritten = rewrite(inst);  // which may append
      out_.keep(rewritten);
    }
    needs_.end(block);
    if (changes_) out_.replace(block);
  }

 private:
  /// A mask under another, or outside it.
  struct Part {
    enum { Zero, One, Value } what = Value;
    ValueId value = no_value;
  };

  ValueId append(Op op, unsigned lanes, std::initializer_list<ValueId> args, std::uint64_t imm,
                 std::uint32_t ip) {
    Inst inst = make_op(op, Type::m, lanes, ip);
    inst.imm = imm;
    return out_.append(inst, args);
  }
  ValueId value_of(const Part& part, unsigned lanes, std::uint32_t ip) {
    if (part.what == Part::Value) return part.value;
    return append(Op::constant, lanes, {}, part.what == Part::One ? lane_mask(lanes) : 0, ip);
  }

  /// `value` where the lanes say one (`inside`), or zero.
  Part simplify(ValueId value, const MaskLanes& lanes, bool inside, std::uint32_t ip, unsigned depth = 0) {
    if (needs_.root(value) == lanes) return {inside ? Part::One : Part::Zero, no_value};
    const Inst* inst = needs_.definition(value);
    if (!inst || depth == 8) return {Part::Value, value};
    Made& made = made_[value];
    if (made.value != no_value && made.lanes == lanes && made.inside == inside)
      return {Part::Value, made.value};
    const ValueId before = static_cast<ValueId>(function_.values.size());
    const Part part = simplified(value, *inst, lanes, inside, ip, depth);
    if (part.what == Part::Value && part.value >= before) made = {lanes, inside, part.value};
    return part;
  }
  Part simplified(ValueId value, const Inst& inst, const MaskLanes& lanes, bool inside, std::uint32_t ip,
                  unsigned depth) {
    const Part same{Part::Value, value};
    const auto part = [&](unsigned k, unsigned first) {
      return simplify(function_.arg(inst, k), {lanes.mask, first}, inside, ip, depth + 1);
    };
    const auto changed = [&](const Part& p, unsigned k) {
      return p.what != Part::Value || p.value != function_.arg(inst, k);
    };
    switch (inst.op) {
      case Op::or_: {
        const Part a = part(0, lanes.first), b = part(1, lanes.first);
        if (a.what == Part::One || b.what == Part::Zero) return a;
        if (b.what == Part::One || a.what == Part::Zero) return b;
        return same;
      }
      case Op::and_: {
        const Part a = part(0, lanes.first), b = part(1, lanes.first);
        if (a.what == Part::Zero || b.what == Part::One) return a;
        if (b.what == Part::Zero || a.what == Part::One) return b;
        return same;
      }
      case Op::andn: {
        const Part a = part(0, lanes.first), b = part(1, lanes.first);
        if (a.what == Part::One) return {Part::Zero, no_value};
        if (a.what == Part::Zero || b.what == Part::Zero) return b;
        return same;
      }
      case Op::not_: {
        const Part a = part(0, lanes.first);
        if (a.what == Part::One) return {Part::Zero, no_value};
        if (a.what == Part::Zero) return {Part::One, no_value};
        if (!changed(a, 0)) return same;
        return {Part::Value, append(Op::not_, inst.lanes, {a.value}, 0, ip)};
      }
      case Op::slice: {
        if (lanes.first < inst.imm) return same;
        const Part a = part(0, lanes.first - static_cast<unsigned>(inst.imm));
        if (a.what != Part::Value || !changed(a, 0)) return a.what != Part::Value ? a : same;
        return {Part::Value, append(Op::slice, inst.lanes, {a.value}, inst.imm, ip)};
      }
      case Op::concat: {
        const unsigned low = function_.values[function_.arg(inst, 0)].lanes;
        const Part a = part(0, lanes.first), b = part(1, lanes.first + low);
        if (a.what == b.what && a.what != Part::Value) return a;
        if (!changed(a, 0) && !changed(b, 1)) return same;
        const ValueId first = value_of(a, low, ip), second = value_of(b, inst.lanes - low, ip);
        return {Part::Value, append(Op::concat, inst.lanes, {first, second}, 0, ip)};
      }
      default:
        return same;
    }
  }

  Inst rewrite(const Inst& inst) {
    if (!is_lanewise(inst.op)) return inst;
    const Need own = needs_.of_results(inst);
    if (own.what == Need::None) return inst;
    const auto arg = [&](unsigned k) { return function_.arg(inst, k); };
    const auto simple = [&](unsigned k, const MaskLanes& lanes, bool inside) {
      return value_of(simplify(arg(k), lanes, inside, inst.guest_ip), function_.values[arg(k)].lanes,
                      inst.guest_ip);
    };
    if (own.what == Need::Under) {
      // Masks of masks stay as they are: whoever looks at them looks through them.
      if (is_mask(inst.type)) return inst;
      return with_operands(function_, inst, changes_, [&](unsigned k) {
        return is_mask(function_.values[arg(k)].type) ? simple(k, own.lanes, true) : arg(k);
      });
    }
    if (!is_mask(inst.type) || (inst.op != Op::and_ && inst.op != Op::andn)) return inst;
    const unsigned variable = needs_.is_variable(arg(0)) ? 0 : 1;
    if (!needs_.is_variable(arg(variable))) return inst;
    const bool inside = inst.op == Op::and_ || variable == 1;
    return with_operands(function_, inst, changes_, [&](unsigned k) {
      return k == variable ? arg(k) : simple(k, needs_.root(arg(variable)), inside);
    });
  }

  /// The value that has been appended for lanes of another.
  struct Made {
    MaskLanes lanes;
    bool inside = false;
    ValueId value = no_value;
  };

  Function& function_;
  BlockNeeds needs_;
  std::vector<Made> made_;
  NewBlock out_;
  bool changes_ = false;
};

}  // namespace

void needed_lanes(Function& function) {
  BlockSimplifier simplifier(function);
  for (Block& block : function.blocks) simplifier.run(block);
}

}  // namespace eum::jit

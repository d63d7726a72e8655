// Masks that are looked at under another mask only. A flag that an instruction writes under the execution
// mask keeps its other channels: f = (~mask & old) | (mask & compared). Whoever reads it under the same mask,
// as nearly everything does, needs `compared` alone, which is in vectors already.
#include <algorithm>
#include <array>
#include <span>

#include "jit/passes/passes.hpp"

namespace eum::jit {
namespace {

using namespace ir;

/// Lanes [first, first + lanes of the value) of a mask.
struct Lanes {
  ValueId mask = no_value;
  unsigned first = 0;
  bool operator==(const Lanes&) const = default;
};

/// Which lanes of a value are needed: none, those under a mask, or all.
struct Need {
  enum { None, Under, All } what = None;
  Lanes lanes;

  bool add(const Need& other) {
    if (what == All || other.what == None) return false;
    if (what == None) {
      *this = other;
    } else if (other.what == All || !(lanes == other.lanes)) {
      what = All;
    }
    return true;
  }
};

class BlockSimplifier {
 public:
  explicit BlockSimplifier(Function& function)
      : function_(function), need_(function.values.size()), definition_(function.values.size()) {}

  void run(Block& block) {
    // Flags are written by masks that are put together: without an or there is nothing to do.
    bool any = false;
    for (const Inst& inst : block.insts) any |= inst.op == Op::or_ && is_mask(inst.type);
    if (!any) return;
    for (const Inst& inst : block.insts)
      for (unsigned k = 0; k < inst.result_count; ++k) definition_[inst.result + k] = &inst;
    for (std::size_t i = block.insts.size(); i-- > 0;) propagate(block.insts[i]);
    out_.clear();
    changes_ = false;
    for (const Inst& inst : block.insts) {
      const Inst rewritten = rewrite(inst);  // which may append
      out_.push_back(rewritten);
    }
    // Values are those of one block: the tables are clean again for the next.
    for (const Inst& inst : block.insts)
      for (unsigned k = 0; k < inst.result_count; ++k) need_[inst.result + k] = {};
    if (changes_) block.insts.assign(out_.begin(), out_.end());
  }

 private:
  bool is_execution(ValueId mask) const {
    const Inst* inst = definition_[root(mask).mask];
    return inst && inst->op == Op::mask_get;
  }
  /// What the mask is a slice of.
  Lanes root(ValueId mask) const {
    unsigned first = 0;
    const Inst* inst = definition_[mask];
    while (inst && inst->op == Op::slice) {
      first += static_cast<unsigned>(inst->imm);
      mask = function_.arg(*inst, 0);
      inst = definition_[mask];
    }
    return {mask, first};
  }
  Need under(ValueId mask) const { return {Need::Under, root(mask)}; }

  void propagate(const Inst& inst) {
    constexpr Need all{Need::All, {}};
    const auto args = function_.args(inst);
    if (inst.mask != no_value) need_[inst.mask].add(all);
    if (inst.op == Op::reg_write)
      return (void)need_[args[0]].add(inst.mask != no_value ? under(inst.mask) : all);
    Need own;
    for (unsigned k = 0; k < inst.result_count; ++k) own.add(need_[inst.result + k]);
    if (is_pure(inst.op) && own.what == Need::None) return;
    if (own.what == Need::All && is_mask(inst.type) && (inst.op == Op::and_ || inst.op == Op::andn)) {
      // Of two, the execution mask says where the other is needed.
      for (unsigned k : {0u, 1u}) {
        const bool decides = is_execution(args[k]) && (inst.op == Op::and_ || k == 1);
        if (!decides) continue;
        need_[args[k]].add(all);
        need_[args[1 - k]].add(under(args[k]));
        return;
      }
    }
    if (own.what == Need::Under) {
      const unsigned first = own.lanes.first;
      if (is_lanewise(inst.op)) {
        for (ValueId arg : args) need_[arg].add(own);
        return;
      }
      if (inst.op == Op::concat) {
        need_[args[0]].add(own);
        need_[args[1]].add({Need::Under, {own.lanes.mask, first + function_.values[args[0]].lanes}});
        return;
      }
      if (inst.op == Op::slice && first >= inst.imm) {
        need_[args[0]].add({Need::Under, {own.lanes.mask, first - static_cast<unsigned>(inst.imm)}});
        return;
      }
    }
    for (ValueId arg : args) need_[arg].add(all);
  }

  // ---- Rewriting, in the order of the block

  /// A mask under another, or outside it.
  struct Part {
    enum { Zero, One, Value } what = Value;
    ValueId value = no_value;
  };

  ValueId append(Op op, unsigned lanes, std::initializer_list<ValueId> args, std::uint64_t imm,
                 std::uint32_t ip) {
    Inst inst;
    inst.op = op;
    inst.type = Type::m;
    inst.lanes = static_cast<std::uint8_t>(lanes);
    inst.imm = imm;
    inst.guest_ip = ip;
    function_.set_args(inst, args);
    inst.result = function_.add_value(Type::m, lanes);
    inst.result_count = 1;
    out_.push_back(inst);
    return inst.result;
  }
  ValueId value_of(const Part& part, unsigned lanes, std::uint32_t ip) {
    if (part.what == Part::Value) return part.value;
    return append(Op::constant, lanes, {}, part.what == Part::One ? lane_mask(lanes) : 0, ip);
  }

  /// `value` where the lanes say one (`inside`), or zero.
  Part simplify(ValueId value, const Lanes& lanes, bool inside, std::uint32_t ip, unsigned depth = 0) {
    const Part same{Part::Value, value};
    if (root(value) == lanes) return {inside ? Part::One : Part::Zero, no_value};
    if (value >= definition_.size() || depth == 8) return same;
    const Inst* inst = definition_[value];
    if (!inst) return same;
    const auto part = [&](unsigned k, unsigned first) {
      return simplify(function_.arg(*inst, k), {lanes.mask, first}, inside, ip, depth + 1);
    };
    const auto changed = [&](const Part& p, unsigned k) {
      return p.what != Part::Value || p.value != function_.arg(*inst, k);
    };
    switch (inst->op) {
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
        return {Part::Value, append(Op::not_, inst->lanes, {a.value}, 0, ip)};
      }
      case Op::slice: {
        if (lanes.first < inst->imm) return same;
        const Part a = part(0, lanes.first - static_cast<unsigned>(inst->imm));
        if (a.what != Part::Value || !changed(a, 0)) return a.what != Part::Value ? a : same;
        return {Part::Value, append(Op::slice, inst->lanes, {a.value}, inst->imm, ip)};
      }
      case Op::concat: {
        const unsigned low = function_.values[function_.arg(*inst, 0)].lanes;
        const Part a = part(0, lanes.first), b = part(1, lanes.first + low);
        if (a.what == b.what && a.what != Part::Value) return a;
        if (!changed(a, 0) && !changed(b, 1)) return same;
        const ValueId first = value_of(a, low, ip), second = value_of(b, inst->lanes - low, ip);
        return {Part::Value, append(Op::concat, inst->lanes, {first, second}, 0, ip)};
      }
      default:
        return same;
    }
  }

  Inst rewrite(const Inst& inst) {
    if (!is_lanewise(inst.op)) return inst;
    Need own;
    for (unsigned k = 0; k < inst.result_count; ++k) own.add(need_[inst.result + k]);
    if (own.what == Need::None) return inst;
    const std::size_t count = inst.arg_count;
    std::array<ValueId, max_pure_operands> args{};
    std::ranges::copy(function_.args(inst), args.begin());
    const auto replace = [&](unsigned k, const Lanes& lanes, bool inside) {
      const Part part = simplify(args[k], lanes, inside, inst.guest_ip);
      args[k] = value_of(part, function_.values[args[k]].lanes, inst.guest_ip);
    };
    if (own.what == Need::Under) {
      // Masks of masks stay as they are: whoever looks at them looks through them.
      for (unsigned k = 0; k < count && !is_mask(inst.type); ++k)
        if (is_mask(function_.values[args[k]].type)) replace(k, own.lanes, true);
    } else if (is_mask(inst.type) && (inst.op == Op::and_ || inst.op == Op::andn)) {
      for (unsigned k : {0u, 1u}) {
        if (!is_execution(args[k])) continue;
        replace(1 - k, root(args[k]), inst.op == Op::and_ || k == 1);
        break;
      }
    }
    if (std::ranges::equal(function_.args(inst), std::span(args).first(count))) return inst;
    changes_ = true;
    Inst changed = inst;
    function_.set_args(changed, std::span<const ValueId>(args).first(count));
    return changed;
  }

  Function& function_;
  std::vector<Need> need_;
  std::vector<const Inst*> definition_;
  std::vector<Inst> out_;
  bool changes_ = false;
};

}  // namespace

void needed_lanes(Function& function) {
  BlockSimplifier simplifier(function);
  for (Block& block : function.blocks) simplifier.run(block);
}

}  // namespace eum::jit

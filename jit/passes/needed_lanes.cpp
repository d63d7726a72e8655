// Masks that are used under another mask only. A flag that an instruction writes under the execution mask
// keeps its other channels: f = (~mask & old) | (mask & compared). Readers under the same mask, which nearly
// all are, need only `compared`, which is in vectors already. If flags are written several times, each time
// under what the time before has left active, the last write also keeps what other channels had, and gets a
// mask that says so.
#include <algorithm>
#include <array>
#include <span>

#include "jit/analysis/block_needs.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

class BlockSimplifier {
 public:
  explicit BlockSimplifier(Function& function)
      : function_(function),
        needs_(function),
        made_(function.values.size()),
        written_(function.values.size()),
        out_(function) {}

  void run(Block& block) {
    needs_.begin(block);
    if (write_under_masks(block)) needs_.begin(block);
    out_.clear();
    changes_ = false;
    for (const Inst& inst : block.insts) {
      const Inst rewritten = rewrite(inst);  // which may append
      out_.keep(rewritten);
    }
    if (changes_) out_.replace(block);
  }

 private:
  /// A mask under another, or outside it.
  struct Part {
    enum { Zero, One, Value } what = Value;
    ValueId value = no_value;
  };

  // ---- Flags that keep old bits

  /// What a flag had before the block, in channels outside an execution mask.
  struct Kept {
    const Inst* read = nullptr;
    ValueId mask = no_value;
  };

  bool write_under_masks(Block& block) {
    bool changes = false;
    writers_.assign(function_.flag_bits, {});
    for (Inst& inst : block.insts) {
      if (inst.op != Op::flag_write) continue;
      const std::span bits = std::span(writers_).subspan(static_cast<std::size_t>(inst.imm), inst.lanes);
      const Kept kept = inst.mask == no_value ? kept_by(inst, function_.arg(inst, 0)) : Kept{};
      const auto fits = [&](const Writer& writer) {
        return !writer.any || (writer.merges && writer.lanes == needs_.root(kept.mask));
      };
      const bool merges = kept.read && std::ranges::all_of(bits, fits);
      std::ranges::fill(bits, Writer{true, merges, merges ? needs_.root(kept.mask) : MaskLanes{}});
      if (merges) written_[function_.arg(inst, 0)] = kept;
      if (!merges || is_plain(inst, kept)) continue;
      inst.mask = kept.mask;
      changes = true;
    }
    return changes;
  }
  Kept kept_by(const Inst& write, ValueId value, unsigned depth = 0) const {
    const Inst* inst = needs_.definition(value);
    if (!inst || depth == most_depth) return {};
    if (const Kept& written = written_[value]; reads(written, write)) return confirmed(written, write);
    if (inst->op == Op::andn && needs_.is_variable(function_.arg(*inst, 0))) {
      const Kept found{needs_.definition(function_.arg(*inst, 1)), function_.arg(*inst, 0)};
      if (reads(found, write)) return confirmed(found, write);
    }
    if (inst->op != Op::or_ && inst->op != Op::andn) return {};
    for (unsigned k = 2; k-- > 0;)
      if (const Kept found = kept_by(write, function_.arg(*inst, k), depth + 1); found.read) return found;
    return {};
  }
  static bool reads(const Kept& kept, const Inst& write) {
    return kept.read && kept.read->op == Op::flag_read && kept.read->imm == write.imm &&
           kept.read->lanes == write.lanes;
  }
  Kept confirmed(const Kept& kept, const Inst& write) const {
    const Part rest = outside(function_.arg(write, 0), needs_.root(kept.mask), 0);
    return rest.what == Part::Value && rest.value == kept.read->result ? kept : Kept{};
  }
  /// The value where the lanes are zero, if that is simple.
  Part outside(ValueId value, const MaskLanes& lanes, unsigned depth) const {
    if (needs_.variable_above(value) == lanes) return {Part::Zero, no_value};
    const Inst* inst = needs_.definition(value);
    if (!inst || depth == most_depth) return {Part::Value, value};
    if (const Kept& written = written_[value]; written.read && needs_.root(written.mask) == lanes)
      return {Part::Value, written.read->result};
    if (inst->op != Op::or_ && inst->op != Op::andn) return {Part::Value, value};
    const Part a = outside(function_.arg(*inst, 0), lanes, depth + 1);
    const Part b = outside(function_.arg(*inst, 1), lanes, depth + 1);
    if (a.what == Part::Zero) return b;
    if (b.what == Part::Zero) return inst->op == Op::or_ ? a : b;
    return {Part::Value, value};
  }
  /// (~mask & read) | ...: other passes recognise that it merges.
  bool is_plain(const Inst& write, const Kept& kept) const {
    const Inst* sum = needs_.definition(function_.arg(write, 0));
    const Inst* old = sum->op == Op::or_ ? needs_.definition(function_.arg(*sum, 0)) : nullptr;
    return old && old->op == Op::andn && function_.arg(*old, 1) == kept.read->result;
  }

  // ---- Masks under others

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

  /// `value` where the lanes are one (`inside`), or zero.
  Part simplify(ValueId value, const MaskLanes& lanes, bool inside, std::uint32_t ip, unsigned depth = 0) {
    if (needs_.root(value) == lanes) return {inside ? Part::One : Part::Zero, no_value};
    const Inst* inst = needs_.definition(value);
    if (!inst || depth == most_depth) return {Part::Value, value};
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
    const auto is_same = [](const Part& a, const Part& b) {
      return a.what == Part::Value && b.what == Part::Value && a.value == b.value;
    };
    // Rebuilt only if it is used in these lanes alone: otherwise the old value would exist as well.
    const Need& need = needs_.of(value);
    const bool is_replaced = need.what == Need::Under && need.lanes == lanes;
    const auto made = [&](const Part& a, const Part& b) -> Part {
      if (!is_replaced || (!changed(a, 0) && !changed(b, 1))) return same;
      return {Part::Value, append(inst.op, inst.lanes, {a.value, b.value}, 0, ip)};
    };
    switch (inst.op) {
      case Op::or_: {
        const Part a = part(0, lanes.first), b = part(1, lanes.first);
        if (a.what == Part::One || b.what == Part::Zero) return a;
        if (b.what == Part::One || a.what == Part::Zero || is_same(a, b)) return b;
        return made(a, b);
      }
      case Op::and_: {
        const Part a = part(0, lanes.first), b = part(1, lanes.first);
        if (a.what == Part::Zero || b.what == Part::One) return a;
        if (b.what == Part::Zero || a.what == Part::One || is_same(a, b)) return b;
        return made(a, b);
      }
      case Op::andn: {
        const Part a = part(0, lanes.first), b = part(1, lanes.first);
        if (a.what == Part::One || is_same(a, b)) return {Part::Zero, no_value};
        if (a.what == Part::Zero || b.what == Part::Zero) return b;
        // In all lanes, the complement costs as much.
        if (b.what == Part::One) return same;
        return made(a, b);
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
    if (inst.op == Op::flag_write && inst.mask != no_value)
      return with_operands(function_, inst, changes_, [&](unsigned k) {
        return value_of(simplify(function_.arg(inst, k), needs_.root(inst.mask), true, inst.guest_ip),
                        inst.lanes, inst.guest_ip);
      });
    if (!is_lanewise(inst.op)) return inst;
    const Need own = needs_.of_results(inst);
    if (own.what == Need::None) return inst;
    const auto arg = [&](unsigned k) { return function_.arg(inst, k); };
    const auto simple = [&](unsigned k, const MaskLanes& lanes, bool inside) {
      return value_of(simplify(arg(k), lanes, inside, inst.guest_ip), function_.values[arg(k)].lanes,
                      inst.guest_ip);
    };
    if (own.what == Need::Under) {
      // Masks of masks stay as they are: the analysis looks through them.
      if (is_mask(inst.type)) return inst;
      return with_operands(function_, inst, changes_, [&](unsigned k) {
        return is_mask(function_.values[arg(k)].type) ? simple(k, own.lanes, true) : arg(k);
      });
    }
    if (!is_mask(inst.type) || (inst.op != Op::and_ && inst.op != Op::andn)) return inst;
    const auto decider = needs_.decider(inst);
    const bool outside = !decider && inst.op == Op::andn && needs_.is_variable(arg(0));
    if (!decider && !outside) return inst;
    const unsigned variable = decider.value_or(0);
    const MaskLanes lanes = *needs_.variable_above(arg(variable));
    return with_operands(function_, inst, changes_,
                         [&](unsigned k) { return k == variable ? arg(k) : simple(k, lanes, !outside); });
  }

  static constexpr unsigned most_depth = 8;

  /// What has written a flag in this block.
  struct Writer {
    bool any = false;
    bool merges = false;  ///< each keeps the bits in which these lanes are zero
    MaskLanes lanes;
  };
  /// What has been appended for a value in some lanes.
  struct Made {
    MaskLanes lanes;
    bool inside = false;
    ValueId value = no_value;
  };

  Function& function_;
  BlockNeeds needs_;
  std::vector<Made> made_;
  std::vector<Kept> written_;    ///< by what merging writes write, so that chains of them stay short
  std::vector<Writer> writers_;  // by flag
  NewBlock out_;
  bool changes_ = false;
};

}  // namespace

void needed_lanes(Function& function) {
  // Flags are written with merged masks: without an or there is nothing to do.
  run_on_blocks_with<BlockSimplifier>(
      function, [](const Inst& inst) { return inst.op == Op::or_ && is_mask(inst.type); });
}

}  // namespace eum::jit

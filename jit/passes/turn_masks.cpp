#include "jit/passes/turn_masks.hpp"

#include <algorithm>
#include <unordered_map>

#include "jit/analysis/parked.hpp"
#include "jit/analysis/unseen_sets.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using ir::Inst;
using ir::Op;
using ir::Type;
using ir::ValueId;

class AllActive {
 public:
  AllActive(ir::Function& function, LoopTrace& trace) : function_(function), trace_(trace), out_(function) {}

  void run() {
    ir::Block& block = function_.blocks[trace_.block];
    for (Inst inst : block.insts) {
      same_.resolve(function_, inst);
      // What lanes that are not active read is not used.
      if (inst.op == Op::reg_read || holds(inst.mask, Holds::All)) inst.mask = ir::no_value;
      if (!ir::is_mask(inst.type) || !is_same(inst)) out_.keep(inst);
    }
    drop_unseen_sets();
    out_.replace(block);
    for (LoopTrace::Branch& branch : trace_.branches) branch.mask = same_.resolve(branch.mask);
  }

 private:
  enum class Holds : std::uint8_t { All, None };

  bool holds(ValueId mask, Holds what) const {
    const auto found = known_.find(mask);
    return found != known_.end() && found->second == what;
  }
  ValueId arg(const Inst& inst, unsigned k) const { return function_.arg(inst, k); }
  bool is_parked(std::uint64_t variable) {
    if (!parked_) parked_.emplace(function_);
    return (*parked_)(trace_.header, variable);
  }

  /// Notes what the mask holds, or makes it simpler. True: it is the same as another one.
  bool is_same(Inst& inst) {
    const auto note = [&](Holds what) {
      known_.emplace(inst.result, what);
      return false;
    };
    const auto is = [&](ValueId value) {
      same_.add(inst.result, value);
      return true;
    };
    const auto all = [&](unsigned k) { return holds(arg(inst, k), Holds::All); };
    const auto none = [&](unsigned k) { return holds(arg(inst, k), Holds::None); };
    switch (inst.op) {
      case Op::mask_get:
        if (inst.imm == 0) return note(Holds::All);
        return !is_parked(inst.imm) && !is_set(inst.imm) && note(Holds::None);
      case Op::constant:
        if (inst.imm == 0) return note(Holds::None);
        return inst.imm == ir::lane_mask(inst.lanes) && note(Holds::All);
      case Op::slice:
        return (all(0) && note(Holds::All)) || (none(0) && note(Holds::None));
      case Op::concat:
        return (all(0) && all(1) && note(Holds::All)) || (none(0) && none(1) && note(Holds::None));
      case Op::and_:
        if (none(0) || none(1)) return note(Holds::None);
        return all(0) ? is(arg(inst, 1)) : all(1) && is(arg(inst, 0));
      case Op::or_:
        if (all(0) || all(1)) return note(Holds::All);
        return none(0) ? is(arg(inst, 1)) : none(1) && is(arg(inst, 0));
      case Op::andn:
        if (all(0) || none(1)) return note(Holds::None);
        if (none(0)) return is(arg(inst, 1));
        if (!all(1)) return false;
        inst.op = Op::not_;
        function_.set_args(inst, std::array{arg(inst, 0)});
        return is_inverse_of_inverse(inst);
      case Op::not_:
        return (all(0) && note(Holds::None)) || (none(0) && note(Holds::All)) || is_inverse_of_inverse(inst);
      default:
        return false;
    }
  }
  bool is_inverse_of_inverse(const Inst& inst) {
    const Inst* made = out_.definition(arg(inst, 0));
    if (!made || made->op != Op::not_) return false;
    same_.add(inst.result, arg(*made, 0));
    return true;
  }
  bool is_set(std::uint64_t variable) const {
    return std::ranges::any_of(
        out_.insts(), [&](const Inst& inst) { return inst.op == Op::mask_set && inst.imm == variable; });
  }

  /// As a turn begins, nothing is parked in a variable that it has emptied, if nothing was before the loop.
  void drop_unseen_sets() {
    std::vector<bool> is_known(function_.mask_variables);
    for (std::uint64_t variable = 1; variable < function_.mask_variables; ++variable) {
      const auto last = std::find_if(out_.insts().rbegin(), out_.insts().rend(), [&](const Inst& inst) {
        return inst.op == Op::mask_set && inst.imm == variable;
      });
      is_known[variable] =
          last != out_.insts().rend() && holds(arg(*last, 0), Holds::None) && !is_parked(variable);
    }
    for (const std::uint32_t set : unseen_sets(function_, out_.insts(), std::move(is_known)))
      out_.insts().erase(out_.insts().begin() + set);
  }

  ir::Function& function_;
  LoopTrace& trace_;
  std::optional<MayBeParked> parked_;  ///< when first needed
  NewBlock out_;
  SameValues same_;
  std::unordered_map<ValueId, Holds> known_;
};

}  // namespace

void assume_all_active(ir::Function& function, LoopTrace& trace) { AllActive(function, trace).run(); }

// ---- What is counted

TurnSpends::TurnSpends(ir::Builder& to, TurnValues& values, const CountedLoop& loop, unsigned lanes,
                       unsigned turns)
    : to_(to), values_(values), loop_(loop), lanes_(lanes), turns_(turns) {
  for (const Inst* spend : loop.spends()) find_masks(to.function().arg(*spend, 0));
}

/// Whether all lanes of the mask are equal.
bool TurnSpends::is_uniform(ValueId mask) const {
  const Inst* made = definition(mask);
  if (!made) return false;
  return made->op == Op::not_ ? is_uniform(to_.function().arg(*made, 0))
                              : made->op == Op::group_any && made->imm == made->lanes;
}

TurnSpends::Form TurnSpends::form_of(ValueId mask) const {
  const Inst* made = definition(mask);
  if (!made) return {};
  const auto arg = [&](unsigned k) { return to_.function().arg(*made, k); };
  switch (made->op) {
    case Op::mask_get:
      return made->imm == 0 ? Form{Form::Always} : Form{};
    case Op::constant:
      return made->imm == ir::lane_mask(made->lanes) ? Form{Form::Always} : Form{};
    case Op::group_any:
      return is_uniform(mask) ? Form{Form::One, arg(0)} : Form{};
    case Op::not_:
      return {is_uniform(arg(0)) ? Form::InverseOfUniform : Form::Inverse, arg(0)};
    case Op::or_:
      return {Form::Either, arg(0), arg(1)};
    case Op::and_:
      return is_uniform(arg(0)) || is_uniform(arg(1)) ? Form{Form::Both, arg(0), arg(1)} : Form{};
    default:
      return {};
  }
}

void TurnSpends::find_masks(ValueId mask) {
  const Form form = form_of(mask);
  if (form.kind == Form::Itself) masks_.emplace(mask, Turns{});
  if (form.kind == Form::Inverse) masks_.emplace(form.first, Turns{});
  if (form.kind == Form::Itself || form.kind == Form::Inverse) return;
  for (const ValueId part : {form.first, form.second})
    if (part != ir::no_value) find_masks(part);
}

bool TurnSpends::add_lane(unsigned lane) {
  for (auto& [mask, turns] : masks_)
    for (unsigned of = lane; of < to_.function().values[mask].lanes; of += lanes_) {
      const auto own = values_.in_turns(std::array{mask}, of);
      if (!own) return false;
      const ValueId bits = to_.mask_bits(Type::u32, *own);
      turns.any = turns.any == ir::no_value ? bits : op(Op::or_, turns.any, bits);
      turns.all = turns.all == ir::no_value ? bits : op(Op::and_, turns.all, bits);
    }
  return true;
}

ValueId TurnSpends::op(Op op, ValueId a, ValueId b) { return to_.lanewise(op, {a, b}); }

ValueId TurnSpends::turns_with(ValueId mask) {
  const ValueId every = to_.constant(Type::u32, 1, ir::lane_mask(turns_));
  const Form form = form_of(mask);
  switch (form.kind) {
    case Form::Always:
      return every;
    case Form::Itself:
      return masks_.at(mask).any;
    case Form::Inverse:
      return op(Op::xor_, masks_.at(form.first).all, every);
    case Form::InverseOfUniform:
      return op(Op::xor_, turns_with(form.first), every);
    case Form::One:
      return turns_with(form.first);
    default: {
      const ValueId first = turns_with(form.first);
      return op(form.kind == Form::Either ? Op::or_ : Op::and_, first, turns_with(form.second));
    }
  }
}

std::uint32_t TurnSpends::append() {
  std::uint32_t each = 0;
  for (const Inst* spend : loop_.spends()) {
    const Inst counted = *spend;
    const ValueId mask = to_.function().arg(counted, 0);
    if (form_of(mask).kind == Form::Always) {
      each += static_cast<std::uint32_t>(counted.imm);
      continue;
    }
    to_.set_guest_ip(counted.guest_ip);
    to_.spend(Op::spend_bits, counted.imm, to_.convert(Op::convert, Type::u64, turns_with(mask)));
  }
  return each;
}

}  // namespace eum::jit

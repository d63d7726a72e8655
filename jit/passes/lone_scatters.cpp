// Writes by register address of which a constant mask leaves one channel. Compilers write bytes of an array
// of a work item that is indexed by data like this: a flag is set to 1 << k, and under it all channels are
// moved to the address of channel k,
//   mov f1.0 0x2, (f1.0) mov (16) r[a0.1] r23.1, mov f0.0 0x4, (f0.0) mov (16) r[a0.2] r23.2, ...
// for which an engine would have to merge the data of all channels.
#include <bit>
#include <optional>

#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using ir::Inst;
using ir::Op;
using ir::ValueId;

/// A scatter of several channels, under a mask.
bool is_wide_scatter(const Inst& inst) {
  return inst.op == Op::reg_scatter && inst.lanes > 1 && inst.mask != ir::no_value && !inst.own.given();
}

class LoneScatters {
 public:
  explicit LoneScatters(ir::Function& function) : function_(function), new_(function) {}

  void run(ir::Block& block) {
    new_.clear();
    bool changes = false;
    for (const Inst& inst : block.insts) {
      const std::uint32_t lanes = is_wide_scatter(inst) ? possible(inst.mask) : 0;
      if (!std::has_single_bit(lanes)) {
        new_.keep(inst);
        continue;
      }
      changes = true;
      append_lane(inst, static_cast<unsigned>(std::countr_zero(lanes)));
    }
    if (changes) new_.replace(block);
  }

 private:
  /// Lanes of a mask that may be set.
  std::uint32_t possible(ValueId mask) const {
    const std::uint32_t all = ir::lane_mask(function_.values[mask].lanes);
    const Inst* inst = new_.definition(mask);
    if (inst == nullptr) return all;
    switch (inst->op) {
      case Op::constant:
        return static_cast<std::uint32_t>(inst->imm) & all;
      case Op::bits_mask: {
        const Inst* bits = new_.definition(function_.arg(*inst, 0));
        return bits != nullptr && bits->op == Op::constant ? static_cast<std::uint32_t>(bits->imm) & all
                                                           : all;
      }
      case Op::slice:
        return possible(function_.arg(*inst, 0)) >> inst->imm & all;
      case Op::and_:
        return possible(function_.arg(*inst, 0)) & possible(function_.arg(*inst, 1));
      default:
        return all;
    }
  }

  void append_lane(const Inst& scatter, unsigned lane) {
    const ValueId mask = slice(scatter, set_by(scatter.mask), lane);
    const ValueId address = address_of(scatter, lane);
    const ValueId value = slice(scatter, function_.arg(scatter, 1), lane);
    Inst one = scatter;
    one.lanes = 1;
    one.mask = mask;
    one.own.lane = (scatter.own.lane + lane) & 0x7f;
    function_.set_args(one, {{address, value}});
    new_.keep(one);
  }

  /// The address of one lane. For a uniform value plus a constant per lane, as in compilers' addresses, it is
  /// computed for that lane alone.
  ValueId address_of(const Inst& scatter, unsigned lane) {
    const ValueId addresses = function_.arg(scatter, 0);
    const Inst* sum = new_.definition(addresses);
    if (sum == nullptr || sum->op != Op::add) return slice(scatter, addresses, lane);
    ValueId base = function_.arg(*sum, 0), steps = function_.arg(*sum, 1);
    if (const Inst* inst = new_.definition(base); inst != nullptr && inst->op == Op::vconst)
      std::swap(base, steps);
    const Inst* constants = new_.definition(steps);
    if (constants == nullptr || constants->op != Op::vconst) return slice(scatter, addresses, lane);
    Inst distance = make_op(Op::constant, ir::Type::u16, 1, scatter.guest_ip);
    distance.imm = function_.pool[constants->imm][lane] & 0xffff;
    const ValueId of_lane = slice(scatter, base, lane);
    if (distance.imm == 0) return of_lane;
    const ValueId by = new_.append(distance, {});
    return new_.append(make_op(Op::add, ir::Type::u16, 1, scatter.guest_ip), {of_lane, by});
  }

  /// The mask that decides whether a lane that may be set is set.
  ValueId set_by(ValueId mask) const {
    const Inst* inst = new_.definition(mask);
    if (inst == nullptr || inst->op != Op::and_) return mask;
    for (const unsigned k : {0u, 1u})
      if (is_constant(function_.arg(*inst, k))) return set_by(function_.arg(*inst, 1 - k));
    return mask;
  }
  bool is_constant(ValueId mask) const {
    const Inst* inst = new_.definition(mask);
    if (inst == nullptr) return false;
    if (inst->op == Op::slice || inst->op == Op::bits_mask) return is_constant(function_.arg(*inst, 0));
    return inst->op == Op::constant;
  }

  ValueId slice(const Inst& of, ValueId value, unsigned lane) {
    const Inst* inst = new_.definition(value);
    if (inst != nullptr && inst->op == Op::splat) return function_.arg(*inst, 0);
    Inst one = make_op(Op::slice, function_.values[value].type, 1, of.guest_ip);
    one.imm = lane;
    return new_.append(one, {value});
  }

  ir::Function& function_;
  NewBlock new_;
};

}  // namespace

void lone_scatters(ir::Function& function) {
  std::optional<LoneScatters> pass;  // most functions need none
  for (ir::Block& block : function.blocks) {
    if (std::ranges::none_of(block.insts, is_wide_scatter)) continue;
    if (!pass) pass.emplace(function);
    pass->run(block);
  }
}

}  // namespace eum::jit

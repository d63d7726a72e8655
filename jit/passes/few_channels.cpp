// Masks determine what is left of each op. The execution mask never has channels other than those with which
// the thread began; from that follows how many of the lowest lanes of each mask may be set, and ops under it
// keep as many lanes. Other ops keep as many as are used: their values are the lowest lanes of the old ones.
#include "jit/passes/few_channels.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "frontend/ir/signature.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

class Narrower {
 public:
  Narrower(Function& function, unsigned channels)
      : function_(function),
        channels_(channels),
        known_(function.values.size(), max_lanes),
        wanted_(function.values.size()),
        whole_(function.values.size(), no_value),
        narrow_(function.values.size(), no_value),
        out_(function) {}

  void run() {
    if (!find_known()) return;
    for (Block& block : function_.blocks) {
      find_wanted(block);
      out_.clear();
      for (const Inst& inst : block.insts) rewrite(inst);
      out_.replace(block);
    }
    function_.simd = channels_;
  }

 private:
  // How many of a mask's lowest lanes may be set.

  /// False: a mask variable may get other channels.
  bool find_known() {
    for (const Block& block : function_.blocks)
      for (const Inst& inst : block.insts) {
        if (inst.op == Op::mask_set && known_[function_.arg(inst, 0)] > channels_) return false;
        if ((inst.op == Op::mask_set || inst.op == Op::mask_get) && inst.lanes != function_.simd)
          return false;
        if (inst.result_count == 1 && is_mask(function_.values[inst.result].type))
          known_[inst.result] = known_lanes(inst);
      }
    return true;
  }
  std::uint8_t known_lanes(const Inst& inst) const {
    const auto known = [&](unsigned k) { return unsigned{known_[function_.arg(inst, k)]}; };
    unsigned lanes = function_.values[inst.result].lanes;
    switch (inst.op) {
      case Op::mask_get:
        lanes = channels_;
        break;
      case Op::constant:
        lanes = static_cast<unsigned>(std::bit_width(inst.imm & lane_mask(inst.lanes)));
        break;
      case Op::and_:
        lanes = std::min(known(0), known(1));
        break;
      case Op::andn:
        lanes = known(1);
        break;
      case Op::or_:
      case Op::xor_:
        lanes = std::max(known(0), known(1));
        break;
      case Op::slice:
        lanes = std::min(lanes, known(0) - std::min(known(0), static_cast<unsigned>(inst.imm)));
        break;
      case Op::concat:
        lanes = known(1) == 0 ? known(0) : function_.values[function_.arg(inst, 0)].lanes + known(1);
        break;
      default:
        break;
    }
    return static_cast<std::uint8_t>(lanes);
  }

  // How many of a value's lowest lanes are used.

  void find_wanted(const Block& block) {
    for (auto inst = block.insts.rbegin(); inst != block.insts.rend(); ++inst) {
      const unsigned lanes = lanes_left(*inst);
      if (lanes == 0) continue;
      if (inst->mask != no_value) want(inst->mask, lanes);
      for (unsigned k = 0; k < inst->arg_count; ++k)
        want(function_.arg(*inst, k), lanes_taken(*inst, k, lanes));
    }
  }
  void want(ValueId value, unsigned lanes) {
    wanted_[value] = std::max(wanted_[value], static_cast<std::uint8_t>(lanes));
  }
  unsigned wanted(const Inst& inst) const {
    unsigned lanes = 0;
    for (unsigned k = 0; k < inst.result_count; ++k)
      lanes = std::max(lanes, unsigned{wanted_[inst.result + k]});
    return lanes;
  }
  unsigned whole_or_narrow(unsigned whole, unsigned lanes) const {
    return lanes <= channels_ ? std::min(whole, channels_) : whole;
  }

  /// The lanes that an op keeps; 0: nothing is left of it.
  unsigned lanes_left(const Inst& inst) const {
    const ShapeInfo& shape = shape_of(inst.op);
    if (shape.maskable() && inst.mask != no_value && known_[inst.mask] == 0) return 0;
    switch (inst.op) {
      case Op::mask_get:
      case Op::mask_set:
        return channels_;
      case Op::branch_any:
        return whole_or_narrow(inst.lanes, known_[function_.arg(inst, 0)]);
      case Op::group_any:
      case Op::group_all:
      case Op::recast:
        return inst.lanes;
      case Op::concat: {
        const unsigned lanes = wanted(inst);
        const bool one_does = lanes <= function_.values[function_.arg(inst, 0)].lanes;
        return lanes == 0 ? 0 : one_does ? whole_or_narrow(inst.lanes, lanes) : inst.lanes;
      }
      case Op::reg_write:
      case Op::flag_write:
      case Op::reg_gather:
      case Op::load:
      case Op::probe:
      case Op::store:
      case Op::atomic:
        return inst.mask == no_value ? inst.lanes : whole_or_narrow(inst.lanes, known_[inst.mask]);
      case Op::reg_scatter:
        return inst.mask == no_value || inst.own.given() ? inst.lanes
                                                         : whole_or_narrow(inst.lanes, known_[inst.mask]);
      case Op::reg_read:
      case Op::flag_read:
        break;
      default:
        if (!is_pure(inst.op)) return inst.lanes;
    }
    const unsigned lanes = wanted(inst);
    return lanes == 0 ? 0 : whole_or_narrow(inst.lanes, lanes);
  }
  /// The lanes needed of operand k of an op that keeps `lanes`.
  unsigned lanes_taken(const Inst& inst, unsigned k, unsigned lanes) const {
    const ValueId arg = function_.arg(inst, k);
    const unsigned whole = function_.values[arg].lanes;
    switch (inst.op) {
      case Op::slice:
        return std::min(whole, static_cast<unsigned>(inst.imm) + lanes);
      case Op::concat: {
        const unsigned first = function_.values[function_.arg(inst, 0)].lanes;
        return k == 0 ? std::min(first, lanes) : lanes - std::min(first, lanes);
      }
      case Op::mask_bits:
        return std::clamp<unsigned>(known_[arg], 1, whole);
      default:
        return whole == inst.lanes ? lanes : whole;
    }
  }

  // The new ops.

  ValueId append(Op op, Type type, unsigned lanes, std::initializer_list<ValueId> args) {
    return out_.append(make_op(op, type, lanes, guest_ip_), args);
  }
  /// The value with all its lanes, or with the lowest.
  ValueId fitting(ValueId value, unsigned lanes) {
    const ValueInfo info = function_.values[value];
    if (lanes == info.lanes) {
      if (whole_[value] == no_value) {
        const ValueId low = narrow_[value];
        const unsigned others = info.lanes - function_.values[low].lanes;
        whole_[value] =
            append(Op::concat, info.type, info.lanes, {low, append(Op::constant, info.type, others, {})});
      }
      return whole_[value];
    }
    if (narrow_[value] == no_value) narrow_[value] = append(Op::slice, info.type, lanes, {whole_[value]});
    return narrow_[value];
  }
  void define(ValueId value, ValueId as) {
    (function_.values[as].lanes == function_.values[value].lanes ? whole_ : narrow_)[value] = as;
  }

  void rewrite(const Inst& inst) {
    guest_ip_ = inst.guest_ip;
    const unsigned lanes = lanes_left(inst);
    if (lanes == 0) {
      for (unsigned k = 0; k < inst.result_count; ++k) {
        const ValueId value = inst.result + k;
        const ValueInfo info = function_.values[value];
        if (wanted_[value] != 0)
          define(value, append(Op::constant, info.type, whole_or_narrow(info.lanes, wanted_[value]), {}));
      }
      return;
    }
    if (inst.op == Op::slice) return slice(inst, lanes);
    if (inst.op == Op::concat && lanes < inst.lanes &&
        lanes <= function_.values[function_.arg(inst, 0)].lanes)
      return define(inst.result, fitting(function_.arg(inst, 0), lanes));
    if (inst.op == Op::splat && lanes == 1) return define(inst.result, fitting(function_.arg(inst, 0), 1));
    Inst one = inst;
    one.lanes = static_cast<std::uint8_t>(lanes);
    args_.resize(inst.arg_count);
    for (unsigned k = 0; k < inst.arg_count; ++k)
      args_[k] = fitting(function_.arg(inst, k), operand_lanes(inst, k, lanes));
    if (!std::ranges::equal(function_.args(inst), args_)) function_.set_args(one, args_);
    if (inst.mask != no_value) one.mask = fitting(inst.mask, lanes);
    if (lanes == inst.lanes) {
      out_.keep(one);
      for (unsigned k = 0; k < inst.result_count; ++k) whole_[inst.result + k] = inst.result + k;
      return;
    }
    for (unsigned k = 0; k < inst.result_count; ++k) {
      const ValueId value = function_.add_value(function_.values[inst.result + k].type, lanes);
      if (k == 0) one.result = value;
      narrow_[inst.result + k] = value;
    }
    out_.keep(one);
  }
  /// With how many lanes the op gets operand k: all, or as many as it keeps.
  unsigned operand_lanes(const Inst& inst, unsigned k, unsigned lanes) const {
    const ValueId arg = function_.arg(inst, k);
    const unsigned whole = function_.values[arg].lanes;
    if (inst.op == Op::concat) return whole;
    if (inst.op == Op::mask_bits) return whole_or_narrow(whole, known_[arg]);
    return lanes_taken(inst, k, lanes);
  }
  void slice(const Inst& inst, unsigned lanes) {
    const ValueId arg = function_.arg(inst, 0);
    if (is_mask(inst.type) && known_[inst.result] == 0)
      return define(inst.result, append(Op::constant, inst.type, lanes, {}));
    const auto first = static_cast<unsigned>(inst.imm);
    const ValueId from = narrow_[arg] != no_value && first + lanes <= function_.values[narrow_[arg]].lanes
                             ? narrow_[arg]
                             : fitting(arg, function_.values[arg].lanes);
    if (first == 0 && function_.values[from].lanes == lanes) return define(inst.result, from);
    Inst one = make_op(Op::slice, inst.type, lanes, guest_ip_);
    one.imm = first;
    define(inst.result, out_.append(one, {from}));
  }

  Function& function_;
  const unsigned channels_;
  std::vector<std::uint8_t> known_;      // of each mask
  std::vector<std::uint8_t> wanted_;     // of each value
  std::vector<ValueId> whole_, narrow_;  // what a value has become, in all its lanes and in the lowest
  std::vector<ValueId> args_;
  NewBlock out_;
  std::uint32_t guest_ip_ = 0;
};

}  // namespace

unsigned channels_needed(unsigned simd, unsigned channels) {
  constexpr unsigned vector = 8;
  return channels == 1 ? 1 : std::min(simd, std::max(vector, std::bit_ceil(channels)));
}

void few_channels(ir::Function& function, unsigned channels) {
  const unsigned needed = channels_needed(function.simd, channels);
  if (needed < function.simd) Narrower(function, needed).run();
}

void lone_threads(ir::Function& function) {
  for (Block& block : function.blocks) {
    Inst& last = block.insts.back();
    if (last.op != Op::wait) continue;
    const auto signal = std::ranges::find(block.insts, Op::barrier_signal, &Inst::op);
    if (signal == block.insts.end()) continue;
    last.op = Op::jump;
    block.insts.erase(signal);
  }
}

}  // namespace eum::jit

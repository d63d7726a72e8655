// GEN multiplies 32-bit integers in two steps: `mul acc a b.low16`, then `mach r a b`. If the accumulator
// holds what such a mul has left there, and a and b are still as mul has read them, mach is one 64-bit
// product. Registers decide this, not values: mul reads all lanes, mach mostly those under a mask, so that
// their values differ as soon as values are forwarded. Where mul takes a as a signed number and mach as an
// unsigned one, as with constants whose highest bit is set, the low half is that of the product, too.
#include <algorithm>
#include <optional>
#include <vector>

#include "jit/analysis/write_times.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using ir::Inst;
using ir::Op;
using ir::ValueId;

class Fuser {
 public:
  explicit Fuser(ir::Function& function)
      : function_(function), definitions_(function.values.size(), none), writes_(function) {}

  void run(ir::Block& block) {
    insts_ = block.insts;
    begin_ = clock_;
    for (Inst& inst : block.insts) {
      ++clock_;
      for (unsigned k = 0; k < inst.result_count; ++k) definitions_[inst.result + k] = clock_;
      if (inst.op == Op::mach) {
        const auto product = fused(inst);
        if (product && *product != inst.type) to_be_corrected_.push_back(inst.result);
        if (product) {
          inst.op = Op::mul_wide;
          inst.arg_count = 2;
        }
      }
      writes_.note(inst, clock_);
      if (inst.op == Op::mask_set) mask_set_ = clock_;
    }
    if (!to_be_corrected_.empty()) correct(block);
  }

 private:
  using Time = WriteTimes::Time;
  static constexpr Time none = ~0u;

  /// Instructions have times, which go on from block to block.
  const Inst& at(Time time) const { return insts_[time - begin_ - 1]; }
  const Inst* definition(ValueId value) const {
    const Time time = definitions_[value];
    return time != none && time > begin_ ? &at(time) : nullptr;
  }
  ValueId without_bitcasts(ValueId value) const {
    const Inst* inst = definition(value);
    for (; inst && inst->op == Op::bitcast; inst = definition(value)) value = function_.arg(*inst, 0);
    return value;
  }
  /// The origin of a value, through ops that keep the number: splat, bitcast, zero extension.
  ValueId source(ValueId value) const {
    const auto keeps = [](const Inst& inst) {
      if (inst.op != Op::convert) return inst.op == Op::splat || inst.op == Op::bitcast;
      const unsigned to = ir::size_of(inst.type), from = ir::size_of(inst.from);
      return ir::is_int(inst.type) && ir::is_int(inst.from) &&
             (to == from || (to > from && !ir::is_signed(inst.from)));
    };
    const Inst* inst = definition(value);
    for (; inst && keeps(*inst); inst = definition(value)) value = function_.arg(*inst, 0);
    return value;
  }

  /// The type of the product that the mach continues, if it does: its own, or a signed one.
  std::optional<ir::Type> fused(const Inst& mach) const {
    const Inst* product = accumulated(function_.arg(mach, 2), 0);
    const bool fits = product && product == accumulated(function_.arg(mach, 3), 1) &&
                      (product->type == mach.type || ir::is_signed(product->type)) &&
                      product->lanes == mach.lanes &&
                      is_same(function_.arg(*product, 0), function_.arg(mach, 0)) &&
                      is_low_half(function_.arg(*product, 1), function_.arg(mach, 1));
    return fits ? std::optional(product->type) : std::nullopt;
  }

  /// High halves of unsigned products that a signed one has begun: less the low word of b where a is
  /// negative.
  void correct(ir::Block& block) {
    NewBlock out(function_);
    auto next = to_be_corrected_.begin();
    for (const Inst& inst : block.insts) {
      if (next == to_be_corrected_.end() || inst.result_count == 0 || inst.result != *next) {
        out.keep(inst);
        continue;
      }
      ++next;
      correct(inst, out);
    }
    out.replace(block);
    to_be_corrected_.clear();
  }
  void correct(const Inst& inst, NewBlock& out) {
    using ir::Type;
    const auto op = [&](Op what, Type type, ValueId x, ValueId y) {
      return out.append(make_op(what, type, inst.lanes, inst.guest_ip), {x, y});
    };
    const auto constant = [&](Type type, std::uint64_t bits) {
      return out.constant(type, inst.lanes, bits, inst.guest_ip);
    };
    const auto cast = [&](Type type, ValueId value) {
      return out.converted(Op::bitcast, type, value, inst.guest_ip);
    };
    // Its results need adjacent ids, but high gets another one.
    Inst product = inst;
    product.result = function_.add_value(inst.type, inst.lanes);
    const ValueId high = function_.add_value(inst.type, inst.lanes);
    out.keep(product);
    const ValueId number = cast(Type::s32, function_.arg(inst, 0));
    const ValueId sign = op(Op::asr, Type::s32, number, constant(Type::s32, 31));
    const ValueId is_negative = cast(Type::u32, sign);
    const ValueId word = op(Op::and_, Type::u32, function_.arg(inst, 1), constant(Type::u32, 0xffff));
    const ValueId more = op(Op::and_, Type::u32, is_negative, word);
    Inst copy = make_op(Op::bitcast, Type::u32, inst.lanes, inst.guest_ip);
    copy.from = Type::u32;
    out.append(copy, {product.result});
    out.let_last_define(inst.result);
    op(Op::sub, Type::u32, high, more);
    out.let_last_define(inst.result + 1);
  }

  /// The product whose result `k` the value is, directly or through the register to which it was written.
  const Inst* accumulated(ValueId value, unsigned k) const {
    value = without_bitcasts(value);
    const Inst* inst = definition(value);
    if (inst && inst->op == Op::reg_read) {
      const Inst* write = written(*inst);
      if (!write) return nullptr;
      value = without_bitcasts(function_.arg(*write, 0));
      inst = definition(value);
    }
    return inst && inst->op == Op::mul_wide && value == inst->result + k ? inst : nullptr;
  }
  /// The write that has written every lane of what is read, if one has.
  const Inst* written(const Inst& read) const {
    const Time time = writes_.last_write(read);
    if (time <= begin_) return nullptr;
    const Inst& write = at(time);
    const bool whole = write.op == Op::reg_write && write.lanes == read.lanes &&
                       write.region.offset == read.region.offset && write.region.stride(write.lanes) == 1 &&
                       read.region.stride(read.lanes) == 1 &&
                       ir::size_of(write.type) == ir::size_of(read.type);
    return whole && (write.mask == ir::no_value || is_same_mask(write.mask, read.mask)) ? &write : nullptr;
  }
  bool is_same_mask(ValueId a, ValueId b) const {
    if (a == b) return true;
    if (a == ir::no_value || b == ir::no_value) return false;
    const Inst* x = definition(a);
    const Inst* y = definition(b);
    if (!x || !y || x->op != y->op || x->imm != y->imm || x->lanes != y->lanes) return false;
    if (x->op == Op::mask_get) return mask_set_ < std::min(definitions_[a], definitions_[b]);
    return x->op == Op::slice && is_same_mask(function_.arg(*x, 0), function_.arg(*y, 0));
  }

  bool is_same(ValueId a, ValueId b) const {
    a = source(a);
    b = source(b);
    if (a == b) return true;
    const Inst* x = definition(a);
    const Inst* y = definition(b);
    if (!x || !y || x->op != y->op || ir::size_of(x->type) != ir::size_of(y->type)) return false;
    if (x->op == Op::constant || x->op == Op::vconst) return x->imm == y->imm;
    return x->op == Op::reg_read && x->lanes == y->lanes && x->region.offset == y->region.offset &&
           x->region.stride(x->lanes) == y->region.stride(y->lanes) && x->region.stride(x->lanes) >= 0 &&
           is_kept(*x, definitions_[a], definitions_[b]);
  }
  /// `low` is the zero-extended low 16 bits of each lane of `whole`.
  bool is_low_half(ValueId low, ValueId whole) const {
    low = source(low);
    whole = source(whole);
    const Inst* l = definition(low);
    const Inst* w = definition(whole);
    if (!l || !w) return false;
    if (l->op == Op::constant && w->op == Op::constant)
      return (l->imm & 0xffffffff) == (w->imm & 0xffff) && ir::size_of(l->type) >= 2;
    if (l->op != Op::reg_read || w->op != Op::reg_read || l->type != ir::Type::u16 ||
        ir::size_of(w->type) != 4 || l->lanes != w->lanes || l->region.offset != w->region.offset)
      return false;
    const int words = l->region.stride(l->lanes), dwords = w->region.stride(w->lanes);
    return (l->lanes == 1 || (dwords > 0 && words == 2 * dwords)) &&
           is_kept(*w, definitions_[low], definitions_[whole]);
  }
  /// Whether what is read has not been written since the earlier of both times.
  bool is_kept(const Inst& read, Time a, Time b) const { return writes_.is_kept(read, std::min(a, b)); }

  ir::Function& function_;
  std::span<const Inst> insts_;    // of the block
  std::vector<Time> definitions_;  // of each value
  WriteTimes writes_;
  Time clock_ = 0, begin_ = 0, mask_set_ = 0;
  std::vector<ValueId> to_be_corrected_;  // low halves of products of the block
};

}  // namespace

void fuse_mul_mach(ir::Function& function) {
  run_on_blocks_with<Fuser>(function, [](const Inst& inst) { return inst.op == Op::mach; });
}

}  // namespace eum::jit

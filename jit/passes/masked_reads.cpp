// Registers that are read in all lanes but used under a mask. The first half of a product, `mul acc`, has no
// mask, while `mach` and what follows have one: they can use the product of what was written under the mask,
// and what other channels have in the register need not be kept for them.
#include <algorithm>
#include <array>
#include <span>

#include "jit/analysis/block_needs.hpp"
#include "jit/analysis/write_times.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

class BlockReads {
 public:
  explicit BlockReads(Function& function)
      : function_(function),
        needs_(function),
        out_(function),
        writes_(function),
        reads_(function.values.size()) {}

  void run(Block& block) {
    needs_.begin(block);
    if (std::ranges::none_of(block.insts, [&](const Inst& inst) { return uses_under_mask(inst); })) return;
    out_.clear();
    insts_ = block.insts;
    masks_.clear();
    begin_ = clock_;
    changes_ = false;
    for (const Inst& inst : block.insts) {
      ++clock_;
      note(inst);
      const Inst rewritten = rewrite(inst);  // which may append
      out_.keep(rewritten);
    }
    if (changes_) out_.replace(block);
  }
  /// Whether it reads all lanes, and is the kind of read that is replaced.
  static bool is_candidate(const Inst& inst) {
    return inst.op == Op::reg_read && inst.mask == no_value && inst.lanes > 1 && is_packed(inst);
  }

 private:
  using Time = WriteTimes::Time;
  struct Read {
    Time time = 0;
    const Inst* write = nullptr;  // a masked write that has written all that is read
    ValueId replaced_by = no_value;
    MaskLanes lanes;
  };

  static bool is_packed(const Inst& inst) {
    return size_of(inst.type) == WriteTimes::granule && inst.region.offset % WriteTimes::granule == 0 &&
           inst.region.stride(inst.lanes) == 1;
  }

  /// Whether a candidate is an operand of which only lanes under a mask are needed.
  bool uses_under_mask(const Inst& inst) const {
    const auto is_read = [&](ValueId value) {
      const Inst* definition = needs_.definition(value);
      return definition && is_candidate(*definition);
    };
    return is_lanewise(inst.op) && needs_.of_results(inst).what == Need::Under &&
           std::ranges::any_of(function_.args(inst), is_read);
  }

  void note(const Inst& inst) {
    writes_.note(inst, clock_);
    switch (inst.op) {
      case Op::slice:
        if (is_mask(inst.type)) masks_.push_back(inst.result);
        break;
      case Op::mask_get:
        masks_.push_back(inst.result);
        break;
      case Op::reg_read:
        if (is_candidate(inst)) reads_[inst.result] = {clock_, last_write(inst), no_value, {}};
        break;
      default:
        break;
    }
  }

  /// The masked write that has written all lanes, if one of this block has.
  const Inst* last_write(const Inst& read) const {
    const Time time = writes_.last_write(read);
    if (time <= begin_) return nullptr;
    const Inst& write = insts_[time - begin_ - 1];
    return write.op == Op::reg_write && write.mask != no_value && is_packed(write) ? &write : nullptr;
  }

  Inst rewrite(const Inst& inst) {
    if (!is_lanewise(inst.op)) return inst;
    const Need need = needs_.of_results(inst);
    if (need.what != Need::Under) return inst;
    return with_operands(function_, inst, changes_, [&](unsigned k) {
      return under(function_.arg(inst, k), need.lanes, inst.guest_ip);
    });
  }

  /// A value that can replace `value` where it is used in these lanes.
  ValueId under(ValueId value, const MaskLanes& lanes, std::uint32_t ip) {
    const Inst* read = value < reads_.size() ? needs_.definition(value) : nullptr;
    if (!read || !is_candidate(*read)) return value;
    Read& known = reads_[value];
    if (known.replaced_by != no_value && known.lanes == lanes) return known.replaced_by;
    const ValueId found =
        known.write ? written(*read, *known.write, lanes, ip) : read_again(*read, known, lanes, ip);
    if (found == no_value) return value;
    known.replaced_by = found;
    known.lanes = lanes;
    return found;
  }
  ValueId written(const Inst& read, const Inst& write, const MaskLanes& lanes, std::uint32_t ip) {
    const unsigned first = (read.region.offset - write.region.offset) / WriteTimes::granule;
    const MaskLanes under = needs_.root(write.mask);
    if (under.mask != lanes.mask || under.first + first != lanes.first) return no_value;
    ValueId found = function_.arg(write, 0);
    const Type type = function_.values[found].type;
    if (function_.values[found].lanes != read.lanes) {
      Inst slice = make_op(Op::slice, type, read.lanes, ip);
      slice.imm = first;
      found = out_.append(slice, {found});
    }
    if (type == read.type) return found;
    Inst cast = make_op(Op::bitcast, read.type, read.lanes, ip);
    cast.from = type;
    return out_.append(cast, {found});
  }
  ValueId read_again(const Inst& read, const Read& known, const MaskLanes& lanes, std::uint32_t ip) {
    if (!writes_.is_kept(read, known.time)) return no_value;
    const auto mask = std::ranges::find_if(masks_, [&](ValueId one) {
      return function_.values[one].lanes == read.lanes && needs_.root(one) == lanes;
    });
    if (mask == masks_.end()) return no_value;
    Inst again = read;
    again.mask = *mask;
    again.guest_ip = ip;
    return out_.append(again, {});
  }

  Function& function_;
  BlockNeeds needs_;
  NewBlock out_;
  std::span<const Inst> insts_;  // of the block
  WriteTimes writes_;
  std::vector<Read> reads_;     // by value
  std::vector<ValueId> masks_;  // of this block so far: contents of mask variables, and slices of them
  Time clock_ = 0, begin_ = 0;
  bool changes_ = false;
};

}  // namespace

void masked_reads(Function& function) { run_on_blocks_with<BlockReads>(function, BlockReads::is_candidate); }

}  // namespace eum::jit

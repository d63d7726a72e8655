// Registers that are read of all lanes but looked at under a mask. The first half of a product, `mul acc`,
// has no mask where `mach` and all behind it have one: these have the product of what was written under the
// mask as well, and what other channels hold in the register need not be kept for it.
#include <algorithm>
#include <array>
#include <span>

#include "jit/passes/block_needs.hpp"
#include "jit/passes/liveness.hpp"
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
        written_(function.file_bytes / granule + 64),
        reads_(function.values.size()) {}

  void run(Block& block) {
    if (std::ranges::none_of(block.insts, is_candidate)) return;
    needs_.begin(block);
    out_.clear();
    writes_.assign(1, {});
    masks_.clear();
    begin_ = clock_;
    changes_ = false;
    for (const Inst& inst : block.insts) {
      ++clock_;
      note(inst);
      const Inst rewritten = rewrite(inst);  // which may append
      out_.keep(rewritten);
    }
    needs_.end(block);
    if (changes_) out_.replace(block);
  }

 private:
  static constexpr std::uint32_t unknown = 0;
  struct Write {
    ValueId value = no_value;
    unsigned offset = 0;
    MaskLanes lanes;
  };
  struct Written {
    std::uint32_t time = 0;
    std::uint32_t write = unknown;
  };
  struct Read {
    std::uint32_t time = 0;
    std::uint32_t write = unknown;
    ValueId replaced_by = no_value;
    MaskLanes lanes;
  };

  static constexpr unsigned granule = 4;
  static bool is_candidate(const Inst& inst) {
    return inst.op == Op::reg_read && inst.mask == no_value && inst.lanes > 1 && is_packed(inst);
  }
  static bool is_packed(const Inst& inst) {
    return size_of(inst.type) == granule && inst.region.offset % granule == 0 &&
           inst.region.stride(inst.lanes) == 1;
  }

  void note(const Inst& inst) {
    switch (inst.op) {
      case Op::slice:
        if (is_mask(inst.type)) masks_.push_back(inst.result);
        break;
      case Op::mask_get:
        masks_.push_back(inst.result);
        break;
      case Op::reg_write: {
        const auto [first, last] = slots_of(inst, granule);
        std::uint32_t write = unknown;
        if (inst.mask != no_value && is_packed(inst)) {
          write = static_cast<std::uint32_t>(writes_.size());
          writes_.push_back({function_.arg(inst, 0), inst.region.offset, needs_.root(inst.mask)});
        }
        std::fill(written_.begin() + first, written_.begin() + last + 1, Written{clock_, write});
        break;
      }
      case Op::reg_scatter:
        std::fill_n(written_.begin(), (function_.indirect_end() + granule - 1) / granule,
                    Written{clock_, unknown});
        break;
      case Op::reg_read:
        if (is_candidate(inst)) reads_[inst.result] = {clock_, last_write(inst), no_value, {}};
        break;
      default:
        break;
    }
  }

  /// The write that all lanes are of, if one of this block is.
  std::uint32_t last_write(const Inst& read) const {
    const auto [first, last] = slots_of(read, granule);
    const Written& found = written_[first];
    if (found.time <= begin_) return unknown;
    for (unsigned g = first; g <= last; ++g)
      if (written_[g].time != found.time) return unknown;
    return found.write;
  }

  Inst rewrite(const Inst& inst) {
    if (!is_lanewise(inst.op)) return inst;
    const Need need = needs_.of_results(inst);
    if (need.what != Need::Under) return inst;
    return with_operands(function_, inst, changes_, [&](unsigned k) {
      return under(function_.arg(inst, k), need.lanes, inst.guest_ip);
    });
  }

  /// What does in place of `value` where it is looked at for these lanes.
  ValueId under(ValueId value, const MaskLanes& lanes, std::uint32_t ip) {
    const Inst* read = value < reads_.size() ? needs_.definition(value) : nullptr;
    if (!read || !is_candidate(*read)) return value;
    Read& known = reads_[value];
    if (known.replaced_by != no_value && known.lanes == lanes) return known.replaced_by;
    const ValueId found = known.write != unknown ? written(*read, writes_[known.write], lanes, ip)
                                                 : read_again(*read, known, lanes, ip);
    if (found == no_value) return value;
    known.replaced_by = found;
    known.lanes = lanes;
    return found;
  }
  ValueId written(const Inst& read, const Write& write, const MaskLanes& lanes, std::uint32_t ip) {
    const unsigned first = (read.region.offset - write.offset) / granule;
    if (write.lanes.mask != lanes.mask || write.lanes.first + first != lanes.first) return no_value;
    ValueId found = write.value;
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
    const auto [first, last] = slots_of(read, granule);
    for (unsigned g = first; g <= last; ++g)
      if (written_[g].time > known.time) return no_value;
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
  std::vector<Write> writes_;     // of this block, under masks; the first one is none
  std::vector<Written> written_;  // granules of the file
  std::vector<Read> reads_;       // by value
  std::vector<ValueId> masks_;    // of this block so far: what mask variables hold, and parts of that
  std::uint32_t clock_ = 0, begin_ = 0;
  bool changes_ = false;
};

}  // namespace

void masked_reads(Function& function) {
  BlockReads reads(function);
  for (Block& block : function.blocks) reads.run(block);
}

}  // namespace eum::jit

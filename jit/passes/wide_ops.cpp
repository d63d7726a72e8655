// 64 bits as pairs of dwords. Messages to surfaces and local memory move dwords, and Gen9's small devices
// compute on dwords only, so compilers load the halves of 64 bits as two components of each lane and compute
// on them, or join them, and take 64 bits apart to store them. With vectors, each of these steps is a handful
// of shuffles that undo those of the other. If the halves of all lanes are joined, compared, or computed
// alike and stored, the access is one of qwords, and so are the ops; where memory ends it still is one of
// halves (MemoryAccess::part_bytes).
#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "jit/analysis/liveness.hpp"
#include "jit/passes/half_pairs.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

/// Whether the op loads or stores pairs of dwords.
bool moves_pairs(const Function& function, const Inst& inst) {
  return (inst.op == Op::load || inst.op == Op::store) && size_of(inst.type) == 4 &&
         is_of_pairs(function.access(inst));
}

class WideOps {
 public:
  explicit WideOps(Function& function)
      : function_(function),
        definitions_(function.values.size()),
        joined_(function.values.size()),
        halves_(function.values.size()),
        computed_(function.values.size()),
        as_dword_(function.values.size()),
        needed_(function.values.size()),
        pairs_(function, definitions_, same_),
        out_(function) {}

  void run(Block& block) {
    for (const Inst& inst : block.insts)
      for (unsigned k = 0; k < inst.result_count; ++k) definitions_[inst.result + k] = &inst;
    pairs_.begin(block);
    reject(block);
    for (const Inst& inst : block.insts) count(inst);
    out_.clear();
    pending_.clear();
    written_.clear();
    bool changed = false;
    for (Inst inst : block.insts) {
      same_.resolve(function_, inst);
      changed |= replace(inst);
    }
    for (const Inst& inst : block.insts)
      for (unsigned k = 0; k < inst.result_count; ++k) {
        definitions_[inst.result + k] = nullptr;
        joined_[inst.result + k] = 0;
      }
    if (changed) out_.replace(block);
  }

 private:
  /// A dword that is half of a qword.
  struct Half {
    ValueId whole = no_value;
    bool is_high = false;
  };

  /// Rejects ops on pairs for which dwords would be computed that are needed as dwords, too.
  void reject(const Block& block) {
    rejected_.clear();
    for (bool changed = true; changed;) {
      find_live(block);
      if (roots_.empty()) return;
      for (std::vector<bool>* values : {&computed_, &as_dword_}) reset(*values, block);
      for (const Inst* root : roots_) visit_computed(*root, [&](ValueId value) { computed_[value] = true; });
      for (const Inst* inst : live_) {
        bool is_computed = inst->op == Op::bitcast;
        // Parts are needed as dwords if something needs them, which comes later and has been seen.
        if ((inst->op == Op::slice || inst->op == Op::concat) && !is_mask(inst->type))
          is_computed = !as_dword_[inst->result];
        for (unsigned k = 0; k < inst->result_count; ++k) is_computed |= computed_[inst->result + k];
        if (!is_computed)
          for (const ValueId arg : used_as_dwords(*inst)) as_dword_[pairs_.uncast(arg)] = true;
      }
      const auto is_bad = [&](const Inst* root) {
        bool is_good = true;
        visit_computed(*root, [&](ValueId value) { is_good &= !as_dword_[value]; });
        if (!is_good) rejected_.insert(root->first_arg);
        return !is_good;
      };
      changed = std::ranges::count_if(roots_, is_bad) != 0;
    }
  }
  /// What is needed although registers are only written for later, the last one first, and which of it uses
  /// pairs: a comparison needs these, not the masks of which it was put together. Of the writes of a flag the
  /// last one counts, be it under a mask.
  void find_live(const Block& block) {
    live_.clear();
    roots_.clear();
    reset(needed_, block);
    std::vector<bool> flags(function_.flag_bits);
    for (auto inst = block.insts.rbegin(); inst != block.insts.rend(); ++inst) {
      bool is_live = !is_pure(inst->op) && inst->op != Op::reg_write;
      if (inst->op == Op::flag_write) {
        const auto begin = flags.begin() + static_cast<std::ptrdiff_t>(inst->imm), end = begin + inst->lanes;
        is_live = std::find(begin, end, false) != end;
        std::fill(begin, end, true);
      }
      for (unsigned k = 0; k < inst->result_count; ++k) is_live |= needed_[inst->result + k];
      if (!is_live) continue;
      live_.push_back(&*inst);
      const auto pairs = pairs_of(*inst);
      parts_.clear();
      const bool is_root = !pairs.empty() && std::ranges::all_of(pairs, [&](const HalfPair& pair) {
        return pairs_.find(pair, parts_);
      });
      if (is_root)
        roots_.push_back(&*inst);
      else if (!pairs.empty())
        rejected_.insert(inst->first_arg);
      if (is_root && is_mask(inst->type)) {
        for (const auto& [low, high] : pairs)
          for (const ValueId half : {low, high})
            if (half != no_value) needed_[half] = true;
      } else {
        for (const ValueId arg : function_.args(*inst)) needed_[arg] = true;
      }
    }
  }
  /// Nothing holds of the block's values.
  static void reset(std::vector<bool>& values, const Block& block) {
    for (const Inst& inst : block.insts)
      for (unsigned k = 0; k < inst.result_count; ++k) values[inst.result + k] = false;
  }
  template <class Visit>
  void visit_computed(const Inst& inst, Visit visit) {
    for (const HalfPair& pair : pairs_of(inst)) pairs_.visit_computed(pair, visit);
  }
  /// Operands that are no halves.
  std::span<const ValueId> used_as_dwords(const Inst& inst) const {
    const auto args = function_.args(inst);
    if (pairs_of(inst).empty()) return args;
    return args.first(inst.op == Op::store ? function_.access(inst).address_operand() + 1 : 0);
  }

  /// The pairs that an op uses as 64 bits.
  std::vector<HalfPair> pairs_of(const Inst& inst) const {
    if (rejected_.contains(inst.first_arg)) return {};
    if (inst.op == Op::join) return {{function_.arg(inst, 0), function_.arg(inst, 1)}};
    if (const auto compare = pairs_.compare(inst)) return {compare->a, compare->b};
    std::vector<HalfPair> pairs;
    if (inst.op != Op::store || !moves_pairs(function_, inst)) return pairs;
    for (unsigned k = function_.access(inst).address_operand() + 1; k < inst.arg_count; k += 2)
      pairs.emplace_back(function_.arg(inst, k), function_.arg(inst, k + 1));
    return pairs;
  }
  /// Counts the lanes of each pair of components that are joined, and notes which reads of registers are.
  void count(const Inst& inst) {
    for (const HalfPair& pair : pairs_of(inst)) {
      parts_.clear();
      if (!pairs_.find(pair, parts_)) continue;
      for (const auto& [low, high] : parts_) {
        const unsigned lanes = std::min(inst.lanes, function_.values[low].lanes);
        joined_[low] += lanes;
        joined_[high] += lanes;
      }
    }
  }
  /// Whether all lanes of all components of a load are joined.
  bool is_joined(const Inst& load) const {
    for (unsigned k = 0; k < load.result_count; ++k)
      if (joined_[load.result + k] < load.lanes) return false;
    return true;
  }

  /// Adds the instruction, or what replaces it. True: something replaces it.
  bool replace(const Inst& inst) {
    switch (inst.op) {
      case Op::load:
        if (!moves_pairs(function_, inst) || !is_joined(inst)) break;
        load(inst);
        return true;
      case Op::store:
      case Op::join:
        if (!are_whole(pairs_of(inst))) break;
        inst.op == Op::store ? store(inst) : same_.add(inst.result, whole(pairs_of(inst).front(), inst));
        return true;
      case Op::and_:
      case Op::or_:
        if (!is_mask(inst.type) || !are_whole(pairs_of(inst))) break;
        compare(inst);
        return true;
      case Op::reg_read:
        out_.keep(inst);
        return joined_[inst.result] != 0 && HalfPairs::is_half(inst) && read(inst);
      case Op::reg_write:
        settle(inst);
        if (size_of(inst.type) == 8 && inst.region == Region::packed(inst.region.offset))
          written_.push_back(inst);
        break;
      case Op::reg_scatter:
        pending_.clear();
        written_.clear();
        break;
      default:
        break;
    }
    out_.keep(inst);
    return false;
  }

  void load(const Inst& inst) {
    Inst wide = inst;
    wide.type = Type::u64;
    wide.result_count = static_cast<std::uint8_t>(inst.result_count / 2);
    function_.set_access(wide, of_qwords(function_.access(inst)));
    for (unsigned k = 0; k < wide.result_count; ++k) {
      const ValueId result = function_.add_value(Type::u64, inst.lanes);
      if (k == 0) wide.result = result;
    }
    out_.keep(wide);
    Inst half_bits = make_op(Op::constant, Type::u64, inst.lanes, inst.guest_ip);
    half_bits.imm = 32;
    const ValueId shift = out_.append(half_bits, {});
    for (unsigned k = 0; k < inst.result_count; ++k) {
      const bool is_high = k % 2 != 0;
      const ValueId result = wide.result + k / 2;
      halves_[inst.result + k] = {result, is_high};
      Inst cut = make_op(Op::convert, inst.type, inst.lanes, inst.guest_ip);
      cut.from = Type::u64;
      const Inst down = make_op(Op::shr, Type::u64, inst.lanes, inst.guest_ip);
      const ValueId bits = is_high ? out_.append(down, {result, shift}) : result;
      function_.set_args(cut, {bits});
      cut.result = inst.result + k;
      out_.keep(cut);
    }
  }
  static MemoryAccess of_qwords(MemoryAccess access) {
    std::uint64_t pairs = 0;
    for (unsigned k = 0; k < 32; ++k) pairs |= (access.components >> 2 * k & 1) << k;
    access.components = pairs;
    if (access.part_bytes == 0) access.part_bytes = 4;
    return access;
  }

  void store(const Inst& inst) {
    Inst wide = inst;
    wide.type = Type::u64;
    const MemoryAccess access = of_qwords(function_.access(inst));
    std::vector<ValueId> args;
    for (unsigned k = 0; k <= access.address_operand(); ++k) args.push_back(function_.arg(inst, k));
    for (const HalfPair& pair : pairs_of(inst)) args.push_back(whole(pair, inst));
    function_.set_args(wide, args);
    function_.set_access(wide, access);
    out_.keep(wide);
  }

  /// A read of one half. Behind that of the other one, all of it is read.
  bool read(const Inst& inst) {
    const auto other = std::ranges::find_if(
        pending_, [&](const Inst& pending) { return HalfPairs::is_other_half(pending, inst); });
    if (other == pending_.end()) {
      pending_.push_back(inst);
      return false;
    }
    const ValueId whole = read_whole(inst);
    for (const Inst& half : {*other, inst}) halves_[half.result] = {whole, half.region.offset % 8 != 0};
    pending_.erase(other);
    return true;
  }
  /// The qwords of which the read takes one half.
  ValueId read_whole(const Inst& half) {
    const Region region = Region::packed(half.region.offset & ~7u);
    const auto written = std::ranges::find_if(written_, [&](const Inst& write) {
      return write.region == region && write.lanes == half.lanes &&
             (write.mask == no_value || write.mask == half.mask);
    });
    if (written != written_.end())
      return out_.converted(Op::bitcast, Type::u64, function_.arg(*written, 0), half.guest_ip);
    Inst both = make_op(Op::reg_read, Type::u64, half.lanes, half.guest_ip);
    both.region = region;
    both.mask = half.mask;
    return out_.append(both, {});
  }
  /// Accesses of the same registers before this write see something else.
  void settle(const Inst& write) {
    constexpr unsigned granule = 4;
    const SlotRange range = slots_of(write, granule);
    for (auto* insts : {&pending_, &written_})
      std::erase_if(*insts, [&](const Inst& inst) { return overlap(range, slots_of(inst, granule)); });
  }

  bool are_whole(const std::vector<HalfPair>& pairs) {
    parts_.clear();
    return !pairs.empty() &&
           std::ranges::all_of(pairs, [&](const HalfPair& p) { return pairs_.find(p, parts_); }) &&
           std::ranges::all_of(parts_, [&](const HalfPair& part) {
             const Half &low = halves_[part.first], &high = halves_[part.second];
             return low.whole != no_value && low.whole == high.whole && !low.is_high && high.is_high;
           });
  }
  /// The 64 bits of a pair that are_whole().
  ValueId whole(HalfPair pair, const Inst& at) {
    return same_.resolve(
        pairs_.build(pair, out_, at.guest_ip, [&](HalfPair part) { return halves_[part.first].whole; }));
  }

  void compare(const Inst& inst) {
    const WideCompare wide = *pairs_.compare(inst);
    const auto operand = [&](HalfPair pair) {
      return out_.converted(Op::bitcast, wide.type, whole(pair, inst), inst.guest_ip);
    };
    const ValueId a = operand(wide.a), b = operand(wide.b);
    out_.append(make_op(wide.op, wide.type, inst.lanes, inst.guest_ip), {a, b});
    out_.let_last_define(inst.result);
  }

  Function& function_;
  std::vector<const Inst*> definitions_;  ///< of the block's values
  std::vector<unsigned> joined_;          ///< of each dword: how many lanes are halves of something
  std::vector<Half> halves_;
  std::vector<bool> computed_;  ///< of ops on pairs that become ops on qwords
  std::vector<bool> as_dword_;  ///< used by something else
  std::vector<bool> needed_;    ///< by what is live
  HalfPairs pairs_;
  std::vector<Inst> pending_;  ///< reads of halves, behind which the register has not been written
  std::vector<Inst> written_;  ///< writes of qwords, behind which it has not been either
  std::vector<HalfPair> parts_;
  std::vector<const Inst*> live_, roots_;
  std::set<std::uint32_t> rejected_;  ///< first_arg of instructions whose operands stay dwords
  SameValues same_;
  NewBlock out_;
};

}  // namespace

void wide_ops(Function& function) {
  run_on_blocks_with<WideOps>(function, [&](const Inst& inst) { return moves_pairs(function, inst); });
}

void wide_ops(Function& function, BlockId block) { WideOps(function).run(function.blocks[block]); }

}  // namespace eum::jit

// Pairs of dwords that are 64 bits. Messages to surfaces and local memory move dwords, so compilers load the
// halves of 64 bits as two components of each lane and join them, and take 64 bits apart to store them. With
// vectors, each of these steps is a handful of shuffles that undo those of the other. If the halves of all
// lanes are joined, the access is one of qwords; where memory ends it still is one of halves
// (MemoryAccess::by_halves).
#include <algorithm>
#include <utility>
#include <vector>

#include "jit/passes/liveness.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

/// Whether the op loads or stores pairs of dwords: components 0 and 1, 2 and 3, ...
bool is_of_pairs(const Function& function, const Inst& inst) {
  if ((inst.op != Op::load && inst.op != Op::store) || size_of(inst.type) != 4) return false;
  const std::uint64_t components = function.access(inst).components;
  constexpr std::uint64_t even = 0x5555555555555555;
  return (components & even) == (components >> 1 & even);
}

class BlockComponents {
 public:
  explicit BlockComponents(Function& function)
      : function_(function),
        definitions_(function.values.size()),
        joined_(function.values.size()),
        halves_(function.values.size()),
        out_(function) {}

  void run(Block& block) {
    for (const Inst& inst : block.insts)
      for (unsigned k = 0; k < inst.result_count; ++k) definitions_[inst.result + k] = &inst;
    for (const Inst& inst : block.insts) count(inst);
    out_.clear();
    pending_.clear();
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
  using Pair = std::pair<ValueId, ValueId>;  ///< low and high halves

  const Inst* definition(ValueId value) const {
    return value < definitions_.size() ? definitions_[value] : nullptr;
  }
  /// The value behind casts between types of 32 bits.
  ValueId uncast(ValueId value) const {
    for (const Inst* inst = definition(value); inst && inst->op == Op::bitcast && size_of(inst->type) == 4;
         inst = definition(value))
      value = function_.arg(*inst, 0);
    return value;
  }

  /// Finds the pairs of which a pair consists: halves of registers, or components of a load. False: it is put
  /// together in another way.
  bool find_parts(Pair pair, std::vector<Pair>& parts) const {
    const ValueId low = uncast(pair.first), high = uncast(pair.second);
    const Inst *a = definition(low), *b = definition(high);
    if (!a || !b || a->op != b->op) return false;
    const auto both = [&](unsigned k) { return Pair{function_.arg(*a, k), function_.arg(*b, k)}; };
    switch (a->op) {
      case Op::concat:
        return function_.values[both(0).first].lanes == function_.values[both(0).second].lanes &&
               find_parts(both(0), parts) && find_parts(both(1), parts);
      case Op::slice:
        return a->imm == b->imm && find_parts(both(0), parts);
      case Op::constant:
        return true;
      case Op::load:
        if (a != b || high != low + 1 || (low - a->result) % 2 != 0 || !is_of_pairs(function_, *a))
          return false;
        break;
      case Op::reg_read:
        if (!is_low_half(*a) || !is_other_half(*a, *b)) return false;
        break;
      default:
        return false;
    }
    parts.emplace_back(low, high);
    return true;
  }
  static bool is_half(const Inst& read) {
    return size_of(read.type) == 4 && read.region.offset % 4 == 0 && read.lanes > 1 &&
           read.region.stride(read.lanes) == 2;
  }
  static bool is_low_half(const Inst& read) { return is_half(read) && read.region.offset % 8 == 0; }
  /// Whether the reads are of the two halves of the same qwords.
  static bool is_other_half(const Inst& read, const Inst& other) {
    return is_half(other) && (read.region.offset ^ other.region.offset) == 4 && read.lanes == other.lanes &&
           read.mask == other.mask;
  }

  /// The pairs that an op uses as 64 bits.
  std::vector<Pair> pairs_of(const Inst& inst) const {
    if (inst.op == Op::join) return {{function_.arg(inst, 0), function_.arg(inst, 1)}};
    std::vector<Pair> pairs;
    if (inst.op != Op::store || !is_of_pairs(function_, inst)) return pairs;
    for (unsigned k = function_.access(inst).address_operand() + 1; k < inst.arg_count; k += 2)
      pairs.emplace_back(function_.arg(inst, k), function_.arg(inst, k + 1));
    return pairs;
  }
  /// Counts the lanes of each pair of components that are joined, and notes which reads of registers are.
  void count(const Inst& inst) {
    for (const Pair& pair : pairs_of(inst)) {
      parts_.clear();
      if (!find_parts(pair, parts_)) continue;
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
        if (!is_of_pairs(function_, inst) || !is_joined(inst)) break;
        load(inst);
        return true;
      case Op::store:
      case Op::join:
        if (!are_whole(pairs_of(inst))) break;
        inst.op == Op::store ? store(inst) : same_.add(inst.result, whole(pairs_of(inst).front(), inst));
        return true;
      case Op::reg_read:
        out_.keep(inst);
        return joined_[inst.result] != 0 && is_half(inst) && read(inst);
      case Op::reg_write:
      case Op::reg_scatter:
        settle(inst);
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
    access.by_halves = true;
    return access;
  }

  void store(const Inst& inst) {
    Inst wide = inst;
    wide.type = Type::u64;
    const MemoryAccess access = of_qwords(function_.access(inst));
    std::vector<ValueId> args;
    for (unsigned k = 0; k <= access.address_operand(); ++k) args.push_back(function_.arg(inst, k));
    for (const Pair& pair : pairs_of(inst)) args.push_back(whole(pair, inst));
    function_.set_args(wide, args);
    function_.set_access(wide, access);
    out_.keep(wide);
  }

  /// A read of one half. Behind that of the other one, all of it is read.
  bool read(const Inst& inst) {
    const auto other =
        std::ranges::find_if(pending_, [&](const Inst& pending) { return is_other_half(pending, inst); });
    if (other == pending_.end()) {
      pending_.push_back(inst);
      return false;
    }
    Inst both = make_op(Op::reg_read, Type::u64, inst.lanes, inst.guest_ip);
    both.region = Region::packed(inst.region.offset & ~7u);
    both.mask = inst.mask;
    const ValueId whole = out_.append(both, {});
    for (const Inst& half : {*other, inst}) halves_[half.result] = {whole, half.region.offset % 8 != 0};
    pending_.erase(other);
    return true;
  }
  /// Reads behind this write see something else.
  void settle(const Inst& write) {
    if (pending_.empty()) return;
    if (write.op == Op::reg_scatter) return pending_.clear();
    constexpr unsigned granule = 4;
    const SlotRange range = slots_of(write, granule);
    std::erase_if(pending_, [&](const Inst& read) { return overlap(range, slots_of(read, granule)); });
  }

  bool are_whole(const std::vector<Pair>& pairs) {
    parts_.clear();
    return !pairs.empty() &&
           std::ranges::all_of(pairs, [&](const Pair& p) { return find_parts(p, parts_); }) &&
           !parts_.empty() && std::ranges::all_of(parts_, [&](const Pair& part) {
             const Half &low = halves_[part.first], &high = halves_[part.second];
             return low.whole != no_value && low.whole == high.whole && !low.is_high && high.is_high;
           });
  }
  /// The 64 bits of a pair that are_whole().
  ValueId whole(Pair pair, const Inst& at) {
    const ValueId low = uncast(pair.first), high = uncast(pair.second);
    const Inst &a = *definition(low), &b = *definition(high);
    const auto both = [&](unsigned k) { return whole({function_.arg(a, k), function_.arg(b, k)}, at); };
    Inst op = make_op(a.op, Type::u64, a.lanes, at.guest_ip);
    op.imm = a.imm;
    switch (a.op) {
      case Op::concat: {
        const ValueId first = both(0);
        return out_.append(op, {first, both(1)});
      }
      case Op::slice:
        return out_.append(op, {both(0)});
      case Op::constant:
        op.imm = (a.imm & ~0u) | b.imm << 32;
        return out_.append(op, {});
      default:
        return halves_[low].whole;
    }
  }

  Function& function_;
  std::vector<const Inst*> definitions_;  ///< of the block's values
  std::vector<unsigned> joined_;          ///< of each dword: how many lanes are halves of something
  std::vector<Half> halves_;
  std::vector<Inst> pending_;  ///< reads of halves, behind which the register has not been written
  std::vector<Pair> parts_;
  SameValues same_;
  NewBlock out_;
};

}  // namespace

void join_components(Function& function) {
  run_on_blocks_with<BlockComponents>(function,
                                      [&](const Inst& inst) { return is_of_pairs(function, inst); });
}

}  // namespace eum::jit

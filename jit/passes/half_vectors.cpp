// Bytes of 16 lanes take half a vector. GEN's instructions have 16 lanes at most, so kernels of 32 channels
// compute each half of the channels by instructions of its own: if both compute the same, and then store
// bytes, they are computed together. Elements of other sizes fill a vector with 16 lanes, so that joining
// them would gain nothing: where bytes are made of them, both halves are concatenated, which takes no
// instruction.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

constexpr unsigned half_lanes = 16;

bool may_store_half(const Inst& inst) {
  return inst.op == Op::store && inst.lanes == half_lanes && size_of(inst.type) == 1;
}

class BlockHalves {
 public:
  explicit BlockHalves(Function& function) : function_(function), out_(function) {}

  void run(Block& block) {
    insts_ = std::span(block.insts);
    if (definitions_.size() < function_.values.size()) definitions_.resize(function_.values.size());
    for (std::uint32_t i = 0; i < insts_.size(); ++i)
      for (unsigned k = 0; k < insts_[i].result_count; ++k) definitions_[insts_[i].result + k] = i;
    const std::vector<Pair> pairs = find_pairs();
    if (pairs.empty()) return;
    out_.clear();
    joined_.clear();
    auto pair = pairs.begin();
    for (std::uint32_t i = 0; i < insts_.size(); ++i) {
      if (pair == pairs.end() || (i != pair->first && i != pair->second)) {
        out_.keep(insts_[i]);
        continue;
      }
      if (i == pair->first) continue;
      at_ = i;
      const Inst first = insts_[pair->first], second = insts_[i];
      const ValueId whole = join(*pair, data_of(first), data_of(second));
      const ValueId low = slice(whole, 0), high = slice(whole, half_lanes);
      out_.keep(with_data(first, low));
      out_.keep(with_data(second, high));
      ++pair;
    }
    out_.replace(block);
  }

 private:
  enum class How : std::uint8_t {
    Not,
    Alike,   ///< both are the same in every lane
    Op,      ///< one op on the joined operands
    Concat,  ///< of both values
  };
  /// Two stores, and how values of both halves are joined.
  struct Pair {
    std::uint32_t first, second;
    std::map<std::pair<ValueId, ValueId>, How> joins = {};
    int saved = 0, cost = 0;  ///< in instructions
  };

  /// In the order of the second stores.
  std::vector<Pair> find_pairs() {
    std::vector<Pair> pairs;
    std::uint32_t lower = none;  // a store that may move to that of the upper half, and is in no pair
    for (std::uint32_t i = 0; i < insts_.size(); ++i) {
      const Inst& inst = insts_[i];
      const bool stores = may_store_half(inst) && function_.access(inst).component_count() == 1 &&
                          function_.access(inst).never_faults();
      if (stores && lower != none && are_halves(lower, i)) {
        Pair pair{lower, i};
        if (plan(pair, data_of(insts_[lower]), data_of(inst)) != How::Not && pair.saved > pair.cost) {
          pairs.push_back(std::move(pair));
          lower = none;
          continue;
        }
      }
      // Memory accesses keep their order, and a thread that stops has stored what is before.
      const Effect effect = info(inst.op).effect;
      if (stores)
        lower = i;
      else if (may_leave(inst.op) || effect == Effect::ReadsMemory || effect == Effect::WritesMemory ||
               effect == Effect::Effect)
        lower = none;
    }
    return pairs;
  }
  ValueId data_of(const Inst& store) const {
    return function_.arg(store, function_.access(store).address_operand() + 1);
  }
  const Inst& definition(ValueId value) const { return insts_[definitions_[value]]; }

  /// Whether two loads or stores access the same, each for one half of the channels.
  bool are_halves(std::uint32_t low, std::uint32_t high) const {
    const Inst &a = insts_[low], &b = insts_[high];
    if (a.op != b.op || a.type != b.type || a.lanes != b.lanes || function_.access(a) != function_.access(b))
      return false;
    if (a.mask == no_value || b.mask == no_value) return a.mask == b.mask;
    const Inst &of_a = definition(a.mask), &of_b = definition(b.mask);
    return of_a.op == Op::slice && of_b.op == Op::slice && function_.arg(of_a, 0) == function_.arg(of_b, 0) &&
           of_a.imm == 0 && of_b.imm == half_lanes;
  }

  bool is_byte(ValueId value) const {
    const ValueInfo& info = function_.values[value];
    return is_int(info.type) && size_of(info.type) == 1;
  }
  /// Whether 16 lanes of it fill vectors: both halves are then concatenated by no instruction.
  bool is_free(ValueId value) const {
    const Type type = function_.values[value].type;
    return !is_mask(type) && size_of(type) > 1;
  }
  bool are_same_op(const Inst& a, const Inst& b) const {
    return a.op == b.op && a.type == b.type && a.from == b.from && a.lanes == b.lanes &&
           a.arg_count == b.arg_count && a.result_count == 1 && b.result_count == 1;
  }
  /// Values that are the same in every lane, of either half.
  bool are_alike(const Inst& a, const Inst& b) const {
    if (!are_same_op(a, b)) return false;
    if (a.op == Op::constant) return a.imm == b.imm;
    return a.op == Op::splat && function_.arg(a, 0) == function_.arg(b, 0);
  }
  /// Ops on bytes, comparisons of bytes and ops on their masks, and what makes bytes of larger elements.
  bool may_join(const Inst& a, const Inst& b) const {
    if (!are_same_op(a, b) || a.lanes != half_lanes || !is_pure(a.op) || !is_lanewise(a.op)) return false;
    const auto of_size = [&](ValueId value) {
      return is_mask(function_.values[value].type) || is_byte(value);
    };
    if (!of_size(a.result)) return false;
    return std::ranges::all_of(function_.args(a), [&](ValueId arg) {
      return of_size(arg) || (info(a.op).shape == Shape::Convert && is_int(function_.values[arg].type));
    });
  }

  /// Decides how these halves are joined, and what they are computed from.
  How plan(Pair& pair, ValueId low, ValueId high, unsigned depth = 0) {
    constexpr unsigned deepest = 64;
    constexpr std::size_t most = 512;
    if (const auto known = pair.joins.find({low, high}); known != pair.joins.end()) return known->second;
    const How how = depth < deepest && pair.joins.size() < most ? choose(pair, low, high, depth) : How::Not;
    pair.joins.emplace(std::pair(low, high), how);
    return how;
  }
  How choose(Pair& pair, ValueId low, ValueId high, unsigned depth) {
    const Inst &a = definition(low), &b = definition(high);
    if (are_alike(a, b)) return How::Alike;
    if (may_join(a, b)) {
      const int saved = pair.saved, cost = pair.cost;
      bool all = true;
      for (unsigned k = 0; all && k < a.arg_count; ++k) {
        const ValueId x = function_.arg(a, k), y = function_.arg(b, k);
        all = is_free(x) || plan(pair, x, y, depth + 1) != How::Not;
      }
      if (all) {
        if (a.op != Op::bitcast) ++pair.saved;
        return How::Op;
      }
      pair.saved = saved;
      pair.cost = cost;
    }
    if (!is_byte(low)) return How::Not;
    // Loads of both halves are one, so that nothing needs to be concatenated.
    if (a.op != Op::load || !are_halves(definitions_[low], definitions_[high])) ++pair.cost;
    return How::Concat;
  }
  ValueId concat(ValueId low, ValueId high) {
    const Inst inst = make_op(Op::concat, function_.values[low].type, 2 * half_lanes, insts_[at_].guest_ip);
    return out_.append(inst, {low, high});
  }
  ValueId slice(ValueId whole, unsigned first) {
    Inst inst = make_op(Op::slice, function_.values[whole].type, half_lanes, insts_[at_].guest_ip);
    inst.imm = first;
    return out_.append(inst, {whole});
  }
  Inst with_data(const Inst& store, ValueId data) {
    bool changes = false;
    const unsigned at = function_.access(store).address_operand() + 1;
    return with_operands(function_, store, changes,
                         [&](unsigned k) { return k == at ? data : function_.arg(store, k); });
  }

  /// Appends the value of both halves.
  ValueId join(const Pair& pair, ValueId low, ValueId high) {
    if (const auto known = joined_.find({low, high}); known != joined_.end()) return known->second;
    const ValueId whole = make_joined(pair, low, high);
    joined_.emplace(std::pair(low, high), whole);
    return whole;
  }
  ValueId make_joined(const Pair& pair, ValueId low, ValueId high) {
    const How how = is_free(low) ? How::Concat : pair.joins.at({low, high});
    if (how == How::Concat) return concat(low, high);
    const Inst a = definition(low), b = definition(high);
    Inst both = a;
    both.lanes = 2 * half_lanes;
    std::array<ValueId, max_pure_operands> args{};
    for (unsigned k = 0; k < a.arg_count; ++k) {
      const ValueId x = function_.arg(a, k);
      args[k] = how == How::Alike ? x : join(pair, x, function_.arg(b, k));
    }
    return out_.append(both, std::span(args).first(a.arg_count));
  }

  static constexpr std::uint32_t none = ~0u;

  Function& function_;
  NewBlock out_;
  std::span<const Inst> insts_;
  std::vector<std::uint32_t> definitions_;  ///< of each value of the block
  std::uint32_t at_ = 0;                    ///< the store before which something is appended
  std::map<std::pair<ValueId, ValueId>, ValueId> joined_;
};

}  // namespace

void half_vectors(Function& function) { run_on_blocks_with<BlockHalves>(function, may_store_half); }

}  // namespace eum::jit

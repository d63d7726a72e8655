// One lane of a value is computed by the value's definition from one lane of its operands: traced from an
// address back to registers and constants, that is a chain of scalar ops.
#include "jit/passes/scalar_runs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "jit/analysis/access_form.hpp"
#include "jit/analysis/block_writers.hpp"
#include "jit/passes/access_pairs.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

/// Ops of which a single lane can be computed, in a general register.
bool is_scalar_op(const Inst& inst) {
  switch (inst.op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::mad:
    case Op::shl:
    case Op::shr:
    case Op::asr:
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::not_:
    case Op::neg:
      return is_int(inst.type);
    case Op::convert:
    case Op::bitcast:
      return is_int(inst.type) && is_int(inst.from);
    default:
      return false;
  }
}

class BlockRuns {
 public:
  BlockRuns(Function& function, const Liveness& liveness, const LinearUses& linear,
            std::vector<std::uint32_t>& definitions, const Optimisations& optimisations)
      : function_(function),
        liveness_(liveness),
        linear_(linear),
        definitions_(definitions),
        optimisations_(optimisations),
        run_slots_(liveness.slots()),
        pairs_(function, liveness, linear, optimisations) {
    // Slots in which addresses may be kept from block to block.
    if (!optimisations[Optimisation::first_lanes]) return;
    for (BlockId b = 0; b < function.blocks.size(); ++b) {
      if (!has_uses(b)) continue;
      for (const Inst& inst : function.blocks[b].insts)
        if (inst.op == Op::reg_read && inst.lanes > 1 && is_int(inst.type) && size_of(inst.type) == granule) {
          const SlotRange slots = slots_of(inst, liveness.slot_bytes());
          run_slots_.set_range(slots.first, slots.last - slots.first + 1);
        }
    }
  }

  /// Whether the block uses values that are known to be linear.
  bool has_uses(BlockId id) const { return !linear_.of(id, false).empty() || !linear_.of(id, true).empty(); }
  /// Whether the block writes slots in which addresses may be kept.
  bool writes_runs(BlockId id) const {
    return std::ranges::any_of(function_.blocks[id].insts, [&](const Inst& inst) {
      return inst.op == Op::reg_write && inst.lanes > 1 &&
             run_slots_[inst.region.offset / liveness_.slot_bytes()];
    });
  }

  /// Processes both versions of a block. False: it is unchanged.
  bool run(BlockId id, std::array<std::vector<ScalarRun>, 2>& found) {
    Block& block = function_.blocks[id];
    insts_ = std::span(block.insts);
    new_.clear();
    origins_.clear();
    for (std::uint32_t i = 0; i < insts_.size(); ++i)
      for (unsigned k = 0; k < insts_[i].result_count; ++k) definitions_[insts_[i].result + k] = i;
    selects_.resize(definitions_.size());
    for (std::uint32_t i = 0; i < insts_.size(); ++i)
      if (insts_[i].op == Op::select && liveness_.is_needed(id, i))
        selects_[function_.arg(insts_[i], 0)] = true;
    writers_.find(function_, insts_);
    for (const bool full : {false, true}) run(id, full, found[full ? 1 : 0]);
    for (const Inst& inst : insts_)
      for (unsigned k = 0; k < inst.result_count; ++k) definitions_[inst.result + k] = none;
    if (new_.empty()) return false;
    merge(block, found);
    return true;
  }
  /// Of the block after run(), for Liveness::renumber.
  std::span<const Liveness::Origin> origins() const { return origins_; }

  static constexpr std::uint32_t none = ~0u;

 private:
  void run(BlockId id, bool full, std::vector<ScalarRun>& found) {
    const std::span<const LinearUse> uses = linear_.of(id, full);
    full_ = full;
    lanes_.clear();
    sums_.clear();
    compared_.clear();
    compares_.clear();
    simplified_.clear();
    joined_.clear();
    for (const LinearUse& use : uses) found.push_back({.index = use.index, .run = use.run});
    find_kept(id);
    if (full) pairs_.begin(insts_, definitions_);
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (uses[i].kind == LinearUse::Access) {
        if (!full || !pairs_.add(std::span(found).first(i + 1))) access(found[i]);
      } else if (liveness_.is_needed(id, uses[i].index)) {
        compare(uses[i], found[i]);
      }
    }
    if (!full) return;
    const std::size_t accesses = found.size();
    bool all_on = true;
    for (std::uint32_t i = 0; i < insts_.size(); ++i) {
      const Inst& inst = insts_[i];
      if (inst.op == Op::mask_set && inst.imm == 0) all_on = liveness_.role(id, i) == MaskRole::Restore;
      if (inst.result_count == 1 && is_mask(inst.type) && all_on && !compares_.empty()) simplify(inst);
      if (!liveness_.is_needed(id, i)) continue;
      if (inst.op == Op::reg_write)
        write(id, i, found);
      else if (inst.op == Op::concat && is_mask(inst.type) && all_on && !compares_.empty())
        join(i, found);
    }
    std::ranges::inplace_merge(found, found.begin() + static_cast<std::ptrdiff_t>(accesses), {},
                               &ScalarRun::index);
  }

  /// For a write of a linear value to slots in which other blocks look for runs.
  void write(BlockId id, std::uint32_t index, std::vector<ScalarRun>& found) {
    const Inst inst = insts_[index];
    if (!kept_[index] || !is_int(inst.type) || size_of(inst.type) != granule) return;
    const unsigned slot_bytes = liveness_.slot_bytes(), lanes = slot_bytes / granule;
    const ValueId value = function_.arg(inst, 0);
    if (inst.region.stride(inst.lanes) != 1 || inst.region.offset % slot_bytes != 0 ||
        inst.lanes % lanes != 0 || inst.lanes / lanes > ScalarRun::most_runs ||
        linear_.ramp(value, true).run <= lanes)
      return;
    const SlotRange slots = slots_of(inst, slot_bytes);
    bool wanted = false;
    for (unsigned slot = slots.first; slot <= slots.last; ++slot)
      wanted |= run_slots_[slot] && liveness_.live_out(id).active[slot];
    if (!wanted) return;
    ScalarRun run;
    run.index = index;
    for (unsigned lane_of_slot = 0; lane_of_slot < inst.lanes; lane_of_slot += lanes)
      run.addresses[run.address_count++] = lane(value, lane_of_slot, 0);
    found.push_back(run);
  }

  void access(ScalarRun& found) {
    const Inst inst = insts_[found.index];
    const MemoryAccess& mem = function_.access(inst);
    const unsigned runs = runs_of(optimisations_, inst.op, inst.type, inst.lanes, mem, found.run);
    // In the other version, looking at the addresses of active lanes takes less for bytes and words (1.2).
    const bool looks = !full_ && inst.op == Op::store && size_of(inst.type) < granule;
    found.under_mask = !looks && has_masked_runs(inst.op, inst.type, mem, found.run);
    if (runs == 0 || runs > ScalarRun::most_runs) return;
    if (!full_ && inst.mask != no_value && !found.under_mask) return;
    const ValueId addresses = function_.arg(inst, mem.address_operand());
    for (unsigned run = 0; run < runs; ++run)
      found.addresses[run] = lane(addresses, run * (inst.lanes / runs), 0);
    found.address_count = static_cast<std::uint8_t>(runs);
  }

  /// How a ramp op expresses a comparison of a ramp and a scalar.
  struct Comparison {
    Op op;
    bool complement;
  };
  static Comparison of_ramp(Op compare, bool exchanged) {
    // first + i < limit, or limit < first + i; and their complements.
    switch (compare) {
      case Op::cmp_lt:
        return exchanged ? Comparison{Op::ramp_le, true} : Comparison{Op::ramp_lt, false};
      case Op::cmp_le:
        return exchanged ? Comparison{Op::ramp_lt, true} : Comparison{Op::ramp_le, false};
      case Op::cmp_gt:
        return exchanged ? Comparison{Op::ramp_lt, false} : Comparison{Op::ramp_le, true};
      case Op::cmp_ge:
        return exchanged ? Comparison{Op::ramp_le, false} : Comparison{Op::ramp_lt, true};
      default:
        return {Op::ramp_eq, compare == Op::cmp_ne};
    }
  }

  /// A new op on masks, one whose result is a mask, or a conversion, before instruction `at`.
  ValueId append(std::uint32_t at, Op op, Type type, unsigned lanes, std::initializer_list<ValueId> args) {
    Inst one = make_op(op, type, lanes, insts_[at].guest_ip);
    if (op == Op::bits_mask || op == Op::convert) one.from = function_.values[*args.begin()].type;
    one.result = function_.add_value(is_ramp(op) || is_compare(op) ? Type::m : type, lanes);
    function_.set_args(one, args);
    new_.push_back({at, one, {}});
    return one.result;
  }

  /// Words are compared as dwords.
  static Type widened(Type type) {
    return size_of(type) != 2 ? type : is_signed(type) ? Type::s32 : Type::u32;
  }

  /// The comparison of `lanes` lanes, of which a and b are the first, before instruction `at`.
  ValueId compare_scalars(std::uint32_t at, const Inst& inst, LinearUse::Kind kind, unsigned lanes, ValueId a,
                          ValueId b) {
    if (kind == LinearUse::BothSame) {
      // One lane's result in all of them.
      const ValueId mask = append(at, inst.op, inst.type, 1, {a, b});
      const ValueId bit = append(at, Op::mask_bits, Type::u32, 1, {mask});
      return append(at, Op::bits_mask, Type::m, lanes, {append(at, Op::neg, Type::u32, 1, {bit})});
    }
    const bool exchanged = kind == LinearUse::SecondGoesUp;
    const Comparison how = of_ramp(inst.op, exchanged);
    const Type type = widened(inst.type);
    if (type != inst.type)
      for (ValueId* word : {&a, &b}) *word = append(at, Op::convert, type, 1, {*word});
    const ValueId mask = append(at, how.op, type, lanes, {exchanged ? b : a, exchanged ? a : b});
    return how.complement ? append(at, Op::not_, Type::m, lanes, {mask}) : mask;
  }

  void compare(const LinearUse& use, ScalarRun& found) {
    const Inst inst = insts_[use.index];
    // A select needs its mask in vectors, in which a comparison of vectors gives it.
    if (selects_[inst.result]) return;
    const unsigned lanes = use.run.run;
    const auto run = [&](unsigned first_lane) {
      const ValueId a = lane(function_.arg(inst, 0), first_lane, 0),
                    b = lane(function_.arg(inst, 1), first_lane, 0);
      // Both halves of the channels may be in one row, and then compare the same.
      const auto [known, is_new] = compared_.try_emplace({a, b, inst.op, inst.type, use.kind, lanes});
      if (is_new) known->second = compare_scalars(use.index, inst, use.kind, lanes, a, b);
      return known->second;
    };
    found.mask = run(0);
    for (unsigned first = lanes; first < inst.lanes; first += lanes)
      found.mask = append(use.index, Op::concat, Type::m, first + lanes, {found.mask, run(first)});
    if (lanes == inst.lanes) compares_.emplace(inst.result, &use);
  }

  // ---- Conditions of both halves of the channels, each combined from known comparisons and then
  // concatenated: the comparisons are concatenated instead. All channels are active there.

  void join(std::uint32_t index, std::vector<ScalarRun>& found) {
    const Inst& inst = insts_[index];
    const ValueId low = function_.arg(inst, 0), high = function_.arg(inst, 1);
    if (function_.values[low].lanes != function_.values[high].lanes) return;
    const std::size_t before = new_.size();
    const ValueId mask = joined(index, low, high, 0);
    if (mask == no_value) {
      new_.resize(before);
      joined_.clear();
      return;
    }
    ScalarRun run;
    run.index = index;
    run.mask = mask;
    found.push_back(run);
  }

  static constexpr ValueId all_ones = no_value - 1, all_zeros = no_value - 2;
  const Inst* definition(ValueId value) const {
    const std::uint32_t at = value < definitions_.size() ? definitions_[value] : none;
    return at != none ? &insts_[at] : nullptr;
  }
  /// The equal of a value if all channels are active. Operands are simplified before their users.
  ValueId with_all_on(ValueId value) const {
    const auto one = simplified_.find(value);
    return one != simplified_.end() ? one->second : value;
  }
  void simplify(const Inst& inst) {
    const ValueId same = simple(inst);
    if (same != inst.result) simplified_.emplace(inst.result, same);
  }
  ValueId simple(const Inst& inst) const {
    if (inst.op == Op::mask_get) return inst.imm == 0 ? all_ones : inst.result;
    if (inst.op != Op::slice && inst.op != Op::and_ && inst.op != Op::andn && inst.op != Op::or_)
      return inst.result;
    const ValueId a = with_all_on(function_.arg(inst, 0));
    if (inst.op == Op::slice) return a == all_ones ? a : inst.result;
    const ValueId b = with_all_on(function_.arg(inst, 1));
    if (inst.op == Op::andn) {
      if (a == all_ones || b == all_zeros) return all_zeros;
      return a == all_zeros ? b : inst.result;
    }
    const ValueId nothing = inst.op == Op::and_ ? all_ones : all_zeros;
    if (a == nothing) return b;
    if (b == nothing) return a;
    return a == all_ones || a == all_zeros ? a : b == all_ones || b == all_zeros ? b : inst.result;
  }

  ValueId joined(std::uint32_t at, ValueId low, ValueId high, unsigned depth) {
    low = with_all_on(low);
    high = with_all_on(high);
    // A condition is often part of many: each pair is joined once.
    if (const auto one = joined_.find({low, high}); one != joined_.end()) return one->second;
    const ValueId mask = make_joined(at, low, high, depth);
    joined_.emplace(std::pair(low, high), mask);
    return mask;
  }
  ValueId make_joined(std::uint32_t at, ValueId low, ValueId high, unsigned depth) {
    constexpr unsigned deepest = 12;
    const Inst* a = low < all_zeros ? definition(low) : nullptr;
    const Inst* b = high < all_zeros ? definition(high) : nullptr;
    if (!a || !b || a->op != b->op || depth > deepest) return no_value;
    if (const auto one = compares_.find(low); one != compares_.end()) {
      const auto other = compares_.find(high);
      return other != compares_.end() ? joined(at, *one->second, *other->second) : no_value;
    }
    if (a->op != Op::and_ && a->op != Op::andn && a->op != Op::or_ && a->op != Op::not_) return no_value;
    const auto part = [&](unsigned k) {
      return joined(at, function_.arg(*a, k), function_.arg(*b, k), depth + 1);
    };
    const unsigned lanes = 2u * a->lanes;
    const ValueId first = part(0);
    if (first == no_value) return no_value;
    if (a->op == Op::not_) return append(at, Op::not_, Type::m, lanes, {first});
    const ValueId second = part(1);
    return second != no_value ? append(at, a->op, Type::m, lanes, {first, second}) : no_value;
  }
  /// Joins two comparisons, if the second one continues where the first one ends.
  ValueId joined(std::uint32_t at, const LinearUse& low, const LinearUse& high) {
    const Inst a = insts_[low.index], b = insts_[high.index];
    if (a.type != b.type || low.kind != high.kind) return no_value;
    std::array<ValueId, 2> first{};
    for (const unsigned k : {0u, 1u}) {
      const bool goes_up = low.kind == (k == 0 ? LinearUse::FirstGoesUp : LinearUse::SecondGoesUp);
      first[k] = lane(function_.arg(a, k), 0, 0);
      if (!goes_up && first[k] == lane(function_.arg(b, k), 0, 0)) continue;
      const SymbolicSum here = linear_.ramp(function_.arg(a, k), full_).lane(0);
      const SymbolicSum there = linear_.ramp(function_.arg(b, k), full_).lane(0);
      if (here.symbol == no_symbol || here.symbol != there.symbol ||
          there.offset - here.offset != (goes_up ? a.lanes : 0u))
        return no_value;
    }
    return compare_scalars(at, a, low.kind, 2u * a.lanes, first[0], first[1]);
  }
  static bool is_ramp(Op op) { return info(op).shape == Shape::RampTest; }
  static bool is_compare(Op op) { return info(op).shape == Shape::Compare; }

  /// Lane `index` of a value, as a value of one lane.
  ValueId lane(ValueId value, unsigned index, unsigned depth) {
    if (function_.values[value].lanes == 1) return value;
    const std::uint64_t key = std::uint64_t{value} << 8 | index;
    if (const auto at = lanes_.find(key); at != lanes_.end()) return at->second;
    const SymbolicSum sum = linear_.ramp(value, full_).lane(index);
    ValueId found = computed_before(value, sum);
    if (found == no_value) {
      found = make_lane(value, index, depth);
      note(value, sum, found);
    }
    lanes_.emplace(key, found);
    return found;
  }

  /// A lane of a value, computed from an existing one with the same symbol. Not if channels may be inactive:
  /// nothing is known of lanes of channels with which the thread did not begin.
  ValueId computed_before(ValueId value, const SymbolicSum& sum) {
    const Type type = function_.values[value].type;
    if (!full_ || sum.symbol <= zero_symbol || size_of(type) != granule || !is_int(type)) return no_value;
    // The scalar of a splat exists already.
    if (insts_[definitions_[value]].op == Op::splat) return no_value;
    const std::uint32_t at = definitions_[value] + 1;
    const auto same = sums_.find(sum.symbol);
    if (same == sums_.end()) return no_value;
    const Computed* base = nullptr;
    for (const Computed& one : same->second)
      if (one.at <= at && (base == nullptr || one.offset == sum.offset)) base = &one;
    if (base == nullptr) return no_value;
    ValueId found = base->value;
    const Type found_as = function_.values[found].type;
    if (base->offset != sum.offset) {
      Inst constant = make_op(Op::constant, found_as, 1, insts_[at - 1].guest_ip);
      constant.imm = sum.offset - base->offset;
      const ValueId distance = insert_lane(at, constant);
      Inst add = make_op(Op::add, found_as, 1, constant.guest_ip);
      function_.set_args(add, {found, distance});
      found = insert_lane(at, add);
    }
    return found_as == type ? found : insert_cast(at, type, found);
  }
  /// Notes that `found`, inserted after the definition of `value`, is that sum.
  void note(ValueId value, const SymbolicSum& sum, ValueId found) {
    const Type type = function_.values[found].type;
    if (sum.symbol <= zero_symbol || size_of(type) != granule || !is_int(type)) return;
    sums_[sum.symbol].push_back({sum.offset, definitions_[value] + 1, found});
  }

  ValueId make_lane(ValueId value, unsigned index, unsigned depth) {
    constexpr unsigned deepest = 64;
    const std::uint32_t at = definitions_[value];
    const Inst inst = insts_[at];
    const auto of = [&](unsigned k, unsigned i) { return lane(function_.arg(inst, k), i, depth + 1); };
    const auto insert_one = [&](const Inst& one) { return insert_lane(at + 1, one); };
    if (depth < deepest && inst.result == value) {
      switch (inst.op) {
        case Op::splat:
          return of(0, 0);
        case Op::slice:
          return of(0, index + static_cast<unsigned>(inst.imm));
        case Op::concat: {
          const unsigned low = function_.values[function_.arg(inst, 0)].lanes;
          return index < low ? of(0, index) : of(1, index - low);
        }
        case Op::constant:
          return insert_one(inst);
        case Op::vconst: {
          Inst one = inst;
          one.op = Op::constant;
          one.imm = function_.pool[static_cast<std::size_t>(inst.imm)][index];
          return insert_one(one);
        }
        case Op::reg_read: {
          if (!is_int(inst.type)) break;
          const unsigned byte = inst.region.byte_of(index, size_of(inst.type));
          if (const auto written = last_write(at, byte, size_of(inst.type))) {
            const ValueId from = lane(function_.arg(insts_[written->index], 0), written->lane, depth + 1);
            return function_.values[from].type == inst.type ? from : insert_cast(at + 1, inst.type, from);
          }
          Inst one = inst;
          one.region = Region::packed(byte);
          return insert_lane(at + 1, one, {at, static_cast<std::uint8_t>(index)});
        }
        default:
          break;
      }
      Inst one = inst;
      // The low half of a product or a sum.
      if (inst.op == Op::mul_wide) one.op = Op::mul;
      if (inst.op == Op::addc) one.op = Op::add;
      if (inst.op == Op::subb) one.op = Op::sub;
      if (is_scalar_op(one)) {
        std::array<ValueId, max_pure_operands> args{};
        for (unsigned k = 0; k < inst.arg_count; ++k) args[k] = of(k, index);
        function_.set_args(one, std::span<const ValueId>(args).first(inst.arg_count));
        return insert_one(one);
      }
    }
    Inst one = make_op(Op::slice, function_.values[value].type, 1, inst.guest_ip);
    one.imm = index;
    function_.set_args(one, {value});
    return insert_one(one);
  }

  /// Notes which writes write all lanes, in this version.
  void find_kept(BlockId id) {
    bool all_on = full_;
    kept_.assign(insts_.size(), false);
    for (std::uint32_t i = 0; i < insts_.size(); ++i) {
      const Inst& inst = insts_[i];
      if (inst.op == Op::mask_set && inst.imm == 0)
        all_on = full_ && liveness_.role(id, i) == MaskRole::Restore;
      if (inst.op != Op::reg_write) continue;
      kept_[i] = inst.mask == no_value || (all_on && liveness_.role(id, i) == MaskRole::Execution);
    }
  }

  struct Written {
    std::uint32_t index;
    unsigned lane;
  };
  /// Which lane of which write is in the register file at this byte before instruction `at`, if that is
  /// known.
  std::optional<Written> last_write(std::uint32_t at, unsigned byte, unsigned bytes) const {
    const auto index = bytes > granule ? std::nullopt : writers_.last(byte / granule, at);
    if (!index) return std::nullopt;
    const Inst& write = insts_[*index];
    if (!kept_[*index] || write.op != Op::reg_write || size_of(write.type) != bytes || !is_int(write.type))
      return std::nullopt;
    const int stride = write.region.stride(write.lanes);
    if (write.lanes == 1)
      return byte == write.region.offset ? std::optional(Written{*index, 0}) : std::nullopt;
    if (stride <= 0) return std::nullopt;
    const unsigned step = static_cast<unsigned>(stride) * bytes, behind = byte - write.region.offset;
    if (byte < write.region.offset || behind % step != 0 || behind / step >= write.lanes) return std::nullopt;
    return Written{*index, behind / step};
  }

  /// Inserts an op of one lane before instruction `at`; ops that are inserted before the same one keep their
  /// order.
  ValueId insert_lane(std::uint32_t at, Inst one, Liveness::Origin origin = {}) {
    one.lanes = 1;
    one.mask = no_value;
    one.result_count = 1;
    one.result = function_.add_value(one.type, 1);
    new_.push_back({at, one, origin});
    return one.result;
  }
  ValueId insert_cast(std::uint32_t at, Type type, ValueId from) {
    Inst cast = make_op(Op::bitcast, type, 1, insts_[at - 1].guest_ip);
    cast.from = function_.values[from].type;
    function_.set_args(cast, {from});
    return insert_lane(at, cast);
  }

  void merge(Block& block, std::array<std::vector<ScalarRun>, 2>& found) {
    std::ranges::stable_sort(new_, {}, &New::at);
    merged_.clear();
    auto next = new_.begin();
    std::array<std::size_t, 2> use{};
    for (std::uint32_t i = 0; i < insts_.size(); ++i) {
      for (; next != new_.end() && next->at == i; ++next) {
        merged_.push_back(next->inst);
        origins_.push_back(next->origin);
      }
      for (unsigned version : {0u, 1u})
        for (auto& runs = found[version]; use[version] < runs.size() && runs[use[version]].index == i;
             ++use[version])
          runs[use[version]].index = static_cast<std::uint32_t>(merged_.size());
      merged_.push_back(insts_[i]);
      origins_.push_back({i});
    }
    block.insts.assign(merged_.begin(), merged_.end());
  }

  struct New {
    std::uint32_t at;
    Inst inst;
    Liveness::Origin origin;
  };
  static constexpr unsigned granule = BlockWriters::granule;

  Function& function_;
  const Liveness& liveness_;
  const LinearUses& linear_;
  std::vector<std::uint32_t>& definitions_;
  const Optimisations& optimisations_;
  BitSet run_slots_;  ///< that are read by blocks that use linear values
  AccessPairs pairs_;
  bool full_ = true;  ///< the current version
  std::span<const Inst> insts_;
  std::unordered_map<std::uint64_t, ValueId> lanes_;
  /// Masks of comparisons that are done by scalars.
  std::map<std::tuple<ValueId, ValueId, Op, Type, LinearUse::Kind, unsigned>, ValueId> compared_;
  std::unordered_map<ValueId, const LinearUse*> compares_;  ///< the comparisons that are of a single run
  std::unordered_map<ValueId, ValueId> simplified_;         ///< masks that equal others if all channels are
                                                            ///< on
  std::map<std::pair<ValueId, ValueId>, ValueId> joined_;   ///< both halves, and the joined mask
  struct Computed {
    std::uint32_t offset;
    std::uint32_t at;  // the instruction before which it is
    ValueId value;
  };
  std::unordered_map<Symbol, std::vector<Computed>> sums_;
  std::vector<bool> selects_;  // masks that a select uses
  BlockWriters writers_;
  std::vector<bool> kept_;  // by instruction: the register file has all its lanes after it
  std::vector<New> new_;
  std::vector<Inst> merged_;
  std::vector<Liveness::Origin> origins_;
};

}  // namespace

ScalarRuns::ScalarRuns(Function& function, Liveness& liveness, const LinearUses& uses,
                       const Optimisations& optimisations) {
  std::vector<std::uint32_t> definitions;
  BlockRuns runs(function, liveness, uses, definitions, optimisations);
  for (BlockId b = 0; b < function.blocks.size(); ++b) {
    if (!runs.has_uses(b) && !runs.writes_runs(b)) continue;
    found_.resize(function.blocks.size());
    definitions.resize(function.values.size(), BlockRuns::none);
    if (runs.run(b, found_[b])) liveness.renumber(b, runs.origins());
  }
}

}  // namespace eum::jit

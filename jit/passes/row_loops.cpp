// Loops in which each lane works on a row of its own, o[i * m + j] = f(a[i * m + j]): in one turn, lanes
// access places that are a row apart. Several turns of one lane access adjacent places: that many turns are
// done for one lane after the other, as vectors along its row.
//
// The loop of before remains for what is left then, for fewer channels, and where the order of stores would
// matter: rows have to follow one another.
#include <algorithm>
#include <optional>
#include <vector>

#include "jit/analysis/liveness.hpp"
#include "jit/analysis/loop_turns.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"
#include "jit/passes/turn_values.hpp"

namespace eum::jit {
namespace {

using ir::BlockId;
using ir::Inst;
using ir::Op;
using ir::Type;
using ir::ValueId;

constexpr unsigned slot_bytes = 32, dword = 4, least_turns = 16;
constexpr std::size_t most_insts = 300;  // of a turn
constexpr std::size_t most_new_insts = 2000;

class RowLoop {
 public:
  RowLoop(ir::Function& function, BlockId before, BlockId block)
      : function_(function), before_(before), block_(block), builder_(function) {}

  /// Whether the loop has been done by rows.
  bool run() {
    if (!find_accesses() || !find_ends() || !is_dead_behind() || !may_exchange()) return false;
    const std::size_t old_blocks = function_.blocks.size();
    for (turns_ = widest_turns(); turns_ >= least_turns; turns_ /= 2) {
      values_.emplace(function_, block_, counters_, turns_);
      guard_ = function_.add_block(function_.blocks[block_].guest_ip);
      rows_ = function_.add_block(function_.blocks[block_].guest_ip);
      rest_ = function_.add_block(function_.blocks[exit_].guest_ip);
      if (make_rows() && make_guard()) {
        move_in_front();
        return true;
      }
      function_.blocks.erase(function_.blocks.begin() + static_cast<std::ptrdiff_t>(old_blocks),
                             function_.blocks.end());
    }
    return false;
  }

 private:
  std::span<const Inst> insts() const { return function_.blocks[block_].insts; }

  // ---- What the loop does

  static bool is_known(const Inst& inst) {
    switch (inst.op) {
      case Op::reg_read:
      case Op::reg_write:
      case Op::flag_read:
      case Op::flag_write:
      case Op::load:
      case Op::store:
      case Op::mask_get:
      case Op::mask_set:
      case Op::branch_any:
        return true;
      default:
        return ir::is_pure(inst.op);
    }
  }

  bool find_accesses() {
    if (insts().size() > most_insts) return false;
    for (const Inst& inst : insts()) {
      if (!is_known(inst)) return false;
      for (unsigned k = 0; k < inst.result_count; ++k) by_[inst.result + k] = &inst;
      if (inst.op == Op::store) stores_.push_back(&inst);
      if (inst.op == Op::load) loads_.push_back(&inst);
      if (inst.op == Op::reg_write) writes_.push_back(&inst);
    }
    if (stores_.empty()) return false;
    for (const Inst* write : writes_)
      if (const auto counter = counter_of(*write)) counters_.push_back(*counter);
    return true;
  }

  const Inst* definition(ValueId value) const {
    const auto found = by_.find(value);
    return found == by_.end() ? nullptr : found->second;
  }
  std::optional<std::uint32_t> constant(ValueId value) const {
    const Inst* inst = definition(value);
    if (inst && inst->op == Op::splat) inst = definition(function_.arg(*inst, 0));
    if (!inst || inst->op != Op::constant) return std::nullopt;
    return static_cast<std::uint32_t>(inst->imm);
  }
  /// Whether the mask is none, or has the active channels.
  bool is_active(ValueId mask) const {
    if (mask == ir::no_value) return true;
    const Inst* inst = definition(mask);
    if (inst && inst->op == Op::slice) inst = definition(function_.arg(*inst, 0));
    return inst && inst->op == Op::mask_get && inst->imm == 0;
  }
  static bool is_dwords(const Inst& access) {
    return ir::is_int(access.type) && ir::size_of(access.type) == dword &&
           access.region.stride(access.lanes) == 1;
  }

  /// The register that `write` increases, if nothing else writes it, and nothing reads it afterwards.
  std::optional<LoopCounter> counter_of(const Inst& write) const {
    if (!is_dwords(write) || !is_active(write.mask)) return std::nullopt;
    const Inst* sum = definition(function_.arg(write, 0));
    if (!sum || sum->op != Op::add) return std::nullopt;
    const auto old = [&](unsigned k) -> const Inst* {
      const Inst* read = definition(function_.arg(*sum, k));
      const bool is_same = read && read->op == Op::reg_read && is_dwords(*read) &&
                           read->lanes == write.lanes && read->region.offset == write.region.offset;
      return is_same ? read : nullptr;
    };
    const unsigned other = old(0) ? 1 : 0;
    const auto step = constant(function_.arg(*sum, other));
    if (!old(1 - other) || !step) return std::nullopt;
    const auto overlaps = [&](const Inst& access) {
      return overlap(slots_of(access, dword), slots_of(write, dword));
    };
    if (std::ranges::count_if(writes_, [&](const Inst* other) { return overlaps(*other); }) != 1)
      return std::nullopt;
    bool is_written = false;
    for (const Inst& inst : insts()) {
      if (inst.op == Op::reg_read && is_written && overlaps(inst)) return std::nullopt;
      is_written |= inst.op == Op::reg_write && overlaps(inst);
    }
    return LoopCounter{write.region.offset, write.lanes, *step};
  }
  const LoopCounter* counter_at(std::uint32_t offset) const {
    const auto found = std::ranges::find(counters_, offset, &LoopCounter::offset);
    return found == counters_.end() ? nullptr : &*found;
  }

  /// A comparison of a counter, as it is in the next turn, with a limit that stays.
  struct End {
    ValueId next, limit;
    bool is_ordered;  ///< the loop goes on while `next` is less than the limit; else while they differ
    bool operator==(const End&) const = default;
  };

  /// Whether the loop goes on, with the channels that it has, as long as no counter has reached its limit.
  bool find_ends() {
    const Inst& last = insts().back();
    if (last.op != Op::branch_any || last.targets.taken != block_) return false;
    exit_ = last.targets.fallthrough;
    if (mask_of_turn(function_.arg(last, 0)) != TurnMask{TurnMask::All}) return false;
    bool sets_masks = false;
    for (const Inst& inst : insts()) {
      if (inst.op != Op::mask_set) continue;
      sets_masks = true;
      const auto variable = static_cast<unsigned>(inst.imm);
      const TurnMask before =
          variable == 0 ? TurnMask{TurnMask::All} : TurnMask{TurnMask::Variable, variable};
      if (mask_of_turn(function_.arg(inst, 0)) != before) return false;
    }
    keeps_last_turn_ = sets_masks;
    return !ends_.empty();
  }

  /// A mask, if all channels are active and no counter reaches its limit.
  struct TurnMask {
    enum Kind : std::uint8_t { All, None, Variable, Unknown } kind;
    unsigned variable = 0;  ///< as the turn began
    bool operator==(const TurnMask&) const = default;
  };
  TurnMask mask_of_turn(ValueId value, unsigned depth = 0) {
    constexpr unsigned deepest = 16;
    const Inst* inst = definition(value);
    if (!inst || depth == deepest) return {TurnMask::Unknown};
    const auto operand = [&](unsigned k) { return mask_of_turn(function_.arg(*inst, k), depth + 1); };
    const auto inverse = [](TurnMask mask) {
      return mask.kind == TurnMask::All    ? TurnMask{TurnMask::None}
             : mask.kind == TurnMask::None ? TurnMask{TurnMask::All}
                                           : TurnMask{TurnMask::Unknown};
    };
    const auto both = [](TurnMask a, TurnMask b) {
      if (a.kind == TurnMask::All || b.kind == TurnMask::None) return b;
      return b.kind == TurnMask::All || a.kind == TurnMask::None ? a : TurnMask{TurnMask::Unknown};
    };
    const auto either = [](TurnMask a, TurnMask b) {
      if (a.kind == TurnMask::None || b.kind == TurnMask::All) return b;
      return b.kind == TurnMask::None || a.kind == TurnMask::All ? a : TurnMask{TurnMask::Unknown};
    };
    switch (inst->op) {
      case Op::mask_get:
        return inst->imm == 0 ? TurnMask{TurnMask::All}
                              : TurnMask{TurnMask::Variable, static_cast<unsigned>(inst->imm)};
      case Op::slice: {
        const TurnMask whole = operand(0);
        return whole.kind == TurnMask::Variable ? TurnMask{TurnMask::Unknown} : whole;
      }
      case Op::concat: {
        const TurnMask low = operand(0);
        return low == operand(1) && low.kind != TurnMask::Variable ? low : TurnMask{TurnMask::Unknown};
      }
      case Op::and_:
        return both(operand(0), operand(1));
      case Op::or_:
        return either(operand(0), operand(1));
      case Op::andn:
        return both(inverse(operand(0)), operand(1));
      case Op::not_:
        return inverse(operand(0));
      default:
        return ends_loop(*inst) ? TurnMask{TurnMask::All} : TurnMask{TurnMask::Unknown};
    }
  }

  /// Whether the op compares a counter with a limit; notes that.
  bool ends_loop(const Inst& compare) {
    if (compare.type != Type::s32 && compare.type != Type::u32) return false;
    const bool is_ordered = compare.op != Op::cmp_ne;
    if (is_ordered && compare.op != Op::cmp_lt && compare.op != Op::cmp_gt) return false;
    const ValueId a = function_.arg(compare, 0), b = function_.arg(compare, 1);
    const bool is_first = is_ordered ? compare.op == Op::cmp_lt : is_next(a);
    const End end{is_first ? a : b, is_first ? b : a, is_ordered};
    if (!is_next(end.next) || !stays(end.limit)) return false;
    if (std::ranges::find(ends_, end) == ends_.end()) ends_.push_back(end);
    return true;
  }

  /// What the number is a copy of, in each lane or in another type.
  const Inst* origin(ValueId value) const {
    const Inst* inst = definition(value);
    while (inst && (inst->op == Op::splat || (inst->op == Op::bitcast && ir::size_of(inst->type) == dword)))
      inst = definition(function_.arg(*inst, 0));
    return inst;
  }

  /// Whether the value is a counter's, increased by one.
  bool is_next(ValueId value) const {
    const Inst* sum = origin(value);
    if (!sum || sum->op != Op::add) return false;
    for (unsigned k = 0; k < 2; ++k) {
      const Inst* read = definition(function_.arg(*sum, k));
      if (!read || read->op != Op::reg_read || constant(function_.arg(*sum, 1 - k)) != 1) continue;
      const LoopCounter* counter = counter_at(read->region.offset);
      if (counter && counter->lanes == read->lanes && counter->step == 1) return true;
    }
    return false;
  }

  /// Whether the number is the same in each turn.
  bool stays(ValueId value) const {
    const Inst* inst = origin(value);
    if (!inst) return false;
    if (inst->op == Op::constant) return true;
    return inst->op == Op::reg_read && std::ranges::none_of(writes_, [&](const Inst* write) {
             return overlap(slots_of(*inst, 1), slots_of(*write, 1));
           });
  }

  /// Whether nothing behind the loop needs what it writes, besides counters.
  bool is_dead_behind() const {
    const Liveness liveness(function_, slot_bytes, false);
    const LiveState& live = liveness.live_in(exit_);
    for (const Inst& inst : insts()) {
      if (inst.op == Op::reg_write && !counter_at(inst.region.offset)) {
        const SlotRange range = slots_of(inst, slot_bytes);
        for (unsigned slot = range.first; slot <= range.last; ++slot)
          if ((live.bytes[slot] & bytes_of(inst, slot, slot_bytes)) != 0) return false;
      }
      if (inst.op != Op::flag_write) continue;
      for (unsigned bit = 0; bit < inst.lanes; ++bit)
        if (const std::size_t flag = inst.imm + bit; live.active_flags[flag] || live.inactive_flags[flag])
          return false;
    }
    return true;
  }

  const ir::MemoryAccess& access(const Inst& inst) const { return function_.access(inst); }
  ValueId address_of(const Inst& inst) const { return function_.arg(inst, 0); }
  ValueId data_of(const Inst& store) const { return function_.args(store).back(); }

  /// Whether accesses may be done in another order, provided that what is stored does not overlap.
  bool may_exchange() const {
    const auto is_simple = [&](const Inst* inst) {
      return access(*inst).never_faults() && is_active(inst->mask);
    };
    if (!std::ranges::all_of(loads_, is_simple)) return false;
    for (const Inst* store : stores_) {
      const ir::MemoryAccess& to = access(*store);
      if (!is_simple(store) || !to.is_fixed_surface() || to.components != 1 || to.several) return false;
      for (const Inst* load : loads_)
        if (access(*load).is_fixed_surface() && access(*load).surface == to.surface && !is_own_place(load))
          return false;
    }
    return true;
  }

  /// Whether the load is of what a store of the turn overwrites afterwards.
  bool is_own_place(const Inst* load) const {
    return std::ranges::any_of(stores_, [&](const Inst* store) {
      return access(*load) == access(*store) && address_of(*load) == address_of(*store) &&
             ir::size_of(load->type) == ir::size_of(store->type) && load < store;
    });
  }

  unsigned widest_turns() const {
    unsigned widest = 1;
    for (const Inst* store : stores_) widest = std::max(widest, ir::size_of(store->type));
    return widest <= 2 ? 2 * least_turns : least_turns;
  }

  // ---- What is done instead

  void begin(BlockId block) {
    builder_.set_block(block);
    builder_.set_guest_ip(function_.blocks[block].guest_ip);
    values_->begin_block();
  }
  ValueId number(std::uint32_t value) { return builder_.constant(Type::u32, 1, value); }
  ValueId in_u32(ValueId value) { return builder_.convert(Op::bitcast, Type::u32, value); }

  /// Turns that are left, as counters are in the block: 0 may stand for 2^32.
  ValueId turns_left(const End& end) {
    const ValueId next = in_u32(*values_->first_turn(builder_, end.next)),
                  limit = in_u32(*values_->first_turn(builder_, end.limit));
    const ValueId one = builder_.constant(Type::u32, function_.values[next].lanes, 1);
    return builder_.lanewise(Op::add, {builder_.lanewise(Op::sub, {limit, next}), one});
  }
  /// If it is the same for all counters and lanes.
  ValueId turns_left() { return builder_.slice(turns_left(ends_[0]), 0, 1); }
  /// So many have to be left for another round.
  ValueId least_left() { return number(turns_ + (keeps_last_turn_ ? 1 : 0)); }

  /// The loop of before is entered if a channel is inactive, few turns are left, or rows overlap.
  bool make_guard() {
    constexpr std::uint32_t most_turns = 1u << 24;
    begin(guard_);
    const ValueId left = turns_left();
    bad_ = builder_.mask_bits(Type::u32, builder_.lanewise(Op::not_, {builder_.mask_get(0)}));
    refuse_if(Op::cmp_lt, left, least_left());
    refuse_if(Op::cmp_gt, left, number(most_turns));
    for (const End& end : ends_) refuse_unless(end, left);
    const auto bytes_of = [&](unsigned each) { return builder_.lanewise(Op::mul, {left, number(each)}); };
    for (const TurnValues::Row& row : values_->loaded_rows()) {
      const auto address = values_->first_turn(builder_, row.address);
      if (!address) return false;
      refuse_wrapping(*address, bytes_of(row.bytes));
    }
    for (std::size_t i = 0; i < stores_.size(); ++i) {
      const Inst& store = *stores_[i];
      const auto address = values_->first_turn(builder_, address_of(store));
      if (!address) return false;
      const ValueId bytes = bytes_of(ir::size_of(store.type)),
                    last = builder_.slice(*address, store.lanes - 1u, 1);
      if (store.lanes > 1)
        refuse_near(builder_.slice(*address, 0, store.lanes - 1u),
                    builder_.slice(*address, 1, store.lanes - 1u), bytes);
      refuse_wrapping(last, bytes);
      const auto next =
          std::find_if(stores_.begin() + static_cast<std::ptrdiff_t>(i) + 1, stores_.end(),
                       [&](const Inst* other) { return access(*other).surface == access(store).surface; });
      if (next == stores_.end()) continue;
      const auto behind = values_->first_turn(builder_, address_of(**next));
      if (!behind) return false;
      refuse_near(last, builder_.slice(*behind, 0, 1), bytes);
    }
    builder_.branch_any(builder_.compare(Op::cmp_ne, bad_, number(0)), block_, rows_);
    return true;
  }

  void refuse_if(Op compare, ValueId a, ValueId b) {
    bad_ = builder_.lanewise(Op::or_, {bad_, builder_.mask_bits(Type::u32, builder_.compare(compare, a, b))});
  }
  /// Unless so many turns are left for each counter.
  void refuse_unless(const End& end, ValueId left) {
    const ValueId next = *values_->first_turn(builder_, end.next),
                  limit = *values_->first_turn(builder_, end.limit);
    const auto [type, lanes] = function_.values[next];
    if (lanes > 1 || end != ends_[0]) refuse_if(Op::cmp_ne, turns_left(end), builder_.splat(left, lanes));
    if (!end.is_ordered) return;
    refuse_if(Op::cmp_ge, builder_.lanewise(Op::sub, {next, builder_.constant(type, lanes, 1)}), limit);
  }
  /// Unless so many bytes follow each address.
  void refuse_wrapping(ValueId address, ValueId bytes) {
    refuse_if(Op::cmp_gt, address,
              builder_.splat(builder_.lanewise(Op::not_, {bytes}), function_.values[address].lanes));
  }
  /// Unless `low` is so many bytes or more below `high`.
  void refuse_near(ValueId low, ValueId high, ValueId bytes) {
    refuse_if(Op::cmp_ge, low, high);
    refuse_if(Op::cmp_lt, builder_.lanewise(Op::sub, {high, low}),
              builder_.splat(bytes, function_.values[low].lanes));
  }

  bool make_rows() {
    begin(rows_);
    unsigned most_lanes = 0;
    for (const Inst* store : stores_) most_lanes = std::max<unsigned>(most_lanes, store->lanes);
    for (unsigned lane = 0; lane < most_lanes; ++lane) {
      if (!store_rows(lane) || function_.blocks[rows_].insts.size() > most_new_insts) return false;
      values_->end_lane();
    }
    for (const LoopCounter& counter : counters_) increase(counter);
    values_->begin_block();
    builder_.branch_any(builder_.compare(Op::cmp_ge, turns_left(), least_left()), rows_, rest_);
    begin(rest_);
    builder_.branch_any(builder_.compare(Op::cmp_ne, turns_left(), number(0)), block_, exit_);
    const ir::Block& turn = function_.blocks[block_];
    function_.blocks[rows_].guest_instructions = turn.guest_instructions * turns_;
    // A thread that is restored at the loop's ip begins with the guard.
    for (const BlockId block : {guard_, rows_}) function_.blocks[block].safepoint = turn.safepoint;
    return true;
  }

  /// What the lane stores in the next turns.
  bool store_rows(unsigned lane) {
    struct Row {
      const Inst* store;
      ValueId address, data;
    };
    std::vector<Row> rows;
    for (const Inst* store : stores_) {
      if (lane >= store->lanes) continue;
      builder_.set_guest_ip(store->guest_ip);
      const auto first = values_->linear(builder_, address_of(*store), lane);
      if (!first || first->step != ir::size_of(store->type)) return false;
      const auto data = values_->in_turns(builder_, data_of(*store), lane);
      if (!data) return false;
      rows.push_back({store, first->first, *data});
    }
    for (const Row& row : rows) {
      builder_.set_guest_ip(row.store->guest_ip);
      values_->store_row(builder_, *row.store, row.address, row.data);
    }
    return true;
  }

  void increase(const LoopCounter& counter) {
    const ir::Region region = ir::Region::packed(counter.offset);
    const ValueId old = builder_.reg_read(Type::u32, counter.lanes, region);
    const ValueId step = builder_.constant(Type::u32, counter.lanes, counter.step * turns_);
    builder_.reg_write(region, builder_.lanewise(Op::add, {old, step}));
  }

  /// Moves the new blocks to where the loop begins.
  void move_in_front() {
    constexpr BlockId added = 3;
    auto& blocks = function_.blocks;
    std::rotate(blocks.begin() + block_, blocks.end() - added, blocks.end());
    const auto now = [&](BlockId to) {
      return to >= guard_ ? block_ + (to - guard_) : to + added * (to >= block_);
    };
    for (ir::Block& block : blocks) {
      Inst& last = block.insts.back();
      const unsigned targets = ir::shape_of(last.op).targets();
      if (targets > 0) last.targets.taken = now(last.targets.taken);
      if (targets > 1) last.targets.fallthrough = now(last.targets.fallthrough);
    }
    const BlockId before = before_ + added * (before_ >= block_);
    blocks[before].insts.back().targets.taken = block_;
  }

  ir::Function& function_;
  BlockId before_, block_;
  BlockId exit_ = ir::no_block;
  ir::Builder builder_;
  std::unordered_map<ValueId, const Inst*> by_;
  std::vector<const Inst*> stores_, loads_, writes_;  // in their order
  std::vector<LoopCounter> counters_;
  std::vector<End> ends_;
  bool keeps_last_turn_ = false;  ///< channels may leave it one by one: the loop of before does that
  unsigned turns_ = 0;            ///< that are done at once
  std::optional<TurnValues> values_;
  ValueId bad_ = ir::no_value;  ///< in the guard: not 0 if the loop of before is to be entered
  BlockId guard_ = ir::no_block, rows_ = ir::no_block, rest_ = ir::no_block;
};

}  // namespace

void row_loops(ir::Function& function) {
  if (!function.disjoint_surfaces) return;
  const auto latch_of = latches(function);
  if (!latch_of) return;
  // From the last one on, so that the numbers of the others stay as they are.
  for (auto block = static_cast<BlockId>(function.blocks.size()); block-- > 0;) {
    if ((*latch_of)[block] != block) continue;
    if (std::ranges::none_of(function.blocks[block].insts,
                             [](const Inst& inst) { return inst.op == Op::store; }))
      continue;
    if (const auto loop = loop_of(function, ir::predecessors(function), block, block))
      RowLoop(function, loop->before, block).run();
  }
}

}  // namespace eum::jit

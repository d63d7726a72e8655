// Loops in which each lane works on a row of its own, o[i * m + j] = f(a[i * m + j]): in one turn, lanes
// access places that are a row apart. Several turns of one lane access adjacent places: that many turns are
// done for one lane after the other, as vectors along its row, and then fewer, for most of what is left. A
// turn may store several elements side by side, of vectors or where the compiler has unrolled a loop, and sum
// up integers in registers.
//
// What a turn does under conditions, of which channels part and reconverge, is done under masks of turns.
//
// The loop of before remains for the last turns, for fewer channels, and where the order of stores would
// matter: rows have to follow one another.
#include <algorithm>
#include <bit>
#include <vector>

#include "jit/analysis/counted_loop.hpp"
#include "jit/analysis/loop_turns.hpp"
#include "jit/passes/inert_body.hpp"
#include "jit/passes/joined_trace.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"
#include "jit/passes/row_guard.hpp"
#include "jit/passes/row_tiles.hpp"
#include "jit/passes/turn_masks.hpp"
#include "jit/passes/turn_values.hpp"

namespace eum::jit {
namespace {

using ir::BlockId;
using ir::Inst;
using ir::Op;
using ir::Type;
using ir::ValueId;

constexpr unsigned most_turns_at_once = 32, fewer = 4;  // times fewer, then
constexpr std::size_t most_new_insts = 2000;
constexpr unsigned least_bytes_at_once = 32;

class RowLoop {
 public:
  RowLoop(ir::Function& function, BlockId before, const CountedLoop& loop)
      : function_(function), before_(before), loop_(loop), builder_(function) {}

  /// False: the loop stays as it is.
  bool run() {
    if ((loop_.stores().empty() && loop_.reductions().empty()) || !may_exchange() || !loop_.is_dead_behind())
      return false;
    first_ = static_cast<BlockId>(function_.blocks.size());
    const BlockId count = add_block(), guard = add_block();
    for (unsigned turns = most_turns(); rounds_.empty() && turns > 1 && !is_long_; turns /= 2)
      add_round(turns);
    if (rounds_.empty() && !is_long_ && stores_many()) add_round(1);
    if (!rounds_.empty() && rounds_[0].turns > fewer) add_round(rounds_[0].turns / fewer);
    const bool gains = !loop_.stores().empty() || !loaded_.empty();
    if (rounds_.empty() || !gains || !make_guard(guard)) {
      drop_from(first_);
      return false;
    }
    make_count(count, guard);
    const BlockId rest = add_block();
    for (std::size_t k = 0; k < rounds_.size(); ++k)
      end_round(rounds_[k], k + 1 < rounds_.size() ? rounds_[k + 1].test : rest);
    begin(rest);
    if (loop_.ends_in_own_way())
      builder_.jump(header());
    else
      builder_.branch_any(compare_left(Op::cmp_ne, 0), header(), loop_.trace().exits[0]);
    move_in_front();
    return true;
  }

 private:
  /// A loop in which each turn is that many of before, and the block that decides whether to enter it.
  struct Round {
    unsigned turns;
    BlockId test, rows;
  };

  const ir::MemoryAccess& access(const Inst& inst) const { return function_.access(inst); }
  std::span<const ValueId> data_of(const Inst& store) const { return function_.args(store).subspan(1); }
  /// Whether a turn stores as much of a lane as is worth a vector.
  bool stores_many() const {
    return std::ranges::any_of(tiles_, [](const RowTile& tile) { return tile.bytes >= least_bytes_at_once; });
  }
  static bool has_adjacent_components(const ir::MemoryAccess& access) {
    return access.component_count() <= ir::max_pure_operands &&
           access.components == (1u << access.component_count()) - 1;
  }

  bool may_be_masked(const Inst& store) const {
    return store.mask == ir::no_value || access(store).component_count() == 1;
  }

  /// Whether accesses may be done in another order, provided that what is stored does not overlap and is not
  /// loaded.
  bool may_exchange() const {
    const auto is_simple = [&](const Inst* inst) { return access(*inst).never_faults(); };
    return std::ranges::all_of(loop_.loads(), is_simple) &&
           std::ranges::all_of(loop_.stores(), [&](const Inst* store) {
             return is_simple(store) && access(*store).is_fixed_surface() &&
                    has_adjacent_components(access(*store)) && may_be_masked(*store);
           });
  }

  /// As many as values have lanes for, of 64 bits half as many.
  unsigned most_turns() const {
    unsigned components = 1, bytes = 1;
    for (const Inst* store : loop_.stores()) {
      components = std::max(components, std::bit_ceil(access(*store).component_count()));
      bytes = std::max(bytes, ir::size_of(store->type));
    }
    return most_turns_at_once / components / (bytes > 4 ? 2 : 1);
  }

  // ---- New blocks

  BlockId header() const { return loop_.trace().header; }
  BlockId add_block() { return function_.add_block(function_.blocks[loop_.trace().block].guest_ip); }
  void drop_from(BlockId block) {
    function_.blocks.erase(function_.blocks.begin() + block, function_.blocks.end());
  }
  void begin(BlockId block) {
    builder_.set_block(block);
    builder_.set_guest_ip(function_.blocks[block].guest_ip);
    values_->begin_block();
  }
  /// How many turns are left, compared with a number, if they are the same for all counters and lanes.
  ValueId compare_left(Op compare, std::uint32_t with) {
    const ValueId left = builder_.slice(turns_left(builder_, *values_, loop_.ends()[0]), 0, 1);
    return builder_.compare(compare, left, builder_.constant(Type::u32, 1, with));
  }
  /// So many have to be left for a round.
  std::uint32_t least_left(const Round& round) const {
    return round.turns + (loop_.ends_in_own_way() ? 1 : 0);
  }

  // ---- Rounds

  void add_round(unsigned turns) {
    values_.emplace(builder_, loop_.trace().block, loop_.counters(), turns);
    const Round round{turns, add_block(), add_block()};
    if (!make_rows(round)) return drop_from(round.test);
    for (const TurnValues::Row& row : values_->loaded_rows())
      if (std::ranges::find(loaded_, row) == loaded_.end()) loaded_.push_back(row);
    rounds_.push_back(round);
  }

  bool make_rows(const Round& round) {
    begin(round.rows);
    unsigned most_lanes = 0;
    for (const Inst* store : loop_.stores()) most_lanes = std::max<unsigned>(most_lanes, store->lanes);
    for (const Reduction& each : loop_.reductions()) most_lanes = std::max<unsigned>(most_lanes, each.lanes);
    TurnSpends spends(builder_, *values_, loop_, most_lanes, round.turns);
    for (unsigned lane = 0; lane < most_lanes; ++lane) {
      if (!do_turns(lane) || !spends.add_lane(lane)) return false;
      is_long_ = function_.blocks[round.rows].insts.size() > most_new_insts;
      if (is_long_) return false;
      values_->end_lane();
    }
    values_->write_left();
    for (const CountedLoop::Counter& counter : loop_.counters()) {
      const ValueId old = builder_.reg_read(Type::u32, counter.lanes, counter.region()),
                    step = builder_.constant(Type::u32, counter.lanes, counter.step * round.turns);
      builder_.reg_write(counter.region(), builder_.lanewise(Op::add, {old, step}));
    }
    const std::uint32_t spent = spends.append();
    const ir::Block& turn = function_.blocks[loop_.trace().block];
    function_.blocks[round.rows].guest_instructions = (turn.guest_instructions + spent) * round.turns;
    function_.blocks[round.rows].safepoint = turn.safepoint;
    return true;
  }

  /// What the lane does in the turns of a round. Nothing is loaded behind what it stores.
  bool do_turns(unsigned lane) {
    const auto tiles = tiles_of(function_, loop_, *values_, lane);
    if (!tiles || !keeps_order(function_, loop_, *values_, *tiles, lane)) return false;
    if (lane == 0) tiles_ = *tiles;
    const auto is_like_others = [&](const RowTile& tile) {
      return std::ranges::count(tiles_, tile.stores, &RowTile::stores) != 0;
    };
    if (!std::ranges::all_of(*tiles, is_like_others)) return false;
    std::vector<ValueId> rows, masks;
    for (const RowTile& tile : *tiles) {
      const auto mask = mask_of(tile, lane);
      if (!mask) return false;
      masks.push_back(*mask);
      builder_.set_guest_ip(tile.stores[0]->guest_ip);
      std::vector<ValueId> all;
      for (const Inst* store : tile.stores) {
        const auto components = data_of(*store);
        all.insert(all.end(), components.begin(), components.end());
      }
      const auto data = values_->in_turns(all, lane);
      if (!data) return false;
      rows.push_back(*data);
    }
    if (!reduce_rows(lane)) return false;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const RowTile& tile = (*tiles)[k];
      builder_.set_guest_ip(tile.stores[0]->guest_ip);
      if (!values_->store_row(*tile.stores[0], tile.place, rows[k], masks[k])) return false;
    }
    return true;
  }
  /// The turns in which the lane stores; no_value: all. Nothing: that cannot be told, or parts of the tile
  /// differ.
  std::optional<ValueId> mask_of(const RowTile& tile, unsigned lane) {
    const ValueId mask = tile.stores[0]->mask;
    if (mask != ir::no_value)
      return tile.stores.size() == 1 ? values_->in_turns({&mask, 1}, lane) : std::nullopt;
    const bool is_whole =
        std::ranges::all_of(tile.stores, [](const Inst* store) { return store->mask == ir::no_value; });
    return is_whole ? std::optional(ir::no_value) : std::nullopt;
  }

  /// What turns add to the lane's registers.
  bool reduce_rows(unsigned lane) {
    for (const Reduction& each : loop_.reductions()) {
      if (lane >= each.lanes) continue;
      auto vector = values_->in_turns(each.terms, lane);
      if (!vector) return false;
      ValueId rest = builder_.convert(Op::bitcast, each.type, *vector);
      if (each.mask != ir::no_value) {
        const auto mask = values_->in_turns({&each.mask, 1}, lane);
        const auto neutral = each.neutral();
        if (!mask || !neutral) return false;
        const unsigned turns = builder_.lanes_of(rest);
        rest = builder_.select(*mask, rest, builder_.constant(each.type, turns, *neutral));
      }
      unsigned lanes = builder_.lanes_of(rest);
      if (!std::has_single_bit(lanes)) return false;
      while ((lanes /= 2) > 0) {
        const ValueId low = builder_.slice(rest, 0, lanes), high = builder_.slice(rest, lanes, lanes);
        rest = builder_.lanewise(each.of_terms(), {low, high});
      }
      const ir::Region place = ir::Region::packed(each.offset + lane * ir::size_of(each.type));
      const ValueId old = builder_.reg_read(each.type, 1, place);
      builder_.reg_write(place, builder_.lanewise(each.op, {old, rest}));
    }
    return true;
  }

  /// Enters the round, and repeats it, while enough turns are left.
  void end_round(const Round& round, BlockId then) {
    for (const BlockId block : {round.test, round.rows}) {
      begin(block);
      builder_.branch_any(compare_left(Op::cmp_ge, least_left(round)), round.rows, then);
    }
  }

  // ---- Guards

  /// The loop of before is entered if few turns are left.
  void make_count(BlockId count, BlockId guard) {
    begin(count);
    // A thread that is restored at the loop's ip begins here.
    function_.blocks[count].safepoint = function_.blocks[loop_.trace().block].safepoint;
    const ValueId few = compare_left(Op::cmp_lt, least_left(rounds_.back()));
    builder_.branch_any(few, header(), guard);
  }

  bool make_guard(BlockId guard) {
    begin(guard);
    const auto bad = RowGuard(builder_, *values_, loop_).refusal(loaded_, tiles_);
    if (!bad) return false;
    const ValueId none = builder_.constant(Type::u32, 1, 0);
    builder_.branch_any(builder_.compare(Op::cmp_ne, *bad, none), header(), rounds_[0].test);
    return true;
  }

  /// Moves the new blocks to where the loop begins, and drops its trace.
  void move_in_front() {
    auto& blocks = function_.blocks;
    const BlockId loop = header(), added = static_cast<BlockId>(blocks.size()) - first_;
    blocks.erase(blocks.begin() + loop_.trace().block);
    std::rotate(blocks.begin() + loop, blocks.end() - added, blocks.end());
    const auto now = [&](BlockId to) {
      return to >= first_ ? loop + (to - first_) : to + added * (to >= loop);
    };
    renumber_targets(function_, now);
    ir::Targets& targets = blocks[now(before_)].insts.back().targets;
    for (BlockId* to : {&targets.taken, &targets.fallthrough})
      if (*to == now(loop)) *to = loop;
  }

  ir::Function& function_;
  BlockId before_;
  const CountedLoop& loop_;
  ir::Builder builder_;
  std::optional<TurnValues> values_;
  BlockId first_ = ir::no_block;         ///< of the new blocks
  std::vector<Round> rounds_;            ///< of ever fewer turns
  std::vector<TurnValues::Row> loaded_;  ///< in rounds
  std::vector<RowTile> tiles_;           ///< of lane 0
  bool is_long_ = false;                 ///< a round that has been tried is
};

bool loads_or_stores(const ir::Function& function, const Loop& loop) {
  for (BlockId block = 0; block < function.blocks.size(); ++block)
    if (loop.blocks[block] && std::ranges::any_of(function.blocks[block].insts, [](const Inst& inst) {
          return inst.op == Op::store || inst.op == Op::load;
        }))
      return true;
  return false;
}

/// False: the loop stays as it is.
bool run_on(ir::Function& function, const Loop& loop, std::optional<LoopTrace> trace) {
  if (!trace) return false;
  assume_all_active(function, *trace);
  const bool has_conditions = std::ranges::any_of(function.blocks[trace->block].insts, [](const Inst& inst) {
    return inst.op == Op::spend || (inst.op == Op::store && inst.mask != ir::no_value);
  });
  if (has_conditions || !trace->is_of_one_block) forward_state(function, trace->block);
  if (has_conditions) {
    // Branches may store to the same places by different ops.
    wide_ops(function, trace->block);
    join_stores(function, trace->block);
  }
  const auto counted = CountedLoop::of(function, *trace);
  if (counted && RowLoop(function, loop.before, *counted).run()) return true;
  function.blocks.pop_back();
  return false;
}

}  // namespace

void row_loops(ir::Function& function) {
  if (!function.disjoint_surfaces) return;
  const auto latch_of = latches(function);
  if (!latch_of) return;
  // From the last one on, so that the numbers of the others stay as they are.
  for (auto header = static_cast<BlockId>(function.blocks.size()); header-- > 0;) {
    const BlockId latch = (*latch_of)[header];
    if (latch == ir::no_block) continue;
    const auto loop = loop_of(function, ir::predecessors(function), header, latch);
    if (!loop || !loads_or_stores(function, *loop)) continue;
    if (!run_on(function, *loop, trace_loop(function, *loop)))
      run_on(function, *loop, trace_joined(function, *loop));
  }
}

}  // namespace eum::jit

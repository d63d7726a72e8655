// Loops in which each lane works on a row of its own, o[i * m + j] = f(a[i * m + j]): in one turn, lanes
// access places that are a row apart. Several turns of one lane access adjacent places: that many turns are
// done for one lane after the other, as vectors along its row, and then fewer, for most of what is left. A
// turn may store several elements side by side, of vectors or where the compiler has unrolled a loop.
//
// The loop of before remains for the last turns, for fewer channels, and where the order of stores would
// matter: rows have to follow one another.
#include <algorithm>
#include <bit>
#include <vector>

#include "jit/analysis/counted_loop.hpp"
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
using End = CountedLoop::End;

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
  /// Elements side by side that a lane stores in a turn.
  struct Tile {
    std::vector<const Inst*> stores;  ///< in the order of memory
    TurnSum place;                    ///< of the first one
  };

  const ir::MemoryAccess& access(const Inst& inst) const { return function_.access(inst); }
  ValueId address_of(const Inst& inst) const { return function_.arg(inst, 0); }
  std::span<const ValueId> data_of(const Inst& store) const { return function_.args(store).subspan(1); }
  /// Bytes that an item stores in a turn.
  unsigned bytes_of(const Inst& store) const {
    return access(store).component_count() * ir::size_of(store.type);
  }
  /// Whether a turn stores as much of a lane as is worth a vector.
  bool stores_many() const {
    return std::ranges::any_of(tiles_,
                               [&](const Tile& tile) { return bytes_of(tile) >= least_bytes_at_once; });
  }
  unsigned bytes_of(const Tile& tile) const {
    unsigned bytes = 0;
    for (const Inst* store : tile.stores) bytes += bytes_of(*store);
    return bytes;
  }
  static bool has_adjacent_components(const ir::MemoryAccess& access) {
    return access.component_count() <= ir::max_pure_operands &&
           access.components == (1u << access.component_count()) - 1;
  }

  /// Whether accesses may be done in another order, provided that what is stored does not overlap and is not
  /// loaded.
  bool may_exchange() const {
    const auto is_simple = [&](const Inst* inst) {
      return access(*inst).never_faults() && inst->mask == ir::no_value;
    };
    return std::ranges::all_of(loop_.loads(), is_simple) &&
           std::ranges::all_of(loop_.stores(), [&](const Inst* store) {
             return is_simple(store) && access(*store).is_fixed_surface() &&
                    has_adjacent_components(access(*store));
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
  ValueId number(std::uint32_t value) { return builder_.constant(Type::u32, 1, value); }

  /// Turns that are left, as counters are in the block: 0 may stand for 2^32.
  ValueId turns_left(const End& end) {
    const auto first = [&](ValueId value) {
      return builder_.convert(Op::bitcast, Type::u32, *values_->first_turn(value));
    };
    const ValueId next = first(end.next), limit = first(end.limit);
    const auto in_each = [&](std::uint32_t number) {
      return builder_.constant(Type::u32, builder_.lanes_of(next), number);
    };
    const auto [low, high] = end.increases ? std::pair(next, limit) : std::pair(limit, next);
    ValueId left = builder_.lanewise(Op::sub, {high, low});
    if (end.step > 1) {
      if (end.is_strict()) left = builder_.lanewise(Op::add, {left, in_each(end.step - 1)});
      const auto bits = static_cast<std::uint32_t>(std::countr_zero(end.step));
      left = builder_.convert(Op::bitcast, Type::s32, left);
      left = builder_.lanewise(Op::asr, {left, builder_.convert(Op::bitcast, Type::s32, in_each(bits))});
      left = builder_.convert(Op::bitcast, Type::u32, left);
    }
    return builder_.lanewise(Op::add, {left, in_each(end.is_strict() ? 1 : 2)});
  }
  /// If it is the same for all counters and lanes.
  ValueId turns_left() { return builder_.slice(turns_left(loop_.ends()[0]), 0, 1); }
  /// How many are left, compared with a number.
  ValueId compare_left(Op compare, std::uint32_t with) {
    const ValueId left = turns_left();
    return builder_.compare(compare, left, number(with));
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
    for (unsigned lane = 0; lane < most_lanes; ++lane) {
      if (!do_turns(lane)) return false;
      is_long_ = function_.blocks[round.rows].insts.size() > most_new_insts;
      if (is_long_) return false;
      values_->end_lane();
    }
    values_->write_left();
    for (const CountedLoop::Counter& counter : loop_.counters()) {
      const ir::Region region = ir::Region::packed(counter.offset);
      const ValueId old = builder_.reg_read(Type::u32, counter.lanes, region),
                    step = builder_.constant(Type::u32, counter.lanes, counter.step * round.turns);
      builder_.reg_write(region, builder_.lanewise(Op::add, {old, step}));
    }
    const ir::Block& turn = function_.blocks[loop_.trace().block];
    function_.blocks[round.rows].guest_instructions = turn.guest_instructions * round.turns;
    function_.blocks[round.rows].safepoint = turn.safepoint;
    return true;
  }

  /// What the lane does in the turns of a round. Nothing is loaded behind what it stores.
  bool do_turns(unsigned lane) {
    const auto tiles = tiles_of(lane);
    if (!tiles || !keep_order(*tiles, lane)) return false;
    std::vector<ValueId> rows;
    for (const Tile& tile : *tiles) {
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
      const Tile& tile = (*tiles)[k];
      builder_.set_guest_ip(tile.stores[0]->guest_ip);
      if (!values_->store_row(*tile.stores[0], tile.place, rows[k])) return false;
    }
    return true;
  }

  /// What the lane stores in one turn, in the order of the first stores. Nothing: a turn's does not adjoin
  /// that of the turn before, or another lane's is made of other stores.
  std::optional<std::vector<Tile>> tiles_of(unsigned lane) {
    std::vector<Tile> tiles;
    std::vector<std::vector<std::uint32_t>> places;
    for (const Inst* store : loop_.stores()) {
      if (lane >= store->lanes) continue;
      builder_.set_guest_ip(store->guest_ip);
      const auto place = values_->sum(address_of(*store), lane);
      if (!place) return std::nullopt;
      const auto tile = std::ranges::find_if(tiles, [&](const Tile& other) {
        return other.place.is_near(*place) && are_alike(*other.stores[0], *store);
      });
      if (tile == tiles.end()) {
        tiles.push_back({{store}, *place});
        places.push_back({place->constant});
        continue;
      }
      // In the order of memory.
      auto& others = places[static_cast<std::size_t>(tile - tiles.begin())];
      const auto behind = std::ranges::find_if(others, [&](std::uint32_t other) {
        return static_cast<std::int32_t>(other - place->constant) > 0;
      });
      tile->stores.insert(tile->stores.begin() + (behind - others.begin()), store);
      others.insert(behind, place->constant);
    }
    for (std::size_t k = 0; k < tiles.size(); ++k) {
      tiles[k].place.constant = places[k][0];
      std::uint32_t end = places[k][0];
      for (std::size_t i = 0; i < places[k].size(); ++i) {
        if (places[k][i] != end) return std::nullopt;
        end += bytes_of(*tiles[k].stores[i]);
      }
      const std::uint32_t bytes = end - places[k][0], step = tiles[k].place.step;
      if (step != bytes && step != 0u - bytes) return std::nullopt;
    }
    if (lane == 0) tiles_ = tiles;
    const auto is_known = [&](const Tile& tile) {
      return std::ranges::any_of(tiles_, [&](const Tile& other) { return other.stores == tile.stores; });
    };
    if (!std::ranges::all_of(tiles, is_known)) return std::nullopt;
    return tiles;
  }
  bool are_alike(const Inst& a, const Inst& b) const {
    ir::MemoryAccess one = access(a), other = access(b);
    one.components = other.components;
    one.several = other.several;
    return one == other && a.type == b.type && a.lanes == b.lanes;
  }

  /// Whether of what is stored the lane loads nothing but what it overwrites afterwards in the same turn.
  bool keep_order(const std::vector<Tile>& tiles, unsigned lane) {
    for (const Inst* load : loop_.loads()) {
      if (!access(*load).is_fixed_surface() || lane >= load->lanes) continue;
      const auto is_stored = [&](const Inst* store) {
        return access(*store).surface == access(*load).surface;
      };
      if (std::ranges::none_of(loop_.stores(), is_stored)) continue;
      const auto place = values_->sum(address_of(*load), lane);
      const auto is_own = [&](const Tile& tile) {
        const Inst& store = *tile.stores[0];
        const std::uint32_t distance = place->constant - tile.place.constant,
                            bytes = ir::size_of(load->type) *
                                    static_cast<std::uint32_t>(std::bit_width(access(*load).components));
        return access(store).surface == access(*load).surface &&
               access(store).offset == access(*load).offset && place->is_near(tile.place) &&
               distance < bytes_of(tile) && bytes_of(tile) - distance >= bytes &&
               std::ranges::all_of(tile.stores, [&](const Inst* other) { return load < other; });
      };
      if (!place || std::ranges::none_of(tiles, is_own)) return false;
    }
    return true;
  }

  /// What turns add to the lane's registers.
  bool reduce_rows(unsigned lane) {
    for (const Reduction& each : loop_.reductions()) {
      if (lane >= each.lanes) continue;
      auto vector = values_->in_turns(each.terms, lane);
      if (!vector) return false;
      ValueId rest = builder_.convert(Op::bitcast, each.type, *vector);
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

  /// It is if a channel is inactive as well, or if rows overlap.
  bool make_guard(BlockId guard) {
    constexpr std::uint32_t most_turns = 1u << 22;
    begin(guard);
    const ValueId left = turns_left();
    bad_ = builder_.mask_bits(Type::u32, builder_.lanewise(Op::not_, {builder_.mask_get(0)}));
    refuse_if(Op::cmp_gt, left, number(most_turns));
    for (const End& end : loop_.ends()) refuse_unless(end, left);
    const auto in_all = [&](unsigned each) { return builder_.lanewise(Op::mul, {left, number(each)}); };
    for (const auto& [a, b] : loop_.high_halves()) {
      const auto high = values_->first_turn(a), other = values_->first_turn(b);
      if (!high || !other) return false;
      refuse_if(Op::cmp_ne, *high, *other);
    }
    for (const CountedLoop::Counter& counter : loop_.counters())
      if (counter.has_low_zeros) refuse_low_bits(counter);
    for (const TurnValues::Row& row : loaded_) {
      const auto address = values_->first_turn(row.address);
      if (!address) return false;
      refuse_wrapping(*address, in_all(row.bytes));
    }
    std::vector<ValueId> begins;  // of each tile's rows
    for (const Tile& tile : tiles_) {
      const auto begin = begin_of(tile, left);
      if (!begin) return false;
      begins.push_back(*begin);
    }
    for (std::size_t k = 0; k < tiles_.size(); ++k) {
      const unsigned lanes = tiles_[k].stores[0]->lanes;
      const ValueId bytes = in_all(bytes_of(tiles_[k])), last = builder_.slice(begins[k], lanes - 1, 1);
      if (lanes > 1) {
        const ValueId low = builder_.slice(begins[k], 0, lanes - 1),
                      high = builder_.slice(begins[k], 1, lanes - 1);
        refuse_near(low, high, bytes);
      }
      refuse_wrapping(last, bytes);
      for (std::size_t next = k + 1; next < tiles_.size(); ++next) {
        if (access(*tiles_[next].stores[0]).surface != access(*tiles_[k].stores[0]).surface) continue;
        refuse_near(last, builder_.slice(begins[next], 0, 1), bytes);
        break;
      }
    }
    builder_.branch_any(builder_.compare(Op::cmp_ne, bad_, number(0)), header(), rounds_[0].test);
    return true;
  }

  /// Where the lanes' rows of so many turns begin.
  std::optional<ValueId> begin_of(const Tile& tile, ValueId turns) {
    const auto first = values_->first_turn(address_of(*tile.stores[0]));
    if (!first || tile.place.step == bytes_of(tile)) return first;
    const ValueId others = builder_.lanewise(Op::sub, {turns, number(1)}),
                  above = builder_.splat(builder_.lanewise(Op::mul, {others, number(bytes_of(tile))}),
                                         builder_.lanes_of(*first));
    return builder_.lanewise(Op::sub, {*first, above});
  }

  void refuse_if(Op compare, ValueId a, ValueId b) {
    bad_ = builder_.lanewise(Op::or_, {bad_, builder_.mask_bits(Type::u32, builder_.compare(compare, a, b))});
  }
  /// Unless so many turns are left for each counter.
  void refuse_unless(const End& end, ValueId left) {
    const ValueId next = *values_->first_turn(end.next), limit = *values_->first_turn(end.limit);
    const auto [type, lanes] = function_.values[next];
    if (lanes > 1 || end != loop_.ends()[0]) {
      const ValueId own = turns_left(end);
      refuse_if(Op::cmp_ne, own, builder_.splat(left, lanes));
    }
    if (end.compare == Op::cmp_ne) return;
    bad_ = builder_.lanewise(
        Op::or_,
        {bad_, builder_.mask_bits(
                   Type::u32, builder_.lanewise(Op::not_, {builder_.compare(end.compare, next, limit)}))});
    // What the comparison is of when it does not hold any more must not wrap around.
    const std::uint32_t behind = end.is_strict() ? end.step - 1 : end.step;
    if (behind == 0) return;
    const ValueId by = builder_.constant(type, lanes, behind),
                  last = builder_.lanewise(end.increases ? Op::add : Op::sub, {limit, by});
    refuse_if(end.increases ? Op::cmp_lt : Op::cmp_gt, last, limit);
  }
  /// If a bit below the counter's step is set.
  void refuse_low_bits(const CountedLoop::Counter& counter) {
    const ValueId now = builder_.reg_read(Type::u32, counter.lanes, ir::Region::packed(counter.offset)),
                  low = builder_.constant(Type::u32, counter.lanes, counter.step - 1);
    refuse_if(Op::cmp_ne, builder_.lanewise(Op::and_, {now, low}),
              builder_.constant(Type::u32, counter.lanes, 0));
  }
  /// Unless so many bytes follow each address.
  void refuse_wrapping(ValueId address, ValueId bytes) {
    refuse_if(Op::cmp_gt, address,
              builder_.splat(builder_.lanewise(Op::not_, {bytes}), function_.values[address].lanes));
  }
  /// Unless `low` is so many bytes or more below `high`.
  void refuse_near(ValueId low, ValueId high, ValueId bytes) {
    refuse_if(Op::cmp_ge, low, high);
    const ValueId gap = builder_.lanewise(Op::sub, {high, low});
    refuse_if(Op::cmp_lt, gap, builder_.splat(bytes, function_.values[low].lanes));
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
  std::vector<Tile> tiles_;              ///< of lane 0
  bool is_long_ = false;                 ///< a round that has been tried is
  ValueId bad_ = ir::no_value;           ///< in the guard: not 0 if the loop of before is to be entered
};

bool loads_or_stores(const ir::Function& function, const Loop& loop) {
  for (BlockId block = 0; block < function.blocks.size(); ++block)
    if (loop.blocks[block] && std::ranges::any_of(function.blocks[block].insts, [](const Inst& inst) {
          return inst.op == Op::store || inst.op == Op::load;
        }))
      return true;
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
    const auto trace = trace_loop(function, *loop);
    if (!trace) continue;
    if (!trace->is_of_one_block) forward_state(function, trace->block);
    const auto counted = CountedLoop::of(function, *trace);
    if (!counted || !RowLoop(function, loop->before, *counted).run()) function.blocks.pop_back();
  }
}

}  // namespace eum::jit

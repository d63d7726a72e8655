// Loops that retry a compare-and-exchange until it adds a float. OpenCL C 1.2 has no atomic addition of
// floats, so that programs read the old value, add to it, and exchange unless memory has changed since:
//   do { sum = old + x; seen = cmpwr(address, old, sum); } while (seen != old, then old = seen or read again)
// Channels with the same address succeed one after the other, each in another turn. If the exchange is an
// atomic addition, all of them succeed in the first turn, so that fewer instructions are executed. The rest
// of the turn stays as it is, and finds that they have; what it leaves of old values and sums must be dead.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "jit/analysis/block_facts.hpp"
#include "jit/analysis/channel_reads.hpp"
#include "jit/analysis/last_writes.hpp"
#include "jit/analysis/liveness.hpp"
#include "jit/analysis/loop_turns.hpp"
#include "jit/analysis/parked.hpp"
#include "jit/analysis/terms.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

/// ChannelReads of a function, made when it is first asked.
class ReadsBehind {
 public:
  ReadsBehind(const Function& function, const MayBeParked& parked) : function_(function), parked_(parked) {}
  bool may_read(const Place& place, BlockId block) {
    constexpr unsigned slot_bytes = 32;
    if (!reads_) {
      liveness_.emplace(function_, slot_bytes, false);
      reads_.emplace(function_, parked_, *liveness_);
    }
    return reads_->may_read(place, block);
  }

 private:
  const Function& function_;
  const MayBeParked& parked_;
  std::optional<Liveness> liveness_;
  std::optional<ChannelReads> reads_;
};

class ExchangeLoop {
 public:
  ExchangeLoop(Function& function, const MayBeParked& parked, Loop loop)
      : function_(function),
        loop_(std::move(loop)),
        values_(function.values.size()),
        turns_(function, loop_, parked, terms_, values_),
        groups_(turns_.groups()),
        insts_(function.blocks[loop_.header].insts) {}

  /// Whether each turn tries to add what is the same in all turns, and does nothing else whose effect depends
  /// on how often it is done.
  bool check(ReadsBehind& reads) {
    if (!find_exchanges() || !turns_.walk_with_memory()) return false;
    for (const Turn& way : turns_.ways()) {
      if (turns_.goes_on(way))
        again_ = &way;
      else
        exit_ = way.leads_to;
    }
    return again_ != nullptr && exit_ != no_block && again_->chosen.empty() && understand_exchanges() &&
           check_loads() && check_old() && check_masks() && check_cells(reads);
  }

  /// Makes the exchanges additions.
  void replace() {
    NewBlock out(function_);
    SameValues same;
    auto next = exchanges_.begin();
    for (std::size_t i = 0; i < insts_.size(); ++i) {
      Inst inst = insts_[i];
      same.resolve(function_, inst);
      if (next == exchanges_.end() || i != next->index) {
        out.keep(inst);
        continue;
      }
      // Then it has seen the old value.
      same.add(inst.result, function_.arg(inst, 1));
      add(out, inst, *next++);
    }
    out.replace(function_.blocks[loop_.header]);
  }

 private:
  /// The channels of a group: what they exchange.
  struct Group {
    Term address = no_term, old = no_term, seen = no_term, succeeds = no_term;
    const Inst* exchange = nullptr;
  };
  /// A lane of a value.
  struct LaneOf {
    ValueId value = no_value;
    unsigned lane = 0;
    bool operator==(const LaneOf&) const = default;
  };
  struct Exchange {
    std::size_t index = 0;  ///< in the header
    unsigned group = 0;     ///< of its first lane
    LaneOf added{};         ///< the first one of what is added
    bool old_is_first = true;
  };

  const Term& term(ValueId value, unsigned part) const { return values_[value].terms[part]; }
  /// Where a lane comes from, unchanged.
  LaneOf origin(const Block& block, LaneOf of) const {
    for (;;) {
      const Inst* inst = definition(block, of.value);
      if (!inst) return of;
      if (inst->op == Op::slice) {
        of = {function_.arg(*inst, 0), of.lane + static_cast<unsigned>(inst->imm)};
      } else if (inst->op == Op::concat) {
        const unsigned low = function_.values[function_.arg(*inst, 0)].lanes;
        of = of.lane < low ? LaneOf{function_.arg(*inst, 0), of.lane}
                           : LaneOf{function_.arg(*inst, 1), of.lane - low};
      } else if (inst->op == Op::bitcast && size_of(inst->type) == size_of(inst->from)) {
        of.value = function_.arg(*inst, 0);
      } else {
        return of;
      }
    }
  }
  /// The same for consecutive lanes, if they are consecutive there as well.
  std::optional<LaneOf> origin_of_all(const Block& block, ValueId value) const {
    const LaneOf first = origin(block, {value, 0});
    for (unsigned lane = 1; lane < function_.values[value].lanes; ++lane)
      if (origin(block, {value, lane}) != LaneOf{first.value, first.lane + lane}) return std::nullopt;
    return first;
  }

  // ---- What a turn does

  /// Looks for exchanges; no other block may access memory, and nothing may change it otherwise.
  bool find_exchanges() {
    for (BlockId id = 0; id < function_.blocks.size(); ++id) {
      if (!loop_.blocks[id]) continue;
      for (const Inst& inst : function_.blocks[id].insts) {
        if (inst.op != Op::load && inst.op != Op::atomic) continue;
        if (id != loop_.header || function_.access(inst).surface_is_operand) return false;
        if (inst.op == Op::load) continue;
        if (function_.access(inst).atomic != AtomicOp::cmpwr || inst.result_count != 1 ||
            size_of(inst.type) != 4)
          return false;
        exchanges_.push_back({.index = static_cast<std::size_t>(&inst - insts_.data())});
      }
    }
    return !exchanges_.empty();
  }

  /// The group whose active channels a mask holds in 8 of its lanes.
  std::optional<unsigned> group_of(ValueId mask, unsigned part) const {
    for (unsigned group = 0; group < groups_.size() && mask != no_value; ++group)
      if (term(mask, part) == turns_.is_on(group)) return group;
    return std::nullopt;
  }

  /// Each group exchanges once, and what is not `old` in the sum is to be added.
  bool understand_exchanges() {
    const Block& block = function_.blocks[loop_.header];
    for (Exchange& exchange : exchanges_) {
      const Inst& inst = insts_[exchange.index];
      const auto args = function_.args(inst);
      const auto first = group_of(inst.mask, 0);
      const auto sum = origin_of_all(block, args[2]);
      const Inst* addition = sum ? definition(block, sum->value) : nullptr;
      if (!first || inst.lanes % group_lanes != 0 || !addition || addition->op != Op::add ||
          addition->type != Type::f32)
        return false;
      exchange.group = *first;
      const unsigned in_sum = sum->lane / group_lanes;
      exchange.old_is_first = term(function_.arg(*addition, 0), in_sum) == term(args[1], 0);
      exchange.added = {function_.arg(*addition, exchange.old_is_first ? 1 : 0), sum->lane};
      for (unsigned part = 0; part < inst.lanes / group_lanes; ++part) {
        if (group_of(inst.mask, part) != *first + part || groups_[*first + part].exchange) return false;
        Group& group = groups_[*first + part];
        group = {.address = term(args[0], part),
                 .old = term(args[1], part),
                 .seen = term(inst.result, part),
                 .exchange = &inst};
        group.succeeds = terms_.compute(Op::cmp_eq, Type::u32, {group.seen, group.old});
        const ValueId old = function_.arg(*addition, exchange.old_is_first ? 0 : 1);
        if (term(old, in_sum + part) != group.old) return false;
      }
    }
    return std::ranges::all_of(groups_, [](const Group& group) { return group.exchange != nullptr; });
  }

  /// What is loaded, and added, is the same in each turn, but for what is exchanged. Loads behind an exchange
  /// would show whose turn it was.
  bool check_loads() {
    for (const Inst& inst : insts_) {
      if (inst.op != Op::load) continue;
      if (&inst > &insts_[exchanges_.front().index]) return false;
      for (unsigned part = 0; part < values_[inst.result].count; ++part) {
        const auto group = group_of(inst.mask, part);
        if ((inst.mask != no_value && !group) || !is_given(term(function_.arg(inst, 0), part))) return false;
        for (unsigned k = 0; k < inst.result_count; ++k) {
          const Term loaded = term(inst.result + k, part);
          if (std::ranges::find(groups_, loaded, &Group::old) == groups_.end()) loaded_.push_back(loaded);
        }
      }
    }
    return std::ranges::all_of(exchanges_, [&](const Exchange& exchange) {
      for (unsigned part = 0; part < insts_[exchange.index].lanes / group_lanes; ++part)
        if (!is_given(groups_[exchange.group + part].address) ||
            !is_given(term(exchange.added.value, exchange.added.lane / group_lanes + part)))
          return false;
      return true;
    });
  }

  /// After a turn in which a channel has failed, `old` is what was seen, or is loaded from there again.
  bool check_old() {
    for (unsigned number = 0; number < groups_.size(); ++number) {
      const Group& group = groups_[number];
      if (terms_[group.old].kind == Terms::Kind::Unknown) {
        if (!is_loaded_again(number)) return false;
        continue;
      }
      if (terms_[group.old].kind != Terms::Kind::Initial) return false;
      const Place& place = terms_.place(group.old);
      const Cell* cell = again_->cell(place);
      if (place.space != Place::File || place.lanes != group_lanes || !cell ||
          decided(cell->term, number, true, false) != group.seen)
        return false;
    }
    return true;
  }
  bool is_loaded_again(unsigned group) const {
    return std::ranges::any_of(insts_, [&](const Inst& inst) {
      if (inst.op != Op::load || inst.result_count != 1) return false;
      for (unsigned part = 0; part < values_[inst.result].count; ++part)
        if (term(inst.result, part) == groups_[group].old)
          return (inst.mask == no_value || group_of(inst.mask, part) == group) &&
                 is_same_memory(inst, part, group);
      return false;
    });
  }
  /// Whether the lanes of the load have the addresses that the group's exchange has.
  bool is_same_memory(const Inst& load, unsigned part, unsigned group) const {
    MemoryAccess loaded = function_.access(load), exchanged = function_.access(*groups_[group].exchange);
    const Term address = term(function_.arg(load, 0), part);
    if (loaded.space == exchanged.space) {
      loaded.atomic = exchanged.atomic;
      loaded.cache = exchanged.cache;
      return loaded == exchanged && address == groups_[group].address;
    }
    if (!loaded.is_fixed_surface() || exchanged.space != MemSpace::A64 || loaded.offset != 0 ||
        exchanged.offset != 0 || loaded.components != 1)
      return false;
    const auto place_of = [&](Term of) {
      return terms_[of].kind == Terms::Kind::Initial ? terms_.place(of) : Place{};
    };
    const Place distance = place_of(address), pointer = place_of(groups_[group].address);
    return distance.lanes == group_lanes && distance.bytes == 4 && pointer.lanes == group_lanes &&
           pointer.bytes == 8 &&
           std::ranges::any_of(function_.pointers, [&](const PointerArgument& argument) {
             return argument.surface == loaded.surface && keeps(argument) &&
                    is_sum(group, pointer, argument.offset, distance);
           });
  }
  /// Whether no instruction changes the argument.
  bool keeps(const PointerArgument& argument) const {
    return writes_of({Place::File, 8, 1, argument.offset}).empty();
  }
  /// What may change the place, with the block.
  std::vector<std::pair<BlockId, const Inst*>> writes_of(const Place& place) const {
    std::vector<std::pair<BlockId, const Inst*>> writes;
    for (BlockId id = 0; id < function_.blocks.size(); ++id)
      for (const Inst& inst : function_.blocks[id].insts)
        if (inst.op == Op::reg_scatter || (inst.op == Op::reg_write && shared_bytes(inst, place) != 0))
          writes.emplace_back(id, &inst);
    return writes;
  }
  /// Whether the dword at byte `at` of the file is this one of the arguments, or a copy of it, before the
  /// loop.
  bool is_argument(std::uint32_t at, std::uint32_t argument) const {
    if (at == argument) return true;
    const Place place{Place::File, 4, 1, at};
    const auto writes = writes_of(place);
    if (writes.size() != 1 || !dominates(writes[0].first, loop_.before)) return false;
    const auto& [id, write] = writes[0];
    const int lane = (static_cast<int>(at) - static_cast<int>(write->region.offset)) / 4;
    if (write->op != Op::reg_write || size_of(write->type) != 4 || write->region.stride(write->lanes) > 1 ||
        write->region.offset + 4 * static_cast<std::uint32_t>(lane) != at || write->mask != no_value)
      return false;
    const Block& block = function_.blocks[id];
    const LaneOf from = origin(block, {function_.arg(*write, 0), static_cast<unsigned>(lane)});
    const Inst* read = definition(block, from.value);
    return read && read->op == Op::reg_read && size_of(read->type) == 4 &&
           read->region.byte_of(from.lane, 4) == argument;
  }
  /// Whether control comes through `first` before it reaches `second`.
  bool dominates(BlockId first, BlockId second) const {
    std::vector<bool> is_reached(function_.blocks.size());
    std::vector<BlockId> pending{0};
    while (!pending.empty()) {
      const BlockId block = pending.back();
      pending.pop_back();
      if (block == no_block || block == first || is_reached[block]) continue;
      is_reached[block] = true;
      for (const BlockId next : successors(function_.blocks[block].insts.back())) pending.push_back(next);
    }
    return !is_reached[second];
  }
  /// Whether the block before the loop leaves in `sum`, for the active channels of a group, the argument plus
  /// what it leaves in `distance`, by halves: there are no 64-bit additions of lanes.
  bool is_sum(unsigned group, const Place& sum, std::uint32_t argument, const Place& distance) const {
    const Block& block = function_.blocks[loop_.before];
    const auto whole = last_write(block, group, sum), added = last_write(block, group, distance);
    const Inst* join = whole ? definition(block, whole->value) : nullptr;
    if (!added || !join || join->op != Op::join) return false;
    const auto half = [&](unsigned k) { return origin(block, {function_.arg(*join, k), whole->lane}); };
    const auto is_dword = [&](ValueId value, unsigned dword) {
      const Inst* splat = definition(block, origin(block, {value, 0}).value);
      const Inst* read = splat && splat->op == Op::splat
                             ? definition(block, origin(block, {function_.arg(*splat, 0), 0}).value)
                             : nullptr;
      return read && read->op == Op::reg_read && read->lanes == 1 && size_of(read->type) == 4 &&
             is_argument(read->region.offset, argument + 4 * dword);
    };
    const LaneOf low = half(0), high = half(1);
    const Inst* lows = definition(block, low.value);
    const Inst* highs = definition(block, high.value);
    if (!lows || lows->op != Op::addc || low.value != lows->result || !highs || highs->op != Op::add ||
        !is_int(highs->type))
      return false;
    const auto is_carry = [&](ValueId value) {
      return origin(block, {value, high.lane}) == LaneOf{lows->result + 1, low.lane};
    };
    for (const unsigned k : {0u, 1u})
      if (is_dword(function_.arg(*lows, k), 0) &&
          origin(block, {function_.arg(*lows, 1 - k), low.lane}) == *added)
        for (const unsigned j : {0u, 1u})
          if (is_dword(function_.arg(*highs, j), 1) && is_carry(function_.arg(*highs, 1 - j))) return true;
    return false;
  }
  /// The origin of the lanes that a block leaves in a place for the active channels of a group.
  std::optional<LaneOf> last_write(const Block& block, unsigned group, const Place& place) const {
    const LastWrites writes(function_, block);
    const Inst* write = writes.writer_of(place);
    const auto places = write && write->op == Op::reg_write ? LoopTurns::places_of(*write)
                                                            : std::optional<std::vector<Place>>();
    if (!places) return std::nullopt;
    const auto found = std::ranges::find(*places, place);
    if (found == places->end()) return std::nullopt;
    const auto lane = group_lanes * static_cast<unsigned>(found - places->begin());
    if (write->mask != no_value) {
      const LaneOf channels = origin(block, {write->mask, lane});
      const Inst* mask = definition(block, channels.value);
      if (!mask || !writes.is_execution_mask(*mask) || channels.lane != group * group_lanes)
        return std::nullopt;
    }
    return origin(block, {function_.arg(*write, 0), lane});
  }

  /// Channels leave the loop when they succeed, and only these go where others are parked.
  bool check_masks() const {
    for (unsigned group = 0; group < groups_.size(); ++group)
      for (unsigned variable = 0; variable < function_.mask_variables; ++variable) {
        const Term before = turns_.masks_before()[variable][group], now = again_->masks[variable][group];
        const auto in = [&](bool is_on, bool succeeds) { return decided(now, group, is_on, succeeds); };
        const Term failed = variable == 0 ? terms_.truth(true) : before;
        const Term off = variable == 0 ? terms_.truth(false) : before;
        const Term succeeded = in(true, true);
        if (in(false, false) != off || in(true, false) != failed) return false;
        if (variable == 0 ? succeeded != off : !terms_.is_constant(succeeded) && succeeded != before)
          return false;
      }
    return true;
  }

  /// What a turn leaves depends on nothing that other turns have left, or is dead.
  bool check_cells(ReadsBehind& reads) const {
    return std::ranges::all_of(again_->cells, [&](const Cell& cell) {
      return cell.term == terms_.initial(cell.at) || is_same_in_last_turn(cell) ||
             !reads.may_read(cell.at, exit_);
    });
  }
  /// Whether one turn leaves there what each channel's last one would.
  bool is_same_in_last_turn(const Cell& cell) const {
    std::optional<unsigned> of;
    for (unsigned group = 0; group < groups_.size(); ++group) {
      if (!mentions(cell.term, group)) continue;
      if (of) return false;
      of = group;
    }
    return is_given(of ? decided(cell.term, *of, true, true) : cell.term) &&
           (!of || decided(cell.term, *of, false, false) == terms_.initial(cell.at));
  }

  /// The term for a channel of the group that is active or not, and whose exchange succeeds or not.
  Term decided(Term term, unsigned group, bool is_on, bool succeeds) const {
    return Terms::Rebuilt(terms_, ~Turns{0}, [&](const Terms::Entry&, Term each) {
      if (each == turns_.is_on(group)) return terms_.truth(is_on);
      return each == groups_[group].succeeds ? terms_.truth(succeeds) : no_term;
    })(term);
  }
  bool mentions(Term term, unsigned group) const {
    return !terms_.all_leaves(term, [&](Term leaf) {
      return leaf != turns_.is_on(group) && leaf != groups_[group].old && leaf != groups_[group].seen;
    });
  }
  /// Whether the term is the same in each turn.
  bool is_given(Term term) const {
    return terms_.all_leaves(term, [&](Term leaf) {
      if (terms_[leaf].kind == Terms::Kind::Unknown) return std::ranges::find(loaded_, leaf) != loaded_.end();
      return terms_.place(leaf).space != Place::Mask && is_kept(terms_, *again_, leaf);
    });
  }
  // ---- Code

  void add(NewBlock& out, const Inst& exchange, const Exchange& what) const {
    const std::uint32_t ip = exchange.guest_ip;
    const ValueId added = lanes_of(out, what.added, exchange.lanes, ip);
    Inst addition = exchange;
    addition.result = no_value;
    addition.result_count = 0;
    MemoryAccess access = function_.access(exchange);
    access.atomic = what.old_is_first ? AtomicOp::fadd : AtomicOp::frevadd;
    function_.set_access(addition, access);
    function_.set_args(addition,
                       {function_.arg(exchange, 0), out.converted(Op::bitcast, exchange.type, added, ip)});
    out.keep(addition);
  }
  ValueId lanes_of(NewBlock& out, const LaneOf& first, unsigned lanes, std::uint32_t ip) const {
    const ValueInfo from = function_.values[first.value];
    if (from.lanes == lanes) return first.value;
    Inst slice = make_op(Op::slice, from.type, lanes, ip);
    slice.imm = first.lane;
    return out.append(slice, {first.value});
  }

  Function& function_;
  Loop loop_;
  std::vector<Lanes> values_;
  mutable Terms terms_;
  LoopTurns turns_;
  std::vector<Group> groups_;
  const std::pmr::vector<Inst>& insts_;  // of the header
  const Turn* again_ = nullptr;          // the way back to it
  BlockId exit_ = no_block;
  std::vector<Exchange> exchanges_;
  std::vector<Term> loaded_;  // at the same addresses in each turn
};

bool has_exchange(const Function& function, const Block& block) {
  return std::ranges::any_of(block.insts, [&](const Inst& inst) {
    return inst.op == Op::atomic && function.access(inst).atomic == AtomicOp::cmpwr;
  });
}

}  // namespace

void exchange_loops(Function& function) {
  if (function.simd < group_lanes || function.simd % group_lanes != 0) return;
  const auto exchanges = [&](const Block& block) { return has_exchange(function, block); };
  if (std::ranges::none_of(function.blocks, exchanges)) return;
  const auto latch_of = latches(function);
  if (!latch_of) return;
  const auto before = predecessors(function);
  const MayBeParked parked(function);
  ReadsBehind reads(function, parked);
  std::vector<std::unique_ptr<ExchangeLoop>> found;
  // Each takes room for all values of the function.
  constexpr unsigned most_found = 64;
  unsigned failures_left = 32;
  for (BlockId header = 0; header < function.blocks.size(); ++header) {
    if ((*latch_of)[header] == no_block || !exchanges(function.blocks[header])) continue;
    auto loop = loop_behind_block(function, before, header, (*latch_of)[header]);
    if (!loop) continue;
    auto retries = std::make_unique<ExchangeLoop>(function, parked, std::move(*loop));
    if (retries->check(reads))
      found.push_back(std::move(retries));
    else
      --failures_left;
    if (failures_left == 0 || found.size() == most_found) break;
  }
  for (const auto& retries : found) retries->replace();
}

}  // namespace eum::jit

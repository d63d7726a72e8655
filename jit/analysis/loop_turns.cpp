#include "jit/analysis/loop_turns.hpp"

#include <algorithm>

#include "jit/analysis/liveness.hpp"

namespace eum::jit {

using namespace ir;

namespace {

constexpr std::size_t most_ways = 16;

/// A compiled division for 32 channels has some 700 micro-ops. Terms are followed by recursion.
constexpr std::size_t most_insts = 1500;

bool is_whole(unsigned lanes) { return lanes == 1 || lanes % group_lanes == 0; }

}  // namespace

std::optional<Loop> loop_of(const Function& function, const std::vector<std::vector<BlockId>>& predecessors,
                            BlockId header, BlockId latch) {
  Loop loop{.header = header, .blocks = std::vector<bool>(function.blocks.size())};
  for (const BlockId block : predecessors[header])
    if (block != latch) loop.before = block;
  if (predecessors[header].size() != 2 || loop.before == no_block || loop.before == header)
    return std::nullopt;
  loop.blocks[header] = true;
  std::size_t insts = function.blocks[header].insts.size();
  std::vector<BlockId> pending{latch};
  while (!pending.empty()) {
    const BlockId block = pending.back();
    pending.pop_back();
    if (loop.blocks[block]) continue;
    insts += function.blocks[block].insts.size();
    if (block == loop.before || block == 0 || insts > most_insts) return std::nullopt;
    loop.blocks[block] = true;
    pending.insert(pending.end(), predecessors[block].begin(), predecessors[block].end());
  }
  return loop;
}

std::optional<Loop> loop_behind_block(const Function& function,
                                      const std::vector<std::vector<BlockId>>& predecessors, BlockId header,
                                      BlockId latch) {
  auto loop = loop_of(function, predecessors, header, latch);
  const bool is_last = loop && function.blocks[loop->before].insts.back().op == Op::jump;
  return is_last ? std::move(loop) : std::nullopt;
}

std::optional<std::vector<BlockId>> latches(const Function& function) {
  const auto count = static_cast<BlockId>(function.blocks.size());
  std::vector<BlockId> latches(count, no_block);
  for (BlockId block = 0; block < count; ++block) {
    const Inst& last = function.blocks[block].insts.back();
    if (last.op == Op::jump_ip) return std::nullopt;
    for (const BlockId header : successors(last))
      if (header != no_block && header <= block) latches[header] = block;
  }
  return latches;
}

const Cell* Turn::cell(const Place& place) const {
  const auto found = std::ranges::find(cells, place, &Cell::at);
  return found == cells.end() ? nullptr : &*found;
}

unsigned shared_bytes(const Inst& access, const Place& place) {
  const unsigned bytes = size_of(access.type);
  if (access.region.offset >= place.end()) return 0;
  const auto shared = [&](std::uint32_t first, std::uint32_t end) {
    first = std::max(first, place.first);
    end = std::min(end, place.end());
    return first < end ? end - first : 0;
  };
  const std::uint32_t at = access.region.offset;
  if (access.region.stride(access.lanes) == 1) return shared(at, at + access.lanes * bytes);
  unsigned sum = 0;
  for (unsigned lane = 0; lane < access.lanes; ++lane) {
    const std::uint32_t lane_at = access.region.byte_of(lane, bytes);
    sum += shared(lane_at, lane_at + bytes);
  }
  return sum;
}

bool is_kept(const Terms& terms, const Turn& way, Term initial) {
  const Place& place = terms.place(initial);
  return std::ranges::all_of(way.cells, [&](const Cell& cell) {
    return !cell.at.overlaps(place) || (cell.at == place && cell.term == initial);
  });
}

std::optional<std::vector<Place>> LoopTurns::places_of(const Inst& write) {
  if (!is_whole(write.lanes)) return std::nullopt;
  const auto each = static_cast<std::uint8_t>(write.lanes == 1 ? 1 : group_lanes);
  const bool is_flags = write.op == Op::flag_write;
  const auto bytes = static_cast<std::uint8_t>(is_flags ? 0 : size_of(write.type));
  if (!is_flags && write.region.stride(write.lanes) != 1) return std::nullopt;
  const std::uint32_t first = is_flags ? static_cast<std::uint32_t>(write.imm) : write.region.offset;
  std::vector<Place> places;
  for (unsigned lane = 0; lane < write.lanes; lane += each)
    places.push_back(
        {is_flags ? Place::Flags : Place::File, bytes, each, first + lane * (is_flags ? 1 : bytes)});
  return places;
}

LoopTurns::LoopTurns(const Function& function, const Loop& loop, const MayBeParked& parked, Terms& terms,
                     std::vector<Lanes>& values)
    : function_(function),
      loop_(loop),
      terms_(terms),
      groups_(function.simd / group_lanes),
      before_(function.mask_variables),
      values_(values) {
  for (unsigned variable = 0; variable < before_.size(); ++variable)
    for (unsigned group = 0; group < groups_; ++group)
      before_[variable][group] =
          variable == 0 || parked(loop.header, variable)
              ? terms.initial({Place::Mask, 0, group_lanes, max_lanes * variable + group_lanes * group})
              : terms.truth(false);
}

bool LoopTurns::walk(std::span<const Place> counter, Turns turns) {
  any_is_on_ = true;
  return start(counter, turns);
}

bool LoopTurns::walk_without_channels(std::span<const Place> counter, Turns turns) {
  any_is_on_ = false;
  return start(counter, turns);
}

bool LoopTurns::start(std::span<const Place> counter, Turns turns) {
  ways_.clear();
  State state;
  state.way.turns = turns;
  state.way.masks = before_;
  for (const Place& place : counter)
    state.way.cells.push_back({place, terms_.counter(), place.lanes == 1 ? Cell::everywhere : nothing});
  state.block = loop_.header;
  state.visited.resize(function_.blocks.size());
  return follow(std::move(state));
}

bool LoopTurns::follow(State state) {
  if (state.visited[state.block] || ways_.size() >= most_ways) return false;
  state.visited[state.block] = true;
  const Block& block = function_.blocks[state.block];
  (state.join == no_block ? state.way.instructions : state.way.parts.back().instructions) +=
      block.guest_instructions;
  for (std::size_t i = 0; i + 1 < block.insts.size(); ++i)
    if (!execute(block.insts[i], state)) return false;
  const Inst& last = block.insts.back();
  if (last.op == Op::jump) return leave(state, last.targets.taken);
  return last.op == Op::branch_any && branch(std::move(state), last);
}

bool LoopTurns::leave(State& state, BlockId next) {
  if (next == state.join && !end_part(state)) return false;
  state.block = next;
  if (next != loop_.header && loop_.blocks[next]) return follow(std::move(state));
  state.way.leads_to = next;
  if (state.join != no_block) return false;
  ways_.push_back(std::move(state.way));
  return true;
}

/// False: the state may show whether a channel has entered the part.
bool LoopTurns::end_part(State& state) {
  // Writes that are not under a mask may not have been executed.
  for (Cell& cell : state.way.cells) {
    if (cell.is_unsure) cell.term = terms_.unknown();
    cell.is_unsure = false;
  }
  const GroupTerms& inside = state.way.parts.back().mask;
  for (std::size_t variable = 0; variable < before_.size(); ++variable)
    for (unsigned group = 0; group < groups_; ++group) {
      const Term now = state.way.masks[variable][group], then = state.masks_before[variable][group];
      if (now == then) continue;
      const Term mask = in_turns(inside[group], state.way.turns);
      const auto outside = [&](Term term) { return decided(term, mask, false, state.way.turns); };
      if (outside(now) != outside(then)) return false;
    }
  state.join = no_block;
  return true;
}

/// Enters what is skipped if no channel is in the mask; false: other channels may execute some of it too.
bool LoopTurns::begin_part(State& state, const Inst& inst) {
  constexpr std::size_t most_parts = 4;
  const Lanes& asked = lanes(function_.arg(inst, 0));
  // The other part of an if follows.
  if (inst.targets.taken == state.join && !end_part(state)) return false;
  if (state.join != no_block || state.way.parts.size() == most_parts || !is_under(asked, state)) return false;
  state.join = inst.targets.fallthrough;
  state.masks_before = state.way.masks;
  state.way.parts.push_back({asked.terms, 0});
  return true;
}

bool LoopTurns::fork(const State& state, const Inst& inst, Turns taken) {
  const auto go = [&](Turns turns, BlockId next) {
    if (turns == 0) return true;
    State way = state;
    way.way.turns = turns;
    return leave(way, next);
  };
  return go(state.way.turns & taken, inst.targets.taken) &&
         go(state.way.turns & ~taken, inst.targets.fallthrough);
}

/// Follows both ways of a branch that is taken back to the header if a channel is in a mask.
bool LoopTurns::fork_back(const State& state, const Inst& inst) {
  State way = state;
  return leave(way, inst.targets.taken) && leave(way = state, inst.targets.fallthrough);
}

bool LoopTurns::branch(State state, const Inst& inst) {
  const Lanes& asked = lanes(function_.arg(inst, 0));
  if (inst.lanes == 1) {
    const Term term = asked.terms[0];
    if (terms_.is_known(term)) return fork(state, inst, terms_.where(term));
    if (state.join != no_block || !state.way.chosen.empty()) return false;
    for (const bool is_taken : {true, false}) {
      State way = state;
      way.way.chosen.emplace_back(term, is_taken);
      if (!leave(way, is_taken ? inst.targets.taken : inst.targets.fallthrough)) return false;
    }
    return true;
  }
  if (inst.lanes != function_.simd) return false;
  asks_channels_ = true;
  for (unsigned group = 0; group < groups_; ++group) {
    const std::uint8_t part = part_of(asked.terms[group]);
    if (part != group && part != nothing) return false;
  }
  if (!any_is_on_) return leave(state, inst.targets.fallthrough);
  // All active channels decide alike, by the counter.
  const auto by_counter = [&](unsigned group) {
    return in_channel(asked.terms[group], group, true, state.way.turns);
  };
  const Term first = by_counter(0);
  bool is_alike = terms_.is_known(first);
  for (unsigned group = 1; group < groups_ && is_alike; ++group) is_alike = by_counter(group) == first;
  if (is_alike) return fork(state, inst, terms_.where(first));
  if (inst.targets.taken == loop_.header) return fork_back(state, inst);
  return begin_part(state, inst) && leave(state, inst.targets.taken);
}

/// Whether the active channels are exactly those of the mask, or none.
bool LoopTurns::is_under(const Lanes& mask, const State& state) const {
  const GroupTerms& on = state.way.masks[0];
  const auto is_it = [&](auto is_same) {
    for (unsigned group = 0; group < groups_; ++group)
      if (!is_same(group)) return false;
    return true;
  };
  return is_it([&](unsigned group) { return on[group] == mask.terms[group]; }) ||
         is_it([&](unsigned group) { return terms_.truth(on[group], state.way.turns) == false; });
}

/// The term if a truth in it holds, or does not.
Term LoopTurns::decided(Term term, Term truth, bool holds, Turns turns) const {
  return Terms::Rebuilt(terms_, turns, [&](const Terms::Entry&, Term each) {
    return each == truth ? terms_.truth(holds) : no_term;
  })(term);
}

/// The group whose execution mask before the turn contains the mask; `nothing` if the mask is empty.
std::uint8_t LoopTurns::part_of(Term mask) {
  if (parts_.size() < terms_.size()) parts_.resize(terms_.size(), not_found_yet);
  if (parts_[mask] == not_found_yet) parts_[mask] = find_part(mask);
  return parts_[mask];
}

std::uint8_t LoopTurns::find_part(Term mask) {
  const Terms::Entry& entry = terms_[mask];
  if (terms_.is_known(mask)) return terms_.where(mask) == 0 ? nothing : Cell::everywhere;
  for (unsigned group = 0; group < groups_; ++group)
    if (mask == is_on(group)) return static_cast<std::uint8_t>(group);
  if (entry.kind != Terms::Kind::Computed || !is_mask(entry.type)) return Cell::everywhere;
  if (entry.op != Op::and_ && entry.op != Op::or_) return Cell::everywhere;
  const std::uint8_t a = part_of(entry.args[0]), b = part_of(entry.args[1]);
  if (entry.op == Op::and_) return a == Cell::everywhere ? b : a;
  return a == nothing ? b : b == nothing || a == b ? a : Cell::everywhere;
}

// ---- State

Term LoopTurns::read(State& state, const Place& place) {
  bool is_written = false;
  for (const Cell& cell : state.way.cells) {
    if (cell.at == place) return cell.term;
    if (!cell.at.overlaps(place)) continue;
    if (place.space == Place::Flags && place.lanes == 1 && terms_[cell.term].uniform) return cell.term;
    is_written = true;
  }
  if (is_written) return terms_.unknown();
  const Term before = terms_.initial(place);
  state.way.cells.push_back({place, before, LoopTurns::nothing});
  return before;
}

/// `mask`: no_term if all lanes are written.
void LoopTurns::write(State& state, const Place& place, Term value, Term mask) {
  std::uint8_t group = Cell::everywhere;
  if (mask != no_term) {
    group = part_of(mask);
    const Term old = read(state, place);
    if (place.space == Place::File) {
      value = terms_.compute(Op::select, place.type(), {mask, value, old});
    } else {
      const Term written = terms_.compute(Op::and_, Type::m, {mask, value});
      const Term kept = terms_.compute(Op::andn, Type::m, {mask, old});
      value = terms_.compute(Op::or_, Type::m, {written, kept});
    }
  }
  const bool is_unsure = group == Cell::everywhere && state.join != no_block;
  bool found = false;
  for (Cell& cell : state.way.cells) {
    if (cell.at == place) {
      found = true;
      if (cell.group != group) cell.group = cell.group == nothing ? group : Cell::everywhere;
      cell.term = value;
      cell.is_unsure |= is_unsure;
    } else if (cell.at.overlaps(place)) {
      cell.group = Cell::everywhere;
      cell.term = terms_.unknown();
    }
  }
  if (!found) state.way.cells.push_back({place, value, group, is_unsure});
}

void LoopTurns::lose(State& state, std::uint32_t first, std::uint32_t end) {
  constexpr std::uint32_t most = 128;
  for (; first < end; first += std::min(most, end - first))
    write(state, {Place::File, 1, static_cast<std::uint8_t>(std::min(most, end - first)), first},
          terms_.unknown(), no_term);
}

// ---- Instructions

GroupTerms LoopTurns::unknown() {
  GroupTerms terms;
  for (Term& term : terms) term = terms_.unknown();
  return terms;
}

/// False: its effect cannot be expressed in terms.
bool LoopTurns::execute(const Inst& inst, State& state) {
  const auto arg = [&](unsigned k) -> const Lanes& { return lanes(function_.arg(inst, k)); };
  const unsigned count = inst.result_count == 0 ? 0 : count_of(inst.result);
  GroupTerms terms{};
  switch (inst.op) {
    case Op::constant: {
      std::uint64_t bits = inst.imm;
      if (is_mask(inst.type)) {
        const std::uint32_t all = lane_mask(inst.lanes), on = static_cast<std::uint32_t>(bits) & all;
        if (on != 0 && on != all) return false;
        bits = on != 0 ? 1 : 0;
      } else {
        bits &= ones_of(inst.type);
      }
      terms.fill(terms_.constant(bits));
      break;
    }
    case Op::reg_read: {
      const Term mask = inst.mask == no_value ? no_term : lanes(inst.mask).terms[0];
      const auto bytes = static_cast<std::uint8_t>(size_of(inst.type));
      const int stride = inst.region.stride(inst.lanes);
      if (!is_whole(inst.lanes) || (inst.lanes > 1 && stride != 0 && stride != 1)) {
        terms = unknown();
      } else if (inst.lanes == 1 || stride == 0) {
        terms.fill(read(state, {Place::File, bytes, 1, inst.region.offset}));
      } else {
        for (unsigned k = 0; k < count; ++k) {
          terms[k] =
              read(state, {Place::File, bytes, group_lanes, inst.region.offset + group_lanes * k * bytes});
          // Lanes outside the mask are not used.
          const Terms::Entry& entry = terms_[terms[k]];
          if (mask != no_term && entry.kind == Terms::Kind::Computed && entry.op == Op::select &&
              entry.args[0] == lanes(inst.mask).terms[k])
            terms[k] = entry.args[1];
        }
      }
      break;
    }
    case Op::reg_write:
      write(inst, state);
      return true;
    case Op::flag_read:
      if (!is_whole(inst.lanes)) return false;
      for (unsigned k = 0; k < count; ++k)
        terms[k] = read(state, {Place::Flags, 0,
                                static_cast<std::uint8_t>(std::min(inst.lanes, std::uint8_t{group_lanes})),
                                static_cast<std::uint32_t>(inst.imm) + group_lanes * k});
      break;
    case Op::flag_write:
      if (!is_whole(inst.lanes)) return false;
      write(inst, state);
      return true;
    case Op::mask_get:
      terms = state.way.masks[inst.imm];
      break;
    case Op::mask_set:
      state.way.masks[inst.imm] = arg(0).terms;
      return true;
    case Op::splat:
      terms.fill(arg(0).terms[0]);
      break;
    case Op::slice:
      if (is_whole(inst.lanes) && inst.lanes > 1 && inst.imm % group_lanes == 0)
        std::copy_n(arg(0).terms.begin() + static_cast<std::ptrdiff_t>(inst.imm / group_lanes), count,
                    terms.begin());
      else
        terms = unknown();
      break;
    case Op::concat: {
      const unsigned lanes = function_.values[function_.arg(inst, 0)].lanes;
      if (lanes % group_lanes != 0 || inst.lanes % group_lanes != 0) return false;
      terms = arg(0).terms;
      std::copy_n(arg(1).terms.begin(), count - arg(0).count, terms.begin() + arg(0).count);
      break;
    }
    case Op::load:
    case Op::atomic:
      if (!follows_memory_) return false;
      for (unsigned k = 0; k < inst.result_count; ++k) set(inst.result + k, unknown(), count);
      return true;
    default:
      if (!is_pure(inst.op)) return false;
      compute(inst);
      return true;
  }
  set(inst.result, terms, count);
  return true;
}

void LoopTurns::compute(const Inst& inst) {
  const bool borrows = inst.op == Op::subb;
  const bool has_terms = shape_of(inst.op).lanewise() && is_whole(inst.lanes) && inst.arg_count <= 3 &&
                         (inst.result_count == 1 || borrows);
  const unsigned count = count_of(inst.result);
  for (unsigned result = 0; result < inst.result_count; ++result) lanes(inst.result + result).count = count;
  for (unsigned k = 0; k < count; ++k) {
    std::array<Term, 3> args{};
    for (unsigned i = 0; i < inst.arg_count && has_terms; ++i)
      args[i] = lanes(function_.arg(inst, i)).terms[k];
    const auto operands = std::span<const Term>(args).first(has_terms ? inst.arg_count : 0);
    for (unsigned result = 0; result < inst.result_count; ++result) {
      Term& term = lanes(inst.result + result).terms[k];
      if (!has_terms) {
        term = terms_.unknown();
      } else if (!borrows) {
        term = terms_.compute(inst.op, inst.type, operands, inst.from);
      } else if (result == 0) {
        term = terms_.compute(Op::sub, inst.type, operands);
      } else {
        const Term below = terms_.compute(Op::cmp_lt, int_type(size_of(inst.type), false), operands);
        term = terms_.compute(Op::select, inst.type, {below, terms_.constant(1), terms_.constant(0)});
      }
    }
  }
}

void LoopTurns::write(const Inst& inst, State& state) {
  const Lanes& value = lanes(function_.arg(inst, 0));
  if (const std::optional<std::vector<Place>> places = places_of(inst)) {
    for (unsigned k = 0; k < value.count; ++k)
      write(state, (*places)[k], value.terms[k], inst.mask == no_value ? no_term : lanes(inst.mask).terms[k]);
    return;
  }
  const SlotRange bytes = slots_of(inst, 1);
  lose(state, bytes.first, bytes.last + 1);
}

}  // namespace eum::jit

// The register file is tracked by dword: how far each dword is above the one before. A block has a state for
// each Version: like the AVX2 engine, for all channels active as it begins and for any execution mask; and
// for threads that began with fewer channels.
#include "jit/analysis/linear.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "jit/analysis/contents.hpp"
#include "jit/analysis/fact.hpp"
#include "jit/analysis/parked.hpp"
#include "jit/analysis/reconvergence.hpp"
#include "memory/slm.hpp"

namespace eum::jit {
namespace {

using ir::BlockId;
using ir::Inst;
using ir::Op;
using ir::Type;
using ir::ValueId;

constexpr unsigned granule = 4;
constexpr std::size_t eight = FileState::eight;

bool is_access(const Inst& inst) { return inst.op == Op::load || inst.op == Op::store; }

class Solver {
 public:
  Solver(const ir::Function& function, const Liveness& liveness, bool begins_again)
      : function_(function),
        liveness_(liveness),
        ids_(function.ids),
        begins_again_(begins_again),
        parked_(function),
        facts_of_{std::vector<Fact>(function.values.size()), std::vector<Fact>(function.values.size())},
        cut_(function.values.size()),
        contents_(symbols_, function.file_bytes / granule + eight),
        states_(versions * function.blocks.size()),
        is_pending_(versions * function.blocks.size()),
        uses_{std::vector<std::vector<LinearUse>>(function.blocks.size()),
              std::vector<std::vector<LinearUse>>(function.blocks.size())} {}

  void solve() {
    now_.above.assign((function_.file_bytes / granule + eight) / eight * eight, varies);
    for (unsigned row = 0; row < ids_.rows; ++row) now_.id_parts |= parts_of(row, 0, 2 * ids_.count);
    now_.reached = true;
    reach(0, All);
    follows_tails_ = stays_within();
    if (!follows_tails_) now_.id_parts = 0;
    reach(0, follows_tails_ ? Tail : Some);
    while (!pending_.empty()) {
      const auto [block, version] = pending_.back();
      pending_.pop_back();
      is_pending_[versions * block + version] = false;
      now_ = state(block, version);
      pass(block, version);
    }
    for (BlockId block = 0; block < function_.blocks.size(); ++block) look_at_some(block);
  }

  std::vector<std::vector<LinearUse>> uses(bool full) && { return std::move(uses_[full ? 1 : 0]); }
  std::vector<Ramp> ramps(bool full) const {
    const std::vector<Fact>& facts = facts_of_[full ? 1 : 0];
    std::vector<Ramp> ramps;
    ramps.reserve(facts.size());
    for (const Fact& fact : facts) ramps.push_back({fact.first, fact.stride, fact.run});
    return ramps;
  }

 private:
  /// Which channels are active as control reaches a block.
  enum Version : std::uint8_t {
    Some,  ///< any
    All,
    Tail,  ///< all with which the thread began, the lowest ones: the last thread of a group may have fewer
  };
  static constexpr std::size_t versions = 3;
  struct Visit {
    BlockId block;
    Version version;
  };

  FileState& state(BlockId block, Version version) { return states_[versions * block + version]; }

  /// Whether channels reconverge here, and the block begins again with all of them.
  bool begins_again(BlockId block) const {
    return begins_again_ && begins_again_from(function_, function_.blocks[block]);
  }

  /// Whether all channels may be active after the block, though some were inactive before it.
  bool grows(BlockId block) const {
    // If all are active at the reconvergence, the block has begun again.
    return liveness_.may_grow(block, begins_again(block) ? Reconvergence::end : 0);
  }

  bool all_of_tails_are_back(BlockId block) const { return follows_tails_ && parked_.all_are_back(block); }

  bool only_grows(BlockId block, std::size_t index) const {
    const MaskRole role = liveness_.role(block, index);
    return role == MaskRole::Superset || role == MaskRole::Execution;
  }

  /// Whether no mask variable ever gets a channel that was inactive as the thread began: variables are only
  /// set to what comes from them, and to other masks restricted by them. A thread that began with some
  /// channels inactive then accesses only the others, of which as much is known: notes which masks are so
  /// restricted.
  bool stays_within() {
    within_.assign(function_.values.size(), false);
    bool all = true;
    for (const ir::Block& block : function_.blocks)
      for (const Inst& inst : block.insts) {
        const auto arg = [&](unsigned k) -> bool { return within_[function_.arg(inst, k)]; };
        if (inst.op == Op::mask_get) within_[inst.result] = true;
        if (inst.op == Op::mask_set) all &= arg(0);
        if (inst.result_count != 1 || !ir::is_mask(inst.type)) continue;
        if (inst.op == Op::constant) within_[inst.result] = (inst.imm & ir::lane_mask(inst.lanes)) == 0;
        if (inst.op == Op::and_) within_[inst.result] = arg(0) || arg(1);
        if (inst.op == Op::or_) within_[inst.result] = arg(0) && arg(1);
        if (inst.op == Op::andn) within_[inst.result] = arg(1);
        if (inst.op == Op::slice) within_[inst.result] = arg(0);
      }
    return all;
  }

  /// Control reaches the block with what is known now.
  void reach(BlockId block, Version version) {
    const std::size_t index = versions * block + version;
    if (!states_[index].meet(now_) || is_pending_[index]) return;
    is_pending_[index] = true;
    pending_.push_back({block, version});
  }

  void pass(BlockId block, Version version) {
    // If channels reconverge and all are active, the version for all of them begins the block again.
    if (version == Some && (begins_again(block) || parked_.all_are_back(block))) reach(block, All);
    if (version == Some && all_of_tails_are_back(block)) return reach(block, Tail);
    const bool changes = follow(block, version, version == All ? &uses_[1][block] : nullptr);
    for (BlockId successor : ir::successors(function_.blocks[block].insts.back())) {
      if (successor == ir::no_block) continue;
      if (version != Some) reach(successor, version);
      if (version == Some && changes && grows(block)) reach(successor, All);
      if (version == Some || changes) reach(successor, Some);
    }
  }

  /// The partial version also serves threads that began with fewer channels.
  void look_at_some(BlockId block) {
    const FileState &some = state(block, Some), &tail = state(block, Tail);
    if (!some.reached && !tail.reached) return;
    const bool any = some.reached && !all_of_tails_are_back(block);
    now_ = any ? some : tail;
    if (tail.reached) now_.meet(tail);
    follow(block, any ? Some : Tail, &uses_[0][block]);
  }

  /// From what is known before the block to what is known after it. Notes uses, if there is a list; true:
  /// other channels may be active.
  bool follow(BlockId block, Version version, std::vector<LinearUse>* uses) {
    const auto& insts = function_.blocks[block].insts;
    const bool full = full_ = version == All;
    bool all_on = version != Some, changes = false;
    facts_ = facts_of_[full ? 1 : 0];
    symbols_.clear();
    contents_.begin(full ? now_.relations : std::vector<Relation>());
    if (uses != nullptr) uses->clear();
    for (std::size_t i = 0; i < insts.size(); ++i) {
      const Inst& inst = insts[i];
      const bool whole =
          inst.mask == ir::no_value || (all_on && liveness_.role(block, i) == MaskRole::Execution);
      switch (inst.op) {
        case Op::reg_read:
          facts_[inst.result] = read(inst);
          break;
        case Op::reg_write:
          write(inst, whole);
          break;
        case Op::reg_scatter:
          std::fill_n(now_.above.begin(), function_.indirect_end() / granule, varies);
          contents_.lose(0, function_.indirect_end() / granule);
          lose_ids(0, function_.indirect_end());
          break;
        case Op::mask_set:
          if (inst.imm != 0 || (all_on && only_grows(block, i))) break;
          // The channels that were active before the block are so again.
          if (liveness_.role(block, i) == MaskRole::Restore) {
            changes = false;
            all_on = version != Some;
            break;
          }
          changes = true;
          all_on = false;
          break;
        default:
          if (uses != nullptr && is_access(inst) &&
              (full || (inst.mask != ir::no_value && within_[inst.mask])))
            note_access(inst, i, *uses);
          if (uses != nullptr && full && ir::info(inst.op).shape == ir::Shape::Compare)
            note_comparison(inst, i, *uses);
          compute(inst);
          if (inst.op == Op::load && all_on && full) note_loaded(inst, whole);
      }
    }
    now_.relations = full ? contents_.relations() : std::vector<Relation>();
    return changes;
  }

  void note_access(const Inst& inst, std::size_t index, std::vector<LinearUse>& uses) const {
    const ValueId at = function_.arg(inst, function_.access(inst).address_operand());
    if (ir::size_of(function_.values[at].type) != 4) return;
    Fact fact = facts_[at];
    LinearRun run;
    // A run in a space that is no larger than the range to which addresses are cut either fits it or is out
    // of bounds.
    if (const Cut& cut = cut_[at]; fact.run == 0 && cut.bits >= mem::slm_max_size - 1 &&
                                   function_.access(inst).space == ir::MemSpace::Slm) {
      fact = facts_[cut.value];
      run.within = cut.bits;
    }
    if (fact.run == 0) return;
    run.run = fact.run;
    run.stride = static_cast<std::int32_t>(fact.stride);
    uses.push_back({static_cast<std::uint32_t>(index), LinearUse::Access, run});
  }

  void note_comparison(const Inst& inst, std::size_t index, std::vector<LinearUse>& uses) const {
    if (!ir::is_int(inst.type) || ir::size_of(inst.type) > granule || inst.lanes < 8) return;
    const Fact &a = facts_[function_.arg(inst, 0)], &b = facts_[function_.arg(inst, 1)];
    const unsigned run = std::min<unsigned>({a.run, b.run, lowest_bit(inst.lanes)});
    if (run < 8) return;
    const auto is = [&](std::uint32_t stride_of_a, std::uint32_t stride_of_b) {
      return a.stride == stride_of_a && b.stride == stride_of_b;
    };
    // Words, as local ids are. Not whether they are below a limit: reduce_tree takes 1.18 of its time then.
    const bool equal = inst.op == Op::cmp_eq || inst.op == Op::cmp_ne;
    const bool widens = equal && ir::size_of(inst.type) == 2 && a.exact && b.exact;
    const bool ramps = ir::takes(ir::Types::Int32, inst.type) || widens;
    if (!is(0, 0) && !(ramps && (is(1, 0) || is(0, 1)))) return;
    uses.push_back({static_cast<std::uint32_t>(index),
                    is(0, 0)   ? LinearUse::BothSame
                    : is(1, 0) ? LinearUse::FirstGoesUp
                               : LinearUse::SecondGoesUp,
                    {run, 0}});
  }

  /// What lanes load from one address is the same in all of them.
  void note_loaded(const Inst& inst, bool whole) {
    const Fact& at = facts_[function_.arg(inst, function_.access(inst).address_operand())];
    if (!whole || at.run < inst.lanes || at.stride != 0) return;
    for (unsigned k = 0; k < inst.result_count; ++k) {
      facts_[inst.result + k] = uniform;
      facts_[inst.result + k].first = unlike_others(inst.result + k);
    }
  }

  // ---- Registers

  Fact read(const Inst& inst) {
    const int stride = inst.region.stride(inst.lanes);
    const unsigned bytes = ir::size_of(inst.type);
    const bool dwords = bytes == granule && inst.region.offset % granule == 0;
    if (inst.lanes == 1 || stride == 0) {
      Fact fact = uniform;
      // A single lane may be that of an inactive channel, of which less is known than of the others.
      if (dwords && full_) fact.first = contents_.of(inst.region.offset / granule, now_.above, 0);
      if (fact.first.symbol == no_symbol) fact.first = unlike_others(inst.result);
      return fact;
    }
    if (stride != 1) return {};
    if (bytes == 2) return read_ids(inst);
    if (!dwords) return {};
    const Step* above = now_.above.data() + inst.region.offset / granule;
    unsigned run = lowest_bit(inst.lanes);
    for (unsigned lane = 1; lane < inst.lanes; ++lane)
      if (above[lane - 1] != above[0]) run = std::min(run, lowest_bit(lane));
    if (above[0] == varies || run < 2) return {};
    Fact fact;
    fact.run = static_cast<std::uint8_t>(run);
    fact.stride = static_cast<std::uint32_t>(above[0]);
    fact.exact = fact.stride == 0;
    if (run >= inst.lanes) fact.first = contents_.of(inst.region.offset / granule, now_.above, above[0]);
    return fact;
  }

  Fact read_ids(const Inst& inst) {
    if (!ir::is_int(inst.type) || inst.region.offset < ids_.offset) return {};
    const unsigned behind = inst.region.offset - ids_.offset;
    const unsigned row = ids_.row_bytes == 0 ? 0 : behind / ids_.row_bytes;
    const unsigned begin = behind - row * ids_.row_bytes;
    if (row >= ids_.rows || begin % 2 != 0 || begin / 2 + inst.lanes > ids_.count) return {};
    const std::uint32_t parts = parts_of(row, begin, begin + 2u * inst.lanes);
    if ((now_.id_parts & parts) != parts) return {};
    const unsigned first = begin / 2;
    const unsigned run = first == 0 ? ids_.run : std::min(ids_.run, lowest_bit(first));
    if (run < 2) return {};
    Fact fact{.run = static_cast<std::uint8_t>(run), .exact = true, .stride = row == 0 ? 1u : 0u};
    if (row == 0) fact.align = run;
    if (run >= inst.lanes)
      fact.first = {symbols_.of({Symbols::Ids, row, first / ids_.run}), first % ids_.run * fact.stride};
    return fact;
  }

  /// Bytes [begin, end) of a row of ids, as bits of FileState::id_parts.
  static std::uint32_t parts_of(unsigned row, unsigned begin, unsigned end) {
    constexpr unsigned part_bytes = 32, parts_of_row = 2 * ir::max_lanes / part_bytes;
    std::uint32_t parts = 0;
    for (unsigned part = begin / part_bytes; part <= (end - 1) / part_bytes; ++part)
      parts |= std::uint32_t{1} << (row * parts_of_row + part);
    return parts;
  }
  /// Something else is written to bytes [begin, end).
  void lose_ids(unsigned begin, unsigned end) {
    for (unsigned row = 0; row < ids_.rows; ++row) {
      const unsigned at = ids_.offset + row * ids_.row_bytes, behind = at + 2 * ids_.count;
      if (begin < behind && end > at)
        now_.id_parts &= ~parts_of(row, std::max(begin, at) - at, std::min(end, behind) - at);
    }
  }

  void write(const Inst& inst, bool whole) {
    const SlotRange range = slots_of(inst, granule);
    lose_ids(range.first * granule, (range.last + 1) * granule);
    Step* above = now_.above.data();
    const unsigned before = range.first == 0 ? 0 : range.first - 1;
    std::fill(above + before, above + range.last + 1, varies);
    contents_.lose(range.first, range.last + 1);
    const bool dwords = ir::size_of(inst.type) == granule && inst.region.offset % granule == 0;
    const Fact& fact = facts_[function_.arg(inst, 0)];
    if (!whole || !dwords || (inst.lanes != 1 && inst.region.stride(inst.lanes) != 1)) return;
    if (fact.first.symbol != no_symbol) {
      for (unsigned lane = 0; lane < inst.lanes; ++lane)
        contents_.set(range.first + lane, Ramp{fact.first, fact.stride}.lane(lane));
      // A run may be written piece by piece.
      if (range.first != 0) above[range.first - 1] = contents_.step(range.first - 1);
      above[range.last] = contents_.step(range.last);
    }
    const auto stride = static_cast<std::int32_t>(fact.stride);
    if (fact.run == 0 || stride <= varies || stride > INT8_MAX) return;
    for (unsigned lane = 1; lane < inst.lanes; ++lane)
      if (lane % fact.run != 0) above[range.first + lane - 1] = static_cast<Step>(stride);
  }

  // ---- Values

  void compute(const Inst& inst) {
    for (unsigned k = 0; k < inst.result_count; ++k) facts_[inst.result + k] = {};
    if (!ir::is_pure(inst.op) || inst.result_count == 0 || ir::is_mask(inst.type)) return;
    if (inst.op == Op::and_) cut_[inst.result] = cut_of(inst);
    Fact fact = fact_of(function_, inst, facts_);
    // fact_of() knows where a concat makes one run of two.
    if (inst.op != Op::concat && (inst.lanes == 1 || (fact.run != 0 && fact.run >= inst.lanes)))
      fact.first = first_of(inst, fact);
    facts_[inst.result] = fact;
    // The upper half of a product of equal lanes, and the carry of a sum, are equal as well.
    if (fact.run != 0 && fact.stride == 0 && ir::info(inst.op).shape == ir::Shape::Wide2)
      facts_[inst.result + 1] = {.run = fact.run, .exact = true, .first = computed(inst, 1)};
  }

  /// What is left of a value if only its lowest bits are kept.
  struct Cut {
    ValueId value = ir::no_value;
    std::uint32_t bits = 0;  ///< that are kept; 0: it is no such value
  };
  Cut cut_of(const Inst& inst) const {
    for (const unsigned k : {0u, 1u}) {
      const Fact& mask = facts_[function_.arg(inst, k)];
      if (mask.constant && (mask.bits & (mask.bits + 1)) == 0) return {function_.arg(inst, 1 - k), mask.bits};
    }
    return {};
  }

  // ---- First lanes

  SymbolicSum unlike_others(ValueId value) { return {symbols_.of({Symbols::Itself, value}), 0}; }

  /// Result `k` of an op whose operands are each the same in every lane.
  SymbolicSum computed(const Inst& inst, unsigned k) {
    constexpr unsigned most = 2;
    // Float results depend on the mode as well.
    const bool integer = ir::is_int(inst.type) && (inst.op != Op::convert || ir::is_int(inst.from));
    if (!integer || !ir::is_lanewise(inst.op) || inst.arg_count == 0 || inst.arg_count > most ||
        inst.imm > UINT32_MAX)
      return {};
    Symbols::Key key{Symbols::Computed | k << 8, static_cast<std::uint32_t>(inst.op),
                     static_cast<std::uint32_t>(inst.type) << 8 | static_cast<std::uint32_t>(inst.from),
                     static_cast<std::uint32_t>(inst.imm)};
    for (unsigned i = 0; i < inst.arg_count; ++i) {
      const Fact& fact = facts_[function_.arg(inst, i)];
      if (fact.first.symbol == no_symbol || fact.stride != 0) return {};
      key[4 + 2 * i] = fact.first.symbol;
      key[5 + 2 * i] = fact.first.offset;
    }
    return {symbols_.of(key), 0};
  }

  /// Lane 0 of a result that is one run.
  SymbolicSum first_of(const Inst& inst, const Fact& result) {
    SymbolicSum first = followed(inst, result);
    if (first.symbol == no_symbol && result.stride == 0) first = computed(inst, 0);
    if (first.symbol == no_symbol && inst.lanes == 1) first = unlike_others(inst.result);
    return first;
  }

  SymbolicSum followed(const Inst& inst, const Fact& result) {
    const auto arg = [&](unsigned k) -> const Fact& { return facts_[function_.arg(inst, k)]; };
    const bool dwords = ir::is_int(inst.type) && ir::size_of(inst.type) == granule;
    switch (inst.op) {
      case Op::constant:
        return result.constant || dwords ? SymbolicSum{zero_symbol, static_cast<std::uint32_t>(inst.imm)}
                                         : SymbolicSum{};
      case Op::vconst:
        return {zero_symbol,
                static_cast<std::uint32_t>(function_.pool[static_cast<std::size_t>(inst.imm)][0])};
      case Op::splat:
        return arg(0).first;
      case Op::slice:
        if (arg(0).first.symbol == no_symbol) return {};
        return {arg(0).first.symbol,
                arg(0).first.offset + static_cast<std::uint32_t>(inst.imm) * arg(0).stride};
      case Op::bitcast:
        return ir::size_of(inst.type) == ir::size_of(inst.from) ? arg(0).first : SymbolicSum{};
      case Op::convert: {
        if (!ir::is_int(inst.type) || !ir::is_int(inst.from)) return {};
        if (ir::size_of(inst.type) == ir::size_of(inst.from) || result.constant) return arg(0).first;
        // No lane wraps if the result has a stride.
        if (result.stride == 0 || arg(0).first.symbol == no_symbol) return {};
        return {
            symbols_.of({Symbols::Computed, static_cast<std::uint32_t>(Op::convert),
                         static_cast<std::uint32_t>(inst.type) << 8 | static_cast<std::uint32_t>(inst.from),
                         arg(0).first.symbol}),
            arg(0).first.offset};
      }
      default:
        break;
    }
    if (!dwords) return {};
    switch (inst.op) {
      case Op::add:
      case Op::addc:
        return symbols_.sum(arg(0).first, arg(1).first);
      case Op::sub:
      case Op::subb:
        return symbols_.difference(arg(0).first, arg(1).first);
      case Op::neg:
        return symbols_.difference({zero_symbol, 0}, arg(0).first);
      case Op::not_:
        return symbols_.difference({zero_symbol, ~0u}, arg(0).first);
      case Op::shl:
        return arg(1).constant ? symbols_.product(arg(0).first, 1u << arg(1).bits % 32) : SymbolicSum{};
      case Op::mul:
      case Op::mul_wide:
        return scaled(arg(0), arg(1));
      case Op::mad:
        return symbols_.sum(scaled(arg(0), arg(1)), arg(2).first);
      default:
        return {};
    }
  }
  SymbolicSum scaled(const Fact& a, const Fact& b) {
    return a.constant   ? symbols_.product(b.first, a.bits)
           : b.constant ? symbols_.product(a.first, b.bits)
                        : SymbolicSum{};
  }

  const ir::Function& function_;
  const Liveness& liveness_;
  const ir::ConsecutiveIds& ids_;
  const bool begins_again_;
  const ParkedChannels parked_;
  std::array<std::vector<Fact>, 2> facts_of_;  // of each value for any channels active, then for all
  bool full_ = true;                           // all channels are active in the current version
  std::span<Fact> facts_;                      // those of the current version
  std::vector<Cut> cut_;                       // of each value
  Symbols symbols_;
  Contents contents_;
  std::vector<FileState> states_;                            // of each block in each version
  std::vector<bool> is_pending_;                             // as states_
  std::array<std::vector<std::vector<LinearUse>>, 2> uses_;  // by block, as facts_of_
  std::vector<Visit> pending_;
  bool follows_tails_ = false;  // threads that begin with fewer channels are followed: see Tail
  std::vector<bool> within_;    // of each mask: no lane of it was inactive as the thread began
  FileState now_;
};

/// Whether some access has an address of 32 bits per lane, or lanes are compared, and all control flow is by
/// block targets.
bool worth_while(const ir::Function& function) {
  if (function.blocks.size() > LinearUses::most_blocks) return false;
  bool any = false;
  for (const ir::Block& block : function.blocks) {
    if (block.insts.back().op == Op::jump_ip) return false;
    any |= std::any_of(block.insts.begin(), block.insts.end(), [&](const Inst& inst) {
      if (ir::info(inst.op).shape == ir::Shape::Compare && inst.lanes >= 8) return true;
      return is_access(inst) && ir::size_of(ir::info(function.access(inst).space).address) == granule;
    });
  }
  return any;
}

}  // namespace

LinearUses::LinearUses(const ir::Function& function, const Liveness& liveness, bool begins_again) {
  if (function.ids.run == 0 || !worth_while(function)) return;
  Solver solver(function, liveness, begins_again);
  solver.solve();
  for (const bool full : {false, true}) {
    ramps_[full ? 1 : 0] = solver.ramps(full);
    found_[full ? 1 : 0] = std::move(solver).uses(full);
  }
}

std::span<const LinearUse> LinearUses::of(BlockId block, bool full) const {
  const auto& found = found_[full ? 1 : 0];
  return found.empty() ? std::span<const LinearUse>() : found[block];
}

}  // namespace eum::jit

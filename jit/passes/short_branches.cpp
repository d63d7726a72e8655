// Short branches. Channels that an `if` deactivates are parked, and reconverge at its end; the others execute
// what it skips, in blocks of its own. If that is short, it is executed under the mask, and no channel is
// parked:
//   a: ...; parked |= ~%on; execution mask = %on; branch_any %on, b, join
//   b: ...; jump join
//   join: execution mask |= parked; parked = none; ...
// becomes one block, in which the effects of b are under %on. As control then reaches b with no channel
// active, b must have no effect in that case: what it writes in all lanes gets its old content back, unless
// it is dead at the join. A thread then also stays in the full version of its code.
#include <algorithm>
#include <optional>
#include <vector>

#include "jit/analysis/block_cost.hpp"
#include "jit/analysis/block_facts.hpp"
#include "jit/analysis/depends_on_load.hpp"
#include "jit/analysis/liveness.hpp"
#include "jit/analysis/parked.hpp"
#include "jit/analysis/reconvergence.hpp"
#include "jit/passes/inert_body.hpp"
#include "jit/passes/passes.hpp"
#include "jit/passes/rewrite.hpp"

namespace eum::jit {
namespace {

using namespace ir;

/// In a loop channels diverge more often.
constexpr BodyLimit anywhere{{100, 220}, true}, in_loop{{48, 64}, false};
/// What is done for each channel in turn may as well be done for all.
constexpr BodyLimit in_traced_loop{{1000, 1000, true}, true};

class Joiner {
 public:
  enum Where : bool { Anywhere, InTracedLoop };

  /// Of blocks from `first` on.
  Joiner(Function& function, BlockId first, Where where, bool joins_stores)
      : function_(function),
        first_(first),
        where_(where),
        joins_stores_(joins_stores),
        parked_(function),
        liveness_(function, cost_vector_bytes, false),
        bodies_(function, liveness_, parked_),
        predecessors_(function.blocks.size()),
        is_in_loop_(blocks_in_loops(function)),
        variables_(function.mask_variables) {
    for (const Block& block : function.blocks)
      for (const BlockId target : successors(block.insts.back()))
        if (target != no_block) ++predecessors_[target];
  }

  void run() {
    const auto blocks = static_cast<BlockId>(function_.blocks.size());
    std::vector<bool> is_skipped(blocks);
    for (const Block& block : function_.blocks) {
      const Inst& branch = block.insts.back();
      if (branch.op == Op::branch_any) is_skipped[branch.targets.taken] = true;
    }
    // First skipped blocks, inner ones before those around them; then the blocks to which they are joined
    // grow at their end.
    for (BlockId block = blocks; block-- > first_;)
      if (is_skipped[block]) grow(block);
    for (BlockId block = first_; block < blocks; ++block) grow(block);
    drop_empty_blocks(function_);
  }

 private:
  void grow(BlockId block) {
    if (function_.blocks[block].insts.empty()) return;
    while (join_masked(block) || join_other(block) || join_next(block)) {
    }
    if (begun_ == block) put_back();
  }

  ValueId arg(const Inst& inst, unsigned k) const { return function_.arg(inst, k); }
  static bool contains(const auto& list, const auto& item) {
    return std::ranges::find(list, item) != list.end();
  }

  /// Joins the block that the branch skips if no channel is active. It has to lead to where the branch would
  /// have led; channels for which it is not executed may have a block of their own there.
  bool join_masked(BlockId id) {
    const Inst branch = terminator(id);
    if (branch.op != Op::branch_any) return false;
    const BlockId masked = branch.targets.taken, end = branch.targets.fallthrough;
    if (!may_join(id, masked) || end == masked) return false;
    const Block& skipped = function_.blocks[masked];
    const Inst& leads = skipped.insts.back();
    const bool has_other = leads.op == Op::branch_any;
    if ((leads.op != Op::jump && !has_other) || leads.targets.taken != end) return false;
    limit_ = where_ == InTracedLoop ? in_traced_loop : is_in_loop_[id] ? in_loop : anywhere;
    const auto body = bodies_.body(skipped, 0, no_value, limit_);
    if (!body) return false;
    begin(id);
    const ValueId on = resolve(arg(branch, 0));
    if (content(0) != on || !come_back(on, end)) return false;
    other_ = has_other ? other_of(id, skipped, on, end) : std::nullopt;
    if (has_other && !other_) return false;
    if (!may_store(*body, on)) {
      other_.reset();
      return false;
    }
    guest_ip_ = skipped.insts.front().guest_ip;
    append_spend(on, skipped);
    append_if_any(skipped, 0, on, body->undone);
    if (has_other) {
      // Control also went to the other block with no channel active.
      const ValueId none = append(Op::not_, function_.simd, {append_any(on)});
      other_->wanted = append(Op::or_, function_.simd, {other_->mask, none});
      function_.set_args(terminator_, {other_->wanted});
    }
    drop(masked);
    --predecessors_[end];
    return true;
  }

  /// One element of each channel that takes the branch; more if both branches store to the same places. A
  /// condition of ids and arguments is mostly the same in all channels of a thread, so that loads, and stores
  /// of bytes and words under masks, are worth being skipped.
  bool may_store(const InertBodies::Body& body, ValueId on) const {
    if (where_ == InTracedLoop) return true;
    const auto depends_on_load = [&] { return jit::depends_on_load(function_, insts_, on); };
    if (other_ && joins_stores_ && !body.stored.empty() && other_->body.stored == body.stored)
      return (!body.loads && !other_->body.loads) || depends_on_load();
    if (!is_simple(body) || (other_ && !is_simple(other_->body))) return false;
    return !(is_costly(body) || (other_ && is_costly(other_->body))) || depends_on_load();
  }
  bool is_simple(const InertBodies::Body& body) const {
    return body.stored.empty() || (!body.has_branches && body.stored_lanes <= function_.simd);
  }
  static bool is_costly(const InertBodies::Body& body) {
    const auto is_narrow = [](const Stored& one) { return size_of(one.type) < least_masked_bytes; };
    return !body.stored.empty() && (body.loads || std::ranges::any_of(body.stored, is_narrow));
  }

  /// If a block ends with what is executed for some channels only: the others, for which more follows.
  struct Other {
    BlockId block;           ///< that ends like that
    std::uint64_t variable;  ///< where they are parked
    ValueId mask;            ///< those channels
    ValueId wanted = no_value;
    InertBodies::Body body;
  };
  /// If `skipped` parks all its channels, and continues for those that were parked before it, in a block that
  /// can be joined too.
  std::optional<Other> other_of(BlockId id, const Block& skipped, ValueId on, BlockId end) {
    const auto variable = reconverges_from(function_, function_.blocks[end]);
    if (!variable || parked_(id, *variable)) return std::nullopt;
    auto body = other_body(end, skipped.insts.back().targets.fallthrough);
    if (!body) return std::nullopt;
    const Inst* asked = jit::definition(skipped, arg(skipped.insts.back(), 0));
    if (content(*variable) == no_value || !asked || asked->op != Op::mask_get || asked->imm != *variable)
      return std::nullopt;
    ValueId left = on;
    for (const Inst& inst : skipped.insts) {
      if (inst.op == Op::mask_set && inst.imm == *variable) return std::nullopt;
      if (inst.op == Op::mask_set && inst.imm == 0) left = arg(inst, 0);
    }
    if (!is_none(jit::definition(skipped, left))) return std::nullopt;
    const Other other{id, *variable, without_variable(content(*variable), *variable), no_value,
                      std::move(*body)};
    return other.mask != no_value ? std::optional(other) : std::nullopt;
  }
  std::optional<InertBodies::Body> other_body(BlockId other, BlockId end) {
    const Block& block = function_.blocks[other];
    const Inst& leads = block.insts.back();
    if (predecessors_[other] != 2 || block.safepoint || leads.op != Op::jump || leads.targets.taken != end ||
        !is_joined(end))
      return std::nullopt;
    return bodies_.body(block, Reconvergence::end, block.insts[Reconvergence::all].result, limit_);
  }
  /// Whether two edges lead to the block, which become one.
  bool is_joined(BlockId end) const { return predecessors_[end] == 2 && !function_.blocks[end].safepoint; }

  /// Joins what is executed for the other channels.
  bool join_other(BlockId id) {
    if (!other_ || other_->block != id) return false;
    const BlockId masked = terminator_.targets.taken, end = terminator_.targets.fallthrough;
    const Block& skipped = function_.blocks[masked];
    guest_ip_ = skipped.insts.front().guest_ip;
    append_spend(other_->wanted, skipped);
    append_if_any(skipped, append_reconvergence(id, skipped, other_->variable), other_->wanted,
                  other_->body.undone);
    other_.reset();
    drop(masked);
    --predecessors_[end];
    return true;
  }

  /// Whether channels that the block may have deactivated are active again after the one that is skipped.
  /// Those that have left a loop are not: there the full version ends, unless none leaves.
  bool come_back(ValueId on, BlockId end) const {
    const Inst* made = definition(on);
    if (!made || (made->op != Op::and_ && made->op != Op::andn)) return true;
    const auto variable = reconverges_from(function_, function_.blocks[end]);
    return variable && is_joined(end) && !variables_[*variable].sets.empty();
  }

  /// Joins the block that follows, whatever the masks are.
  bool join_next(BlockId id) {
    const Inst& leads = terminator(id);
    if (leads.op != Op::jump || !may_join(id, leads.targets.taken)) return false;
    const BlockId next = leads.targets.taken;
    const Block& rest = function_.blocks[next];
    begin(id);
    guest_ip_ = rest.insts.front().guest_ip;
    if (behind_leaving_ == 0)
      function_.blocks[id].guest_instructions += rest.guest_instructions;
    else
      append_spend(append(Op::constant, function_.simd, {}, lane_mask(function_.simd)), rest);
    std::size_t first = 0;
    if (const auto variable = reconverges_from(function_, rest))
      first = append_reconvergence(id, rest, *variable);
    append_rest(rest, first);
    drop(next);
    return true;
  }

  bool may_join(BlockId id, BlockId next) const {
    return next != id && next != 0 && predecessors_[next] == 1 && !function_.blocks[next].safepoint;
  }

  // ---- Masks

  static bool is_none(const Inst* mask) { return mask && mask->op == Op::constant && mask->imm == 0; }

  // ---- The joined block

  /// Begins to build `id` anew, until put_back().
  void begin(BlockId id) {
    if (begun_ == id) return;
    begun_ = id;
    insts_.clear();
    for (const std::uint64_t variable : known_) variables_[variable] = {};
    known_.clear();
    behind_leaving_ = 0;
    append_rest(function_.blocks[id], 0);
  }
  const Inst& terminator(BlockId id) const {
    return begun_ == id ? terminator_ : function_.blocks[id].insts.back();
  }
  void put_back() {
    auto& insts = function_.blocks[begun_].insts;
    insts.clear();
    for (const Inst& inst : insts_)
      if (!is_dropped(inst)) insts.push_back(inst);
    insts.push_back(terminator_);
    begun_ = no_block;
  }
  void drop(BlockId joined) {
    function_.blocks[joined].insts.clear();
    predecessors_[joined] = 0;
  }
  /// Instructions keep their indices until put_back().
  static bool is_dropped(const Inst& inst) { return inst.op == Op::mask_set && inst.arg_count == 0; }
  void drop_last_set(std::uint64_t variable) {
    auto& sets = variables_[variable].sets;
    insts_[sets.back()].arg_count = 0;
    sets.pop_back();
  }
  const Inst* definition(ValueId value) const {
    if (value >= places_.size() || places_[value] >= insts_.size()) return nullptr;
    const Inst& inst = insts_[places_[value]];
    return value >= inst.result && value < inst.result + inst.result_count ? &inst : nullptr;
  }
  void put(const Inst& inst) {
    const std::size_t place = insts_.size();
    if (inst.result_count != 0 && places_.size() < inst.result + inst.result_count)
      places_.resize(inst.result + inst.result_count);
    for (unsigned k = 0; k < inst.result_count; ++k)
      places_[inst.result + k] = static_cast<std::uint32_t>(place);
    if (inst.op == Op::mask_set) {
      set_content(inst.imm, arg(inst, 0));
      variables_[inst.imm].sets.push_back(place);
    }
    if (may_leave(inst.op)) behind_leaving_ = place + 1;
    insts_.push_back(inst);
  }

  ValueId append(Op op, unsigned lanes, std::initializer_list<ValueId> args, std::uint64_t imm = 0) {
    Inst inst = make_op(op, Type::m, lanes, guest_ip_);
    inst.imm = imm;
    function_.set_args(inst, args);
    if (op == Op::mask_set || op == Op::spend)
      inst.result_count = 0;
    else
      inst.result = function_.add_value(Type::m, lanes);
    put(inst);
    return inst.result;
  }
  /// What the write overwrites.
  ValueId append_read(const Inst& write) {
    Inst read = write;
    read.op = write.op == Op::flag_write ? Op::flag_read : Op::reg_read;
    read.guest_ip = guest_ip_;
    read.mask = no_value;
    read.arg_count = 0;
    read.result_count = 1;
    read.result = function_.add_value(read.type, read.lanes);
    put(read);
    return read.result;
  }
  /// Writes what `written` has written if a channel is active, else the old content.
  /// A write of the old content under a mask would be shorter here, but reads that follow could not take it
  /// (loops8: 6603 host instructions instead of 6136).
  void append_undo(const Inst& written, ValueId old, ValueId any) {
    const ValueId now = append_read(written);
    Inst write = written;
    write.guest_ip = guest_ip_;
    write.mask = no_value;
    ValueId lanes = any;
    if (write.lanes < function_.simd) lanes = append(Op::slice, write.lanes, {any});
    for (unsigned n = function_.simd; n < write.lanes; n *= 2)
      lanes = append(Op::concat, 2 * n, {lanes, lanes});
    ValueId chosen;
    if (is_mask(write.type)) {
      const ValueId kept = append(Op::andn, write.lanes, {lanes, old});
      chosen = append(Op::or_, write.lanes, {kept, append(Op::and_, write.lanes, {lanes, now})});
    } else {
      Inst select = make_op(Op::select, write.type, write.lanes, guest_ip_);
      function_.set_args(select, {lanes, now, old});
      chosen = select.result = function_.add_value(write.type, write.lanes);
      put(select);
    }
    function_.set_args(write, {chosen});
    put(write);
  }
  ValueId append_any(ValueId mask) { return append(Op::group_any, function_.simd, {mask}, function_.simd); }
  void append_spend(ValueId mask, const Block& block) {
    if (block.guest_instructions != 0) append(Op::spend, function_.simd, {mask}, block.guest_instructions);
  }
  ValueId resolve(ValueId value) const { return same_.resolve(value); }
  /// What a mask variable holds; no_value: that is not known yet.
  ValueId content(std::uint64_t variable) const { return variables_[variable].content; }
  void set_content(std::uint64_t variable, ValueId mask) {
    if (content(variable) == no_value) known_.push_back(variable);
    variables_[variable].content = mask;
  }
  /// Each mask gets a single name, so that what sets it can be dropped.
  void keep(Inst inst) {
    if (inst.op == Op::mask_get) {
      if (content(inst.imm) != no_value) return same_.add(inst.result, content(inst.imm));
      set_content(inst.imm, inst.result);
    }
    same_.resolve(function_, inst);
    put(inst);
  }
  /// As append_rest() of what is_inert() has accepted; what it counts is only counted if one of the channels
  /// is active, and if none is, the writes are undone.
  void append_if_any(const Block& block, std::size_t first, ValueId channels,
                     const std::vector<Inst>& undone) {
    ValueId any = undone.empty() ? no_value : append_any(channels);
    std::vector<ValueId> old;
    old.reserve(undone.size());
    for (const Inst& write : undone) old.push_back(append_read(write));
    for (std::size_t i = first; i + 1 < block.insts.size(); ++i) {
      Inst inst = block.insts[i];
      if (bodies_.counts_empty(block, inst)) {
        if (any == no_value) any = append_any(channels);
        const ValueId wanted = resolve(arg(inst, 0));
        append(Op::spend, function_.simd, {append(Op::and_, function_.simd, {wanted, any})}, inst.imm);
      } else {
        keep(inst);
      }
    }
    for (std::size_t i = 0; i < undone.size(); ++i) append_undo(undone[i], old[i], any);
    end_with(block);
  }
  /// Appends instructions of a block from `first` on.
  void append_rest(const Block& block, std::size_t first) {
    for (std::size_t i = first; i + 1 < block.insts.size(); ++i) keep(block.insts[i]);
    end_with(block);
  }
  void end_with(const Block& block) {
    terminator_ = block.insts.back();
    same_.resolve(function_, terminator_);
  }

  /// Appends execution mask = execution mask | variable, variable = none, with which `rest` begins; returns
  /// how many of its instructions that were. If nothing observes the channels while they are parked, they
  /// need not be parked.
  std::size_t append_reconvergence(BlockId id, const Block& rest, std::uint64_t variable) {
    using At = Reconvergence;
    for (std::size_t i = 0; i < At::all; ++i) keep(rest.insts[i]);
    ValueId parked = content(variable);
    bool is_unseen = false;
    if (!parked_(id, variable)) {
      parked = without_variable(parked, variable);
      const auto& sets = variables_[variable].sets;
      is_unseen = sets.empty() || sets.front() >= behind_leaving_;
      if (is_unseen)
        while (!sets.empty()) drop_last_set(variable);
      else
        drop_empty(variable);
    }
    ValueId on = content(0);
    if (parked != no_value) {
      on = sum_of(on, parked);
      drop_unseen_set();
      append(Op::mask_set, function_.simd, {on});
    }
    set_content(0, on);
    same_.add(rest.insts[At::all].result, on);
    keep(rest.insts[At::none]);
    if (is_unseen)
      set_content(variable, rest.insts[At::none].result);
    else
      keep(rest.insts[At::clear]);
    return At::end;
  }
  /// For a variable that held nothing before it was set.
  void drop_empty(std::uint64_t variable) {
    for (const std::size_t set : variables_[variable].sets) {
      const ValueId more = added(function_, insts_[set], [&](ValueId value) { return definition(value); });
      if (more != no_value) function_.args(insts_[set])[0] = more;
    }
  }
  ValueId sum_of(ValueId on, ValueId off) {
    if (is_none(definition(on))) return off;
    for (const auto& [a, b] : {std::pair{on, off}, std::pair{off, on}})
      if (const ValueId whole = whole_of(a, b); whole != no_value) return whole;
    return append(Op::or_, function_.simd, {on, off});
  }
  /// The execution mask is set again: drops the last set if nothing is executed under it.
  void drop_unseen_set() {
    const auto& sets = variables_[0].sets;
    const auto behind = insts_.begin() + static_cast<std::ptrdiff_t>(sets.empty() ? 0 : sets.back());
    if (!sets.empty() && std::all_of(behind, insts_.end(), is_pure_or_mask)) drop_last_set(0);
  }
  static bool is_pure_or_mask(const Inst& inst) {
    return is_pure(inst.op) || inst.op == Op::mask_get || inst.op == Op::mask_set || inst.op == Op::spend;
  }
  /// The mask that `on` and `off` make up, if `off` is the rest of it without `on`; no_value: there is none.
  ValueId whole_of(ValueId on, ValueId off) const {
    const Inst *part = definition(on), *rest = definition(off);
    if (!part || !rest || rest->op != Op::andn) return no_value;
    const ValueId condition = arg(*rest, 0), whole = arg(*rest, 1);
    if (part->op == Op::andn) return condition == on && arg(*part, 1) == whole ? whole : no_value;
    if (part->op != Op::and_) return no_value;
    for (const unsigned k : {0u, 1u})
      if (arg(*part, k) == whole && (condition == on || condition == arg(*part, 1 - k))) return whole;
    return no_value;
  }
  /// The union without the old content of the variable; no_value: nothing is left.
  ValueId without_variable(ValueId mask, std::uint64_t variable) {
    const Inst* made = definition(mask);
    if (!made) return mask;
    if (is_content(made, variable)) return no_value;
    if (made->op != Op::or_) return mask;
    const ValueId a = arg(*made, 0), b = arg(*made, 1);
    const ValueId left = without_variable(a, variable), right = without_variable(b, variable);
    if (left == no_value || right == no_value) return left == no_value ? right : left;
    return left == a && right == b ? mask : append(Op::or_, function_.simd, {left, right});
  }

  Function& function_;
  const BlockId first_;
  const Where where_;
  const bool joins_stores_;  // of both branches
  MayBeParked parked_;
  Liveness liveness_;  // as before blocks were joined
  InertBodies bodies_;
  std::vector<unsigned> predecessors_;
  std::vector<bool> is_in_loop_;  // by block
  BodyLimit limit_{};             // of what a skipped block may cost
  // The block that is being built, without its terminator.
  BlockId begun_ = no_block;
  std::vector<Inst> insts_;
  Inst terminator_;
  std::size_t behind_leaving_ = 0;     // after the last instruction at which the thread may leave
  std::vector<std::uint32_t> places_;  // of the instructions that define values
  SameValues same_;
  struct Variable {
    ValueId content = no_value;
    std::vector<std::size_t> sets;  ///< instructions
  };
  std::vector<Variable> variables_;   // mask variables
  std::vector<std::uint64_t> known_;  // those whose content is known
  std::optional<Other> other_;
  std::uint32_t guest_ip_ = 0;
};

/// Whether join_stores() can join what both branches store, as far as that can be told here.
bool may_join_stores(const Function& function) {
  return function.disjoint_surfaces && function.ids.run >= function.simd;
}

}  // namespace

void short_branches(Function& function) {
  constexpr std::size_t most_facts = std::size_t{1} << 22;
  if (function.simd < 2 || function.blocks.size() * function.mask_variables > most_facts) return;
  const auto& blocks = function.blocks;
  // Control may come from anywhere.
  if (std::ranges::any_of(blocks, [](const Block& block) { return block.insts.back().op == Op::jump_ip; }))
    return;
  const auto skips = [&](const Block& block) {
    const Inst& branch = block.insts.back();
    if (branch.op != Op::branch_any || branch.lanes != function.simd) return false;
    const Block& skipped = blocks[branch.targets.taken];
    const Inst& leads = skipped.insts.back();
    return (leads.op == Op::jump || leads.op == Op::branch_any) &&
           leads.targets.taken == branch.targets.fallthrough && is_short(skipped, 0, anywhere.cost);
  };
  if (std::ranges::none_of(blocks, skips)) return;
  Joiner(function, 0, Joiner::Anywhere, may_join_stores(function)).run();
}

void join_branches(Function& function, BlockId first) {
  Joiner(function, first, Joiner::InTracedLoop, true).run();
}

}  // namespace eum::jit

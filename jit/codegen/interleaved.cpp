#include "jit/codegen/interleaved.hpp"

#include <array>
#include <bit>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "jit/analysis/access_form.hpp"
#include "jit/codegen/row_groups.hpp"

namespace eum::jit::codegen {
namespace {

using ir::Op;
using ir::ValueId;

constexpr unsigned row = 8;

/// What the accesses of a tuple have in common.
struct Layout {
  unsigned components = 0;
  unsigned element = 0;  ///< bytes
  unsigned parts = 1;    ///< how many accesses, each of so many components, share a row

  /// Of one access, and of the row.
  unsigned own() const { return (1u << components) - 1; }
  unsigned all() const { return (1u << components * parts) - 1; }
  unsigned bytes() const { return components * element; }
  bool operator==(const Layout&) const = default;
};

class Interleaved {
 public:
  Interleaved(const ir::Function& function, const Optimisations& optimisations, std::span<CodeInst> insts)
      : function_(function), optimisations_(optimisations), insts_(insts) {}

  void run() {
    if (!begins_any()) return;
    RowGroups groups(function_, insts_, may_share());
    groups_ = &groups;
    do visit_all();
    while (dissolve_refused());
    for (const auto& [i, tuple] : accesses_) {
      if (tuples_[root(tuple)].refused) continue;
      insts_[i].interleaved = true;
      if (const RowGroups::Member* shared = groups.of(i)) insts_[i].rows = rows_of(*shared);
    }
  }

 private:
  /// The components of some lanes: registers hold all of them in memory order, or none. Of a row that several
  /// accesses share, those of all of them.
  struct Tuple {
    Layout layout;
    std::uint32_t parent;  ///< tuples with a common decision form a tree
    bool refused = false;  ///< of the root
    unsigned known = 0;    ///< components that have been seen, a bit each
  };
  struct Member {
    std::uint32_t tuple;
    unsigned component;  ///< of the row
  };
  struct TupleAccess {
    std::uint32_t inst, tuple;
  };
  static constexpr std::uint32_t none = ~0u;
  /// What the ops that compute a tuple have in common; for each operand, the tuple or the value that is the
  /// same in every lane.
  using Key = std::tuple<Op, ir::Type, ir::Type, unsigned, std::uint64_t,
                         std::array<std::pair<bool, std::uint32_t>, ir::max_pure_operands>>;

  /// The components of an access of adjacent elements per lane, two or four dwords or two qwords, with lanes
  /// at known distances: any distance from 16 bytes on, as halves of registers move by themselves. So may
  /// those of a load move from any addresses.
  std::optional<Layout> layout(const CodeInst& inst) const {
    if ((inst.op != Op::load && inst.op != Op::store) || inst.mask != ir::no_value || inst.second_ip ||
        inst.lanes % row != 0)
      return std::nullopt;
    const ir::MemoryAccess& access = function_.access(inst);
    const Layout layout{static_cast<unsigned>(std::popcount(access.components)), ir::size_of(inst.type)};
    const bool is_tuple = (layout.element == 4 && (layout.components == 2 || layout.components == 4)) ||
                          (layout.element == 8 && layout.components == 2);
    if (!is_tuple || access.components != layout.own()) return std::nullopt;
    const bool is_half = layout.bytes() == SharedRows::bytes;
    if (inst.runs == 0) {
      const bool in_line = fits_in_line(optimisations_, access, inst.lanes);
      return inst.op == Op::load && in_line ? std::optional(layout) : std::nullopt;
    }
    const std::int64_t stride = std::int64_t{inst.linear.stride} * access.scale;
    const bool fits = stride == layout.bytes() || (is_half && stride > layout.bytes());
    return fits ? std::optional(layout) : std::nullopt;
  }
  bool begins_any() const {
    return std::ranges::any_of(insts_,
                               [&](const CodeInst& inst) { return inst.op == Op::load && layout(inst); });
  }
  std::vector<std::uint32_t> may_share() const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < insts_.size(); ++i)
      if (const auto own = layout(insts_[i]);
          own && own->bytes() == SharedRows::bytes && function_.access(insts_[i]).never_faults())
        found.push_back(i);
    return found;
  }
  unsigned parts_of(const RowGroups::Member& shared) const {
    return static_cast<unsigned>(groups_->insts(shared.group).size());
  }
  SharedRows rows_of(const RowGroups::Member& shared) const {
    const auto insts = groups_->insts(shared.group);
    SharedRows rows{.parts = static_cast<std::uint8_t>(insts.size()),
                    .part = static_cast<std::uint8_t>(shared.part)};
    for (std::size_t k = 0; k < insts.size(); ++k) rows.ips[k] = insts_[insts[k]].guest_ip;
    return rows;
  }

  void visit_all() {
    tuples_.clear();
    members_.clear();
    uniform_.clear();
    equal_.clear();
    made_.clear();
    accesses_.clear();
    tuple_of_group_.assign(groups_->count(), none);
    for (std::uint32_t i = 0; i < insts_.size(); ++i) visit(i);
    for (std::uint32_t q = 0; q < tuples_.size(); ++q)
      if (tuples_[q].known != tuples_[q].layout.all()) refuse(q);
  }

  /// Whether there were groups not all of whose accesses can be done in memory order, which are none now.
  bool dissolve_refused() {
    std::vector<unsigned> accepted(groups_->count());
    for (const auto& [i, tuple] : accesses_)
      if (const RowGroups::Member* shared = groups_->of(i); shared && !tuples_[root(tuple)].refused)
        ++accepted[shared->group];
    bool any = false;
    for (std::uint32_t group = 0; group < accepted.size(); ++group) {
      const std::uint32_t first = groups_->insts(group)[0];
      if (!groups_->of(first) || accepted[group] == groups_->insts(group).size()) continue;
      groups_->dissolve(group);
      any = true;
    }
    return any;
  }

  std::uint32_t root(std::uint32_t tuple) {
    while (tuples_[tuple].parent != tuple)
      tuple = tuples_[tuple].parent = tuples_[tuples_[tuple].parent].parent;
    return tuple;
  }
  std::uint32_t add(const Layout& layout) {
    const auto tuple = static_cast<std::uint32_t>(tuples_.size());
    tuples_.push_back({layout, tuple});
    return tuple;
  }
  void refuse(std::uint32_t tuple) { tuples_[root(tuple)].refused = true; }
  void join(std::uint32_t a, std::uint32_t b) {
    a = root(a), b = root(b);
    tuples_[b].parent = a;
    tuples_[a].refused |= tuples_[b].refused;
  }
  const Member* member(ValueId value) const {
    const auto found = members_.find(value);
    return found != members_.end() ? &found->second : nullptr;
  }
  void refuse_operands(const CodeInst& inst) {
    for (const ValueId arg : inst.args)
      if (const Member* of = member(arg)) refuse(of->tuple);
    if (const Member* of = inst.mask != ir::no_value ? member(inst.mask) : nullptr) refuse(of->tuple);
  }

  void visit(std::uint32_t i) {
    const CodeInst& inst = insts_[i];
    if (const auto found = layout(inst)) return inst.op == Op::load ? begin(i, *found) : end(i, *found);
    if (note_uniform(inst)) return refuse_operands(inst);
    if (std::ranges::none_of(inst.args, [&](ValueId arg) { return member(arg) != nullptr; })) return;
    if (!compute(inst)) refuse_operands(inst);
  }

  /// Whether each dword of the result is the same: of a splat, of a constant that is no mask, and of what is
  /// computed from such values.
  bool note_uniform(const CodeInst& inst) {
    if (inst.lanes == 1 || inst.result_count != 1 || ir::is_mask(function_.values[inst.result].type) ||
        inst.mask != ir::no_value || inst.args.size() > ir::max_pure_operands)
      return false;
    Key key = key_of(inst);
    if (inst.op == Op::splat) {
      std::get<5>(key)[0] = {true, inst.args[0]};
    } else if (inst.op == Op::constant) {
      std::get<4>(key) = inst.imm;
    } else {
      // Elements of a dword may differ: none of them may become a dword.
      const bool computes = ir::is_pure(inst.op) && ir::is_lanewise(inst.op);
      if (!computes && inst.op != Op::slice && (inst.op != Op::recast || ir::size_of(inst.from) > 4))
        return false;
      for (std::size_t i = 0; i < inst.args.size(); ++i) {
        const auto known = uniform_.find(inst.args[i]);
        const unsigned size = ir::size_of(function_.values[inst.args[i]].type);
        if (known == uniform_.end() || (computes && size != ir::size_of(inst.type))) return false;
        std::get<5>(key)[i] = {false, known->second};
      }
    }
    uniform_.emplace(inst.result, equal_.try_emplace(key, inst.result).first->second);
    return true;
  }
  static Key key_of(const CodeInst& inst) {
    return {inst.op, inst.type, inst.from, inst.lanes, inst.op == Op::slice ? inst.imm : 0, {}};
  }

  void begin(std::uint32_t i, Layout layout) {
    const CodeInst& inst = insts_[i];
    std::uint32_t tuple = none;
    unsigned first = 0;
    if (const RowGroups::Member* shared = groups_->of(i)) {
      layout.parts = parts_of(*shared);
      first = shared->part * layout.components;
      std::uint32_t& of_group = tuple_of_group_[shared->group];
      if (of_group == none) of_group = add(layout);
      tuple = of_group;
    } else {
      tuple = add(layout);
    }
    for (unsigned k = 0; k < layout.components; ++k) members_[inst.result + k] = {tuple, first + k};
    tuples_[tuple].known |= layout.own() << first;
    accesses_.push_back({i, tuple});
    refuse_operands(inst);  // as addresses
  }

  void end(std::uint32_t i, Layout layout) {
    const CodeInst& inst = insts_[i];
    const auto data = inst.args.last(layout.components);
    const Member* one = member(data[0]);
    const RowGroups::Member* shared = groups_->of(i);
    unsigned first = 0;
    if (shared && one) {
      layout.parts = parts_of(*shared);
      first = shared->part * layout.components;
      std::uint32_t& of_group = tuple_of_group_[shared->group];
      if (of_group == none) of_group = one->tuple;
      if (of_group != one->tuple) return refuse_operands(inst);
    }
    if (one && tuples_[one->tuple].layout != layout) return refuse_operands(inst);
    for (unsigned k = 0; k < layout.components; ++k) {
      const Member* of = member(data[k]);
      if (!one || !of || of->tuple != one->tuple || of->component != first + k) return refuse_operands(inst);
    }
    accesses_.push_back({i, one->tuple});
  }

  /// Whether the op treats all elements of that many bytes alike, or the dwords around smaller ones.
  static bool is_alike(const CodeInst& inst, unsigned element) {
    const unsigned size = ir::size_of(inst.type);
    const auto fits = [&](unsigned bytes) { return bytes == element || (element == 4 && bytes < 4); };
    if (inst.result_count == 0 || inst.mask != ir::no_value || inst.args.size() > ir::max_pure_operands ||
        !ir::is_pure(inst.op))
      return false;
    if (ir::is_mask(inst.type)) return ir::is_lanewise(inst.op) && inst.lanes % row == 0;
    if (!fits(size) || inst.lanes * size % (element * row) != 0) return false;
    switch (inst.op) {
      case Op::slice:
        return size == element && inst.imm % row == 0;
      case Op::concat:
        return size == element;
      case Op::convert:
        return ir::size_of(inst.from) == element && size == element;
      case Op::recast:  // elements of dwords
        return fits(ir::size_of(inst.from));
      default:
        return ir::is_lanewise(inst.op);
    }
  }

  /// True: each result is a component of a tuple.
  bool compute(const CodeInst& inst) {
    const Member* first = nullptr;
    for (const ValueId arg : inst.args)
      if (!first) first = member(arg);
    const Layout layout = tuples_[first->tuple].layout;
    if (!is_alike(inst, layout.element)) return false;
    const unsigned component = first->component;
    Key key = key_of(inst);
    for (std::size_t i = 0; i < inst.args.size(); ++i) {
      auto& operand = std::get<5>(key)[i];
      if (const Member* of = member(inst.args[i])) {
        if (of->component != component || tuples_[of->tuple].layout != layout ||
            function_.values[inst.args[i]].lanes % row != 0)
          return false;
        operand = {true, of->tuple};
      } else {
        const auto known = uniform_.find(inst.args[i]);
        if (known == uniform_.end()) return false;
        operand = {false, known->second};
      }
    }
    auto [known, is_new] = made_.try_emplace(key, static_cast<std::uint32_t>(tuples_.size()));
    for (unsigned k = 0; is_new && k < inst.result_count; ++k) add(layout);
    for (unsigned k = 0; k < inst.result_count; ++k) {
      const std::uint32_t tuple = known->second + k;
      tuples_[tuple].known |= 1u << component;
      members_[inst.result + k] = {tuple, component};
      for (const auto& [is_tuple, of] : std::get<5>(key))
        if (is_tuple) join(tuple, of);
    }
    return true;
  }

  const ir::Function& function_;
  const Optimisations& optimisations_;
  std::span<CodeInst> insts_;
  std::vector<Tuple> tuples_;
  std::unordered_map<ValueId, Member> members_;
  /// Values of more lanes than one, each dword the same; and the first one that is equal.
  std::unordered_map<ValueId, ValueId> uniform_;
  std::map<Key, ValueId> equal_;       // how those are computed
  std::map<Key, std::uint32_t> made_;  // the tuple of the first result
  std::vector<TupleAccess> accesses_;
  RowGroups* groups_ = nullptr;
  std::vector<std::uint32_t> tuple_of_group_;
};

}  // namespace

void mark_interleaved(const ir::Function& function, const Optimisations& optimisations,
                      std::span<CodeInst> insts) {
  Interleaved(function, optimisations, insts).run();
}

}  // namespace eum::jit::codegen

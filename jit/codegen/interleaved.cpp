#include "jit/codegen/interleaved.hpp"

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace eum::jit::codegen {
namespace {

using ir::Op;
using ir::ValueId;

constexpr unsigned components = 4, row = 8;

class Interleaved {
 public:
  Interleaved(const ir::Function& function, std::span<CodeInst> insts) : function_(function), insts_(insts) {}

  void run() {
    if (!begins_any()) return;
    for (CodeInst& inst : insts_) visit(inst);
    for (std::uint32_t q = 0; q < quads_.size(); ++q)
      if (quads_[q].known != (1u << components) - 1) refuse(q);
    for (const auto& [inst, quad] : accesses_) inst->interleaved = !quads_[root(quad)].refused;
  }

 private:
  /// x, y, z, w of some lanes: registers hold all of them in memory order, or none.
  struct Quad {
    std::uint32_t parent;  ///< quads with a common decision form a tree
    bool refused = false;  ///< of the root
    unsigned known = 0;    ///< components that have been seen, a bit each
  };
  struct Member {
    std::uint32_t quad;
    unsigned component;
  };
  /// What the ops that compute a quad have in common; for each operand, the quad or the value that is the
  /// same in every lane.
  using Key = std::tuple<Op, ir::Type, ir::Type, unsigned, std::uint64_t,
                         std::array<std::pair<bool, std::uint32_t>, ir::max_pure_operands>>;

  /// Whether it accesses four adjacent dwords per lane, with adjacent lanes.
  bool is_quad_access(const CodeInst& inst) const {
    if ((inst.op != Op::load && inst.op != Op::store) || inst.runs == 0 || inst.mask != ir::no_value ||
        inst.second_ip || inst.lanes % row != 0)
      return false;
    const ir::MemoryAccess& access = function_.access(inst);
    constexpr unsigned all = (1u << components) - 1;
    return access.components == all && ir::size_of(inst.type) == 4 &&
           std::int64_t{inst.linear.stride} * access.scale == 16;
  }
  bool begins_any() const {
    return std::ranges::any_of(
        insts_, [&](const CodeInst& inst) { return inst.op == Op::load && is_quad_access(inst); });
  }

  std::uint32_t root(std::uint32_t quad) {
    while (quads_[quad].parent != quad) quad = quads_[quad].parent = quads_[quads_[quad].parent].parent;
    return quad;
  }
  std::uint32_t add() {
    const auto quad = static_cast<std::uint32_t>(quads_.size());
    quads_.push_back({quad});
    return quad;
  }
  void refuse(std::uint32_t quad) { quads_[root(quad)].refused = true; }
  void join(std::uint32_t a, std::uint32_t b) {
    a = root(a), b = root(b);
    quads_[b].parent = a;
    quads_[a].refused |= quads_[b].refused;
  }
  const Member* member(ValueId value) const {
    const auto found = members_.find(value);
    return found != members_.end() ? &found->second : nullptr;
  }
  void refuse_operands(const CodeInst& inst) {
    for (const ValueId arg : inst.args)
      if (const Member* of = member(arg)) refuse(of->quad);
    if (const Member* of = inst.mask != ir::no_value ? member(inst.mask) : nullptr) refuse(of->quad);
  }

  void visit(CodeInst& inst) {
    if (is_quad_access(inst)) return inst.op == Op::load ? begin(inst) : end(inst);
    if (inst.op == Op::splat || inst.op == Op::constant) {
      if (inst.lanes > 1) uniform_.insert(inst.result);
      return refuse_operands(inst);
    }
    if ((inst.op == Op::slice || inst.op == Op::recast) && uniform_.contains(inst.args[0]))
      uniform_.insert(inst.result);
    if (std::ranges::none_of(inst.args, [&](ValueId arg) { return member(arg) != nullptr; })) return;
    if (!compute(inst)) refuse_operands(inst);
  }

  void begin(CodeInst& inst) {
    const std::uint32_t quad = add();
    for (unsigned k = 0; k < components; ++k) members_[inst.result + k] = {quad, k};
    quads_[quad].known = (1u << components) - 1;
    accesses_.push_back({&inst, quad});
    refuse_operands(inst);  // as addresses
  }

  void end(CodeInst& inst) {
    const auto data = inst.args.last(components);
    const Member* first = member(data[0]);
    for (unsigned k = 0; k < components; ++k) {
      const Member* of = member(data[k]);
      if (!first || !of || of->quad != first->quad || of->component != k) return refuse_operands(inst);
    }
    accesses_.push_back({&inst, first->quad});
  }

  static bool is_alike(const CodeInst& inst) {
    if (inst.result_count != 1 || inst.mask != ir::no_value || inst.args.size() > ir::max_pure_operands ||
        !ir::is_pure(inst.op) || ir::is_mask(inst.type) || ir::size_of(inst.type) > 4 ||
        inst.lanes * ir::size_of(inst.type) % (4 * row) != 0)
      return false;
    switch (inst.op) {
      case Op::slice:
        return ir::size_of(inst.type) == 4 && inst.imm % row == 0;
      case Op::concat:
        return ir::size_of(inst.type) == 4;
      case Op::convert:
        return ir::size_of(inst.from) == 4 && ir::size_of(inst.type) == 4;
      case Op::recast:  // elements of dwords
        return ir::size_of(inst.from) <= 4;
      default:
        return ir::is_lanewise(inst.op);
    }
  }

  /// True: the result is a component of a quad.
  bool compute(const CodeInst& inst) {
    if (!is_alike(inst)) return false;
    std::optional<unsigned> component;
    Key key{inst.op, inst.type, inst.from, inst.lanes, inst.op == Op::slice ? inst.imm : 0, {}};
    for (std::size_t i = 0; i < inst.args.size(); ++i) {
      auto& operand = std::get<5>(key)[i];
      if (const Member* of = member(inst.args[i])) {
        if (component && *component != of->component) return false;
        if (function_.values[inst.args[i]].lanes % row != 0) return false;
        component = of->component;
        operand = {true, of->quad};
      } else {
        if (!uniform_.contains(inst.args[i])) return false;
        operand = {false, inst.args[i]};
      }
    }
    auto [known, is_new] = made_.try_emplace(key, 0);
    if (is_new) known->second = add();
    const std::uint32_t quad = known->second;
    if ((quads_[quad].known >> *component & 1) != 0) refuse(quad);
    quads_[quad].known |= 1u << *component;
    members_[inst.result] = {quad, *component};
    for (const auto& [is_quad, of] : std::get<5>(key))
      if (is_quad) join(quad, of);
    return true;
  }

  const ir::Function& function_;
  std::span<CodeInst> insts_;
  std::vector<Quad> quads_;
  std::unordered_map<ValueId, Member> members_;
  std::unordered_set<ValueId> uniform_;  // of more lanes than one, each dword the same
  std::map<Key, std::uint32_t> made_;
  std::vector<std::pair<CodeInst*, std::uint32_t>> accesses_;
};

}  // namespace

void mark_interleaved(const ir::Function& function, std::span<CodeInst> insts) {
  Interleaved(function, insts).run();
}

}  // namespace eum::jit::codegen

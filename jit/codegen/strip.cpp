// Finds the windows and divides the instructions of the way into head and body.
#include "jit/codegen/strip.hpp"

#include <algorithm>
#include <utility>

#include "jit/codegen/constant_sum.hpp"
#include "jit/codegen/strip_way.hpp"

namespace eum::jit::codegen {

using ir::no_value;
using ir::Op;
using ir::ValueId;

namespace {

/// Accesses farther apart have windows of their own: bytes.
constexpr std::uint32_t farthest_in_window = 1 << 12;

bool is_access(Op op) { return op == Op::load || op == Op::store; }
bool is_write(Op op) { return op == Op::reg_write || op == Op::flag_write; }

}  // namespace

class StripBuilder {
 public:
  StripBuilder(const Strip::Facts& facts, StripWay& way)
      : facts_(facts), function_(facts.function), way_(way), insts_(way.insts()) {}

  std::optional<Strip> build() {
    find_windows();
    if (strip_.steps_.empty()) return std::nullopt;
    strip_.guest_instructions_ = way_.guest_instructions();
    strip_.line_threads_ = facts_.id_steps.line_threads;
    make_head();
    make_body();
    strip_.operands_ = way_.take_operands();
    return std::move(strip_);
  }

 private:
  ConstantSum sum_of(ValueId value) const {
    return constant_sum(
        value, [&](ValueId of) { return way_.definition(of); },
        [&](ValueId of) { return way_.constant(of); });
  }

  /// An access that follows the ids, or whose address is the same in all threads.
  struct Found {
    std::size_t inst;  // of the way
    Strip::Window window;
    ConstantSum address;
  };
  std::optional<Found> find(std::size_t index) const {
    const CodeInst& inst = insts_[index];
    if (!is_access(inst.op)) return std::nullopt;
    const ir::MemoryAccess& mem = function_.access(inst);
    const bool is_space = mem.is_based() && ir::info(mem.space).in_space;
    if (inst.runs != 1 || inst.linear.run < inst.lanes || inst.linear.within != ~0u ||
        inst.linear.stride < 0 || inst.lanes % 8 != 0 || (!mem.is_fixed_surface() && !is_space))
      return std::nullopt;
    Strip::Window window;
    if (mem.surface_is_operand) window.base = inst.args[0];
    window.address = inst.args[mem.address_operand()];
    const auto& step = way_.step_of(window.address);
    if (!step || (window.base != no_value && !way_.is_same(window.base))) return std::nullopt;
    window.scale = is_space ? mem.scale : 1;
    const std::uint32_t highest = Strip::highest_step / window.scale;
    if (step->by > highest || step->in_line > highest / facts_.id_steps.line_threads ||
        (!step->is_constant() && window.scale > UINT8_MAX))
      return std::nullopt;
    window.step = step->scaled(window.scale);
    window.bytes = (inst.lanes - 1u) * static_cast<unsigned>(inst.linear.stride) * window.scale + mem.offset +
                   (mem.component(mem.component_count() - 1) + 1) * ir::size_of(inst.type);
    ConstantSum address = sum_of(window.address);
    if (inst.rows.swapped()) {
      address.constant -= inst.rows.before();
      window.bytes = inst.lanes * static_cast<unsigned>(inst.linear.stride) + mem.offset;
    }
    window.bytes += (facts_.id_steps.line_threads - 1) * window.step.in_line;
    return Found{index, window, address};
  }
  /// Whether both are in the same memory, a small constant apart.
  bool are_near(const Found& a, const Found& b) const {
    const ir::MemoryAccess &one = function_.access(insts_[a.inst]), &other = function_.access(insts_[b.inst]);
    const auto apart = static_cast<std::int32_t>(a.address.constant - b.address.constant);
    const auto farthest = static_cast<std::int32_t>(farthest_in_window / a.window.scale);
    return one.space == other.space && one.surface == other.surface && a.window.base == b.window.base &&
           a.window.step == b.window.step && a.window.scale == b.window.scale &&
           a.address.base == b.address.base && apart <= farthest && apart >= -farthest;
  }

  void find_windows() {
    std::vector<std::vector<Found>> members;
    for (std::size_t i = 0; i < insts_.size(); ++i) {
      strip_.has_large_ops_ |=
          insts_[i].lanes == 1 && (insts_[i].arg_count > 3 || insts_[i].result_count > 1);
      const auto access = find(i);
      const bool has_window = access && take(*access, members);
      if (has_window || !is_access(insts_[i].op)) continue;
      strip_.has_other_accesses_ = true;
      strip_.has_large_ops_ |= insts_[i].mask != no_value || function_.access(insts_[i]).surface_is_operand;
    }
    for (const std::vector<Found>& those : members) add_window(those);
  }
  /// False: there are too many windows.
  bool take(const Found& access, std::vector<std::vector<Found>>& members) {
    const auto near = std::ranges::find_if(
        members, [&](const std::vector<Found>& those) { return are_near(those.front(), access); });
    if (near != members.end()) {
      near->push_back(access);
      return true;
    }
    const Strip::Step& step = access.window.step;
    const bool is_new = !step.is_zero() && std::ranges::find(strip_.steps_, step) == strip_.steps_.end();
    if (members.size() == Strip::most_windows || (is_new && strip_.steps_.size() == Strip::most_steps))
      return false;
    if (is_new) strip_.steps_.push_back(step);
    members.push_back({access});
    return true;
  }
  void add_window(const std::vector<Found>& members) {
    const auto from_first = [&](const Found& one) {
      return static_cast<std::int32_t>(one.address.constant - members.front().address.constant);
    };
    const Found& lowest = *std::ranges::min_element(members, {}, from_first);
    Strip::Window window = lowest.window;
    for (const Found& one : members) {
      CodeInst& inst = insts_[one.inst];
      inst.behind = static_cast<std::uint32_t>(from_first(one) - from_first(lowest)) * window.scale;
      inst.window = static_cast<std::uint8_t>(strip_.windows_.size() + 1);
      window.bytes = std::max(window.bytes, inst.behind + one.window.bytes);
    }
    strip_.windows_.push_back(window);
    lowest_.push_back(lowest.inst);
  }

  // ---- Head and body

  /// Appends instructions of the way: those that are marked, and those on whose values they depend.
  void append_needed(std::vector<bool> needed, std::vector<bool>& wanted, std::vector<CodeInst>& to) const {
    for (std::size_t i = insts_.size(); i-- > 0;) {
      for (unsigned k = 0; k < insts_[i].result_count; ++k)
        if (wanted[insts_[i].result + k]) needed[i] = true;
      if (needed[i]) want_operands(insts_[i], wanted);
    }
    for (std::size_t i = 0; i < insts_.size(); ++i)
      if (needed[i]) to.push_back(insts_[i]);
  }
  static void want_operands(const CodeInst& inst, std::vector<bool>& wanted) {
    for (const ValueId value : inst.args) wanted[value] = true;
    if (inst.mask != no_value) wanted[inst.mask] = true;
  }

  void make_head() {
    std::vector<CodeInst> checks;
    const auto add = [&](CodeInst check) {
      check.arg_count = static_cast<std::uint16_t>(check.args.size());
      check.result_count = 0;
      check.mask = no_value;
      check.window = 0;
      checks.push_back(check);
    };
    for (const StripWay::Condition& one : way_.conditions()) {
      add(one.inst);
      strip_.conditions_.push_back(one.condition);
    }
    for (std::size_t at = 0; at < strip_.windows_.size(); ++at) {
      const Strip::Window& window = strip_.windows_[at];
      std::vector<ValueId> operands;
      for (const ValueId operand : {window.base, window.address, window.step.factor})
        if (operand != no_value) operands.push_back(operand);
      CodeInst check = insts_[lowest_[at]];
      check.args = way_.keep(std::move(operands));
      add(check);
    }
    std::vector<bool> wanted(function_.values.size());
    for (const CodeInst& check : checks) want_operands(check, wanted);
    append_needed(std::vector<bool>(insts_.size()), wanted, strip_.head_);
    strip_.head_.insert(strip_.head_.end(), checks.begin(), checks.end());
  }

  void make_body() {
    std::vector<bool> needed(insts_.size()), wanted(function_.values.size());
    for (std::size_t i = 0; i < insts_.size(); ++i) {
      CodeInst& inst = insts_[i];
      needed[i] = is_write(inst.op) ? way_.is_read(i) : !ir::is_pure(inst.op) && inst.op != Op::reg_read;
      if (is_write(inst.op) && needed[i]) strip_.writes_restored_ |= is_restored(inst);
      if (inst.window == 0) continue;
      inst.args = inst.args.subspan(function_.access(inst).address_operand() + 1);
      inst.arg_count = static_cast<std::uint16_t>(inst.args.size());
    }
    append_needed(std::move(needed), wanted, strip_.body_);
  }
  bool is_restored(const CodeInst& write) const {
    if (write.op != Op::reg_write) return false;
    const SlotRange bytes = slots_of(write, 1);
    return std::ranges::any_of(facts_.restored, [&](const FileRange& range) {
      return overlap(bytes, {range.offset, range.offset + range.bytes - 1});
    });
  }

  const Strip::Facts& facts_;
  const ir::Function& function_;
  StripWay& way_;
  std::vector<CodeInst>& insts_;  // of the way
  Strip strip_;
  std::vector<std::size_t> lowest_;  // of each window: the access with the lowest address
};

std::optional<Strip> Strip::of(const Facts& facts, BlockCode& code) {
  StripWay way(facts, code);
  if (!way.follow()) return std::nullopt;
  return StripBuilder(facts, way).build();
}

}  // namespace eum::jit::codegen

#include "jit/analysis/loop_steps.hpp"

#include <algorithm>
#include <cstdlib>

namespace eum::jit {

using ir::BlockId;
using ir::Inst;
using ir::Op;
using ir::ValueId;

namespace {

/// The longest chain of computations that is followed.
constexpr unsigned deepest = 24;
/// Larger steps count as unknown, so that no sum or product of steps overflows.
constexpr LoopSteps::Step farthest = 1 << 20;
constexpr std::uint32_t dword = 4;

std::optional<LoopSteps::Step> near(std::optional<LoopSteps::Step> step) {
  return step && std::abs(*step) <= farthest ? step : std::nullopt;
}

}  // namespace

LoopSteps::LoopSteps(const ir::Function& function, std::span<const BlockId> blocks) : function_(&function) {
  for (const BlockId b : blocks)
    for (const Inst& inst : function_->blocks[b].insts) {
      for (unsigned k = 0; k < inst.result_count; ++k) by_[inst.result + k] = &inst;
      if (inst.op == Op::reg_write) writes_.push_back({&inst, slots_of(inst, dword)});
      if (inst.op == Op::reg_scatter) scatters_ = true;
    }
}

std::optional<LoopSteps::Step> LoopSteps::of_address(const Inst& load) {
  const ir::MemoryAccess& access = function_->access(load);
  const auto args = function_->args(load);
  if (!access.is_based()) return step(args[0], 0);
  const auto of_base = step(args[0], 0), of_distance = step(args[1], 0);
  if (!of_base || !of_distance) return std::nullopt;
  return *of_base + *of_distance * Step{access.scale};
}

/// How much the value increases in each iteration.
std::optional<LoopSteps::Step> LoopSteps::step(ValueId value, unsigned depth) {
  const auto [found, is_new] = steps_.try_emplace(value);
  if (!is_new) return found->second;  // nothing is known of a value that depends on itself
  const auto step = find_step(value, depth);
  return steps_[value] = near(step);
}

std::optional<LoopSteps::Step> LoopSteps::find_step(ValueId value, unsigned depth) {
  const auto by = by_.find(value);
  if (by == by_.end() || depth > deepest) return std::nullopt;
  const Inst& inst = *by->second;
  if (inst.op == Op::reg_read) return step_of_register(inst, depth);
  const auto args = function_->args(inst);
  const auto of = [&](std::size_t k) { return step(args[k], depth + 1); };
  switch (inst.op) {
    case Op::constant:
    case Op::vconst:
      return 0;
    case Op::add:
    case Op::addc:
    case Op::sub:
      if (value != inst.result) return std::nullopt;
      if (const auto a = of(0), b = of(1); a && b) return inst.op == Op::sub ? *a - *b : *a + *b;
      return std::nullopt;
    case Op::mad:
      if (const auto a = product(args[0], args[1], depth), b = of(2); a && b) return *a + *b;
      return std::nullopt;
    case Op::mul:
      return product(args[0], args[1], depth);
    case Op::shl:
      if (const auto bits = number(args[1], depth + 1); bits && *bits < 16)
        if (const auto a = of(0)) return *a * (Step{1} << *bits);
      break;
    case Op::convert:
    case Op::bitcast:
    case Op::splat:
    case Op::slice:
    case Op::join:
      return of(0);
    case Op::concat:
      if (const auto a = of(0), b = of(1); a && a == b) return a;
      return std::nullopt;
    default:
      break;
  }
  if (!ir::is_pure(inst.op)) return std::nullopt;
  const bool stays = std::ranges::all_of(args, [&](ValueId arg) { return step(arg, depth + 1) == 0; });
  return stays ? std::optional(0) : std::nullopt;
}

std::optional<LoopSteps::Step> LoopSteps::product(ValueId a, ValueId b, unsigned depth) {
  const auto x = step(a, depth + 1), y = step(b, depth + 1);
  if (!x || !y) return std::nullopt;
  if (*x == 0 && *y == 0) return 0;
  const auto factor = number(*x == 0 ? a : b, depth + 1);
  if ((*x != 0 && *y != 0) || !factor) return std::nullopt;
  return (*x == 0 ? *y : *x) * Step{*factor};
}

/// The known constant that every lane equals.
std::optional<std::uint32_t> LoopSteps::number(ValueId value, unsigned depth) const {
  const auto by = by_.find(value);
  if (by == by_.end() || depth > deepest) return std::nullopt;
  const Inst& inst = *by->second;
  if (inst.op == Op::constant) return static_cast<std::uint32_t>(inst.imm);
  const bool passes =
      inst.op == Op::convert || inst.op == Op::bitcast || inst.op == Op::splat || inst.op == Op::slice;
  return passes ? number(function_->args(inst)[0], depth + 1) : std::nullopt;
}

std::optional<LoopSteps::Step> LoopSteps::step_of_register(const Inst& read, unsigned depth) {
  if (scatters_) return std::nullopt;
  const SlotRange range = slots_of(read, dword);
  std::optional<Step> step = 0;
  bool written = false;
  for (const Write& write : writes_) {
    if (!overlap(write.slots, range)) continue;
    const ValueId value = function_->args(*write.inst)[0];
    auto own = increment(value, write.slots, 0);
    if (!own) own = this->step(value, depth + 4);
    if (!own || (written && own != step)) return std::nullopt;
    written = true;
    step = own;
  }
  return step;
}

/// How much larger the value is than the old content of the register to which it is written.
std::optional<LoopSteps::Step> LoopSteps::increment(ValueId value, const SlotRange& slots,
                                                    unsigned depth) const {
  const auto by = by_.find(value);
  if (by == by_.end() || depth > deepest) return std::nullopt;
  const Inst& inst = *by->second;
  if (inst.op == Op::reg_read) {
    const SlotRange read = slots_of(inst, dword);
    if (overlap(read, slots)) return 0;
    // It may have passed through another register.
    const auto is_of = [&](const Write& write) { return overlap(write.slots, read); };
    const auto write = std::ranges::find_if(writes_, is_of);
    return write != writes_.end() ? increment(function_->args(*write->inst)[0], slots, depth + 2)
                                  : std::nullopt;
  }
  const auto args = function_->args(inst);
  switch (inst.op) {
    case Op::addc:
    case Op::add:
      if (value != inst.result) return std::nullopt;
      for (const unsigned k : {0u, 1u})
        if (const auto more = number(args[1 - k], depth))
          if (const auto of = increment(args[k], slots, depth + 1))
            return *of + static_cast<std::int32_t>(*more);
      return std::nullopt;
    case Op::sub:
      if (const auto less = number(args[1], depth))
        if (const auto of = increment(args[0], slots, depth + 1))
          return *of - static_cast<std::int32_t>(*less);
      return std::nullopt;
    case Op::convert:
    case Op::bitcast:
    case Op::slice:
    case Op::splat:
      return increment(args[0], slots, depth + 1);
    default:
      return std::nullopt;
  }
}

}  // namespace eum::jit

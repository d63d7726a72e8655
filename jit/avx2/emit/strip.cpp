// The checks before the loop of a codegen::Strip, and its accesses in the loop.
#include "jit/avx2/emit/strip.hpp"

#include <cstddef>

#include "jit/avx2/emit/memory.hpp"
#include "jit/codegen/bug.hpp"

namespace eum::jit::avx2::emit {

namespace {

/// The comparison of first, first + 1, ... with a limit.
void check_ramp(Compiler& c, const CodeInst& ramp, const codegen::Strip::Condition& condition, x86::Gp more,
                asmjit::Label otherwise) {
  auto& a = c.a;
  const bool is_signed = ir::is_signed(ramp.type);
  const x86::Gp first = c.g.use(ramp.args[0]).r32(), limit = c.g.use(ramp.args[1]).r32();
  const x86::Gp lanes = c.g.scratch(), from = c.g.scratch(), distance = c.g.scratch();
  // Of all threads: those that lie between the lanes of two threads count, too.
  a.imul(lanes, more, asmjit::Imm(condition.step));
  a.add(lanes, asmjit::Imm(condition.lanes));
  if (ramp.op == ir::Op::ramp_eq) {
    if (condition.expected) throw codegen::EngineBug("all lanes of a ramp cannot be equal");
    a.mov(distance.r32(), limit);
    a.sub(distance.r32(), first);
    a.cmp(distance.r32(), lanes.r32());
    return (void)a.jb(otherwise);
  }
  const auto extend = [&](const x86::Gp& to, const x86::Gp& number) {
    is_signed ? a.movsxd(to, number) : a.mov(to.r32(), number);
  };
  extend(from, first);
  extend(distance, limit);
  a.sub(distance, from);
  if (ramp.op == ir::Op::ramp_le) a.inc(distance);  // how many lanes are below the limit
  if (condition.expected) {
    a.cmp(distance, lanes);
    return (void)a.jl(otherwise);
  }
  a.test(distance, distance);
  a.jg(otherwise);
  // Nor may any wrap around and be below it again.
  a.lea(from, x86::ptr(from, lanes, 0, -1));
  extend(distance, from.r32());
  a.cmp(distance, from);
  a.jne(otherwise);
}

}  // namespace

void check_condition(Compiler& c, const CodeInst& inst, const codegen::Strip::Condition& condition,
                     x86::Gp more, asmjit::Label otherwise) {
  if (inst.op != ir::Op::branch_any) return check_ramp(c, inst, condition, more, otherwise);
  const ir::ValueId mask = inst.args[0];
  const std::uint32_t expected = condition.expected ? ir::lane_mask(c.lanes_of(mask)) : 0;
  c.a.cmp(c.m.bits(mask).r32(), asmjit::Imm(static_cast<std::int32_t>(expected)));
  c.a.jne(otherwise);
}

void compute_step(Compiler& c, const codegen::Strip::Step& step, const x86::Mem& to,
                  asmjit::Label otherwise) {
  const x86::Gp factor = c.g.use(step.factor).r32(), product = c.g.scratch().r32();
  c.a.imul(product, factor, asmjit::Imm(static_cast<std::int32_t>(step.times)));
  if (step.by != 0) c.a.add(product, asmjit::Imm(static_cast<std::int32_t>(step.by)));
  c.a.cmp(product, codegen::Strip::highest_step);
  c.a.ja(otherwise);
  c.a.mov(to, product.r64());
  c.regs.unpin();
}

void MemorySite::check_window(const codegen::Strip::Window& window, x86::Gp more, const x86::Mem& step,
                              x86::Gp begin, asmjit::Label otherwise) const {
  auto& a = c_.a;
  const x86::Gp address = c_.g.use(addresses());
  const x86::Gp base = based() ? c_.g.use(inst_->args[0]) : x86::Gp();
  const x86::Gp end = c_.g.scratch();
  const auto bytes = static_cast<std::int32_t>(window.bytes);
  if (window.step.is_constant()) {
    a.imul(end, more, asmjit::Imm(window.step.by));
  } else {
    a.mov(end, more);
    a.imul(end, step);
  }
  if (!based()) {
    const Window memory = find_window(otherwise);
    a.mov(begin.r32(), address.r32());
    if (shared().before() != 0) a.sub(begin.r32(), shared().before());
    a.lea(end, x86::ptr(end, begin, 0, bytes));
    a.cmp(end, memory.size);
    a.ja(otherwise);
    return (void)a.add(begin, memory.base);
  }
  if (ir::is_signed(ir::info(mem().space).address))
    a.movsxd(begin, address.r32());
  else
    a.mov(begin.r32(), address.r32());
  if (window.scale != 1) a.imul(begin, begin, asmjit::Imm(static_cast<std::int32_t>(window.scale)));
  a.add(end, begin);
  // No distance of any thread wraps around.
  a.cmp(end, asmjit::Imm(INT32_MAX - bytes));
  a.jg(otherwise);
  for (const x86::Gp& place : {begin, end}) {
    a.add(place, base);
    a.sub(place, region(offsetof(CachedRegion, start), 8));
  }
  a.cmp(begin, region(offsetof(CachedRegion, size), 8));
  a.ja(otherwise);
  a.add(end, bytes);
  a.cmp(end, region(offsetof(CachedRegion, size), 8));
  a.ja(otherwise);
  a.add(begin, region(offsetof(CachedRegion, host), 8));
}

void MemorySite::acquire_strip_window() {
  const StripWindow& window = c_.strip_window(*inst_);
  reg.base = window.base;
  if (reg.base.isValid()) return;
  reg.base = c_.g.scratch();
  c_.a.mov(reg.base, x86::ptr(x86::rsp, window.word, 8));
}

CheckedAddress MemorySite::in_strip_window(unsigned behind, unsigned extent) const {
  const StripWindow& window = c_.strip_window(*inst_);
  if (inst_->behind + behind + extent > window.bytes)
    throw codegen::EngineBug("an access goes beyond the window that was checked");
  return {reg.base, window.index, static_cast<int>(inst_->behind + behind), extent};
}

}  // namespace eum::jit::avx2::emit

// How a thread enters translated code and leaves it: prologue, entry table, dispatcher of computed jumps,
// exits.
#include <algorithm>
#include <cstddef>

#include "jit/avx2/compiler.hpp"

namespace eum::jit::avx2 {
namespace {

constexpr x86::Gp callee_saved[] = {x86::rbx, x86::rbp, x86::r12, x86::r13, x86::r14, x86::r15};

void write_back(const CodeData* data, std::uint32_t row, std::byte* file, const std::byte* vectors) {
  data->exits.write_back(row, file, vectors);
}

}  // namespace

/// Where to go with every slot in memory.
asmjit::Label Compiler::memory_entry(ir::BlockId block, bool full) {
  Version& entered = version(block, full);
  if (entered.fixed && entered.entry.empty()) return entered.label;
  if (!entered.from_memory.isValid()) entered.from_memory = a.newLabel();
  return entered.from_memory;
}

/// Goes to the version of `target` that fits the execution mask in memory.
void Compiler::enter_from_memory(ir::BlockId target) {
  if (partial_versions_) {
    a.cmp(mask_variable(0), asmjit::Imm(static_cast<std::int32_t>(ir::lane_mask(function.simd))));
    a.jne(memory_entry(target, false));
  }
  a.jmp(memory_entry(target, true));
}

bool Compiler::uses(ir::MemSpace space) const {
  return std::any_of(function.accesses.begin(), function.accesses.end(),
                     [&](const ir::MemoryAccess& access) { return access.space == space; });
}

/// The frame's size is known by now, so the prologue comes last.
asmjit::Label Compiler::prologue() {
  const asmjit::Label entry = a.newLabel();
  constexpr int page = 4096;
  const int frame = (regs.frame_end() + 127) & ~63;
  a.bind(entry);
  for (const x86::Gp& reg : callee_saved) a.push(reg);
  a.mov(state_reg, x86::rdi);
  a.mov(x86::rax, x86::rsp);
  // Page by page, so that a stack that is too small meets its guard page.
  for (int touched = page; touched < frame; touched += page)
    a.test(x86::ptr(x86::rsp, -touched, 1), asmjit::Imm(0));
  a.sub(x86::rsp, frame);
  a.and_(x86::rsp, -64);
  a.mov(x86::ptr(x86::rsp, Frame::host_rsp, 8), x86::rax);
  a.mov(surfaces_reg, state(offsetof(ThreadState, environment), 8));
  const auto copy = [&](int to, std::size_t from) {
    a.mov(x86::rax, x86::ptr(surfaces_reg, static_cast<int>(from), 8));
    a.mov(x86::ptr(x86::rsp, to, 8), x86::rax);
  };
  if (uses(ir::MemSpace::Slm)) {
    copy(Frame::slm, offsetof(Environment, slm));
    copy(Frame::slm_bytes, offsetof(Environment, slm_bytes));
  }
  if (uses(ir::MemSpace::Scratch)) {
    copy(Frame::scratch, offsetof(Environment, scratch));
    copy(Frame::scratch_bytes, offsetof(Environment, scratch_bytes));
  }
  a.mov(surfaces_reg, x86::ptr(surfaces_reg, offsetof(Environment, surfaces), 8));
  if (!resume_points_.empty()) {
    a.mov(x86::eax, state(offsetof(ThreadState, resume), 4));
    a.test(x86::eax, x86::eax);
    a.jnz(enter_);
  }
  enter_from_memory(0);
  return entry;
}

void Compiler::exits() {
  a.bind(leave_live_);
  for (unsigned r = 0; r < target.vector_registers; ++r)
    a.vmovaps(x86::ptr(x86::rsp, Frame::saved_vectors + static_cast<int>(r) * 32, 32), x86::ymm(r));
  a.bind(leave_saved_);
  a.mov(x86::ptr(x86::rsp, Frame::status, 4), x86::eax);
  a.mov(x86::rdi, asmjit::Imm(reinterpret_cast<std::uint64_t>(&data)));
  a.lea(x86::rdx, state(layout.file, 8));
  a.lea(x86::rcx, x86::ptr(x86::rsp, Frame::saved_vectors));
  a.vzeroupper();
  a.mov(x86::rax, asmjit::Imm(reinterpret_cast<std::uint64_t>(&write_back)));
  a.call(x86::rax);
  a.mov(x86::eax, x86::ptr(x86::rsp, Frame::status, 4));
  a.bind(epilogue_);
  a.vzeroupper();
  a.mov(x86::rsp, x86::ptr(x86::rsp, Frame::host_rsp, 8));
  for (std::size_t i = std::size(callee_saved); i-- > 0;) a.pop(callee_saved[i]);
  a.ret();
}

void Compiler::go_to_ip(x86::Gp ip, std::uint32_t guest_ip) {
  a.mov(x86::eax, ip.r32());
  a.mov(x86::ecx, guest_ip);
  a.jmp(dispatch_);
}

/// Finds the block of an ip by binary search.
void Compiler::dispatcher() {
  if (!dispatches_) return;
  const asmjit::Label ips = a.newLabel(), ids = a.newLabel(), halve = a.newLabel(), found = a.newLabel(),
                      bad = a.newLabel();
  a.bind(dispatch_);
  a.lea(x86::rdx, x86::ptr(ips));
  a.mov(x86::esi, static_cast<std::uint32_t>(function.blocks.size()));
  a.bind(halve);
  a.cmp(x86::esi, 1);
  a.jbe(found);
  a.mov(x86::edi, x86::esi);
  a.shr(x86::edi, 1);
  a.lea(x86::r8, x86::ptr(x86::rdx, x86::rdi, 2));
  a.cmp(x86::ptr(x86::r8, 0, 4), x86::eax);
  a.cmovbe(x86::rdx, x86::r8);
  a.sub(x86::esi, x86::edi);
  a.jmp(halve);
  a.bind(found);
  a.cmp(x86::ptr(x86::rdx, 0, 4), x86::eax);
  a.jne(bad);
  a.lea(x86::rsi, x86::ptr(ips));
  a.sub(x86::rdx, x86::rsi);
  a.lea(x86::rsi, x86::ptr(ids));
  a.mov(x86::eax, x86::ptr(x86::rsi, x86::rdx, 0, 0, 4));
  a.cmp(state(offsetof(ThreadState, budget), 8), 0);
  a.jg(enter_);
  a.mov(state(offsetof(ThreadState, resume), 4), x86::eax);
  finish(Status::Paused);
  a.bind(bad);
  set_fault(FaultKind::BadJump, x86::ecx, x86::rax);
  finish(Status::Faulted);
  std::vector<std::pair<std::uint32_t, ir::BlockId>> blocks;
  for (ir::BlockId b = 0; b < function.blocks.size(); ++b) blocks.push_back({function.blocks[b].guest_ip, b});
  // Of several blocks at one ip the first counts, which the search finds last.
  std::sort(blocks.begin(), blocks.end(), [](const auto& x, const auto& y) {
    return x.first != y.first ? x.first < y.first : x.second > y.second;
  });
  a.align(asmjit::AlignMode::kData, 4);
  a.bind(ips);
  for (const auto& [ip, id] : blocks) a.embedUInt32(ip);
  a.bind(ids);
  for (const auto& [ip, id] : blocks) a.embedUInt32(id);
}

/// Goes to the version of block eax that fits the execution mask in memory. Then code that loads entry
/// states.
void Compiler::entries() {
  const std::size_t count = function.blocks.size(), versions = partial_versions_ ? 2 : 1;
  std::vector<asmjit::Label> table;
  if (!resume_points_.empty()) {
    const asmjit::Label bad = a.newLabel();
    a.bind(enter_);
    a.cmp(x86::eax, static_cast<std::uint32_t>(count));
    a.jae(bad);
    if (partial_versions_) {
      const asmjit::Label all = a.newLabel();
      a.cmp(mask_variable(0), asmjit::Imm(static_cast<std::int32_t>(ir::lane_mask(function.simd))));
      a.je(all);
      a.add(x86::eax, static_cast<std::uint32_t>(count));
      a.bind(all);
    }
    a.lea(x86::rcx, x86::ptr(entry_table_));
    a.movsxd(x86::rax, x86::ptr(x86::rcx, x86::rax, 2, 0, 4));
    a.add(x86::rax, x86::rcx);
    a.jmp(x86::rax);
    // The caller's state says to resume where no run can.
    a.bind(bad);
    a.xor_(x86::ecx, x86::ecx);
    set_fault(FaultKind::BadJump, x86::ecx, x86::rax);
    finish(Status::Faulted);
    table.assign(versions * count, bad);
    for (ir::BlockId target : resume_points_)
      for (std::size_t v = 0; v < versions; ++v) table[v * count + target] = memory_entry(target, v == 0);
  }
  for (Version& entered : versions_) {
    if (!entered.from_memory.isValid()) continue;
    a.bind(entered.from_memory);
    regs.emit_entry(entered.entry);
    a.jmp(entered.label);
  }
  if (table.empty()) return;
  a.align(asmjit::AlignMode::kData, 4);
  a.bind(entry_table_);
  for (const asmjit::Label& entry : table) a.embedLabelDelta(entry, entry_table_, 4);
}

}  // namespace eum::jit::avx2

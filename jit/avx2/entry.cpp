// How a host thread enters translated code and leaves it: prologue, entry table, dispatcher of computed
// jumps, exits.
#include <algorithm>
#include <bit>
#include <cstddef>

#include "jit/avx2/compiler.hpp"
#include "jit/avx2/emit/memory.hpp"

namespace eum::jit::avx2 {
namespace {

constexpr x86::Gp callee_saved[] = {x86::rbx, x86::rbp, x86::r12, x86::r13, x86::r14, x86::r15};

void write_back(const CodeData* data, std::uint32_t row, std::byte* file, const std::byte* vectors) {
  data->exits.write_back(row, file, vectors);
}

std::uint32_t exit_row(const CodeData* data, std::uint32_t site) { return data->call_sites[site].exit_row; }

}  // namespace

/// The entry for edges with every slot in memory.
asmjit::Label Compiler::memory_entry(ir::BlockId block, bool full) {
  Version& entered = version(block, full);
  if (entered.fixed && entered.entry.empty() && loop_scalars_.of(block).empty()) return entered.label;
  if (!entered.from_memory.isValid()) entered.from_memory = a.newLabel();
  return entered.from_memory;
}

/// Goes to the version of `target` that fits the execution mask in memory.
void Compiler::enter_from_memory(ir::BlockId target) {
  if (partial_versions_) {
    a.cmp(mask_reg, asmjit::Imm(static_cast<std::int32_t>(ir::lane_mask(function.simd))));
    a.jne(memory_entry(target, false));
  }
  a.jmp(memory_entry(target, true));
}

/// The frame's size is known by now, so the prologue comes last. ThreadBatch in rdi.
asmjit::Label Compiler::prologue() {
  const asmjit::Label entry = a.newLabel();
  constexpr int page = 4096;
  const int frame = (regs.frame_end() + 127) & ~63;
  a.bind(entry);
  for (const x86::Gp& reg : callee_saved) a.push(reg);
  a.mov(x86::rax, x86::rsp);
  // Page by page, so that a stack that is too small meets its guard page.
  for (int touched = page; touched < frame; touched += page)
    a.test(x86::ptr(x86::rsp, -touched, 1), asmjit::Imm(0));
  a.sub(x86::rsp, frame);
  a.and_(x86::rsp, -64);
  a.mov(x86::ptr(x86::rsp, Frame::host_rsp, 8), x86::rax);
  a.mov(x86::ptr(x86::rsp, Frame::batch, 8), x86::rdi);
  a.mov(x86::rsi, x86::rdi);
  if (lane_sites_ != 0) {
    a.vpxor(x86::ymm0, x86::ymm0, x86::ymm0);
    const int used =
        std::min(static_cast<int>(lane_sites_) * Frame::scattered_counter, Frame::scattered_bytes);
    for (int at = 0; at < used; at += 32) a.vmovups(x86::ptr(x86::rsp, Frame::scattered + at, 32), x86::ymm0);
  }
  begin_rows();
  begin_row_stores();
  run_batch();
  return entry;
}

/// Caches what all threads of a batch share of the environment.
void Compiler::environment() {
  a.mov(surfaces_reg, state(offsetof(ThreadState, environment), 8));
  if (uses_space(function, ir::MemSpace::Slm)) {
    copy_words(surfaces_reg, {{Frame::slm, offsetof(Environment, slm)}});
    for (unsigned at = 0; at < sizeof(mem::ReachableBytes); at += 8)
      copy_words(surfaces_reg,
                 {{Frame::slm_bytes + static_cast<int>(at), offsetof(Environment, slm_bytes) + at}});
  }
  if (asks_for_exclusive_) {
    a.mov(x86::al, x86::ptr(surfaces_reg, offsetof(Environment, exclusive), 1));
    a.mov(x86::ptr(x86::rsp, Frame::exclusive, 1), x86::al);
  }
  a.mov(surfaces_reg, x86::ptr(surfaces_reg, offsetof(Environment, surfaces), 8));
}

void Compiler::skip_if_exclusive(asmjit::Label to) {
  test_exclusive();
  a.jne(to);
}

void Compiler::go_unless_exclusive(asmjit::Label to) {
  test_exclusive();
  a.je(to);
}

void Compiler::test_exclusive() {
  asks_for_exclusive_ = true;
  a.cmp(x86::ptr(x86::rsp, Frame::exclusive, 1), 0);
}

void Compiler::lock_unless_exclusive() {
  constexpr std::uint8_t lock_prefix = 0xf0;
  const asmjit::Label behind = a.newLabel();
  skip_if_exclusive(behind);
  a.db(lock_prefix);
  a.bind(behind);
}

/// Caches what each thread has of its own in the environment.
void Compiler::own_environment() {
  if (!uses_space(function, ir::MemSpace::Scratch)) return;
  a.mov(x86::rdx, state(offsetof(ThreadState, environment), 8));
  copy_words(x86::rdx, {{Frame::scratch, offsetof(Environment, scratch)},
                        {Frame::scratch_bytes, offsetof(Environment, scratch_bytes)}});
}

/// Copies qwords, each {offset in the frame, offset from `from`}.
void Compiler::copy_words(x86::Gp from, std::initializer_list<std::pair<int, std::size_t>> words) {
  for (const auto& [to, at] : words) {
    a.mov(x86::rax, x86::ptr(from, static_cast<int>(at), 8));
    a.mov(x86::ptr(x86::rsp, to, 8), x86::rax);
  }
}

/// Continues where the state says.
void Compiler::enter() {
  a.mov(mask_reg, mask_variable(0));
  if (!resume_points_.empty()) {
    a.mov(x86::eax, state(offsetof(ThreadState, resume), 4));
    a.test(x86::eax, x86::eax);
    a.jnz(enter_);
  }
  enter_from_memory(0);
}

namespace {

/// The return address, and alignment.
constexpr int below_frame = 64;

x86::Mem saved_vector(unsigned r) {
  return x86::ptr(x86::rsp, below_frame + Frame::saved_vectors + static_cast<int>(r) * 32, 32);
}
x86::Mem saved_general(unsigned r) {
  return x86::ptr(x86::rsp, below_frame + Frame::saved_generals + static_cast<int>(r) * 8, 8);
}
x86::Mem saved_mask(unsigned r) {
  return x86::ptr(x86::rsp, below_frame + Frame::saved_masks + static_cast<int>(r) * 8, 8);
}

}  // namespace

// Callee-saved registers too: they may hold operands of accesses.
int Compiler::save_registers() {
  a.sub(x86::rsp, below_frame - 8);
  for (unsigned r = 0; r < host.target.vector_registers; ++r) a.vmovaps(saved_vector(r), x86::ymm(r));
  for (unsigned r = 0; r < 16; ++r)
    if (host.target.general_registers >> r & 1) a.mov(saved_general(r), x86::gpq(r));
  for (unsigned r = 0; r < 8; ++r)
    if (host.target.mask_registers >> r & 1) a.kmovq(saved_mask(r), x86::k(r));
  return below_frame;
}

void Compiler::restore_registers() {
  for (unsigned r = 0; r < host.target.vector_registers; ++r) a.vmovaps(x86::ymm(r), saved_vector(r));
  for (unsigned r = 0; r < 16; ++r)
    if (host.target.general_registers >> r & 1) a.mov(x86::gpq(r), saved_general(r));
  for (unsigned r = 0; r < 8; ++r)
    if (host.target.mask_registers >> r & 1) a.kmovq(x86::k(r), saved_mask(r));
  a.add(x86::rsp, below_frame - 8);
}

/// One stub for all out-of-line accesses: smaller than saving live registers at each of them.
void Compiler::call_site_stub() {
  if (!calls_sites_) return;
  const asmjit::Label failed = a.newLabel();
  a.bind(call_site_);
  const int frame = save_registers();
  a.mov(x86::rdi, state_reg);
  a.mov(x86::rsi, asmjit::Imm(reinterpret_cast<std::uint64_t>(&data)));
  a.lea(x86::rdx, x86::ptr(x86::rsp, frame));
  a.vzeroupper();
  a.mov(x86::rax, asmjit::Imm(reinterpret_cast<std::uint64_t>(register_access_function())));
  a.call(x86::rax);
  a.test(x86::al, x86::al);
  a.jz(failed);
  restore_registers();
  a.ret();
  a.bind(failed);
  a.add(x86::rsp, frame);
  a.mov(x86::rdi, asmjit::Imm(reinterpret_cast<std::uint64_t>(&data)));
  a.mov(x86::esi, x86::ptr(x86::rsp, Frame::site, 4));
  a.mov(x86::rax, asmjit::Imm(reinterpret_cast<std::uint64_t>(&exit_row)));
  a.call(x86::rax);
  a.mov(x86::esi, x86::eax);
  a.mov(x86::eax, static_cast<std::uint32_t>(Status::Faulted));
  a.jmp(leave_saved_);
}

void Compiler::exits() {
  a.bind(leave_live_);
  for (unsigned r = 0; r < host.target.vector_registers; ++r)
    a.vmovaps(x86::ptr(x86::rsp, Frame::saved_vectors + static_cast<int>(r) * 32, 32), x86::ymm(r));
  a.bind(leave_saved_);
  a.mov(x86::ptr(x86::rsp, Frame::status, 4), x86::eax);
  leave_row_stores();
  a.mov(x86::rdi, asmjit::Imm(reinterpret_cast<std::uint64_t>(&data)));
  a.lea(x86::rdx, state(layout.file, 8));
  a.lea(x86::rcx, x86::ptr(x86::rsp, Frame::saved_vectors));
  a.vzeroupper();
  a.mov(x86::rax, asmjit::Imm(reinterpret_cast<std::uint64_t>(&write_back)));
  a.call(x86::rax);
  a.mov(x86::eax, x86::ptr(x86::rsp, Frame::status, 4));
  a.bind(epilogue_);
  a.mov(state(offsetof(ThreadState, budget), 8), budget_reg);
  a.mov(mask_variable(0), mask_reg);
  a.mov(x86::rsi, x86::ptr(x86::rsp, Frame::batch, 8));
  a.mov(batch_field(offsetof(ThreadBatch, state), 8), state_reg);
  if (!batches_.keeps_header) {
    const asmjit::Label continued = a.newLabel();
    a.cmp(batch_field(offsetof(ThreadBatch, groups), 8), 0);
    a.je(continued);
    write_header();
    a.bind(continued);
  }
  if (fences_when_left_) fence();
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

namespace {

constexpr std::uint32_t place_factor = 0x9e3779b1;  // 2^32 / golden ratio: neighbours spread

unsigned place_bits(const ir::Function& function) {
  return static_cast<unsigned>(std::bit_width(function.blocks.size())) + 1;
}

}  // namespace

/// Finds the block of an ip in a hash table with linear probing: goes to `found`, with its place in the table
/// in `at` and the table in `table`, or to `bad`.
void Compiler::find_place(x86::Gp ip, x86::Gp at, x86::Gp table, asmjit::Label found, asmjit::Label bad) {
  const unsigned bits = place_bits(function);
  const asmjit::Label probe = a.newLabel();
  a.imul(at.r32(), ip.r32(), asmjit::Imm(static_cast<std::int32_t>(place_factor)));
  a.shr(at.r32(), 32 - bits);
  a.lea(table.r64(), x86::ptr(places_));
  a.bind(probe);
  a.cmp(x86::ptr(table.r64(), at.r64(), 3, 4, 4), asmjit::Imm(static_cast<std::int32_t>(ir::no_block)));
  a.je(bad);
  a.cmp(x86::ptr(table.r64(), at.r64(), 3, 0, 4), ip.r32());
  a.je(found);
  a.inc(at.r32());
  a.and_(at.r32(), (1u << bits) - 1);
  a.jmp(probe);
}

void Compiler::dispatcher() {
  if (!dispatches_) return;
  const unsigned bits = place_bits(function);
  const std::uint32_t mask = (1u << bits) - 1;
  struct Place {
    std::uint32_t ip = 0;
    ir::BlockId block = ir::no_block;
  };
  std::vector<Place> places(std::size_t{mask} + 1);
  for (ir::BlockId b = 0; b < function.blocks.size(); ++b) {
    const std::uint32_t ip = function.blocks[b].guest_ip;
    if (ip % 2 != 0) continue;  // within an instruction
    std::uint32_t at = ip * place_factor >> (32 - bits);
    while (places[at].block != ir::no_block && places[at].ip != ip) at = (at + 1) & mask;
    if (places[at].block == ir::no_block) places[at] = {ip, b};  // of several at one ip the first counts
  }

  const asmjit::Label found = a.newLabel(), bad = a.newLabel();
  a.bind(dispatch_);
  find_place(x86::eax, x86::edx, x86::rsi, found, bad);
  a.bind(found);
  a.mov(x86::eax, x86::ptr(x86::rsi, x86::rdx, 3, 4, 4));
  a.test(budget_reg, budget_reg);
  a.jg(enter_);
  a.mov(state(offsetof(ThreadState, resume), 4), x86::eax);
  finish(Status::Paused);
  a.bind(bad);
  set_fault(FaultKind::BadJump, x86::ecx, x86::rax);
  finish(Status::Faulted);
  a.align(asmjit::AlignMode::kData, 4);
  a.bind(places_);
  for (const Place& place : places) {
    a.embedUInt32(place.ip);
    a.embedUInt32(place.block);
  }
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
      a.cmp(mask_reg, asmjit::Imm(static_cast<std::int32_t>(ir::lane_mask(function.simd))));
      a.je(all);
      a.add(x86::eax, static_cast<std::uint32_t>(count));
      a.bind(all);
    }
    a.lea(x86::rcx, x86::ptr(entry_table_));
    a.movsxd(x86::rax, x86::ptr(x86::rcx, x86::rax, 2, 0, 4));
    a.add(x86::rax, x86::rcx);
    a.jmp(x86::rax);
    // The caller's state says to resume at a block where no run can begin.
    a.bind(bad);
    a.xor_(x86::ecx, x86::ecx);
    set_fault(FaultKind::BadJump, x86::ecx, x86::rax);
    finish(Status::Faulted);
    table.assign(versions * count, bad);
    for (ir::BlockId target : resume_points_)
      for (std::size_t v = 0; v < versions; ++v) table[v * count + target] = memory_entry(target, v == 0);
  }
  for (ir::BlockId b = 0; b < function.blocks.size(); ++b)
    for (const bool full : {false, true}) {
      const Version& entered = version(b, full);
      if (!entered.from_memory.isValid()) continue;
      a.bind(entered.from_memory);
      regs.emit_entry(entered.entry, loop_scalars_.of(b));
      a.jmp(entered.label);
    }
  if (table.empty()) return;
  a.align(asmjit::AlignMode::kData, 4);
  a.bind(entry_table_);
  for (const asmjit::Label& entry : table) a.embedLabelDelta(entry, entry_table_, 4);
}

}  // namespace eum::jit::avx2

// Blocks, versions, calls and the frame; see compiler.hpp.
#include "jit/avx2/compiler.hpp"

#include <algorithm>
#include <cstddef>

#include "frontend/ir/semantics.hpp"
#include "jit/avx2/emit/emit.hpp"

namespace eum::jit {

namespace {

constexpr x86::Gp callee_saved[] = {x86::rbx, x86::rbp, x86::r12, x86::r13, x86::r14, x86::r15};

std::uint32_t full_mask(unsigned simd) { return simd >= 32 ? ~0u : (1u << simd) - 1; }

/// Calls a lane function on operands that lie packed in the frame.
void call_on_frame(ir::LaneFunction function, std::byte* operands, void* results, unsigned lanes) {
  const void* args[4];
  for (unsigned i = 0; i < 4; ++i) args[i] = operands + i * Frame::operand_bytes;
  function(results, args, lanes);
}

}  // namespace

Compiler::Compiler(const ir::Function& f, const Liveness& liveness, asmjit::CodeHolder& holder)
    : a(&holder),
      pool(a.newLabel()),
      function(f),
      layout(StateLayout::of(f)),
      r(a, pool, f, layout),
      liveness_(liveness),
      loops_(f, liveness),
      code_(f, liveness),
      versions_(2 * f.blocks.size()),
      epilogue_(a.newLabel()),
      enter_(a.newLabel()),
      dispatch_(a.newLabel()),
      entry_table_(a.newLabel()) {
  // A function of one channel that never changes its mask has just one version.
  partial_versions_ = f.simd > 1;
  for (ir::BlockId b = 0; b < f.blocks.size(); ++b) {
    version(b, true).label = a.newLabel();
    version(b, false).label = a.newLabel();
    const auto& insts = f.blocks[b].insts;
    for (const ir::Inst& inst : insts) partial_versions_ |= inst.op == ir::Op::mask_set && inst.imm == 0;
    for (ir::BlockId target : successors(insts.back()))
      if (target != ir::no_block && (target <= b || insts.back().op == ir::Op::wait))
        resume_points_.push_back(target);
    dispatches_ |= insts.back().op == ir::Op::jump_ip;
  }
  if (dispatches_)
    for (ir::BlockId b = 0; b < f.blocks.size(); ++b) resume_points_.push_back(b);
  std::sort(resume_points_.begin(), resume_points_.end());
  resume_points_.erase(std::unique(resume_points_.begin(), resume_points_.end()), resume_points_.end());
}

void Compiler::run(bool annotate) {
  annotate_ = annotate;
  prologue();
  for (bool full : {true, false}) {
    if (!full && !partial_versions_) break;
    full_ = full;
    for (ir::BlockId b = 0; b < function.blocks.size(); ++b) block(b, full);
  }
  for (std::size_t i = 0; i < cold_.size(); ++i) cold_[i]();
  dispatcher();
  entries();
  a.bind(epilogue_);
  a.vzeroupper();
  a.mov(x86::rsp, x86::ptr(x86::rsp, Frame::host_rsp, 8));
  for (std::size_t i = std::size(callee_saved); i-- > 0;) a.pop(callee_saved[i]);
  a.ret();
  pool.emit(a);
  // The size of the frame is known only now.
  auto frame = static_cast<std::uint32_t>((Frame::spills + r.spill_bytes() + 127) & ~63);
  std::memcpy(a.code()->textSection()->buffer().data() + frame_patch_, &frame, 4);
}

void Compiler::prologue() {
  for (const x86::Gp& reg : callee_saved) a.push(reg);
  a.mov(state_reg, x86::rdi);
  a.mov(x86::rax, x86::rsp);
  if (annotate_) a.comment("; the constant stands for the size of the frame, which is known at the end");
  a.sub(x86::rsp, 0x7fffff00);
  frame_patch_ = a.offset() - 4;
  a.and_(x86::rsp, -64);
  a.mov(x86::ptr(x86::rsp, Frame::host_rsp, 8), x86::rax);
  a.mov(surfaces_reg, state(offsetof(ThreadState, environment), 8));
  a.mov(surfaces_reg, x86::ptr(surfaces_reg, offsetof(Environment, surfaces), 8));
  if (!resume_points_.empty()) {
    a.mov(x86::eax, state(offsetof(ThreadState, resume), 4));
    a.test(x86::eax, x86::eax);
    a.jnz(enter_);
  }
  enter_from_home(0);
}

/// Finds the block of an ip by binary search.
void Compiler::dispatcher() {
  if (!dispatches_) return;
  asmjit::Label ips = a.newLabel(), ids = a.newLabel(), halve = a.newLabel(), found = a.newLabel(),
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
  leave(Status::Paused);
  a.bind(bad);
  fault(FaultKind::BadJump, x86::ecx, x86::rax);
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

/// Goes to the version of block eax that fits the execution mask in memory.
void Compiler::entries() {
  if (resume_points_.empty()) return home_entries();
  asmjit::Label bad = a.newLabel();
  a.bind(enter_);
  a.cmp(x86::eax, static_cast<std::uint32_t>(function.blocks.size()));
  a.jae(bad);
  if (partial_versions_) {
    asmjit::Label all = a.newLabel();
    a.cmp(mask_variable(0), asmjit::Imm(static_cast<std::int32_t>(full_mask(function.simd))));
    a.je(all);
    a.add(x86::eax, static_cast<std::uint32_t>(function.blocks.size()));
    a.bind(all);
  }
  a.lea(x86::rcx, x86::ptr(entry_table_));
  a.movsxd(x86::rax, x86::ptr(x86::rcx, x86::rax, 2, 0, 4));
  a.add(x86::rax, x86::rcx);
  a.jmp(x86::rax);
  // The caller's state says to resume where no run can.
  a.bind(bad);
  a.mov(x86::ecx, 0);
  fault(FaultKind::BadJump, x86::ecx, x86::rax);
  const std::size_t versions = partial_versions_ ? 2 : 1;
  std::vector<asmjit::Label> table(versions * function.blocks.size(), bad);
  for (ir::BlockId target : resume_points_)
    for (std::size_t v = 0; v < versions; ++v)
      table[v * function.blocks.size() + target] = home_entry(target, v == 0);
  home_entries();
  a.align(asmjit::AlignMode::kData, 4);
  a.bind(entry_table_);
  for (const asmjit::Label& entry : table) a.embedLabelDelta(entry, entry_table_, 4);
}

SlotSet Compiler::needed(ir::BlockId block, bool full) const {
  const LiveState& live = liveness_.live_in(block);
  return full ? live.active : live.active | live.inactive;
}

const SlotCache& Compiler::agree(ir::BlockId block, bool full) {
  Version& v = version(block, full);
  if (v.agreed) return v.cache;
  v.agreed = true;
  if (block == 0) return v.cache;
  // Enough registers stay free for what the block itself computes.
  constexpr std::size_t most = 10;
  const SlotSet live = needed(block, full);
  std::uint32_t taken = 0;
  SlotCache current = r.cached_slots();
  if (!loops_.heads_loop(block)) {
    for (const CachedSlot& cached : current) {
      if (!live[cached.slot] || taken >> cached.reg & 1 || v.cache.size() == most) continue;
      if (!cached.dirty && !loops_.reads(block, cached.slot)) continue;
      v.cache.push_back(cached);
      taken |= 1u << cached.reg;
    }
    return v.cache;
  }
  std::vector<std::uint16_t> wanted = loops_.wanted(block, most);
  for (int pass = 0; pass < 2;
       ++pass)  // those in a register stay where they are, the others take what is left
    for (std::uint16_t slot : wanted) {
      int reg = -1;
      for (const CachedSlot& cached : current)
        if (cached.slot == slot && !(taken >> cached.reg & 1)) reg = cached.reg;
      if ((pass == 0) != (reg >= 0)) continue;
      bool placed = false;
      for (const CachedSlot& cached : v.cache) placed |= cached.slot == slot;
      if (placed) continue;
      if (reg < 0) reg = __builtin_ctz(~taken);
      bool dirty = loops_.loop_writes(block, slot);
      for (const CachedSlot& cached : current) dirty |= cached.slot == slot && cached.dirty;
      v.cache.push_back({slot, static_cast<std::uint8_t>(reg), dirty});
      taken |= 1u << reg;
    }
  return v.cache;
}

/// Where to go with every slot at home.
asmjit::Label Compiler::home_entry(ir::BlockId block, bool full) {
  Version& v = version(block, full);
  if (v.agreed && v.cache.empty()) return v.label;
  if (!v.from_home.isValid()) v.from_home = a.newLabel();
  return v.from_home;
}

void Compiler::home_entries() {
  for (Version& v : versions_) {
    if (!v.from_home.isValid()) continue;
    a.bind(v.from_home);
    r.emit_load(v.cache);
    a.jmp(v.label);
  }
}

/// Goes to the version of `target` that fits the execution mask in memory; every slot is at home.
void Compiler::enter_from_home(ir::BlockId target) {
  if (partial_versions_) {
    a.cmp(mask_variable(0), asmjit::Imm(static_cast<std::int32_t>(full_mask(function.simd))));
    a.jne(home_entry(target, false));
  }
  a.jmp(home_entry(target, true));
}

void Compiler::block(ir::BlockId id, bool full) {
  current_ = id;
  code_.build(id, full);
  const SlotCache cache = version(id, full).cache;
  version(id, full).agreed = true;
  a.bind(version(id, full).label);
  if (annotate_)
    a.commentf("; b%u, %s channels on, guest 0x%x", id, full ? "all" : "some", function.blocks[id].guest_ip);
  r.begin_block(code_, cache);
  if (std::uint32_t count = function.blocks[id].guest_instructions; count > 0)
    a.sub(state(offsetof(ThreadState, budget), 8), count);
  auto insts = code_.insts();
  for (std::uint32_t i = 0; i < insts.size(); ++i) {
    const CodeInst& inst = insts[i];
    if (annotate_) this->annotate(inst);
    r.begin_inst(i);
    emit::table[static_cast<std::size_t>(inst.op)](*this, inst);
    r.end_inst(inst);
  }
}

void Compiler::annotate(const CodeInst& inst) {
  if (inst.guest_ip == annotated_ip_) return;
  annotated_ip_ = inst.guest_ip;
  a.commentf("; @0x%x", inst.guest_ip);
}

void Compiler::enter_same_version(ir::BlockId target) {
  r.emit_transition(agree(target, full_), needed(target, full_));
  if (!is_next(target, full_)) a.jmp(version(target, full_).label);
}

/// The execution mask has changed: mostly the version stays all the same, else the way leads through the
/// homes.
void Compiler::change_version(ir::BlockId target) {
  asmjit::Label other = a.newLabel();
  a.cmp(mask_variable(0), asmjit::Imm(static_cast<std::int32_t>(full_mask(function.simd))));
  if (full_) {
    a.jne(other);
  } else {
    a.je(other);
  }
  r.emit_transition(agree(target, full_), needed(target, full_));
  a.jmp(version(target, full_).label);
  a.bind(other);
  // Channels that are off here may be on there, and the other way round.
  r.emit_flush(needed(target, true) | needed(target, false));
  a.jmp(home_entry(target, !full_));
}

void Compiler::go_to(ir::BlockId target) {
  if (target <= current_) {
    asmjit::Label pause = a.newLabel();
    a.cmp(state(offsetof(ThreadState, budget), 8), 0);
    a.jle(pause);
    SlotCache dirty = r.cached_slots();
    std::erase_if(
        dirty, [&, live = needed(target, false)](const CachedSlot& c) { return !c.dirty || !live[c.slot]; });
    cold([this, pause, target, dirty = std::move(dirty)] {
      a.bind(pause);
      for (const CachedSlot& cached : dirty)
        a.vmovups(r.home(cached.slot * slot_size, 32), x86::ymm(cached.reg));
      a.mov(state(offsetof(ThreadState, resume), 4), target);
      leave(Status::Paused);
    });
  }
  if (code_.changes_mask()) return change_version(target);
  enter_same_version(target);
}

void Compiler::branch(x86::Gp bits, ir::BlockId taken, ir::BlockId fallthrough) {
  asmjit::Label none = a.newLabel();
  a.test(bits.r32(), bits.r32());
  a.jz(none);
  go_to(taken);
  // The other way begins here, so this one may not fall through.
  if (!code_.changes_mask() && is_next(taken, full_)) a.jmp(version(taken, full_).label);
  a.bind(none);
  go_to(fallthrough);
}

void Compiler::leave(Status status) {
  a.mov(x86::eax, static_cast<std::uint32_t>(status));
  a.jmp(epilogue_);
}

void Compiler::go_to_ip(x86::Gp ip, std::uint32_t guest_ip) {
  a.mov(x86::eax, ip.r32());
  a.mov(x86::ecx, guest_ip);
  a.jmp(dispatch_);
}

void Compiler::fault(FaultKind kind, const asmjit::Operand& guest_ip, x86::Gp address) {
  constexpr std::size_t base = offsetof(ThreadState, fault);
  a.mov(state(base + offsetof(Fault, kind), 4), static_cast<std::uint32_t>(kind));
  a.emit(x86::Inst::kIdMov, state(base + offsetof(Fault, guest_ip), 4), guest_ip);
  a.mov(state(base + offsetof(Fault, lane), 8), 0);  // and bytes
  a.mov(state(base + offsetof(Fault, address), 8), address);
  leave(Status::Faulted);
}

void Compiler::call(const CodeInst& inst, const void* target, const std::function<void()>& arguments,
                    const asmjit::Label* on_false) {
  call(r.in_use_after(inst), target, arguments, on_false);
}

void Compiler::call(const Registers::Saved& saved, const void* target, const std::function<void()>& arguments,
                    const asmjit::Label* on_false) {
  r.emit_save(saved);
  arguments();
  a.vzeroupper();
  a.mov(x86::rax, asmjit::Imm(reinterpret_cast<std::uint64_t>(target)));
  a.call(x86::rax);
  if (on_false) {
    a.test(x86::al, x86::al);
    a.jz(*on_false);
  }
  r.emit_restore(saved);
}

void Compiler::call_lane_function(const CodeInst& inst) {
  ir::LaneFunction lanes = ir::lane_function(inst.op, inst.type, inst.from);
  if (!lanes)
    throw EngineBug(fmt::format("no meaning for {}.{}", ir::op_name(inst.op), ir::info(inst.type).name));
  for (unsigned k = 0; k < inst.arg_count; ++k) {
    r.store_packed(inst.args[k], Frame::operands + static_cast<int>(k) * Frame::operand_bytes);
    r.unpin();
  }
  call(inst, reinterpret_cast<const void*>(&call_on_frame), [&] {
    a.mov(x86::rdi, asmjit::Imm(reinterpret_cast<std::uint64_t>(lanes)));
    a.lea(x86::rsi, x86::ptr(x86::rsp, Frame::operands));
    a.lea(x86::rdx, x86::ptr(x86::rsp, Frame::data));
    a.mov(x86::ecx, inst.lanes);
  });
  for (unsigned k = 0; k < inst.result_count; ++k)
    load_packed(inst.result + k, Frame::data + static_cast<int>(k * inst.lanes * ir::size_of(inst.type)));
}

void Compiler::load_packed(ir::ValueId value, int offset) {
  ir::Type type = type_of(value);
  if (ir::is_mask(type)) {
    a.mov(r.out_gp(value).r32(), x86::ptr(x86::rsp, offset, 4));
  } else if (r.is_scalar(value)) {
    x86::Gp reg = r.out_gp(value);
    x86::Mem from = x86::ptr(x86::rsp, offset, ir::size_of(type));
    if (ir::size_of(type) == 8) {
      a.mov(reg, from);
    } else if (ir::size_of(type) == 4) {
      a.mov(reg.r32(), from);
    } else if (ir::is_signed(type)) {
      a.movsx(reg.r32(), from);
    } else {
      a.movzx(reg.r32(), from);
    }
  } else {
    for (unsigned c = 0; c < r.chunks(value); ++c) {
      a.vmovups(r.out(value, c), x86::ptr(x86::rsp, offset + static_cast<int>(c) * 32, 32));
      r.unpin();
    }
  }
}

}  // namespace eum::jit

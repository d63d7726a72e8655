// The parts of memory emitters that loads, stores and atomics share; see memory.hpp.
#include "jit/avx2/emit/memory.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "memory/address_space.hpp"
#include "memory/surface.hpp"

namespace eum::jit::emit {

namespace I = x86::Inst;

namespace {

// The third parameter of jit/access.hpp's functions differs in constness; one thunk for each effect.
/// The next access of translated code may find its region at once.
void remember_region(ThreadState* state, const Access* site, const void* addresses, std::uint32_t mask) {
  const bool stateless = site->mem.space == ir::MemSpace::A64 || site->mem.space == ir::MemSpace::A32;
  if (!stateless || mask == 0 || !state->environment->space) return;
  const auto lane = static_cast<std::size_t>(__builtin_ctz(mask));
  const std::uint64_t address = site->address_type == ir::Type::u64
                                    ? static_cast<const std::uint64_t*>(addresses)[lane]
                                    : static_cast<const std::uint32_t*>(addresses)[lane];
  const mem::Region* region = state->environment->space->find(address);
  if (!region || !region->host || region->access != mem::Access::ReadWrite) return;
  state->region_start = region->address;
  state->region_size = region->size;
  state->region_host = region->host;
}

template <auto access>
bool thunk(ThreadState* state, const Access* site, void* addresses, void* data, std::uint32_t mask) {
  remember_region(state, site, addresses, mask);
  return access(*state->environment, *site, addresses, data, mask, state->fault);
}

template <auto access>
bool block_thunk(ThreadState* state, const Access* site, void* address, void* data, std::uint32_t) {
  remember_region(state, site, address, 1);
  return access(*state->environment, *site, address, data, state->fault);
}

}  // namespace

const void* load_thunk() { return reinterpret_cast<const void*>(&thunk<load>); }
const void* store_thunk() { return reinterpret_cast<const void*>(&thunk<store>); }
const void* atomic_thunk() { return reinterpret_cast<const void*>(&thunk<atomic>); }
const void* block_load_thunk() { return reinterpret_cast<const void*>(&block_thunk<block_load>); }
const void* block_store_thunk() { return reinterpret_cast<const void*>(&block_thunk<block_store>); }

MemorySite::MemorySite(Compiler& c, const CodeInst& inst) : c_(c), inst_(inst) {}

void MemorySite::fetch_mask_bits() {
  if (inst_.mask == ir::no_value) return;
  c_.r.mask_bits(inst_.mask);
  c_.r.unpin();
}

void MemorySite::acquire() {
  for (unsigned chunk = 0; chunk < c_.r.chunks(inst_.args[0]); ++chunk) c_.r.in(inst_.args[0], chunk);
  if (inst_.mask != ir::no_value) {
    c_.r.mask_bits(inst_.mask);
    for (unsigned chunk = 0; chunk * 8 < inst_.lanes; ++chunk)
      reg.mask[chunk] = c_.r.mask_vector(inst_.mask, 4, chunk);
  }
  reg.t = c_.r.temp();
  reg.u = c_.r.temp();
  reg.v = c_.r.temp();
  for (x86::Gp* gp : {&reg.limit, &reg.base, &reg.first, &reg.bits, &reg.lane, &reg.address, &reg.value})
    *gp = c_.r.temp_gp();
}

void MemorySite::acquire_scalar() {
  const x86::Gp address = c_.r.in_gp(inst_.args[0]);
  for (x86::Gp* gp : {&reg.limit, &reg.base, &reg.first}) *gp = c_.r.temp_gp();
  if (wide()) {
    c_.a.mov(reg.first, address);
  } else {
    c_.a.mov(reg.first.r32(), address.r32());
  }
}

bool MemorySite::in_vectors() const { return (inst_.lanes == 8 || inst_.lanes == 16) && element() <= 4; }

namespace {

/// The first `bytes`, a multiple of 4 below 32, of a chunk as lanes for vpmaskmovd.
ConstantPool::Entry first_dwords(unsigned bytes) {
  ConstantPool::Entry mask{};
  std::fill_n(mask.begin(), bytes, std::uint8_t{0xff});
  return mask;
}

}  // namespace

void MemorySite::load_chunk(x86::Ymm to, const CheckedAddress& from, unsigned offset, unsigned bytes) {
  auto& a = c_.a;
  switch (bytes) {
    case 32:
      return (void)a.vmovups(to, from.at(offset, 32));
    case 16:
      return (void)a.vmovups(to.xmm(), from.at(offset, 16));
    case 8:
      return (void)a.vmovq(to.xmm(), from.at(offset, 8));
    case 4:
      return (void)a.vmovd(to.xmm(), from.at(offset, 4));
    default:
      a.vmovups(to, c_.pool.add(first_dwords(bytes)));
      x86::Mem memory = from.at(offset, bytes);
      memory.setSize(32);
      a.vpmaskmovd(to, to, memory);
  }
}

void MemorySite::store_chunk(const CheckedAddress& to, unsigned offset, x86::Ymm from, unsigned bytes) {
  auto& a = c_.a;
  switch (bytes) {
    case 32:
      return (void)a.vmovups(to.at(offset, 32), from);
    case 16:
      return (void)a.vmovups(to.at(offset, 16), from.xmm());
    case 8:
      return (void)a.vmovq(to.at(offset, 8), from.xmm());
    case 4:
      return (void)a.vmovd(to.at(offset, 4), from.xmm());
    default:
      a.vmovups(reg.t, c_.pool.add(first_dwords(bytes)));
      x86::Mem memory = to.at(offset, bytes);
      memory.setSize(32);
      a.vpmaskmovd(memory, reg.t, from);
  }
}

unsigned MemorySite::component_offset(unsigned k) const {
  unsigned set = inst_.mem.components;
  for (; k > 0; --k) set &= set - 1;
  return static_cast<unsigned>(__builtin_ctz(set)) * element();
}

unsigned MemorySite::extent() const { return component_offset(components() - 1) + element(); }

void MemorySite::check_consecutive(asmjit::Label otherwise) {
  auto& a = c_.a;
  const auto [t, u, all] = std::tuple(reg.t, reg.u, reg.v);
  const x86::Gp first = reg.first, bits = reg.bits.r32();
  const bool wide = this->wide();
  const unsigned per_chunk = wide ? 4 : 8, chunks = (inst_.lanes + per_chunk - 1) / per_chunk;
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    x86::Ymm address = c_.r.in(inst_.args[0], chunk);
    if (chunk == 0) {
      if (wide) {
        a.vmovq(first, address.xmm());
        a.vpbroadcastq(t, address.xmm());
      } else {
        a.vmovd(first.r32(), address.xmm());
        a.vpbroadcastd(t, address.xmm());
      }
    }
    ConstantPool::Entry distance{};
    for (std::uint64_t i = 0; i < per_chunk; ++i) {
      std::uint64_t bytes = (chunk * per_chunk + i) * element();
      std::memcpy(distance.data() + i * (32 / per_chunk), &bytes, 32 / per_chunk);
    }
    x86::Ymm to = chunk == 0 ? all : u;
    if (wide) {
      a.vpaddq(to, t, c_.pool.add(distance));
      a.vpcmpeqq(to, to, address);
    } else {
      a.vpaddd(to, t, c_.pool.add(distance));
      a.vpcmpeqd(to, to, address);
    }
    if (chunk > 0) a.vpand(all, all, u);
  }
  if (wide) {
    a.vmovmskpd(bits, all);
  } else {
    a.vmovmskps(bits, all);
  }
  const unsigned lanes = std::min<unsigned>(inst_.lanes, per_chunk);
  if (lanes < per_chunk) a.and_(bits, (1u << lanes) - 1);
  a.cmp(bits, (1u << lanes) - 1);
  a.jne(otherwise);
}

int CheckedAddress::displacement(unsigned offset, unsigned bytes) const {
  if (offset + bytes > extent_) throw EngineBug("an access goes beyond what was checked");
  return static_cast<int>(offset);
}

x86::Mem CheckedAddress::at(unsigned offset, unsigned bytes) const {
  if (!index_.isValid()) throw EngineBug("a run was not checked");
  return x86::ptr(base_, index_, 0, displacement(offset, bytes), bytes);
}

x86::Mem CheckedAddress::lane(x86::Gp address, unsigned offset, unsigned bytes) const {
  return x86::ptr(base_, address, 0, displacement(offset, bytes), bytes);
}

x86::Mem CheckedAddress::gather(x86::Ymm addresses, unsigned offset, unsigned bytes) const {
  return x86::ptr(base_, addresses, 0, displacement(offset, bytes), bytes);
}

/// Where the memory of the space begins on the host and how many bytes it has. For addresses of the address
/// space: the region of the last access, whose GPU address reg.first becomes relative to.
void MemorySite::load_window(x86::Gp base, x86::Gp size) {
  auto& a = c_.a;
  switch (inst_.mem.space) {
    case ir::MemSpace::Surface: {
      const int entry = inst_.mem.surface * static_cast<int>(sizeof(mem::Surface));
      a.mov(base, x86::ptr(surfaces_reg, entry + static_cast<int>(offsetof(mem::Surface, base)), 8));
      a.mov(size, x86::ptr(surfaces_reg, entry + static_cast<int>(offsetof(mem::Surface, size)), 8));
      return;
    }
    case ir::MemSpace::Scratch:
      a.mov(base, c_.state(offsetof(ThreadState, environment), 8));
      a.mov(size, x86::ptr(base, offsetof(Environment, scratch_bytes), 8));
      a.mov(base, x86::ptr(base, offsetof(Environment, scratch), 8));
      return;
    case ir::MemSpace::A64:
    case ir::MemSpace::A32:
      a.mov(base, c_.state(offsetof(ThreadState, region_host), 8));
      a.mov(size, c_.state(offsetof(ThreadState, region_size), 8));
      return;
  }
}

CheckedAddress MemorySite::check(const Addresses& addresses, unsigned extent, asmjit::Label otherwise) {
  auto& a = c_.a;
  load_window(reg.base, reg.limit);
  a.sub(reg.limit, extent);  // the last address in bounds
  if (addresses.kind == Addresses::Kind::Run) {
    a.jb(otherwise);
    x86::Gp index = addresses.first;
    if (stateless()) {
      if (index != reg.first) a.mov(reg.first, index);
      index = reg.first;
      a.sub(index, c_.state(offsetof(ThreadState, region_start), 8));
    }
    a.cmp(index, reg.limit);
    a.ja(otherwise);
    return {reg.base, index, extent};
  }
  if (stateless()) throw EngineBug("lanes of the address space are not checked in line");
  // One unsigned comparison catches a space that is too small (below zero) and one that is too large for the
  // signed 32-bit indices of a gather.
  a.cmp(reg.limit, 0x7ffffff0 - static_cast<int>(extent));
  a.ja(otherwise);
  const auto [t, u] = std::tuple(reg.t, reg.u);
  const x86::Gp outcome = reg.first;
  a.vmovd(t.xmm(), reg.limit.r32());
  a.vpbroadcastd(t, t.xmm());
  for (unsigned chunk = 0; chunk < (inst_.lanes + 7u) / 8; ++chunk) {
    x86::Ymm address = c_.r.in(inst_.args[0], chunk);
    a.vpminud(u, t, address);
    a.vpcmpeqd(u, u, address);
    if (inst_.mask != ir::no_value) {
      // A lane outside the mask counts as in bounds.
      a.vpandn(u, u, reg.mask[chunk]);
      a.vmovmskps(outcome.r32(), u);
      a.xor_(outcome.r32(), 0xff);
    } else {
      a.vmovmskps(outcome.r32(), u);
    }
    const unsigned lanes = std::min(8u, inst_.lanes - chunk * 8);
    if (lanes < 8) a.and_(outcome.r32(), (1u << lanes) - 1);
    a.cmp(outcome.r32(), (1u << lanes) - 1);
    a.jne(otherwise);
  }
  return {reg.base, {}, extent};
}

void MemorySite::load_lane_bits() {
  if (inst_.mask != ir::no_value) {
    c_.a.mov(reg.bits.r32(), c_.r.mask_bits(inst_.mask).r32());
  } else {
    c_.a.mov(reg.bits.r32(), inst_.lanes >= 32 ? ~0u : (1u << inst_.lanes) - 1);
  }
}

namespace {

/// The constant that describes the site to jit/access.hpp.
x86::Mem site_constant(Compiler& c, const CodeInst& inst) {
  const Access access = Access::of(inst);
  static_assert(sizeof(Access) <= sizeof(ConstantPool::Entry));
  ConstantPool::Entry entry{};
  std::memcpy(entry.data(), &access, sizeof access);
  return c.pool.add(entry);
}

constexpr int mask_slot = Frame::operands + 2 * Frame::operand_bytes;

void set_arguments(Compiler& c, const x86::Mem& site) {
  c.a.mov(x86::rdi, state_reg);
  c.a.lea(x86::rsi, site);
  c.a.lea(x86::rdx, x86::ptr(x86::rsp, Frame::operands));
  c.a.lea(x86::rcx, x86::ptr(x86::rsp, Frame::data));
  c.a.mov(x86::r8d, x86::ptr(x86::rsp, mask_slot, 4));
}

}  // namespace

void MemorySite::call_out_of_line(asmjit::Label entry, asmjit::Label done, const void* function,
                                  std::function<void()> before, std::function<void()> after) {
  // What lies in registers now is what must survive; the code is emitted when all this has changed.
  Registers::Saved saved = c_.r.in_use();
  asmjit::Operand mask =
      inst_.mask != ir::no_value ? asmjit::Operand(c_.r.mask_bits(inst_.mask)) : asmjit::Operand();
  x86::Mem site = site_constant(c_, inst_);
  Compiler& c = c_;
  const unsigned lanes = inst_.lanes;
  c_.cold([&c, entry, done, function, before = std::move(before), after = std::move(after), saved, mask, site,
           lanes] {
    c.a.bind(entry);
    before();
    if (mask.isReg()) {
      c.a.mov(x86::ptr(x86::rsp, mask_slot, 4), mask.as<x86::Gp>().r32());
    } else {
      c.a.mov(x86::ptr(x86::rsp, mask_slot, 4), lanes >= 32 ? -1 : static_cast<int>((1u << lanes) - 1));
    }
    asmjit::Label failed = c.a.newLabel();
    c.call(
        saved, function, [&] { set_arguments(c, site); }, &failed);
    after();
    c.a.jmp(done);
    c.a.bind(failed);
    c.leave(Status::Faulted);
  });
}

void MemorySite::call_inline(const void* function) {
  c_.r.store_packed(inst_.args[0], Frame::operands);
  c_.r.unpin();
  for (unsigned k = 1; k < inst_.arg_count; ++k) {
    store_operand(inst_.args[k], Frame::data + static_cast<int>((k - 1) * bytes()));
    c_.r.unpin();
  }
  if (inst_.mask != ir::no_value) {
    c_.a.mov(x86::ptr(x86::rsp, mask_slot, 4), c_.r.mask_bits(inst_.mask).r32());
  } else {
    c_.a.mov(x86::ptr(x86::rsp, mask_slot, 4),
             inst_.lanes >= 32 ? -1 : static_cast<int>((1u << inst_.lanes) - 1));
  }
  x86::Mem site = site_constant(c_, inst_);
  asmjit::Label failed = c_.a.newLabel();
  c_.call(
      inst_, function, [&] { set_arguments(c_, site); }, &failed);
  c_.cold([&c = c_, failed] {
    c.a.bind(failed);
    c.leave(Status::Faulted);
  });
  for (unsigned k = 0; k < inst_.result_count; ++k)
    c_.load_packed(inst_.result + k, Frame::data + static_cast<int>(k * bytes()));
}

void MemorySite::store_operand(ir::ValueId value, int offset) {
  if (c_.r.is_scalar(value)) {
    c_.a.mov(x86::ptr(x86::rsp, offset, 8), c_.r.in_gp(value));
    return;
  }
  for (unsigned chunk = 0; chunk < c_.r.chunks(value); ++chunk)
    c_.a.vmovups(x86::ptr(x86::rsp, offset + static_cast<int>(chunk) * 32, 32), c_.r.in(value, chunk));
}

}  // namespace eum::jit::emit

// The parts of memory emitters that loads, stores and atomics share; see memory.hpp.
#include "jit/avx2/emit/memory.hpp"

#include <algorithm>
#include <tuple>

#include "jit/codegen/bug.hpp"
#include "memory/address_space.hpp"
#include "memory/surface.hpp"

namespace eum::jit::avx2::emit {

namespace {

/// The next access of translated code may find its region at once.
void remember_region(ThreadState* state, const Access& site, const AccessOperands& operands) {
  if (!ir::info(site.mem.space).in_space || operands.mask == 0 || !state->environment->space) return;
  const auto lane = static_cast<std::size_t>(__builtin_ctz(operands.mask));
  const std::uint64_t address = site.address_type() == ir::Type::u64
                                    ? static_cast<const std::uint64_t*>(operands.addresses)[lane]
                                    : static_cast<const std::uint32_t*>(operands.addresses)[lane];
  const mem::Region* region = state->environment->space->find(address);
  if (!region || !region->host || region->access != mem::Access::ReadWrite) return;
  state->region_start = region->address;
  state->region_size = region->size;
  state->region_host = region->host;
}

/// Does the access of a site whose operands lie in the frame. False: a fault is in the state.
bool do_access(ThreadState* state, const CodeData* data, std::byte* frame) {
  const auto word = [&](int offset) {
    std::uint32_t value;
    std::memcpy(&value, frame + offset, sizeof value);
    return value;
  };
  const CodeData::CallSite& site = data->call_sites[word(Frame::site)];
  const AccessOperands operands{word(Frame::surface), frame + Frame::operands, word(Frame::mask)};
  remember_region(state, site.access, operands);
  return site.function(*state->environment, site.access, operands, frame + Frame::data, state->fault);
}

}  // namespace

// ---- Checked addresses

int CheckedAddress::displacement(unsigned offset, unsigned bytes) const {
  if (offset + bytes > extent_) throw codegen::EngineBug("an access goes beyond what was checked");
  return static_cast<int>(offset);
}

x86::Mem CheckedAddress::at(unsigned offset, unsigned bytes) const {
  if (!index_.isValid()) throw codegen::EngineBug("a run was not checked");
  return x86::ptr(base_, index_, 0, displacement(offset, bytes), bytes);
}

x86::Mem CheckedAddress::lane(x86::Gp address, unsigned offset, unsigned bytes) const {
  return x86::ptr(base_, address, 0, displacement(offset, bytes), bytes);
}

x86::Mem CheckedAddress::gather(x86::Ymm addresses, unsigned offset, unsigned bytes) const {
  return x86::ptr(base_, addresses, 0, displacement(offset, bytes), bytes);
}

// ---- Sites

MemorySite::MemorySite(Compiler& c, const CodeInst& inst)
    : c_(c), inst_(inst), access_(c.access(inst)), first_arg_(access_.surface_is_operand ? 1 : 0) {}

void MemorySite::fetch_mask_bits() {
  if (!masked()) return;
  c_.m.bits(inst_.mask);
  c_.regs.unpin();
}

void MemorySite::acquire() {
  for (unsigned chunk = 0; chunk < c_.v.chunks(addresses()); ++chunk) c_.v.use(addresses(), chunk);
  if (masked()) {
    c_.m.bits(inst_.mask);
    for (unsigned chunk = 0; chunk * 8 < inst_.lanes; ++chunk)
      reg.mask[chunk] = c_.m.lanes(inst_.mask, 4, chunk);
  }
  if (access_.surface_is_operand) c_.g.use(inst_.args[0]);
  reg.t = c_.v.scratch();
  reg.u = c_.v.scratch();
  reg.v = c_.v.scratch();
  for (x86::Gp* gp : {&reg.limit, &reg.base, &reg.first, &reg.bits, &reg.lane, &reg.address, &reg.value})
    *gp = c_.g.scratch();
}

void MemorySite::acquire_scalar() {
  const x86::Gp address = c_.g.use(addresses());
  if (access_.surface_is_operand) c_.g.use(inst_.args[0]);
  for (x86::Gp* gp : {&reg.limit, &reg.base, &reg.first}) *gp = c_.g.scratch();
  if (wide()) {
    c_.a.mov(reg.first, address);
  } else {
    c_.a.mov(reg.first.r32(), address.r32());
  }
}

bool MemorySite::in_vectors() const {
  return (inst_.lanes == 8 || inst_.lanes == 16) && element() <= 4 && offset_fits();
}

/// reg.base = where the memory of the space begins on the host, reg.limit = how many bytes it has there. For
/// the address space: the region of the last access.
void MemorySite::load_window(asmjit::Label otherwise) {
  auto& a = c_.a;
  const auto surface = [&](const x86::Gp& table, int entry, std::size_t offset) {
    return x86::ptr(table, entry + static_cast<int>(offset), 8);
  };
  switch (access_.space) {
    case ir::MemSpace::Surface: {
      x86::Gp table = surfaces_reg;
      int entry = access_.surface * static_cast<int>(sizeof(mem::Surface));
      if (access_.surface_is_operand) {
        const x86::Gp index = c_.g.use(inst_.args[0]);
        a.cmp(index.r32(), static_cast<int>(mem::binding_table_size));
        a.jae(otherwise);
        a.imul(reg.base.r32(), index.r32(), static_cast<int>(sizeof(mem::Surface)));
        a.add(reg.base, surfaces_reg);
        table = reg.base;
        entry = 0;
      }
      a.mov(reg.limit, surface(table, entry, offsetof(mem::Surface, direct)));
      a.mov(reg.base, surface(table, entry, offsetof(mem::Surface, base)));
      return;
    }
    case ir::MemSpace::Slm:
      a.mov(reg.base, x86::ptr(x86::rsp, Frame::slm, 8));
      a.mov(reg.limit, x86::ptr(x86::rsp, Frame::slm_bytes, 8));
      return;
    case ir::MemSpace::Scratch:
      a.mov(reg.base, x86::ptr(x86::rsp, Frame::scratch, 8));
      a.mov(reg.limit, x86::ptr(x86::rsp, Frame::scratch_bytes, 8));
      return;
    case ir::MemSpace::A64:
    case ir::MemSpace::A32:
      a.mov(reg.base, c_.state(offsetof(ThreadState, region_host), 8));
      a.mov(reg.limit, c_.state(offsetof(ThreadState, region_size), 8));
      return;
  }
}

CheckedAddress MemorySite::check(const Addresses& addresses, unsigned extent, asmjit::Label otherwise) {
  auto& a = c_.a;
  load_window(otherwise);
  a.sub(reg.limit, extent);  // the last address in bounds
  if (addresses.kind == Addresses::Kind::Run) {
    a.jb(otherwise);
    x86::Gp index = addresses.first;
    if (in_space()) {
      if (index != reg.first) a.mov(reg.first, index);
      index = reg.first;
      a.sub(index, c_.state(offsetof(ThreadState, region_start), 8));
    }
    a.cmp(index, reg.limit);
    a.ja(otherwise);
    return {reg.base, index, extent};
  }
  if (in_space()) throw codegen::EngineBug("lanes of the address space are not checked in line");
  // One unsigned comparison catches a space that is too small (below zero) and one that is too large for the
  // signed 32-bit indices of a gather.
  a.cmp(reg.limit, 0x7ffffff0 - static_cast<int>(extent));
  a.ja(otherwise);
  const auto [t, u] = std::tuple(reg.t, reg.u);
  const x86::Gp outcome = reg.first;
  a.vmovd(t.xmm(), reg.limit.r32());
  a.vpbroadcastd(t, t.xmm());
  for (unsigned chunk = 0; chunk < (inst_.lanes + 7u) / 8; ++chunk) {
    x86::Ymm address = c_.v.use(this->addresses(), chunk);
    a.vpminud(u, t, address);
    a.vpcmpeqd(u, u, address);
    if (masked()) {
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

void MemorySite::check_consecutive(asmjit::Label otherwise) {
  auto& a = c_.a;
  const auto [t, u, all] = std::tuple(reg.t, reg.u, reg.v);
  const x86::Gp first = reg.first, bits = reg.bits.r32();
  const unsigned per_chunk = wide() ? 4 : 8, chunks = (inst_.lanes + per_chunk - 1) / per_chunk;
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    x86::Ymm address = c_.v.use(addresses(), chunk);
    if (chunk == 0) {
      if (wide()) {
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
    if (wide()) {
      a.vpaddq(to, t, c_.constant(distance));
      a.vpcmpeqq(to, to, address);
    } else {
      a.vpaddd(to, t, c_.constant(distance));
      a.vpcmpeqd(to, to, address);
    }
    if (chunk > 0) a.vpand(all, all, u);
  }
  if (wide()) {
    a.vmovmskpd(bits, all);
  } else {
    a.vmovmskps(bits, all);
  }
  const unsigned lanes = std::min<unsigned>(inst_.lanes, per_chunk);
  if (lanes < per_chunk) a.and_(bits, (1u << lanes) - 1);
  a.cmp(bits, (1u << lanes) - 1);
  a.jne(otherwise);
}

// ---- Moves

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
      a.vmovups(to, c_.constant(first_dwords(bytes)));
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
      a.vmovups(reg.t, c_.constant(first_dwords(bytes)));
      x86::Mem memory = to.at(offset, bytes);
      memory.setSize(32);
      a.vpmaskmovd(memory, reg.t, from);
  }
}

void MemorySite::load_lane_bits() {
  if (masked()) {
    c_.a.mov(reg.bits.r32(), c_.m.bits(inst_.mask).r32());
  } else {
    c_.a.mov(reg.bits.r32(), ir::lane_mask(inst_.lanes));
  }
}

// ---- Calls

/// A call of a function of jit/access.hpp; it outlives the instruction, whose place others take.
class MemorySite::Call {
 public:
  Call(Compiler& c, const MemorySite& site, AccessFunction function)
      : c_(c), lanes_(site.inst_.lanes), surface_index_(site.access_.surface) {
    number_ = static_cast<std::uint32_t>(c.data.call_sites.size());
    c.data.call_sites.push_back({Access::of(c.function, site.inst_), function});
    if (site.masked()) mask_ = c.m.bits(site.inst_.mask);
    if (site.access_.surface_is_operand) surface_ = c.g.use(site.inst_.args[0]);
  }
  std::uint32_t number() const { return number_; }
  /// To the frame: what is no address and no data.
  void store_operands() const {
    const auto store = [&](int offset, const x86::Gp& reg, std::uint32_t otherwise) {
      const x86::Mem to = x86::ptr(x86::rsp, offset, 4);
      if (reg.isValid()) {
        c_.a.mov(to, reg.r32());
      } else {
        c_.a.mov(to, asmjit::Imm(static_cast<std::int32_t>(otherwise)));
      }
    };
    store(Frame::mask, mask_, ir::lane_mask(lanes_));
    store(Frame::surface, surface_, surface_index_);
  }

 private:
  Compiler& c_;
  unsigned lanes_;
  std::uint32_t surface_index_, number_;
  x86::Gp mask_, surface_;
};

void MemorySite::call_out_of_line(asmjit::Label entry, asmjit::Label done, AccessFunction function,
                                  std::function<void()> before, std::function<void()> after) {
  const Call call(c_, *this, function);
  c_.out_of_line([&c = c_, entry, done, call, before = std::move(before), after = std::move(after)] {
    c.a.bind(entry);
    before();
    call.store_operands();
    c.call_site_out_of_line(call.number());
    after();
    c.a.jmp(done);
  });
}

void MemorySite::call_inline(AccessFunction function) {
  c_.store_packed(addresses(), Frame::operands);
  c_.regs.unpin();
  for (unsigned k = 0; k < data_count(); ++k) {
    c_.store_packed(data(k), Frame::data + static_cast<int>(k * bytes()));
    c_.regs.unpin();
  }
  const Call call(c_, *this, function);
  call.store_operands();
  c_.regs.unpin();
  c_.call_site(call.number(), inst_);
  for (unsigned k = 0; k < inst_.result_count; ++k)
    c_.load_packed(inst_.result + k, Frame::data + static_cast<int>(k * bytes()));
}

}  // namespace eum::jit::avx2::emit

namespace eum::jit::avx2 {

const void* access_function() { return reinterpret_cast<const void*>(&emit::do_access); }

}  // namespace eum::jit::avx2

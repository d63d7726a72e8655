// Stores, atomics and block stores.
#include "jit/avx2/emit/memory.hpp"
#include "jit/avx2/emit/scalar.hpp"

namespace eum::jit::emit {

namespace {

class StoreSite : public MemorySite {
 public:
  StoreSite(Compiler& c, const CodeInst& inst) : MemorySite(c, inst), c_(c) {
    fetch_mask_bits();
    for (unsigned chunk = 0; chunk < c.r.chunks(inst.args[0]); ++chunk)
      addresses_.push_back(c.r.in(inst.args[0], chunk));
    for (unsigned k = 0; k < components(); ++k)
      for (unsigned chunk = 0; chunk < c.r.chunks(inst.args[1 + k]); ++chunk)
        data_.push_back(c.r.in(inst.args[1 + k], chunk));
    acquire();
  }

  /// Addresses and data to the frame, for the loop and for the call.
  std::function<void()> spill() const {
    Compiler* c = &c_;
    const auto chunks = static_cast<unsigned>(data_.size()) / components();
    return [c, addresses = addresses_, data = data_, chunks, size = bytes()] {
      for (std::size_t i = 0; i < addresses.size(); ++i)
        c->a.vmovaps(x86::ptr(x86::rsp, Frame::operands + static_cast<int>(i) * 32, 32), addresses[i]);
      // In order, as a chunk may reach beyond the lanes of its component into the next one.
      for (std::size_t i = 0; i < data.size(); ++i)
        c->a.vmovups(
            x86::ptr(x86::rsp, Frame::data + static_cast<int>(i / chunks * size + i % chunks * 32), 32),
            data[i]);
    };
  }

  void store_block(const x86::Mem& host) {
    for (unsigned chunk = 0; chunk < data_.size(); ++chunk) {
      x86::Mem to = host;
      to.addOffset(chunk * 32);
      unsigned left = bytes() - chunk * 32;
      if (left >= 32) {
        to.setSize(32);
        c_.a.vmovups(to, data_[chunk]);
      } else if (left == 16) {
        to.setSize(16);
        c_.a.vmovups(to, data_[chunk].xmm());
      } else {
        to.setSize(8);
        c_.a.vmovq(to, data_[chunk].xmm());
      }
    }
  }

  /// Lanes in bounds, one after the other: of lanes with one address the last one stays, as on the hardware.
  void store_lanes() {
    auto& a = c_.a;
    load_lane_bits();
    spill()();
    const x86::Gp base = reg.base, bits = reg.bits.r32(), lane = reg.lane, address = reg.address,
                  value = reg.value;
    asmjit::Label next = a.newLabel(), end = a.newLabel();
    a.test(bits, bits);
    a.jz(end);
    a.bind(next);
    a.tzcnt(lane.r32(), bits);
    a.blsr(bits, bits);
    a.mov(address.r32(), x86::ptr(x86::rsp, lane, 2, Frame::operands, 4));
    for (unsigned k = 0; k < components(); ++k) {
      a.mov(low_part(value, element()),
            x86::ptr(x86::rsp, lane, static_cast<unsigned>(__builtin_ctz(element())),
                     Frame::data + static_cast<int>(k * bytes()), element()));
      a.mov(x86::ptr(base, address, 0, static_cast<int>(component_offset(k)), element()),
            low_part(value, element()));
    }
    a.test(bits, bits);
    a.jnz(next);
    a.bind(end);
  }

  void slow(asmjit::Label entry, asmjit::Label done) {
    call_apart(entry, done, store_thunk(), spill(), [] {});
  }

 private:
  Compiler& c_;
  std::vector<x86::Ymm> addresses_, data_;
};

void store_surface(Compiler& c, const CodeInst& inst) {
  auto& a = c.a;
  StoreSite site(c, inst);
  asmjit::Label spread = a.newLabel(), slow = a.newLabel(), done = a.newLabel();
  site.load_limit(slow);
  a.mov(site.reg.base, site.surface_base());
  if (inst.mask == ir::no_value && site.components() == 1) {
    site.check_consecutive(spread);
    a.lea(site.reg.lane, x86::ptr(site.reg.limit, -static_cast<int>(site.bytes() - site.element())));
    a.cmp(site.reg.first, site.reg.lane);
    a.jg(slow);
    site.store_block(x86::ptr(site.reg.base, site.reg.first, 0, static_cast<int>(site.component_offset(0))));
    a.jmp(done);
  }
  a.bind(spread);
  site.check_bounds(slow);
  site.store_lanes();
  site.slow(slow, done);
  a.bind(done);
}

void store_a64(Compiler& c, const CodeInst& inst) {
  StoreSite site(c, inst);
  asmjit::Label slow = c.a.newLabel(), done = c.a.newLabel();
  site.check_consecutive(slow);
  site.translate_a64(site.bytes(), slow);
  site.store_block(x86::ptr(site.reg.first, static_cast<int>(site.component_offset(0))));
  site.slow(slow, done);
  c.a.bind(done);
}

/// One lane of a surface, through general registers.
void store_one(Compiler& c, const CodeInst& inst) {
  auto& a = c.a;
  MemorySite site(c, inst);
  x86::Gp address = c.r.in_gp(inst.args[0]), value = c.r.in_gp(inst.args[1]);
  x86::Gp limit = c.r.temp_gp(), index = c.r.temp_gp();
  asmjit::Label done = a.newLabel();
  if (inst.mask != ir::no_value) {
    a.test(c.r.mask_bits(inst.mask).r8(), 1);
    a.jz(done);
  }
  a.mov(limit, site.surface_size());
  a.sub(limit, site.element());
  a.jb(done);
  a.mov(index.r32(), address.r32());
  if (unsigned offset = site.component_offset(0)) a.add(index, offset);
  a.cmp(index, limit);
  a.ja(done);
  a.add(index, site.surface_base());
  a.mov(x86::ptr(index, 0, site.element()), low_part(value, site.element()));
  a.bind(done);
}

}  // namespace

void emit_store(Compiler& c, const CodeInst& inst) {
  MemorySite site(c, inst);
  if (c.r.is_scalar(inst.args[1]) && site.surface() && inst.arg_count == 2) return store_one(c, inst);
  const bool vector = inst.lanes == 8 || inst.lanes == 16;
  if (site.surface() && vector && site.element() <= 4) {
    const unsigned chunks = inst.lanes / 8;
    if ((site.components() + 1 + (inst.mask != ir::no_value ? 1 : 0)) * chunks + 3 <= 15)
      return store_surface(c, inst);
  }
  if (inst.mem.space == ir::MemSpace::A64 && inst.lanes == 8 && inst.arg_count == 2 &&
      inst.mask == ir::no_value)
    return store_a64(c, inst);
  site.call_here(store_thunk());
}

void emit_block_store(Compiler& c, const CodeInst& inst) {
  MemorySite(c, inst).call_here(block_store_thunk());
}

void emit_atomic(Compiler& c, const CodeInst& inst) { MemorySite(c, inst).call_here(atomic_thunk()); }

}  // namespace eum::jit::emit

// Stores, atomics and block stores.
#include "jit/avx2/emit/memory.hpp"
#include "jit/avx2/emit/scalar.hpp"

namespace eum::jit::avx2::emit {

namespace {

class StoreSite : public MemorySite {
 public:
  StoreSite(Compiler& c, const CodeInst& inst) : MemorySite(c, inst), c_(c) {
    fetch_mask_bits();
    for (unsigned chunk = 0; chunk < c.v.chunks(addresses()); ++chunk)
      addresses_.push_back(c.v.use(addresses(), chunk));
    for (unsigned k = 0; k < components(); ++k)
      for (unsigned chunk = 0; chunk < c.v.chunks(data(k)); ++chunk) data_.push_back(c.v.use(data(k), chunk));
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

  /// One vector move a chunk from `offset` on.
  void store_run(const CheckedAddress& to, unsigned offset) {
    for (unsigned chunk = 0; chunk < data_.size(); ++chunk)
      store_chunk(to, offset + chunk * 32, data_[chunk], std::min(32u, bytes() - chunk * 32));
  }

  /// Lanes in bounds, one after the other: of lanes with one address the last one stays, as on the hardware.
  void store_lanes(const CheckedAddress& memory) {
    auto& a = c_.a;
    load_lane_bits();
    spill()();
    const x86::Gp bits = reg.bits.r32(), lane = reg.lane, address = reg.address, value = reg.value;
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
      a.mov(memory.lane(address, component_offset(k), element()), low_part(value, element()));
    }
    a.test(bits, bits);
    a.jnz(next);
    a.bind(end);
  }

  void slow(asmjit::Label entry, asmjit::Label done) {
    call_out_of_line(entry, done, on_data<jit::store>, spill(), [] {});
  }

 private:
  Compiler& c_;
  std::vector<x86::Ymm> addresses_, data_;
};

/// Consecutive addresses, or lanes.
void store_in_vectors(Compiler& c, const CodeInst& inst) {
  auto& a = c.a;
  StoreSite site(c, inst);
  asmjit::Label spread = a.newLabel(), slow = a.newLabel(), done = a.newLabel();
  const bool lanes = !site.in_space();
  if (!site.masked() && site.components() == 1) {
    site.check_consecutive(lanes ? spread : slow);
    const unsigned run = site.bytes() - site.element() + site.extent();
    site.store_run(site.check(Addresses::run(site.reg.first), run, slow), site.component_offset(0));
    if (lanes) a.jmp(done);
  }
  if (lanes) {
    a.bind(spread);
    site.store_lanes(site.check(Addresses::lanes(), site.extent(), slow));
  }
  site.slow(slow, done);
  a.bind(done);
}

/// One lane, through general registers.
void store_one_lane(Compiler& c, const CodeInst& inst) {
  auto& a = c.a;
  MemorySite site(c, inst);
  const x86::Gp value = c.g.use(site.data(0)), address = c.g.use(site.addresses());
  const x86::Gp mask = site.masked() ? c.m.bits(inst.mask) : x86::Gp();
  site.acquire_scalar();
  asmjit::Label slow = a.newLabel(), done = a.newLabel();
  if (mask.isValid()) {
    a.test(mask.r8(), 1);
    a.jz(done);
  }
  const CheckedAddress memory = site.check(Addresses::run(site.reg.first), site.extent(), slow);
  a.mov(memory.at(site.component_offset(0), site.element()), low_part(value, site.element()));
  site.call_out_of_line(
      slow, done, on_data<jit::store>,
      [&c, address, value] {
        c.a.mov(x86::ptr(x86::rsp, Frame::operands, 8), address);
        c.a.mov(x86::ptr(x86::rsp, Frame::data, 8), value);
      },
      [] {});
  a.bind(done);
}

}  // namespace

void emit_store(Compiler& c, const CodeInst& inst) {
  MemorySite site(c, inst);
  const bool masked = site.masked();
  if (c.regs.is_scalar(site.data(0))) {
    if (site.data_count() == 1 && site.offset_fits()) return store_one_lane(c, inst);
    return site.call_inline(on_data<jit::store>);
  }
  if (site.in_vectors()) {
    const unsigned chunks = inst.lanes / 8;
    const bool run = !masked && site.data_count() == 1;
    if (site.in_space() ? run && (!site.wide() || inst.lanes == 8)
                        : (site.components() + 1 + (masked ? 1 : 0)) * chunks + 3 <= 15)
      return store_in_vectors(c, inst);
  }
  site.call_inline(on_data<jit::store>);
}

void emit_block_store(Compiler& c, const CodeInst& inst) {
  MemorySite(c, inst).call_inline(on_data<jit::block_store>);
}

void emit_atomic(Compiler& c, const CodeInst& inst) { MemorySite(c, inst).call_inline(on_data<jit::atomic>); }

}  // namespace eum::jit::avx2::emit

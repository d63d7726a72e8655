// Loads: consecutive, rows of components, gathered, or by call.
#include "jit/avx2/emit/memory.hpp"
#include "jit/avx2/emit/scalar.hpp"

namespace eum::jit::avx2::emit {

namespace I = x86::Inst;
using ir::Type;

namespace {

/// What moves an element of `bytes` unchanged.
Type unsigned_type(unsigned bytes) { return ir::int_type(bytes, false); }

class LoadSite : public MemorySite {
 public:
  LoadSite(Compiler& c, const CodeInst& inst) : MemorySite(c, inst), c_(c) {
    fetch_mask_bits();
    for (unsigned k = 0; k < components(); ++k)
      for (unsigned chunk = 0; chunk < c.v.chunks(inst.result + k); ++chunk)
        results_.push_back(c.v.define(inst.result + k, chunk));
    if (!c.regs.is_scalar(addresses())) acquire();
  }

  /// Registers of the result, component by component, chunk by chunk.
  x86::Ymm result(unsigned component, unsigned chunk) const {
    return results_[component * (results_.size() / components()) + chunk];
  }
  const std::vector<x86::Ymm>& results() const { return results_; }
  unsigned result_chunks() const { return static_cast<unsigned>(results_.size()) / components(); }

  /// The call that serves whatever the ways above do not.
  void slow(asmjit::Label entry, asmjit::Label done) {
    std::vector<x86::Ymm> where;
    for (unsigned chunk = 0; chunk < c_.v.chunks(addresses()); ++chunk)
      where.push_back(c_.v.use(addresses(), chunk));
    Compiler& c = c_;
    auto before = [&c, where] {
      for (std::size_t i = 0; i < where.size(); ++i)
        c.a.vmovaps(x86::ptr(x86::rsp, Frame::operands + static_cast<int>(i) * 32, 32), where[i]);
    };
    auto after = [&c, results = results_, chunks = result_chunks(), size = bytes()] {
      for (std::size_t i = 0; i < results.size(); ++i)
        c.a.vmovups(
            results[i],
            x86::ptr(x86::rsp, Frame::data + static_cast<int>(i / chunks * size + i % chunks * 32), 32));
    };
    call_out_of_line(entry, done, on_data<jit::load>, before, after);
  }

  /// One vector move a chunk from `offset` on.
  void load_run(const CheckedAddress& from, unsigned offset) {
    for (unsigned chunk = 0; chunk < result_chunks(); ++chunk)
      load_chunk(result(0, chunk), from, offset + chunk * 32, std::min(32u, bytes() - chunk * 32));
  }

  /// 32-bit elements of lanes in bounds; lanes outside the mask give 0.
  void gather(const CheckedAddress& memory) {
    const x86::Ymm mask = reg.t;
    for (unsigned k = 0; k < components(); ++k)
      for (unsigned chunk = 0; chunk < result_chunks(); ++chunk) {
        x86::Ymm address = c_.v.use(addresses(), chunk), to = result(k, chunk);
        if (masked()) {
          c_.a.vmovaps(mask, reg.mask[chunk]);
          c_.a.vpxor(to, to, to);
        } else {
          c_.a.vpcmpeqd(mask, mask, mask);
        }
        c_.a.vpgatherdd(to, memory.gather(address, component_offset(k), 4), mask);
      }
  }

  /// Elements of any size of lanes in bounds, one after the other through the frame.
  void load_lanes(const CheckedAddress& memory) {
    auto& a = c_.a;
    load_lane_bits();
    const x86::Gp bits = reg.bits.r32(), lane = reg.lane, address = reg.address, value = reg.value;
    for (unsigned chunk = 0; chunk < c_.v.chunks(addresses()); ++chunk)
      a.vmovaps(x86::ptr(x86::rsp, Frame::operands + static_cast<int>(chunk) * 32, 32),
                c_.v.use(addresses(), chunk));
    if (masked()) {
      x86::Ymm zero = results_[0];
      a.vpxor(zero, zero, zero);
      for (unsigned at = 0; at < components() * bytes(); at += 32)
        a.vmovups(x86::ptr(x86::rsp, Frame::data + static_cast<int>(at), 32), zero);
    }
    asmjit::Label next = a.newLabel(), end = a.newLabel();
    a.test(bits, bits);
    a.jz(end);
    a.bind(next);
    a.tzcnt(lane.r32(), bits);
    a.blsr(bits, bits);
    a.mov(address.r32(), x86::ptr(x86::rsp, lane, 2, Frame::operands, 4));
    for (unsigned k = 0; k < components(); ++k) {
      load_scalar(a, value, memory.lane(address, component_offset(k), element()), unsigned_type(element()));
      a.mov(x86::ptr(x86::rsp, lane, static_cast<unsigned>(__builtin_ctz(element())),
                     Frame::data + static_cast<int>(k * bytes()), element()),
            low_part(value, element()));
    }
    a.test(bits, bits);
    a.jnz(next);
    a.bind(end);
    for (unsigned k = 0; k < components(); ++k)
      for (unsigned chunk = 0; chunk < result_chunks(); ++chunk)
        a.vmovups(result(k, chunk),
                  x86::ptr(x86::rsp, Frame::data + static_cast<int>(k * bytes() + chunk * 32), 32));
  }

 private:
  Compiler& c_;
  std::vector<x86::Ymm> results_;
};

/// Four 32-bit components of eight lanes: the rows of 16 bytes, transposed.
void load_rows(Compiler& c, LoadSite& site, const CheckedAddress& memory, unsigned chunk,
               const std::array<x86::Ymm, 4>& row) {
  auto& a = c.a;
  x86::Ymm address = c.v.use(site.addresses(), chunk);
  const x86::Gp low = site.reg.address, high = site.reg.value;
  for (unsigned half = 0; half < 2; ++half) {
    x86::Xmm four = address.xmm();
    if (half == 1) {
      four = site.result(3, chunk).xmm();  // written last of all
      a.vextracti128(four, address, 1);
    }
    for (unsigned pair = 0; pair < 2; ++pair) {
      if (pair == 0) {
        a.vmovq(low, four);
      } else {
        a.vpextrq(low, four, 1);
      }
      a.mov(high, low);
      a.shr(high, 32);
      a.mov(low.r32(), low.r32());
      for (unsigned i = 0; i < 2; ++i) {
        x86::Mem from = memory.lane(i == 0 ? low : high, 0, 16);
        x86::Ymm to = row[pair * 2 + i];
        if (half == 0) {
          a.vmovups(to.xmm(), from);
        } else {
          a.vinsertf128(to, to, from, 1);
        }
      }
    }
  }
  x86::Ymm x = site.result(0, chunk), y = site.result(1, chunk), z = site.result(2, chunk),
           w = site.result(3, chunk);
  a.vunpcklps(x, row[0], row[1]);
  a.vunpckhps(z, row[0], row[1]);
  a.vunpcklps(row[0], row[2], row[3]);
  a.vunpckhps(row[1], row[2], row[3]);
  a.vunpckhpd(y, x, row[0]);
  a.vunpcklpd(x, x, row[0]);
  a.vunpckhpd(w, z, row[1]);
  a.vunpcklpd(z, z, row[1]);
}

/// Several components: the same address in each lane of a chunk, or rows, or gathers.
void load_components(Compiler& c, const CodeInst& inst) {
  auto& a = c.a;
  LoadSite site(c, inst);
  const std::array<x86::Ymm, 4> row{site.reg.t, site.reg.u, site.reg.v, c.v.scratch()};
  const x86::Gp scratch = site.reg.first;
  asmjit::Label slow = a.newLabel(), done = a.newLabel();
  const CheckedAddress memory = site.check(Addresses::lanes(), site.extent(), slow);
  if (site.element() != 4) {
    site.load_lanes(memory);
  } else if (site.masked()) {
    site.gather(memory);
  } else {
    const bool rows = c.access(inst).components == 0xf && c.access(inst).offset == 0 && inst.lanes % 8 == 0;
    for (unsigned chunk = 0; chunk < site.result_chunks(); ++chunk) {
      asmjit::Label varied = a.newLabel(), next = a.newLabel();
      x86::Ymm address = c.v.use(site.addresses(), chunk);
      const unsigned lanes = std::min(8u, inst.lanes - chunk * 8);
      a.vpbroadcastd(row[0], address.xmm());
      a.vpcmpeqd(row[0], row[0], address);
      a.vmovmskps(scratch.r32(), row[0]);
      if (lanes < 8) a.and_(scratch.r32(), (1u << lanes) - 1);
      a.cmp(scratch.r32(), (1u << lanes) - 1);
      a.jne(varied);
      a.vmovd(scratch.r32(), address.xmm());
      for (unsigned k = 0; k < site.components(); ++k)
        a.vbroadcastss(site.result(k, chunk), memory.lane(scratch, site.component_offset(k), 4));
      a.jmp(next);
      a.bind(varied);
      if (rows) {
        load_rows(c, site, memory, chunk, row);
      } else {
        for (unsigned k = 0; k < site.components(); ++k) {
          a.vpcmpeqd(row[0], row[0], row[0]);
          a.vpgatherdd(site.result(k, chunk), memory.gather(address, site.component_offset(k), 4), row[0]);
        }
      }
      a.bind(next);
    }
  }
  site.slow(slow, done);
  a.bind(done);
}

/// One component: consecutive addresses, or lanes.
void load_one_component(Compiler& c, const CodeInst& inst) {
  auto& a = c.a;
  LoadSite site(c, inst);
  asmjit::Label spread = a.newLabel(), slow = a.newLabel(), done = a.newLabel();
  const bool lanes = !site.in_space();
  if (!site.masked()) {
    site.check_consecutive(lanes ? spread : slow);
    const unsigned run = site.bytes() - site.element() + site.extent();
    site.load_run(site.check(Addresses::run(site.reg.first), run, slow), site.component_offset(0));
    if (lanes) a.jmp(done);
  }
  if (lanes) {
    a.bind(spread);
    const CheckedAddress memory = site.check(Addresses::lanes(), site.extent(), slow);
    if (site.element() == 4) {
      site.gather(memory);
    } else {
      site.load_lanes(memory);
    }
  }
  site.slow(slow, done);
  a.bind(done);
}

/// One lane, through general registers.
void load_one_lane(Compiler& c, const CodeInst& inst) {
  MemorySite site(c, inst);
  site.acquire_scalar();
  x86::Gp to = c.g.define(inst.result);
  asmjit::Label slow = c.a.newLabel(), done = c.a.newLabel();
  const x86::Gp address = c.g.use(site.addresses());
  const CheckedAddress memory = site.check(Addresses::run(site.reg.first), site.extent(), slow);
  load_scalar(c.a, to, memory.at(site.component_offset(0), site.element()), inst.type);
  site.call_out_of_line(
      slow, done, on_data<jit::load>,
      [&c, address] { c.a.mov(x86::ptr(x86::rsp, Frame::operands, 8), address); },
      [&c, to, type = inst.type] { load_scalar(c.a, to, x86::ptr(x86::rsp, Frame::data), type); });
  c.a.bind(done);
}

}  // namespace

void emit_load(Compiler& c, const CodeInst& inst) {
  MemorySite site(c, inst);
  const bool masked = site.masked();
  if (c.regs.is_scalar(inst.result)) {
    if (!masked && inst.result_count == 1 && site.offset_fits()) return load_one_lane(c, inst);
    return site.call_inline(on_data<jit::load>);
  }
  if (site.in_vectors()) {
    if (inst.result_count == 1 && !site.wide() && !(site.in_space() && masked))
      return load_one_component(c, inst);
    if (inst.result_count == 1 && site.wide() && inst.lanes == 8 && !masked)
      return load_one_component(c, inst);
    // Results, addresses, masks and temporaries must fit the registers together.
    const unsigned chunks = inst.lanes / 8;
    if (!site.in_space() && (site.components() + 1 + (masked ? 1 : 0)) * chunks + 4 <= 15)
      return load_components(c, inst);
  }
  site.call_inline(on_data<jit::load>);
}

void emit_block_load(Compiler& c, const CodeInst& inst) {
  MemorySite any(c, inst);
  const bool whole_dwords = any.bytes() % 4 == 0;
  if (!any.offset_fits() || (!whole_dwords && inst.lanes != 1))
    return any.call_inline(on_data<jit::block_load>);
  if (c.regs.is_scalar(inst.result)) return load_one_lane(c, inst);
  auto& a = c.a;
  LoadSite site(c, inst);
  site.acquire_scalar();
  asmjit::Label slow = a.newLabel(), done = a.newLabel();
  const x86::Gp address = c.g.use(site.addresses());
  const unsigned offset = site.component_offset(0);
  site.load_run(site.check(Addresses::run(site.reg.first), offset + site.bytes(), slow), offset);
  site.call_out_of_line(
      slow, done, on_data<jit::block_load>,
      [&c, address] { c.a.mov(x86::ptr(x86::rsp, Frame::operands, 8), address); },
      [&c, results = site.results()] {
        for (std::size_t i = 0; i < results.size(); ++i)
          c.a.vmovups(results[i], x86::ptr(x86::rsp, Frame::data + static_cast<int>(i) * 32, 32));
      });
  a.bind(done);
}

}  // namespace eum::jit::avx2::emit

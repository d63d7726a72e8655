// Accesses of one lane, and blocks; see one_address.hpp.
#include "jit/avx2/emit/one_address.hpp"

#include <algorithm>
#include <vector>

#include "jit/avx2/emit/scalar.hpp"

namespace eum::jit::avx2::emit {

void load_one_lane(Compiler& c, const CodeInst& inst) {
  auto& a = c.a;
  MemorySite site(c, inst);
  const x86::Gp address = site.acquire_scalar(site.extent()), to = c.g.define(inst.result);
  asmjit::Label slow = a.newLabel(), done = a.newLabel();
  if (site.masked()) {
    a.xor_(to.r32(), to.r32());
    a.test(site.reg.mask.r8(), 1);
    a.jz(done);
  }
  const CheckedAddress memory = site.check_scalar(address, site.extent(), slow);
  load_scalar(a, to, memory.at(site.component_offset(0), site.element()), inst.type);
  site.call_out_of_line(slow, done, on_data<jit::load>,
                        {.address = address, .in_vectors = false, .result = to});
  a.bind(done);
}

void store_one_lane(Compiler& c, const CodeInst& inst) {
  auto& a = c.a;
  MemorySite site(c, inst);
  const x86::Gp value = c.g.use(site.data(0)), address = site.acquire_scalar(site.extent());
  asmjit::Label slow = a.newLabel(), done = a.newLabel();
  if (site.masked()) {
    a.test(site.reg.mask.r8(), 1);
    a.jz(done);
  }
  const CheckedAddress memory = site.check_scalar(address, site.extent(), slow);
  a.mov(memory.at(site.component_offset(0), site.element()), low_part(value, site.element()));
  site.call_out_of_line(slow, done, on_data<jit::store>,
                        {.address = address, .in_vectors = false, .generals = {&value, 1}});
  a.bind(done);
}

void emit_block_load(Compiler& c, const CodeInst& inst) {
  auto& a = c.a;
  MemorySite site(c, inst);
  const bool whole_dwords = site.bytes() % 4 == 0;
  if (!site.fits_in_line() || (!whole_dwords && inst.lanes != 1))
    return site.call_inline(on_data<jit::block_load>);
  if (c.regs.is_scalar(inst.result)) return load_one_lane(c, inst);
  std::vector<x86::Ymm> results;
  for (unsigned chunk = 0; chunk < c.v.chunks(inst.result); ++chunk)
    results.push_back(c.v.define(inst.result, chunk));
  const unsigned offset = site.component_offset(0), extent = offset + site.bytes();
  const x86::Gp address = site.acquire_scalar(extent);
  const asmjit::Label slow = a.newLabel(), done = a.newLabel();
  const asmjit::Label outside = site.may_end_inside() ? a.newLabel() : slow;
  const CheckedAddress memory = site.check_scalar(address, extent, outside);
  if (outside != slow) site.load_to_end(outside, done, slow, address, results);
  for (unsigned i = 0; i < results.size(); ++i)
    site.load_chunk(results[i], memory, offset + i * 32, std::min(32u, site.bytes() - i * 32));
  site.call_out_of_line(slow, done, on_data<jit::block_load>, {.address = address, .results = results});
  a.bind(done);
}

void emit_block_store(Compiler& c, const CodeInst& inst) {
  MemorySite site(c, inst);
  if (c.regs.is_scalar(site.data(0)) && site.fits_in_line()) return store_one_lane(c, inst);
  if (!site.fits_in_line() || site.bytes() % 4 != 0) return site.call_inline(on_data<jit::block_store>);
  auto& a = c.a;
  std::vector<x86::Ymm> data;
  for (unsigned chunk = 0; chunk < c.v.chunks(site.data(0)); ++chunk)
    data.push_back(c.v.use(site.data(0), chunk));
  const bool whole = site.bytes() % 32 == 0;
  const x86::Ymm free = whole ? x86::Ymm() : c.v.scratch();
  const unsigned offset = site.component_offset(0), extent = offset + site.bytes();
  const x86::Gp address = site.acquire_scalar(extent);
  const asmjit::Label slow = a.newLabel(), done = a.newLabel();
  const CheckedAddress memory = site.check_scalar(address, extent, slow);
  for (unsigned i = 0; i < data.size(); ++i)
    site.store_chunk(memory, offset + i * 32, data[i], std::min(32u, site.bytes() - i * 32), free);
  site.call_out_of_line(slow, done, on_data<jit::block_store>, {.address = address, .data = data});
  a.bind(done);
}

}  // namespace eum::jit::avx2::emit

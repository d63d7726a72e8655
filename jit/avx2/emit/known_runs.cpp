// Known runs: accesses whose lanes are known, when the function is translated, to have addresses a fixed
// distance apart. Only the first address is checked, and the elements are addressed from there; see
// lane_site.hpp.
#include <bit>
#include <cstddef>

#include "jit/avx2/emit/lane_site.hpp"

namespace eum::jit::avx2::emit {

x86::Mem LaneSite::reversing() const {
  return c_.constant(ConstantPool::dwords([](std::uint32_t i) { return 7 - i; }));
}

x86::Mem LaneSite::reversed_row(const CheckedAddress& memory, unsigned row) const {
  constexpr unsigned bytes = 32;
  const bool own_run = known_runs() > 1;
  return memory.at(component_offset(0) + (own_run ? 0 : (rows() - 1 - row) * bytes), bytes,
                   own_run ? row : 0);
}

CheckedAddress LaneSite::check_known_runs(asmjit::Label outside) const {
  auto& a = c_.a;
  if (has_window()) return in_strip_window(first_lane() * known_stride(), run_bytes());
  const unsigned runs = known_runs(), each = lanes() / runs;
  if (has_end()) return check_runs_by_end(std::span(starts_).first(runs), run_bytes(), outside);
  if (based()) base_in_region(bits);
  for (unsigned run = 0; run < runs; ++run) {
    const auto [address, lanes_before] = run_begin(run);
    const x86::Gp first = reg.first[run];
    const auto step = static_cast<unsigned>(linear_.stride);
    const unsigned from_first_to_last = (each - 1) * (goes_down() ? 0 - step : step);
    const int behind = static_cast<int>(lanes_before * step) - static_cast<int>(shared().before());
    if (behind == 0)
      a.mov(first.r32(), address.r32());
    else
      a.lea(first.r32(), x86::ptr(address.r64(), behind));
    if (goes_down()) a.sub(first.r32(), from_first_to_last);
    if (!based()) continue;
    // The stride of distances is known only modulo 2^32: no distance of a run may wrap.
    const bool is_signed = ir::is_signed(ir::info(mem().space).address);
    a.cmp(first.r32(), INT32_MAX - static_cast<std::int32_t>(from_first_to_last));
    is_signed ? a.jg(outside) : a.ja(outside);
    if (is_signed) a.movsxd(first, first.r32());
    if (!std::has_single_bit(mem().scale))
      a.imul(first, first, static_cast<int>(mem().scale));
    else if (mem().scale != 1)
      a.shl(first, static_cast<unsigned>(std::countr_zero(mem().scale)));
    a.add(first, bits);
    a.cmp(first, region(offsetof(CachedRegion, size), 8));
    a.ja(outside);
  }
  return check_runs(runs, run_bytes(), based(), outside);
}

// Each thread executes too many instructions for the processor to keep enough cache misses in flight, and
// hardware prefetchers stop at the end of a page.
void LaneSite::prefetch(const CheckedAddress& memory, bool writes) const {
  constexpr unsigned most_lines = 4;
  constexpr int distance = 2048;  // 1 to 4 KB are as good
  if (!c_.beyond_caches().fetches_ahead() || masked() || of_one_host_thread() || known_runs() != 1 ||
      known_stride() == 0 || goes_down() || shared().swapped())
    return;
  const unsigned begin = component_offset(0), end = (lanes() - 1) * known_stride() + extent();
  if (end - begin > most_lines * cache_line) return;
  for (unsigned at = begin; at < end; at += cache_line) {
    const x86::Mem ahead = memory.ahead(at, distance);
    writes ? c_.a.prefetchw(ahead) : c_.a.prefetcht0(ahead);
  }
}

void LaneSite::call_for_runs(asmjit::Label entry, asmjit::Label done, AccessFunction function,
                             const CallRegisters& registers) const {
  if (!inst().second_ip) {
    if (may_retry()) return call_out_of_line(entry, done, function, registers);
    return call_for_lanes(entry, done, function, registers);
  }
  // Two accesses of the guest, in order: reports name the lanes of each.
  const unsigned each = lanes() / 2;
  LaneSite first = *this, second = *this;
  first.take_lanes(0, each);
  second.take_lanes(each, each);
  second.set_guest_ip(*inst().second_ip);
  const asmjit::Label next = c_.a.newLabel();
  if (bytes() == target.vector_bytes) {
    // Both halves are in one register: the second one's goes by way of another.
    const asmjit::Label upper = c_.a.newLabel(), both = c_.a.newLabel();
    const bool loads = !registers.results.empty();
    const x86::Ymm whole = loads ? registers.results[0] : registers.data[0];
    const std::span<const x86::Ymm> low(&whole, 1), high(&u, 1);
    const auto part = [loads](std::span<const x86::Ymm> half) {
      return loads ? CallRegisters{.results = half} : CallRegisters{.data = half};
    };
    first.call_for_lanes(entry, next, function, part(low));
    c_.out_of_line([site = *this, next, upper, both, done, loads, whole] {
      auto& a = site.c_.a;
      a.bind(next);
      if (!loads) a.vextracti128(site.u.xmm(), whole, 1);
      a.jmp(upper);
      if (!loads) return;
      a.bind(both);
      a.vinserti128(whole, whole, site.u.xmm(), 1);
      a.jmp(done);
    });
    return second.call_for_lanes(upper, loads ? both : done, function, part(high));
  }
  const auto half = [&](bool upper) {
    const auto part = [upper](std::span<const x86::Ymm> all) {
      return all.subspan(upper ? all.size() / 2 : 0, all.size() / 2);
    };
    return CallRegisters{.data = part(registers.data), .results = part(registers.results)};
  };
  first.call_for_lanes(entry, next, function, half(false));
  second.call_for_lanes(next, done, function, half(true));
}

void LaneSite::call_for_lanes(asmjit::Label entry, asmjit::Label done, AccessFunction function,
                              const CallRegisters& registers) const {
  const asmjit::Label call = c_.a.newLabel();
  c_.out_of_line([site = *this, entry, call] {
    site.c_.a.bind(entry);
    site.store_known_addresses();
    site.c_.a.jmp(call);
  });
  LaneSite from_zero = *this;
  if (inst().second_ip) from_zero.take_lanes(0, lanes());
  from_zero.call_out_of_line(call, done, function, registers);
}

void LaneSite::store_known_addresses() const {
  for (unsigned row = 0; row < rows(); ++row) {
    known_addresses(row, t);
    store_vectors(Frame::operands + static_cast<int>(row) * 32, {&t, 1});
  }
}

void LaneSite::known_addresses(unsigned row, x86::Ymm to) const {
  auto& a = c_.a;
  const auto step = static_cast<unsigned>(linear_.stride);
  const bool own_run = row < known_runs();
  const auto [address, lanes_before] = run_begin(own_run ? row : 0);
  const unsigned before =
      (lanes_before + (own_run ? 0 : 8 * row)) * step + shared().share() - shared().before();
  a.vmovd(to.xmm(), address.r32());
  a.vpbroadcastd(to, to.xmm());
  a.vpaddd(to, to, distances(0, shared().swapped() ? SharedRows::bytes : step));
  if (before != 0) a.vpaddd(to, to, c_.splat(before, 4));
  if (linear_.within != ~0u) a.vpand(to, to, c_.splat(linear_.within, 4));
}

CheckedAddress LaneSite::check_known_lanes(asmjit::Label otherwise) const {
  auto& a = c_.a;
  store_known_addresses();
  std::optional<CheckedAddress> memory;
  for (unsigned row = 0; row < rows(); ++row) {
    a.vmovaps(v, x86::ptr(x86::rsp, Frame::operands + static_cast<int>(row) * 32, 32));
    if (in_space()) {
      a.vpbroadcastd(t, region(offsetof(CachedRegion, start), 4));
      a.vpsubd(v, v, t);
      store_vectors(places_of_known_lanes(row), {&v, 1});
    }
    memory = check_lanes({{&v, 1}, {&masks_[row], 1}, t, u, {}, bits}, extent(), otherwise);
  }
  return *memory;
}

void LaneSite::for_each_known_lane(const std::function<void(const LaneSite&)>& emit) const {
  auto& a = c_.a;
  LaneSite site = *this;
  const std::array borrowed{&site.lane, &site.bits, &site.reg.first[0], &site.reg.first[1]};
  std::uint32_t free = c_.host.target.general_registers & ~(1u << reg.base.id() | 1u << reg.mask.id());
  for (x86::Gp* one : borrowed) {
    *one = x86::gpq(static_cast<std::uint32_t>(std::countr_zero(free)));
    free &= free - 1;
  }
  for (const x86::Gp* one : borrowed) a.mov(saved(*one), *one);
  site.loop_over_lanes(places_of_known_lanes(0), [&] { emit(site); });
  for (const x86::Gp* one : borrowed) a.mov(*one, saved(*one));
}

}  // namespace eum::jit::avx2::emit

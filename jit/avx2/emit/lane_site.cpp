// What loads, stores and atomics with one address per lane share; see lane_site.hpp.
#include "jit/avx2/emit/lane_site.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "jit/codegen/bug.hpp"

namespace eum::jit::avx2::emit {

unsigned LaneSite::lanes_at_once(Compiler& c, const CodeInst& inst, unsigned values) {
  const LaneSite all(c, inst, 0, inst.lanes);
  const unsigned element = all.element();
  if (inst.lanes % 8 != 0 || !all.fits_in_line()) return 0;
  if (inst.second_ip) return inst.lanes;  // one run of whole vectors
  for (const unsigned lanes : {16u, 8u}) {
    // Elements of several rows may share a vector.
    if (inst.lanes % lanes != 0 || (element < 4 && inst.lanes != lanes)) continue;
    const LaneSite part(c, inst, 0, lanes);
    const unsigned rows = part.rows();
    // Both versions of a block share the windows of rows, so both must access as many lanes at once.
    const bool counts_mask = part.masked() || part.goes_along_rows();
    const bool copies_addresses = !part.by_runs() && (part.in_space() || part.shared().swapped());
    const unsigned registers = part.address_vectors() + (copies_addresses ? rows : 0) +
                               (counts_mask ? rows : 0) + values * part.vectors() +
                               (part.needs_fourth() ? 4 : 3);
    if (registers <= c.host.target.vector_registers) return lanes;
  }
  return 0;
}

void LaneSite::fetch_mask_bits() {
  if (!masked()) return;
  c_.m.bits(inst().mask);
  c_.regs.unpin();
}

void LaneSite::acquire(bool with_lanes) {
  for (unsigned i = 0; i < address_vectors(); ++i)
    addresses_[i] = c_.v.use(addresses(), first_lane() / 8 * (wide() ? 2 : 1) + i);
  if (masked()) {
    reg.mask = c_.m.bits(inst().mask);
    for (unsigned row = 0; with_lanes && row < rows(); ++row)
      masks_[row] = c_.m.lanes(inst().mask, 4, first_lane() / 8 + row);
    if (lanes() != inst().lanes) {
      const x86::Gp part = c_.g.scratch();
      c_.a.mov(part.r32(), reg.mask.r32());
      if (first_lane() != 0) c_.a.shr(part.r32(), first_lane());
      if (first_lane() + lanes() != inst().lanes) c_.a.and_(part.r32(), ir::lane_mask(lanes()));
      reg.mask = part;
    }
  }
  if (!by_runs()) {
    for (unsigned row = 0; row < rows(); ++row) places_[row] = in_space() ? c_.v.scratch() : addresses_[row];
    for (unsigned row = 0; shared().swapped() && row < rows(); ++row) swapped_[row] = c_.v.scratch();
  } else if (!has_window()) {
    for (unsigned run = 0; run < known_runs(); ++run)
      starts_[run] = c_.g.use(first_address((first_lane() + run * 8) / run_lanes_));
  }
  t = c_.v.scratch();
  if (needs_two_more())
    for (x86::Ymm* free : {&u, &v}) *free = c_.v.scratch();
  if (needs_fourth()) w = c_.v.scratch();
  if (has_window()) return acquire_strip_window();
  const bool needs_bits = based() || masked();
  if (has_end()) {
    acquire_base();
    if (masked()) reg.limit = c_.g.scratch();
    if (needs_bits) bits = c_.g.scratch();
    return;
  }
  acquire_window();
  if (by_runs()) {
    for (unsigned run = 0; run < known_runs(); ++run) reg.first[run] = c_.g.scratch();
    if (needs_bits) bits = c_.g.scratch();
    return;
  }
  for (x86::Gp* gp : {&reg.first[0], &reg.first[1], &lane, &bits}) *gp = c_.g.scratch();
}

// ---- Addresses

void LaneSite::locate(asmjit::Label otherwise) const {
  if (!in_space()) return;
  if (based()) return locate_distances(otherwise);
  auto& a = c_.a;
  if (!wide()) {
    a.vpbroadcastd(t, region(offsetof(CachedRegion, start), 4));
    for (unsigned row = 0; row < rows(); ++row) a.vpsubd(places_[row], addresses_[row], t);
    return;
  }
  constexpr unsigned low = 0x88, high = 0xdd, in_order = 0xd8;
  for (unsigned row = 0; row < rows(); ++row) {
    const x86::Ymm start = t, place = places_[row];
    if (row == 0 || masked()) a.vpbroadcastq(start, region(offsetof(CachedRegion, start), 8));
    a.vpsubq(u, addresses_[2 * row], start);
    a.vpsubq(v, addresses_[2 * row + 1], start);
    a.vshufps(place, u, v, low);
    a.vshufps(u, u, v, high);
    a.vpermq(place, place, in_order);
    if (masked()) {
      a.vpermq(u, u, in_order);
      a.vptest(u, masks_[row]);
    } else {
      a.vptest(u, u);
    }
    a.jnz(otherwise);
  }
}

void LaneSite::base_in_region(x86::Gp to) const {
  c_.a.mov(to, reg.surface);
  c_.a.sub(to, region(offsetof(CachedRegion, start), 8));
}

// With a signed base and distance of 32 bits, a sum without sign bit is exact unless both of them are
// negative: it may then be far below the start.
void LaneSite::locate_distances(asmjit::Label otherwise) const {
  auto& a = c_.a;
  const bool is_signed = ir::is_signed(ir::info(mem().space).address);
  const std::uint32_t scale = mem().scale;
  base_in_region(bits);
  a.vmovd(t.xmm(), bits.r32());
  a.sub(bits, INT32_MIN);
  a.shr(bits, 32);
  a.jnz(otherwise);
  a.vpbroadcastd(t, t.xmm());
  for (unsigned row = 0; row < rows(); ++row) {
    const x86::Ymm distance = addresses_[row], place = places_[row], below = u, same = v;
    // In bytes the distances must fit 32 bits, and unsigned ones must have no sign bit.
    const bool is_any = is_signed && scale == 1;
    if (std::has_single_bit(scale)) {  // without constants, which scattered lanes evict from the cache
      const auto shift = static_cast<unsigned>(std::countr_zero(scale)), unused = shift + (is_signed ? 0 : 1);
      if (shift != 0) a.vpslld(place, distance, shift);
      a.vpaddd(place, shift != 0 ? place : distance, t);
      if (!is_any) {
        a.vpslld(u, distance, unused);
        is_signed ? a.vpsrad(u, u, unused) : a.vpsrld(u, u, unused);
        a.vpcmpeqd(same, u, distance);
      }
    } else {
      a.vpmulld(place, distance, c_.splat(scale, 4));
      a.vpaddd(place, place, t);
      const x86::Ymm size = is_signed ? u : distance;
      if (is_signed) a.vpabsd(size, distance);
      a.vpminud(same, size, c_.splat(ir::MemoryAccess::most_scale / scale, 4));
      a.vpcmpeqd(same, same, size);
    }
    // In the sign bits:
    if (is_signed) {
      a.vpand(below, distance, t);
      a.vpor(below, below, place);
    }
    if (is_any) {
      if (masked()) a.vpand(below, below, masks_[row]);
      a.vmovmskps(bits.r32(), below);
      a.test(bits.r32(), bits.r32());
    } else {
      a.vpandn(same, is_signed ? below : place, same);
      if (masked()) a.vpandn(same, same, masks_[row]);
      a.vmovmskps(bits.r32(), same);
      a.cmp(bits.r32(), masked() ? 0 : 0xff);
    }
    a.jne(otherwise);
  }
}

x86::Mem LaneSite::distances(unsigned row, unsigned stride) const {
  return c_.constant(ConstantPool::dwords([&](std::uint32_t i) { return (8 * row + i) * stride; }));
}

x86::Mem LaneSite::scattered_times() const {
  return x86::ptr(x86::rsp, Frame::scattered + static_cast<int>(counter_) * Frame::scattered_counter,
                  Frame::scattered_counter);
}

namespace {

// The counter is 0 while lanes are runs. It is negative after failed looks: each look adds `each_look`, and a
// failed one subtracts `no_run`, down to `limit`, which four failures in succession reach. A positive counter
// is the number of accesses for which failure is assumed without a look; the first look after them is to
// continue from the limit.
constexpr int each_look = 1, no_run = 2, limit = -5, times_granted = 31;
constexpr int behind_granted = limit + no_run - each_look;

}  // namespace

void LaneSite::count_scattered() {
  if (!counts_scattered()) return;
  counter_ = c_.next_lane_site();
  look_ = c_.a.newLabel();
  noted_ = c_.a.newLabel();
}

// While lanes are runs the counter is only read.
void LaneSite::go_if_scattered() const {
  if (!counts_scattered()) return;
  c_.a.cmp(scattered_times(), 0);
  c_.a.jne(noted_);
  c_.a.bind(look_);
}

void LaneSite::bind_scattered() const {
  if (!counts_scattered()) return;
  auto& a = c_.a;
  const asmjit::Label few = a.newLabel(), last = a.newLabel(), both = a.newLabel();
  a.sub(scattered_times(), no_run);
  a.cmp(scattered_times(), limit);
  a.jg(both);
  a.mov(scattered_times(), times_granted);
  a.jmp(both);
  a.bind(noted_);
  a.jl(few);
  a.sub(scattered_times(), 1);
  a.jz(last);
  a.bind(both);
  c_.out_of_line([site = *this, few, last, both] {
    auto& code = site.c_.a;
    code.bind(few);
    code.add(site.scattered_times(), each_look);
    code.jmp(site.look_);
    code.bind(last);
    code.mov(site.scattered_times(), behind_granted);
    code.jmp(both);
  });
}

CheckedAddress LaneSite::check_run(unsigned stride, asmjit::Label otherwise, asmjit::Label outside) const {
  auto& a = c_.a;
  const std::array<x86::Ymm, 2> agrees{t, u};
  a.vmovd(reg.first[0].r32(), places_[0].xmm());
  a.vpbroadcastd(v, places_[0].xmm());
  for (unsigned row = 0; row < rows(); ++row) {
    a.vpaddd(agrees[row], v, distances(row, stride));
    if (c_.host.evex()) {
      if (row > 0) a.k(scratch_mask);
      a.vpcmpeqd(scratch_mask, agrees[row], places_[row]);
    } else {
      a.vpcmpeqd(agrees[row], agrees[row], places_[row]);
    }
  }
  if (c_.host.evex()) {
    a.kortestb(scratch_mask, scratch_mask);
    a.jnc(otherwise);
  } else {
    if (rows() == 2) a.vpand(u, t, u);
    a.vmovmskps(bits.r32(), agrees[rows() - 1]);
    a.cmp(bits.r32(), 0xff);
    a.jne(otherwise);
  }
  if (shared().before() != 0) a.sub(reg.first[0].r32(), shared().before());
  return check_runs(1, bytes_of_run(lanes(), stride), true, outside);
}

CheckedAddress LaneSite::check_second_row(unsigned stride, asmjit::Label otherwise,
                                          asmjit::Label outside) const {
  auto& a = c_.a;
  // check_run has left in t whether the lanes of row 0 agree or, with mask registers, the places that they
  // would have in a run.
  if (c_.host.evex()) a.vpcmpeqd(t, t, places_[0]);
  const auto require = [&](x86::Ymm all) {
    a.vmovmskps(bits.r32(), all);
    a.cmp(bits.r32(), 0xff);
    a.jne(otherwise);
  };
  require(t);  // scattered lanes leave here
  a.vmovd(reg.first[1].r32(), places_[1].xmm());
  a.vpbroadcastd(u, places_[1].xmm());
  a.vpaddd(u, u, distances(0, stride));
  a.vpcmpeqd(u, u, places_[1]);
  require(u);
  return check_runs(2, 7 * stride + extent(), true, outside);
}

CheckedAddress LaneSite::check_run_under_mask(unsigned stride, asmjit::Label otherwise) const {
  auto& a = c_.a;
  // Each lane implies a place of lane 0: active lanes have to agree with the first of them. If none is active
  // something beyond the lanes is read, which does no harm.
  const std::array<x86::Ymm, 2> first{t, v};
  const x86::Ymm chosen = u;
  const x86::Gp start = reg.first[0];
  for (unsigned row = 0; row < rows(); ++row) {
    a.vpsubd(first[row], places_[row], distances(row, stride));
    a.vmovaps(x86::ptr(x86::rsp, Frame::operands + static_cast<int>(row) * 32, 32), first[row]);
  }
  a.tzcnt(bits.r32(), reg.mask.r32());
  const x86::Mem of_first = x86::ptr(x86::rsp, bits, 2, Frame::operands, 4);
  a.vpbroadcastd(chosen, of_first);
  a.mov(start.r32(), of_first);
  for (unsigned row = 0; row < rows(); ++row) {
    a.vpcmpeqd(first[row], first[row], chosen);
    a.vpandn(first[row], first[row], masks_[row]);
  }
  if (rows() == 2) a.vpor(t, t, v);
  a.vmovmskps(bits.r32(), t);
  a.test(bits.r32(), bits.r32());
  a.jnz(otherwise);
  return check_runs(1, (lanes() - 1) * stride + extent(), true, otherwise);
}

void LaneSite::find_one_place(unsigned row, asmjit::Label otherwise) const {
  auto& a = c_.a;
  const x86::Ymm all = places_[row];
  a.vpbroadcastd(t, all.xmm());
  a.vpcmpeqd(t, t, all);
  a.vmovmskps(bits.r32(), t);
  a.cmp(bits.r32(), 0xff);
  a.jne(otherwise);
  a.vmovd(place().r32(), all.xmm());
}

CheckedAddress LaneSite::check_all_lanes(asmjit::Label otherwise, unsigned beyond) const {
  return check_lanes({{places_.data(), rows()}, masks(), t, u, v, bits}, extent() + beyond, otherwise);
}

void LaneSite::transpose_quads(std::span<const x86::Ymm, 4> from,
                               const std::array<std::optional<x86::Ymm>, 4>& to) const {
  auto& a = c_.a;
  const auto &p = from[0], &q = from[1], &r = from[2], &s = from[3];
  const x86::Ymm low = *to[0], high = to[2] ? *to[2] : *to[3];
  a.vunpcklps(low, p, q);
  a.vunpckhps(high, p, q);
  a.vunpcklps(p, r, s);
  a.vunpckhps(q, r, s);
  if (to[1]) a.vunpckhpd(*to[1], low, p);
  a.vunpcklpd(low, low, p);
  if (to[3]) a.vunpckhpd(*to[3], high, q);
  if (to[2]) a.vunpcklpd(*to[2], high, q);
}

// ---- Masks

// A gather merges into its result, which has to be 0 in inactive lanes, and zeroing it breaks the dependency
// on its old value.
void LaneSite::gather_under(x86::Ymm mask, std::uint32_t id, x86::Ymm to, const x86::Mem& memory) const {
  auto& a = c_.a;
  a.vpxor(to, to, to);
  if (c_.host.evex()) {
    if (!masked()) {
      a.kxnorb(scratch_mask, x86::k0, x86::k0);  // does not depend on the gather before it
    } else if (id == x86::Inst::kIdVpgatherdq) {
      a.vpmovq2m(scratch_mask, mask);
    } else {
      a.vpmovd2m(scratch_mask, mask);
    }
    a.k(scratch_mask);
    return (void)a.emit(id, to, memory);
  }
  if (!masked()) {
    a.vpcmpeqd(t, t, t);
  } else if (mask != t) {
    a.vmovaps(t, mask);
  }
  a.emit(id, to, memory, t);
}

void LaneSite::wide_mask(x86::Ymm to, unsigned row, unsigned half) const {
  auto& a = c_.a;
  if (half == 0) return (void)a.vpmovsxdq(to, masks_[row].xmm());
  a.vextracti128(to.xmm(), masks_[row], 1);
  a.vpmovsxdq(to, to.xmm());
}

void LaneSite::narrow_mask(x86::Ymm to) const {
  auto& a = c_.a;
  a.vpackssdw(to, masks_[0], masks_[rows() - 1]);
  a.vpermq(to, to, 0xd8);
  if (element() == 2) return;
  // 8 or 16 words to bytes, in the lower half.
  a.vpacksswb(to, to, to);
  a.vpermq(to, to, 0xd8);
}

void LaneSite::places_or(x86::Ymm chosen, unsigned row, x86::Ymm to) const {
  c_.a.vpxor(to, chosen, places_[row]);
  c_.a.vpand(to, to, masks_[row]);
  c_.a.vpxor(to, to, chosen);
}

void LaneSite::go_if_no_lane(std::span<const x86::Ymm> results, asmjit::Label done) const {
  auto& a = c_.a;
  const asmjit::Label some = a.newLabel();
  a.test(reg.mask.r32(), reg.mask.r32());
  a.jnz(some);
  for (const x86::Ymm& result : results) a.vpxor(result, result, result);
  a.jmp(done);
  a.bind(some);
}

// ---- Elements of 1 or 2 bytes

void LaneSite::pack_narrow(x86::Ymm to, x86::Ymm second) const {
  auto& a = c_.a;
  a.vpackusdw(to, to, rows() == 1 ? to : second);
  a.vpermq(to, to, 0xd8);
  if (element() == 2) return;
  a.vextracti128(t.xmm(), to, 1);
  a.vpackuswb(to.xmm(), to.xmm(), t.xmm());
}

// ---- Lanes one by one

void LaneSite::store_vectors(int frame_offset, std::span<const x86::Ymm> from) const {
  for (std::size_t i = 0; i < from.size(); ++i)
    c_.a.vmovaps(x86::ptr(x86::rsp, frame_offset + static_cast<int>(i) * 32, 32), from[i]);
}

void LaneSite::spill_values(std::span<const x86::Ymm> data, unsigned count) const {
  if (count == 0) return;
  const std::size_t each = data.size() / count;
  // In ascending order, as a vector may reach beyond the lanes of its value into the next one.
  for (std::size_t i = 0; i < data.size(); ++i)
    c_.a.vmovups(x86::ptr(x86::rsp, Frame::data + static_cast<int>(i / each * bytes() + i % each * 32), 32),
                 data[i]);
}

void LaneSite::restore_values(std::span<const x86::Ymm> data, unsigned count) const {
  const std::size_t each = data.size() / count;
  for (std::size_t i = 0; i < data.size(); ++i)
    c_.a.vmovups(data[i],
                 x86::ptr(x86::rsp, Frame::data + static_cast<int>(i / each * bytes() + i % each * 32), 32));
}

void LaneSite::fetch_place(x86::Gp to, unsigned row, unsigned lane_of_row) const {
  const auto at = static_cast<int>(8 * row + lane_of_row) * 4;
  c_.a.mov(to.r32(), x86::ptr(x86::rsp, Frame::operands + at, 4));
}

LaneSite::RowPlaces::RowPlaces(const LaneSite& site, x86::Ymm places)
    : a_(site.c_.a),
      pairs_{site.reg.first[0].r64(), site.reg.first[1].r64(), site.lane.r64(), site.bits.r64()},
      even_(site.reg.limit) {
  const x86::Xmm low = places.xmm(), high = site.u.xmm();
  a_.vextracti128(high, places, 1);
  a_.vmovq(pairs_[0], low);
  a_.vpextrq(pairs_[1], low, 1);
  a_.vmovq(pairs_[2], high);
  a_.vpextrq(pairs_[3], high, 1);
}

x86::Gp LaneSite::RowPlaces::of(unsigned lane) {
  const unsigned pair = lane / 2;
  const bool is_odd = lane % 2 != 0;
  if (lane != std::exchange(last_, lane)) {
    if ((parted_ >> pair & 1) != 0) throw codegen::EngineBug("a place was asked for behind its neighbour's");
    if (is_odd) {
      a_.shr(pairs_[pair], 32);
      parted_ |= 1u << pair;
    } else {
      a_.mov(even_.r32(), pairs_[pair].r32());
    }
  }
  return is_odd ? pairs_[pair] : even_;
}

void LaneSite::for_each_lane(const std::function<void()>& emit) const {
  store_vectors(Frame::operands, {places_.data(), rows()});
  loop_over_lanes(Frame::operands, emit);
}

void LaneSite::loop_over_lanes(int places, const std::function<void()>& emit) const {
  auto& a = c_.a;
  const asmjit::Label end = a.newLabel();
  if (masked()) {
    a.mov(bits.r32(), reg.mask.r32());
    a.test(bits.r32(), bits.r32());
    a.jz(end);
  } else {
    a.mov(bits.r32(), ir::lane_mask(lanes()));
  }
  loop_over_left_lanes(places, emit);
  a.bind(end);
}

void LaneSite::loop_over_left_lanes(int places, const std::function<void()>& emit) const {
  auto& a = c_.a;
  const asmjit::Label next = a.newLabel();
  const x86::Mem offset = x86::ptr(x86::rsp, lane, 2, places, 4);
  // Few instructions, repeated for each lane: across two cache lines they take up to 1.09 of the kernel's
  // time.
  a.align(asmjit::AlignMode::kCode, 32);
  a.bind(next);
  a.tzcnt(lane.r32(), bits.r32());
  a.mov(place().r32(), offset);
  emit();
  a.blsr(bits.r32(), bits.r32());
  a.jnz(next);
}

}  // namespace eum::jit::avx2::emit

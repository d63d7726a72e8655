// The parts of memory emitters that loads, stores and atomics share; see memory.hpp.
#include "jit/avx2/emit/memory.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "jit/codegen/bug.hpp"
#include "memory/address_space.hpp"
#include "memory/surface.hpp"

namespace eum::jit::avx2::emit {

using codegen::Location;

namespace {

template <class T>
T word(const std::byte* frame, int offset) {
  T value;
  std::memcpy(&value, frame + offset, sizeof value);
  return value;
}

void remember(const StateLayout& layout, ThreadState& state, const Access& site, const CachedRegion& found) {
  CachedRegion* const regions = layout.regions_of(state);
  const bool first = regions[site.region].size == 0;
  regions[site.region] = found;
  if (!first) return;
  // A guess, at no cost, for accesses that have not looked up theirs yet.
  const auto [begin, end] = layout.regions_for(site.mem.space);
  for (std::uint32_t i = begin; i < end; ++i)
    if (regions[i].size == 0) regions[i] = found;
}

/// Whether the element of some lane begins in the region: then the lanes are in several regions, and another
/// region would not serve the access.
bool serves_some(const CachedRegion& region, const Access& site, const AccessOperands& operands) {
  for (std::uint32_t left = operands.mask & ir::lane_mask(site.lanes); left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    if (address_of(site, operands, lane) - region.start < region.size) return true;
  }
  return false;
}

/// Caches the region for the next access of translated code, in this thread and in those that run after it in
/// the batch.
void remember_region(ThreadState* state, const CodeData& data, const Access& site,
                     const AccessOperands& operands, const std::byte* frame) {
  if (!ir::info(site.mem.space).in_space || operands.mask == 0 || !state->environment->space) return;
  if (serves_some(data.layout.regions_of(*state)[site.region], site, operands)) return;
  const std::uint64_t address =
      address_of(site, operands, static_cast<unsigned>(std::countr_zero(operands.mask)));
  const mem::Region* region = state->environment->space->find(address);
  if (!region || !region->host || region->access != mem::Access::ReadWrite) return;
  CachedRegion found{region->address, region->size, region->host};
  // So that the distance of an address below the start, modulo 4 GiB, is beyond the size.
  if (site.mem.space == ir::MemSpace::A32)
    found.size = std::min(found.size, (std::uint64_t{1} << 32) - found.start);
  // In all states in which threads may still run.
  const auto* batch = word<const ThreadBatch*>(frame, Frame::batch);
  ThreadState* at = batch->groups != nullptr ? batch->group_states : state;
  for (; at <= batch->last; at = data.layout.next(*at)) remember(data.layout, *at, site, found);
}

/// The value of the surface operand, at `offset` of the frame.
std::uint64_t surface_operand(const Access& access, const std::byte* frame, int offset) {
  return access.mem.is_based() ? word<std::uint64_t>(frame, offset) : word<std::uint32_t>(frame, offset);
}

bool perform(ThreadState* state, const CodeData& data, const CodeData::CallSite& site,
             const AccessOperands& operands, std::byte* frame) {
  remember_region(state, data, site.access, operands, frame);
  return site.function(*state->environment, site.access, operands, frame + Frame::data, state->fault);
}

/// Performs the access of a site whose operands are in the frame. False: a fault is in the state.
bool do_access(ThreadState* state, const CodeData* data, std::byte* frame) {
  const CodeData::CallSite& site = data->call_sites[word<std::uint32_t>(frame, Frame::site)];
  return perform(state, *data, site,
                 {surface_operand(site.access, frame, Frame::surface), frame + Frame::operands,
                  word<std::uint32_t>(frame, Frame::mask)},
                 frame);
}

/// Where the call of a site has saved a register.
std::byte* saved_vector(std::byte* frame, std::uint8_t reg) {
  return frame + Frame::saved_vectors + reg * 32;
}
std::byte* saved_general(std::byte* frame, std::uint8_t reg) {
  return frame + Frame::saved_generals + reg * 8;
}

/// The same for a site whose operands are in registers, from their saved copies in the frame.
bool do_register_access(ThreadState* state, const CodeData* data, std::byte* frame) {
  const CodeData::CallSite& site = data->call_sites[word<std::uint32_t>(frame, Frame::site)];
  const Access& access = site.access;
  const unsigned element = ir::size_of(access.type), bytes = access.lanes * element;
  const unsigned vectors = std::max(1u, (bytes + 31) / 32);  // of each value
  std::byte* const addresses = frame + Frame::operands;
  std::byte* const values = frame + Frame::data;
  const auto general = [&](std::optional<std::uint8_t> reg, std::uint32_t otherwise) {
    return reg ? word<std::uint32_t>(saved_general(frame, *reg), 0) : otherwise;
  };
  const std::uint64_t surface =
      site.surface ? surface_operand(access, saved_general(frame, *site.surface), 0) : access.mem.surface;
  const AccessOperands operands{surface, addresses, general(site.mask, ir::lane_mask(access.lanes))};
  if (site.address) std::memcpy(addresses, saved_general(frame, *site.address), 8);
  const auto registers = std::span(data->registers).subspan(site.registers);
  const auto address_registers = registers.first(site.addresses),
             data_registers = registers.subspan(site.addresses, site.data),
             result_registers = registers.subspan(site.addresses + site.data, site.results);
  if (!site.in_vectors) {
    for (std::size_t k = 0; k < data_registers.size(); ++k)
      std::memcpy(values + k * element, saved_general(frame, data_registers[k]), 8);
    if (!perform(state, *data, site, operands, frame)) return false;
    if (result_registers.empty()) return true;
    // In the form that scalars have in registers.
    auto value = word<std::uint64_t>(values, 0);
    if (element < 8) {
      const unsigned unused = 64 - 8 * element;
      value <<= unused;
      value = ir::is_signed(access.type)
                  ? static_cast<std::uint32_t>(static_cast<std::int64_t>(value) >> unused)
                  : value >> unused;
    }
    std::memcpy(saved_general(frame, result_registers[0]), &value, sizeof value);
    return true;
  }
  for (std::size_t i = 0; i < address_registers.size(); ++i)
    std::memcpy(addresses + i * 32, saved_vector(frame, address_registers[i]), 32);
  // In ascending order, as a vector may reach beyond the lanes of its value into the next one.
  const auto place = [&](std::size_t i) { return values + i / vectors * bytes + i % vectors * 32; };
  for (std::size_t i = 0; i < data_registers.size(); ++i)
    std::memcpy(place(i), saved_vector(frame, data_registers[i]), 32);
  if (!perform(state, *data, site, operands, frame)) return false;
  for (std::size_t i = 0; i < result_registers.size(); ++i)
    std::memcpy(saved_vector(frame, result_registers[i]), place(i), 32);
  return true;
}

}  // namespace

// ---- Checked addresses

int CheckedAddress::displacement(unsigned offset, unsigned bytes) const {
  if (offset + bytes > extent_) throw codegen::EngineBug("an access goes beyond what was checked");
  return static_cast<int>(offset);
}

x86::Mem CheckedAddress::at(unsigned offset, unsigned bytes, unsigned row) const {
  if (!is_window_ && !rows_[row].isValid()) throw codegen::EngineBug("a run was not checked");
  return of_row(row, behind_ + displacement(offset, bytes), bytes);
}

x86::Mem CheckedAddress::lane(x86::Gp address, unsigned offset, unsigned bytes) const {
  return x86::ptr(base_, address, 0, displacement(offset, bytes), bytes);
}

x86::Mem CheckedAddress::gather(x86::Vec addresses, unsigned offset, unsigned bytes) const {
  return x86::ptr(base_, addresses, 0, displacement(offset, bytes), bytes);
}

// ---- Sites

MemorySite::MemorySite(Compiler& c, const CodeInst& inst, unsigned first_lane, unsigned lanes)
    : c_(c),
      inst_(&inst),
      access_(Access::of(c.function, inst)),
      first_arg_(access_.mem.address_operand()),
      masked_(inst.mask != ir::no_value),
      by_runs_(inst.runs != 0) {
  access_.first_lane = static_cast<std::uint8_t>(first_lane);
  access_.lanes = static_cast<std::uint8_t>(lanes);
  access_.rows = inst.rows;
  if (in_space()) access_.region = c.region_numbers.of(inst);
}

void MemorySite::acquire_window() {
  if (mem().surface_is_operand) reg.surface = c_.g.use(inst_->args[0]);
  reg.limit = c_.g.scratch();
  acquire_base();
}

void MemorySite::acquire_base() {
  const std::optional<Location> kept = kept_base();
  has_base_ = kept.has_value();
  reg.base = kept ? c_.g.use_pointer(*kept) : c_.g.scratch();
}

std::optional<Location> MemorySite::kept_base() const {
  const ir::Op op = inst_->op;
  if (op == ir::Op::atomic) return std::nullopt;  // a comparison may need its register
  if (mem().is_fixed_surface()) {
    // Stores to buffers fetch it anew: with addresses known that early, eight stores of 16 bytes to different
    // lines took 1.2 of their time on Zen 5.
    if (op == ir::Op::store || op == ir::Op::block_store) return std::nullopt;
    return Location::surfaces(mem().surface * sizeof(mem::Surface) + offsetof(mem::Surface, base));
  }
  if (mem().space == ir::MemSpace::Slm) return Location::frame(Frame::slm);
  if (mem().space == ir::MemSpace::Scratch) return Location::frame(Frame::scratch);
  return std::nullopt;
}

void MemorySite::set_base(const Window& window) const {
  if (!has_base_) c_.a.mov(reg.base, window.base);
}

x86::Gp MemorySite::acquire_address() {
  const x86::Gp address = c_.g.use(addresses());
  if (masked()) reg.mask = c_.m.bits(inst_->mask);
  return address;
}

x86::Gp MemorySite::acquire_scalar(unsigned extent) {
  if (!end_of(extent)) return acquire_scalar_copy();
  const x86::Gp address = acquire_address();
  acquire_base();
  return address;
}

x86::Gp MemorySite::acquire_scalar_copy() {
  const x86::Gp address = acquire_address();
  acquire_window();
  reg.first[0] = c_.g.scratch();
  return address;
}

void MemorySite::copy_address(x86::Gp address) const {
  if (wide()) {
    c_.a.mov(reg.first[0], address);
  } else {
    c_.a.mov(reg.first[0].r32(), address.r32());
  }
}

x86::Mem MemorySite::region(std::size_t field, unsigned bytes) const {
  return c_.state(c_.layout.regions + access_.region * sizeof(CachedRegion) + field, bytes);
}

MemorySite::Window MemorySite::find_window(asmjit::Label otherwise) const {
  auto& a = c_.a;
  const auto surface = [](const x86::Gp& table, int entry) {
    return Window{x86::ptr(table, entry + static_cast<int>(offsetof(mem::Surface, base)), 8),
                  x86::ptr(table, entry + static_cast<int>(offsetof(mem::Surface, direct)), 8)};
  };
  switch (mem().space) {
    case ir::MemSpace::Surface:
      if (!reg.surface.isValid())
        return surface(surfaces_reg, mem().surface * static_cast<int>(sizeof(mem::Surface)));
      a.cmp(reg.surface.r32(), static_cast<int>(mem::binding_table_size));
      a.jae(otherwise);
      a.imul(reg.base.r32(), reg.surface.r32(), static_cast<int>(sizeof(mem::Surface)));
      a.add(reg.base, surfaces_reg);
      return surface(reg.base, 0);
    case ir::MemSpace::Slm:
      return {x86::ptr(x86::rsp, Frame::slm, 8), x86::ptr(x86::rsp, Frame::slm_bytes, 8)};
    case ir::MemSpace::Scratch:
      return {x86::ptr(x86::rsp, Frame::scratch, 8), x86::ptr(x86::rsp, Frame::scratch_bytes, 8)};
    default:
      return {region(offsetof(CachedRegion, host), 8), region(offsetof(CachedRegion, size), 8)};
  }
}

std::optional<MemorySite::End> MemorySite::end_of(unsigned extent) const {
  constexpr auto& lengths = mem::ReachableBytes::lengths;
  const auto length = std::ranges::lower_bound(lengths, extent);
  const bool has_ends = mem().is_fixed_surface() || mem().space == ir::MemSpace::Slm;
  if (!has_ends || length == lengths.end()) return std::nullopt;
  // The sizes of these windows are mem::ReachableBytes, and are found without code.
  const auto end = mem::ReachableBytes::end_offset(static_cast<std::size_t>(length - lengths.begin()));
  return End{find_window({}).size.cloneAdjusted(static_cast<std::int64_t>(end)), *length == extent};
}

CheckedAddress MemorySite::check_runs_by_end(std::span<const x86::Gp> addresses, unsigned extent,
                                             asmjit::Label otherwise) const {
  std::array<x86::Gp, 2> rows;
  const End end = end_of(extent).value();
  for (std::size_t row = 0; row < addresses.size(); ++row) {
    const x86::Gp address = addresses[row].r64();  // all 64 bits, as the access uses them
    rows[row] = address;
    c_.a.cmp(address, end.at);
    if (end.is_exact) {
      c_.a.jae(otherwise);
      continue;
    }
    const asmjit::Label near_end = c_.a.newLabel(), inside = c_.a.newLabel();
    c_.a.jae(near_end);
    c_.a.bind(inside);
    c_.out_of_line([site = *this, near_end, inside, otherwise, address, extent] {
      auto& a = site.c_.a;
      const x86::Gp last = site.reg.base;
      const asmjit::Label outside = a.newLabel();
      const Window window = site.find_window(otherwise);
      a.bind(near_end);
      a.mov(last, window.size);
      a.sub(last, extent);
      a.jb(outside);
      a.cmp(address, last);
      a.ja(outside);
      a.mov(site.reg.base, window.base);
      a.jmp(inside);
      a.bind(outside);
      a.mov(site.reg.base, window.base);
      a.jmp(otherwise);
    });
  }
  set_base(find_window(otherwise));
  return {reg.base, rows, extent};
}

CheckedAddress MemorySite::check_runs(unsigned rows, unsigned extent, bool located,
                                      asmjit::Label otherwise) const {
  auto& a = c_.a;
  if (end_of(extent)) return check_runs_by_end(std::span(reg.first).first(rows), extent, otherwise);
  const Window window = find_window(otherwise);
  if (in_space() && !located) {
    // A 32-bit address below the region's start is beyond its end in 64 bits.
    a.mov(reg.limit, window.size);
    a.sub(reg.limit, extent);
    a.jb(otherwise);
    for (unsigned row = 0; row < rows; ++row) {
      a.sub(reg.first[row], region(offsetof(CachedRegion, start), 8));
      a.cmp(reg.first[row], reg.limit);
      a.ja(otherwise);
    }
  } else {
    for (unsigned row = 0; row < rows; ++row) {
      a.lea(reg.limit, x86::ptr(reg.first[row], static_cast<int>(extent)));  // 32 bits: the sum does not wrap
      a.cmp(reg.limit, window.size);
      a.ja(otherwise);
    }
  }
  set_base(window);
  return {reg.base, reg.first, extent};
}

CheckedAddress MemorySite::check_scalar(x86::Gp address, unsigned extent, asmjit::Label otherwise) const {
  if (end_of(extent)) return check_runs_by_end({&address, 1}, extent, otherwise);
  copy_address(address);
  return check_runs(1, extent, false, otherwise);
}

CheckedAddress MemorySite::check_lanes(const Lanes& lanes, unsigned extent, asmjit::Label otherwise) const {
  auto& a = c_.a;
  const x86::Ymm limit = lanes.t, outside = lanes.u;
  const Window window = find_window(otherwise);
  a.mov(reg.limit, window.size);
  set_base(window);
  a.sub(reg.limit, extent);
  // One unsigned comparison catches a window that is too small (below zero) and one that is too large for the
  // signed 32-bit indices of a gather.
  a.cmp(reg.limit, 0x7ffffff0 - static_cast<int>(extent));
  a.ja(otherwise);
  a.vmovd(limit.xmm(), reg.limit.r32());
  a.vpbroadcastd(limit, limit.xmm());
  for (std::size_t row = 0; row < lanes.places.size(); ++row) {
    const x86::Ymm place = lanes.places[row], inside = row == 0 ? outside : lanes.v;
    a.vpminud(inside, limit, place);
    a.vpcmpeqd(inside, inside, place);
    // A lane outside the mask counts as in bounds.
    if (!lanes.masks.empty()) a.vpandn(inside, inside, lanes.masks[row]);
    if (row == 0) continue;
    if (lanes.masks.empty()) {
      a.vpand(outside, outside, inside);
    } else {
      a.vpor(outside, outside, inside);
    }
  }
  a.vmovmskps(lanes.free.r32(), outside);
  if (lanes.masks.empty()) {
    a.cmp(lanes.free.r32(), 0xff);
  } else {
    a.test(lanes.free.r32(), lanes.free.r32());
  }
  a.jne(otherwise);
  return {reg.base, {}, extent};
}

// ---- Calls

void MemorySite::call_out_of_line(asmjit::Label entry, asmjit::Label done, AccessFunction function,
                                  const CallRegisters& registers) const {
  CodeData::CallSite site;
  site.access = access_;
  site.function = function;
  const auto number = [](const auto& reg) { return static_cast<std::uint8_t>(reg.id()); };
  site.registers = static_cast<std::uint32_t>(c_.data.registers.size());
  const auto add = [&](const auto& list) {
    for (const auto& reg : list) c_.data.registers.push_back(number(reg));
    return static_cast<std::uint8_t>(list.size());
  };
  site.in_vectors = registers.in_vectors;
  if (reg.mask.isValid()) site.mask = number(reg.mask);
  if (reg.surface.isValid()) site.surface = number(reg.surface);
  if (registers.address.isValid()) site.address = number(registers.address);
  site.addresses = add(registers.addresses);
  site.data = site.in_vectors ? add(registers.data) : add(registers.generals);
  site.results = registers.result.isValid() ? add(std::span(&registers.result, 1)) : add(registers.results);
  c_.data.call_sites.push_back(site);
  const auto index = static_cast<std::uint32_t>(c_.data.call_sites.size() - 1);
  c_.out_of_line([&c = c_, entry, done, index] {
    c.a.bind(entry);
    c.call_site_out_of_line(index);
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
  if (masked()) reg.mask = c_.m.bits(inst_->mask);
  if (mem().surface_is_operand) reg.surface = c_.g.use(inst_->args[0]);
  const auto store = [&](int offset, const x86::Gp& from, std::uint32_t otherwise) {
    const x86::Mem to = x86::ptr(x86::rsp, offset, 4);
    if (from.isValid()) {
      c_.a.mov(to, from.r32());
    } else {
      c_.a.mov(to, asmjit::Imm(static_cast<std::int32_t>(otherwise)));
    }
  };
  store(Frame::mask, reg.mask, ir::lane_mask(lanes()));
  if (based())
    c_.a.mov(x86::ptr(x86::rsp, Frame::surface, 8), reg.surface);
  else
    store(Frame::surface, reg.surface, mem().surface);
  c_.regs.unpin();
  c_.data.call_sites.push_back({access_, function});
  c_.call_site(static_cast<std::uint32_t>(c_.data.call_sites.size() - 1), *inst_);
  for (unsigned k = 0; k < inst_->result_count; ++k)
    c_.load_packed(inst_->result + k, Frame::data + static_cast<int>(k * bytes()));
}

}  // namespace eum::jit::avx2::emit

namespace eum::jit::avx2 {

const void* access_function() { return reinterpret_cast<const void*>(&emit::do_access); }
const void* register_access_function() { return reinterpret_cast<const void*>(&emit::do_register_access); }

}  // namespace eum::jit::avx2

// Elements of the register file at addresses known only at run time. The file's memory is brought up to date
// first, and after a write no register caches any of it. Runs of elements from one address, and elements with
// an address per lane, are in line; the rest, including whatever faults, is done by a function, lane by lane.
#include "jit/avx2/emit/indirect.hpp"

#include <bit>

#include "jit/avx2/emit/formula.hpp"

namespace eum::jit::avx2::emit {

namespace I = x86::Inst;
using ir::Type;

namespace {

struct RegisterAccess {
  std::uint32_t end, lanes, guest_ip;
  ir::OwnInsts own;
};

/// OneByOne: a write whose lanes are separate guest instructions.
enum class Direction : std::uint8_t { Read, Write, OneByOne };

/// Performs the lanes as separate instructions: each value is read from the register file as it is by then.
template <class Element>
bool write_one_by_one(ThreadState* state, std::byte* file, const RegisterAccess* access,
                      const std::uint16_t* addresses, std::uint32_t mask) {
  for (std::uint32_t left = mask & ir::lane_mask(access->lanes); left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    if (addresses[lane] + sizeof(Element) > access->end) {
      state->fault = {FaultKind::BadRegister, access->guest_ip + lane * access->own.ip_step,
                      access->own.guest_lane(lane), sizeof(Element), addresses[lane]};
      return false;
    }
    std::memmove(file + addresses[lane], file + access->own.source_of(lane, sizeof(Element)),
                 sizeof(Element));
  }
  return true;
}

/// Lane by lane at byte addresses of the register file; data packed. False: a fault is in the state, and
/// nothing is written.
template <class Element, Direction direction>
bool access_registers(ThreadState* state, std::byte* file, const RegisterAccess* access,
                      const std::uint16_t* addresses, std::byte* data, std::uint32_t mask) {
  if constexpr (direction == Direction::OneByOne)
    return write_one_by_one<Element>(state, file, access, addresses, mask);
  mask &= ir::lane_mask(access->lanes);
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    if (addresses[lane] + sizeof(Element) <= access->end) continue;
    state->fault = {FaultKind::BadRegister, access->guest_ip, access->own.guest_lane(lane), sizeof(Element),
                    addresses[lane]};
    return false;
  }
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    std::byte* const element = data + lane * sizeof(Element);
    std::byte* const place = file + addresses[lane];
    std::memcpy(direction == Direction::Write ? place : element,
                direction == Direction::Write ? element : place, sizeof(Element));
  }
  return true;
}

template <Direction direction>
const void* register_access(unsigned bytes) {
  switch (bytes) {
    case 1:
      return reinterpret_cast<const void*>(&access_registers<std::uint8_t, direction>);
    case 2:
      return reinterpret_cast<const void*>(&access_registers<std::uint16_t, direction>);
    case 4:
      return reinterpret_cast<const void*>(&access_registers<std::uint32_t, direction>);
    default:
      return reinterpret_cast<const void*>(&access_registers<std::uint64_t, direction>);
  }
}

}  // namespace

void Indirect::emit() {
  c_.regs.slots.write_back_all();
  if (writes_) c_.regs.slots.invalidate_all();
  const bool run =
      !one_by_one_ && is_run() && bytes_ <= end_ && (bytes_ % 32 == 0 || std::has_single_bit(bytes_));
  if (run && inst_.lanes == 1) return one();
  // A write takes two or three registers per chunk.
  if (run && bytes_ >= 4 && !(writes_ && bytes_ > 128)) return writes_ ? scatter_run() : gather_run();
  if (!writes_ && element_ <= 4 && inst_.lanes % 8 == 0 && end_ >= 4) return gather_lanes();
  const bool has_room = c_.function.file_bytes + StateLayout::beyond_file_bytes <= 0x10000;
  if (writes_ && inst_.lanes % 8 == 0 && end_ >= element_ && has_room) return scatter_lanes();
  call_in_line();
}

void Indirect::fetch_mask() {
  if (inst_.mask == ir::no_value) return;
  c_.m.bits(inst_.mask);
  c_.regs.unpin();
  bits_ = c_.m.bits(inst_.mask);
}

void Indirect::fetch() {
  fetch_mask();
  const auto fetch = [&](ir::ValueId value, std::vector<x86::Ymm>& vectors) {
    if (c_.regs.is_scalar(value)) return c_.g.use(value);
    for (unsigned chunk = 0; chunk < c_.v.chunks(value); ++chunk) vectors.push_back(c_.v.use(value, chunk));
    return x86::Gp();
  };
  address_ = fetch(inst_.args[0], addresses_);
  if (writes_) scalar_ = fetch(inst_.args[1], data_);
  first_ = c_.g.scratch();
}

void Indirect::define_results() {
  for (unsigned chunk = 0; chunk < c_.v.chunks(inst_.result); ++chunk)
    data_.push_back(c_.v.define(inst_.result, chunk));
}

Indirect::Sum Indirect::address_sum() const {
  const CodeInst* sum = definition(c_, inst_.args[0]);
  if (!sum || sum->op != ir::Op::add) return {};
  const CodeInst* value = definition(c_, sum->args[0]);
  const CodeInst* steps = definition(c_, sum->args[1]);
  if (!value || !steps) return {};
  if (value->op == ir::Op::vconst) std::swap(value, steps);
  if (steps->op != ir::Op::vconst) return {};
  return {value, &c_.function.pool[steps->imm]};
}

bool Indirect::is_run() const {
  if (inst_.lanes == 1) return true;
  const Sum sum = address_sum();
  if (!sum.value || sum.value->op != ir::Op::splat) return false;
  const ir::PoolEntry& lanes = *sum.steps;
  for (unsigned i = 1; i < inst_.lanes; ++i)
    if (lanes[i] != lanes[0] + std::uint64_t{i} * element_) return false;
  return true;
}

void Indirect::check_run() {
  if (address_.isValid()) {
    c_.a.mov(first_.r32(), address_.r32());
  } else {
    c_.a.vmovd(first_.r32(), addresses_[0].xmm());
    c_.a.movzx(first_.r32(), first_.r16());
  }
  c_.a.cmp(first_.r32(), end_ - bytes_);
  c_.a.ja(slow_);
}

void Indirect::one() {
  fetch();
  if (!writes_ && c_.regs.is_scalar(inst_.result)) {
    scalar_ = c_.g.define(inst_.result);
  } else if (!writes_) {
    data_.push_back(c_.v.define(inst_.result));
  }
  if (writes_ && bits_.isValid()) {
    c_.a.test(bits_.r8(), 1);
    c_.a.jz(done_);
  }
  check_run();
  const x86::Mem place = file(first_, 0, element_);
  if (!scalar_.isValid()) {
    move(data_[0], place, element_);
  } else if (writes_) {
    c_.a.mov(place, low_part(scalar_, element_));
  } else {
    load_scalar(c_.a, scalar_, place, inst_.type);
  }
  finish();
}

void Indirect::move(x86::Ymm vector, x86::Mem place, unsigned bytes) {
  const x86::Xmm low = vector.xmm();
  const auto either = [&](std::uint32_t id, const x86::Vec& reg) {
    writes_ ? c_.a.emit(id, place, reg) : c_.a.emit(id, reg, place);
  };
  switch (bytes) {
    case 2:
      writes_ ? c_.a.vpextrw(place, low, 0) : c_.a.vpinsrw(low, low, place, 0);
      return;
    case 4:
      return either(I::kIdVmovd, low);
    case 8:
      return either(I::kIdVmovq, low);
    case 16:
      return either(I::kIdVmovups, low);
    default:
      return either(I::kIdVmovups, vector);
  }
}

void Indirect::gather_run() {
  fetch();
  define_results();
  check_run();
  const unsigned size = std::min(bytes_, 32u);
  for (unsigned chunk = 0; chunk < data_.size(); ++chunk)
    move(data_[chunk], file(first_, chunk * 32, size), size);
  finish();
}

void Indirect::scatter_run() {
  fetch();
  const unsigned size = std::min(bytes_, 32u);
  std::vector<x86::Ymm> masks;
  for (unsigned chunk = 0; bits_.isValid() && chunk < data_.size(); ++chunk)
    masks.push_back(c_.m.lanes(inst_.mask, element_, chunk));
  const x86::Ymm blended = c_.v.scratch();
  check_run();
  for (unsigned chunk = 0; chunk < data_.size(); ++chunk) {
    const x86::Mem place = file(first_, chunk * 32, size);
    x86::Ymm from = data_[chunk];
    if (bits_.isValid()) {
      writes_ = false;
      move(blended, place, size);
      writes_ = true;
      const std::uint32_t id = element_ == 4   ? I::kIdVblendvps
                               : element_ == 8 ? I::kIdVblendvpd
                                               : I::kIdVpblendvb;
      c_.a.emit(id, blended, blended, from, masks[chunk]);
      from = blended;
    }
    move(from, place, size);
  }
  finish();
}

void Indirect::load_words(const Words& places, x86::Xmm words) {
  c_.a.vmovq(places[0].r64(), words);
  c_.a.vpextrq(places[1].r64(), words, 1);
}

void Indirect::check(x86::Ymm addresses, unsigned most, x86::Ymm free, bool beyond) {
  c_.a.vpminuw(free, addresses, c_.splat(most, 2));
  c_.a.vpcmpeqw(free, free, addresses);
  c_.a.vpmovmskb(first_.r32(), free);
  if (!beyond) c_.a.not_(first_.r32());
  c_.a.test(first_.r32(), asmjit::Imm(inst_.lanes == 8 ? 0xffff : -1));
  c_.a.jnz(slow_);
}

x86::Xmm Indirect::eight_words(const std::vector<x86::Ymm>& vectors, unsigned i, x86::Ymm free) {
  if (i % 2 == 0) return vectors[i / 2].xmm();
  c_.a.vextracti128(free.xmm(), vectors[i / 2], 1);
  return free.xmm();
}

void Indirect::scatter_lanes() {
  fetch();
  const Words places{c_.g.scratch(), c_.g.scratch()};
  lane_ = places[0];
  const x86::Ymm moved = c_.v.scratch(), free = c_.v.scratch();
  const bool masked = bits_.isValid();
  std::vector<x86::Ymm> to = addresses_, on(addresses_.size());
  for (std::size_t k = 0; masked && k < to.size(); ++k) {
    to[k] = c_.v.scratch();
    on[k] = c_.m.lanes(inst_.mask, 2, static_cast<unsigned>(k));
  }
  go_if_lone();
  for (std::size_t k = 0; k < to.size(); ++k) {
    x86::Ymm active = addresses_[k];
    if (masked) c_.a.vpand(active = moved, addresses_[k], on[k]);
    check(active, end_ - element_, free);
    if (one_by_one_) {
      // Leaves if a write overlaps a value that another lane reads.
      c_.a.vpsubw(moved, active, c_.splat((inst_.own.source - element_ + 1) & 0xffff, 2));
      check(moved, inst_.own.source_bytes(inst_.lanes, element_) + element_ - 2, free, true);
    }
    if (!masked) continue;
    c_.a.vmovdqu(to[k], c_.splat(c_.function.file_bytes, 2));
    c_.a.vpblendvb(to[k], to[k], addresses_[k], on[k]);
  }
  for (unsigned lane = 0; lane < inst_.lanes; ++lane) {
    if (lane % 8 == 0) load_words(places, eight_words(to, lane / 8, free));
    const unsigned at = lane * element_;
    x86::Xmm from = data_[at / 32].xmm();
    if (at % 32 >= 16) {
      if (at % 16 == 0) c_.a.vextracti128(moved.xmm(), data_[at / 32], 1);
      from = moved.xmm();
    }
    with_address(places[lane % 8 / 4], lane % 4, [&](const x86::Gp& address) {
      store_element(c_, file(address, 0, element_), from, at % 16 / element_);
    });
  }
  finish();
}

void Indirect::store_operands() const {
  const auto store = [&](int offset, x86::Gp scalar, const std::vector<x86::Ymm>& vectors) {
    if (scalar.isValid()) return (void)c_.a.mov(x86::ptr(x86::rsp, offset, 8), scalar);
    for (std::size_t k = 0; k < vectors.size(); ++k)
      c_.a.vmovups(x86::ptr(x86::rsp, offset + static_cast<int>(k) * 32, 32), vectors[k]);
  };
  store(Frame::operands, address_, addresses_);
  if (writes_) store(Frame::data, scalar_, data_);
  store_mask();
}

void Indirect::store_mask() const {
  if (bits_.isValid()) {
    c_.a.mov(x86::ptr(x86::rsp, Frame::mask, 4), bits_.r32());
  } else {
    c_.a.mov(x86::ptr(x86::rsp, Frame::mask, 4), -1);
  }
}

void Indirect::call(const codegen::LiveRegisters& live, const x86::Mem& access) const {
  const void* function = !writes_      ? register_access<Direction::Read>(element_)
                         : one_by_one_ ? register_access<Direction::OneByOne>(element_)
                                       : register_access<Direction::Write>(element_);
  c_.call(
      live, function,
      [this, access] {
        c_.a.mov(x86::rdi, state_reg);
        c_.a.lea(x86::rsi, c_.s.memory(0, 8));
        c_.a.lea(x86::rdx, access);
        c_.a.lea(x86::rcx, x86::ptr(x86::rsp, Frame::operands));
        c_.a.lea(x86::r8, x86::ptr(x86::rsp, Frame::data));
        c_.a.mov(x86::r9d, x86::ptr(x86::rsp, Frame::mask, 4));
      },
      true);
}

x86::Mem Indirect::access() const {
  RegisterAccess access{end_, inst_.lanes, inst_.guest_ip, {}};
  if (writes_) access.own = inst_.own;
  ConstantPool::Entry entry{};
  std::memcpy(entry.data(), &access, sizeof access);
  return c_.constant(entry);
}

void Indirect::go_if_lone() {
  if (!bits_.isValid()) return;
  c_.a.blsr(first_.r32(), bits_.r32());
  c_.a.jz(lone_);
}

void Indirect::access_lone() const {
  auto& a = c_.a;
  a.bind(lone_);
  store_operands();
  a.tzcnt(lane_.r32(), bits_.r32());
  a.jc(done_);  // no lane is active
  a.movzx(first_.r32(), x86::ptr(x86::rsp, lane_.r64(), 1, Frame::operands, 2));
  a.cmp(first_.r32(), end_ - element_);
  a.ja(slow_);
  const x86::Mem place = file(first_, 0, element_);
  if (writes_) {
    const x86::Gp value = low_part(lane_, element_);
    a.mov(value, x86::ptr(x86::rsp, lane_.r64(), static_cast<unsigned>(std::countr_zero(element_)),
                          Frame::data, element_));
    a.mov(place, value);
    return (void)a.jmp(done_);
  }
  a.emit(vpbroadcast.of(element_), data_[0], place);
  for (std::size_t k = 1; k < data_.size(); ++k) a.vmovaps(data_[k], data_[0]);
  a.jmp(done_);
}

void Indirect::finish() {
  c_.out_of_line([self = *this, live = c_.regs.live_registers(), access = access(), type = inst_.type] {
    Compiler& c = self.c_;
    c.a.bind(self.slow_);
    self.store_operands();
    self.call(live, access);
    if (!self.writes_ && self.scalar_.isValid()) {
      load_scalar(c.a, self.scalar_, x86::ptr(x86::rsp, Frame::data), type);
    } else if (!self.writes_) {
      for (std::size_t k = 0; k < self.data_.size(); ++k)
        c.a.vmovups(self.data_[k], x86::ptr(x86::rsp, Frame::data + static_cast<int>(k) * 32, 32));
    }
    c.a.jmp(self.done_);
  });
  if (lane_.isValid() && bits_.isValid()) c_.out_of_line([self = *this] { self.access_lone(); });
  c_.a.bind(done_);
}

void Indirect::call_in_line() {
  c_.store_packed(inst_.args[0], Frame::operands);
  c_.regs.unpin();
  if (writes_) c_.store_packed(inst_.args[1], Frame::data);
  c_.regs.unpin();
  fetch_mask();
  store_mask();
  call(c_.regs.live_after(inst_), access());
  if (!writes_) c_.load_packed(inst_.result, Frame::data);
}

void emit_reg_gather(Compiler& c, const CodeInst& inst) { Indirect(c, inst).emit(); }
void emit_reg_scatter(Compiler& c, const CodeInst& inst) { Indirect(c, inst).emit(); }

}  // namespace eum::jit::avx2::emit

// Elements of the register file at addresses that are known at run time only. Memory of the file is brought
// up to date before, and where it is written no register caches it any more. In line are runs of elements
// from one address, and gathers; what is left, among it whatever faults, is done by a function, lane by lane.
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

/// OneByOne: a write whose lanes are instructions of their own.
enum class Direction : std::uint8_t { Read, Write, OneByOne };

/// Each lane as the instruction that it is: the value is what the register file has by then.
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

/// One reg_gather or reg_scatter. Every register is taken before the first branch.
class Indirect {
 public:
  Indirect(Compiler& c, const CodeInst& inst)
      : c_(c),
        inst_(inst),
        element_(ir::size_of(inst.type)),
        bytes_(inst.lanes * element_),
        end_(c.function.indirect_end()),
        writes_(inst.op == ir::Op::reg_scatter),
        one_by_one_(writes_ && inst.own.given()) {}

  void emit() {
    c_.regs.slots.write_back_all();
    if (writes_) c_.regs.slots.invalidate_all();
    const bool run =
        !one_by_one_ && is_run() && bytes_ <= end_ && (bytes_ % 32 == 0 || std::has_single_bit(bytes_));
    if (run && inst_.lanes == 1) return one();
    // A write takes two or three registers a chunk.
    if (run && bytes_ >= 4 && !(writes_ && bytes_ > 128)) return writes_ ? scatter_run() : gather_run();
    if (!writes_ && element_ <= 4 && inst_.lanes % 8 == 0 && end_ >= 4) return gather_lanes();
    const bool has_room = c_.function.file_bytes + StateLayout::beyond_file_bytes <= 0x10000;
    if (writes_ && inst_.lanes % 8 == 0 && end_ >= element_ && has_room) return scatter_lanes();
    call_in_line();
  }

 private:
  /// The addresses are a0, a0 + element, ... as long as they do not wrap: one address in every lane plus
  /// constants, which is what a region behind one address register is. Where they wrap, some lane's is beyond
  /// the end, and so is the run's end.
  bool is_run() const {
    if (inst_.lanes == 1) return true;
    const CodeInst* sum = definition(c_, inst_.args[0]);
    if (!sum || sum->op != ir::Op::add) return false;
    const CodeInst* base = definition(c_, sum->args[0]);
    const CodeInst* steps = definition(c_, sum->args[1]);
    if (!base || !steps) return false;
    if (base->op == ir::Op::vconst) std::swap(base, steps);
    if (base->op != ir::Op::splat || steps->op != ir::Op::vconst) return false;
    const ir::PoolEntry& lanes = c_.function.pool[steps->imm];
    for (unsigned i = 1; i < inst_.lanes; ++i)
      if (lanes[i] != lanes[0] + std::uint64_t{i} * element_) return false;
    return true;
  }

  x86::Mem file(x86::Reg index, unsigned offset, unsigned bytes) const {
    x86::Mem memory = x86::ptr(state_reg, static_cast<std::int32_t>(c_.layout.file + offset), bytes);
    memory.setIndex(index);
    return memory;
  }

  /// A mask in vectors takes many of them while its bits are collected.
  void fetch_mask() {
    if (inst_.mask == ir::no_value) return;
    c_.m.bits(inst_.mask);
    c_.regs.unpin();
    bits_ = c_.m.bits(inst_.mask);
  }
  /// Operands in registers, and a general register for an address.
  void fetch() {
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
  /// first_ = the address of lane 0; jumps away unless the run from there is in reach.
  void check_run() {
    if (address_.isValid()) {
      c_.a.mov(first_.r32(), address_.r32());
    } else {
      c_.a.vmovd(first_.r32(), addresses_[0].xmm());
      c_.a.movzx(first_.r32(), first_.r16());
    }
    c_.a.cmp(first_.r32(), end_ - bytes_);
    c_.a.ja(slow_);
  }

  void one() {
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

  /// 2 to 32 bytes between a register and memory, in the op's direction.
  void move(x86::Ymm vector, x86::Mem place, unsigned bytes) {
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

  void gather_run() {
    fetch();
    for (unsigned chunk = 0; chunk < c_.v.chunks(inst_.result); ++chunk)
      data_.push_back(c_.v.define(inst_.result, chunk));
    check_run();
    const unsigned size = std::min(bytes_, 32u);
    for (unsigned chunk = 0; chunk < data_.size(); ++chunk)
      move(data_[chunk], file(first_, chunk * 32, size), size);
    finish();
  }

  void scatter_run() {
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

  /// Each lane from its own address: dwords, cut to the elements. Lanes outside the mask have address 0.
  void gather_lanes() {
    fetch();
    for (unsigned k = 0; bits_.isValid() && k < addresses_.size(); ++k) {
      const x86::Ymm on = c_.v.scratch();
      c_.a.vpand(on, addresses_[k], c_.m.lanes(inst_.mask, 2, k));
      addresses_[k] = on;
    }
    const unsigned count = inst_.lanes / 8;
    std::vector<x86::Ymm> dwords;
    for (unsigned i = 0; i < count; ++i)
      dwords.push_back(element_ == 4 ? c_.v.define(inst_.result, i) : c_.v.scratch());
    const x86::Ymm index = c_.v.scratch(), on = c_.v.scratch();
    const bool one_by_one = element_ == 4 && c_.in_small_loop();
    std::array<x86::Gp, 2> places;
    for (x86::Gp& gp : places)
      if (one_by_one) gp = c_.g.scratch();
    for (unsigned k = 0; k < addresses_.size(); ++k) {
      c_.a.vpminuw(index, addresses_[k], c_.splat(end_ - 4, 2));
      c_.a.vpcmpeqw(index, index, addresses_[k]);
      c_.a.vpmovmskb(first_.r32(), index);
      c_.a.not_(first_.r32());
      c_.a.test(first_.r32(), asmjit::Imm(inst_.lanes == 8 ? 0xffff : -1));
      c_.a.jnz(slow_);
    }
    for (unsigned i = 0; i < count; ++i) {
      x86::Xmm words = addresses_[i / 2].xmm();
      if (i % 2 != 0) {
        c_.a.vextracti128(index.xmm(), addresses_[i / 2], 1);
        words = index.xmm();
      }
      if (one_by_one) {
        insert_dwords(dwords[i], on, words, places);
        continue;
      }
      c_.a.vpmovzxwd(index, words);
      c_.a.vpcmpeqd(on, on, on);
      c_.a.vpgatherdd(dwords[i], file(index, 0, 4), on);
    }
    if (element_ == 4) {
      data_ = dwords;
    } else {
      // Packed over themselves: halves first, then their halves.
      for (unsigned bytes = 4; bytes > element_; bytes /= 2) {
        const std::size_t pairs = (dwords.size() + 1) / 2;
        for (std::size_t i = 0; i < pairs; ++i) {
          const x86::Ymm high = dwords[std::min(2 * i + 1, dwords.size() - 1)];
          pack(c_, index, on, dwords[2 * i], high, bytes);
          c_.a.vmovdqa(dwords[i], index);
        }
        dwords.resize(pairs);
      }
      data_ = dwords;
      for (unsigned chunk = 0; chunk < data_.size(); ++chunk) c_.v.bind(inst_.result, chunk, data_[chunk]);
    }
    finish();
  }

  /// `to` = eight dwords at the places that `words` has, by `places`, which hold four words each.
  void insert_dwords(x86::Ymm to, x86::Ymm upper, x86::Xmm words, std::array<x86::Gp, 2> places) {
    auto& a = c_.a;
    a.vmovq(places[0].r64(), words);
    a.vpextrq(places[1].r64(), words, 1);
    for (unsigned i = 0; i < 4; ++i)
      for (const auto& [half, four] : {std::pair{to.xmm(), places[0]}, std::pair{upper.xmm(), places[1]}}) {
        const x86::Gp place = i < 3 ? first_ : four;
        if (i < 3) a.movzx(first_.r32(), four.r16());
        i == 0 ? a.vmovd(half, file(place.r64(), 0, 4)) : a.vpinsrd(half, half, file(place.r64(), 0, 4), i);
        if (i < 3) a.shr(four.r64(), 16);
      }
    a.vinserti128(to, to, upper.xmm(), 1);
  }

  /// One element after the other, without branches: lanes outside the mask go to where nobody looks.
  void scatter_lanes() {
    fetch();
    const x86::Gp element = c_.g.scratch();
    const x86::Ymm place = c_.v.scratch(), test = c_.v.scratch();
    const bool masked = bits_.isValid();
    std::vector<x86::Ymm> on(addresses_.size());
    for (unsigned k = 0; masked && k < on.size(); ++k) on[k] = c_.m.lanes(inst_.mask, 2, k);
    const auto leave_if_any = [&](bool wanted) {
      c_.a.vpmovmskb(first_.r32(), test);
      if (!wanted) c_.a.not_(first_.r32());
      c_.a.test(first_.r32(), asmjit::Imm(inst_.lanes == 8 ? 0xffff : -1));
      c_.a.jnz(slow_);
    };
    for (unsigned k = 0; k < addresses_.size(); ++k) {
      masked ? c_.a.vpand(place, addresses_[k], on[k]) : c_.a.vmovdqa(place, addresses_[k]);
      c_.a.vpminuw(test, place, c_.splat(end_ - element_, 2));
      c_.a.vpcmpeqw(test, test, place);
      leave_if_any(false);
      if (one_by_one_) {
        // Some write overlaps a value that another lane reads.
        c_.a.vpsubw(place, place, c_.splat((inst_.own.source - element_ + 1) & 0xffff, 2));
        const std::uint32_t read = inst_.own.source_bytes(inst_.lanes, element_);
        c_.a.vpminuw(test, place, c_.splat(read + element_ - 2, 2));
        c_.a.vpcmpeqw(test, test, place);
        leave_if_any(true);
      }
      x86::Ymm to = addresses_[k];
      if (masked) {
        c_.a.vmovdqu(place, c_.splat(c_.function.file_bytes, 2));
        c_.a.vpblendvb(place, place, to, on[k]);
        to = place;
      }
      c_.a.vmovups(x86::ptr(x86::rsp, Frame::operands + static_cast<int>(k) * 32, 32), to);
    }
    for (std::size_t k = 0; k < data_.size(); ++k)
      c_.a.vmovups(x86::ptr(x86::rsp, Frame::data + static_cast<int>(k) * 32, 32), data_[k]);
    for (unsigned lane = 0; lane < inst_.lanes; ++lane) {
      c_.a.movzx(first_.r32(), x86::ptr(x86::rsp, Frame::operands + static_cast<int>(2 * lane), 2));
      const x86::Mem from = x86::ptr(x86::rsp, Frame::data + static_cast<int>(lane * element_), element_);
      if (element_ < 4)
        c_.a.movzx(element.r32(), from);
      else
        c_.a.mov(low_part(element, element_), from);
      c_.a.mov(file(first_, 0, element_), low_part(element, element_));
    }
    finish();
  }

  /// Operands in the frame.
  void store_operands() const {
    const auto store = [&](int offset, x86::Gp scalar, const std::vector<x86::Ymm>& vectors) {
      if (scalar.isValid()) return (void)c_.a.mov(x86::ptr(x86::rsp, offset, 8), scalar);
      for (std::size_t k = 0; k < vectors.size(); ++k)
        c_.a.vmovups(x86::ptr(x86::rsp, offset + static_cast<int>(k) * 32, 32), vectors[k]);
    };
    store(Frame::operands, address_, addresses_);
    if (writes_) store(Frame::data, scalar_, data_);
    store_mask();
  }
  void store_mask() const {
    if (bits_.isValid()) {
      c_.a.mov(x86::ptr(x86::rsp, Frame::mask, 4), bits_.r32());
    } else {
      c_.a.mov(x86::ptr(x86::rsp, Frame::mask, 4), -1);
    }
  }
  void call(const codegen::LiveRegisters& live, const x86::Mem& access) const {
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
  x86::Mem access() const {
    RegisterAccess access{end_, inst_.lanes, inst_.guest_ip, {}};
    if (writes_) access.own = inst_.own;
    ConstantPool::Entry entry{};
    std::memcpy(entry.data(), &access, sizeof access);
    return c_.constant(entry);
  }
  /// The way that jumps to slow_ take, and where it comes back.
  void finish() {
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
    c_.a.bind(done_);
  }
  void call_in_line() {
    c_.store_packed(inst_.args[0], Frame::operands);
    c_.regs.unpin();
    if (writes_) c_.store_packed(inst_.args[1], Frame::data);
    c_.regs.unpin();
    fetch_mask();
    store_mask();
    call(c_.regs.live_after(inst_), access());
    if (!writes_) c_.load_packed(inst_.result, Frame::data);
  }

  Compiler& c_;
  const CodeInst& inst_;
  const unsigned element_, bytes_, end_;
  bool writes_;
  const bool one_by_one_;
  x86::Gp bits_, address_, first_, scalar_;  // scalar_: one lane's data
  std::vector<x86::Ymm> addresses_, data_;
  const asmjit::Label slow_ = c_.a.newLabel(), done_ = c_.a.newLabel();
};

}  // namespace

void emit_reg_gather(Compiler& c, const CodeInst& inst) { Indirect(c, inst).emit(); }
void emit_reg_scatter(Compiler& c, const CodeInst& inst) { Indirect(c, inst).emit(); }

}  // namespace eum::jit::avx2::emit

// Atomics on integers, and additions of floats, lane by lane in the order of lanes. Memory that only this
// host thread reaches needs no lock; other memory needs none while no other host thread accesses it, which is
// known as the code runs.
#include "jit/avx2/emit/lane_site.hpp"
#include "jit/avx2/emit/scalar.hpp"

namespace eum::jit::avx2::emit {

namespace {

using mem::AtomicOp;

/// One operation on memory, on the registers of an access.
struct AtomicStep {
  Compiler& c;
  AtomicOp op;
  unsigned bytes;
  bool locked, returns;
  x86::Gp value;                        ///< the first source; changes
  x86::Gp second;                       ///< the second one
  x86::Gp old;                          ///< receives the returned value; rax for cmpxchg
  x86::Gp changed;                      ///< free
  x86::Xmm float_old{}, float_value{};  ///< free, for floats

  /// Whether `old` has to be rax.
  bool compares() const { return locked && !exchanges() && !(in_place() && !returns); }
  /// A single locked instruction also returns the old value.
  bool exchanges() const {
    switch (op) {
      case AtomicOp::add:
      case AtomicOp::sub:
      case AtomicOp::inc:
      case AtomicOp::dec:
      case AtomicOp::predec:
      case AtomicOp::mov:
      case AtomicOp::load:
        return true;
      default:
        return false;
    }
  }
  /// A single instruction changes memory, but returns nothing.
  bool in_place() const {
    switch (op) {
      case AtomicOp::and_:
      case AtomicOp::or_:
      case AtomicOp::xor_:
      case AtomicOp::add:
      case AtomicOp::sub:
      case AtomicOp::inc:
      case AtomicOp::dec:
      case AtomicOp::predec:
        return true;
      default:
        return false;
    }
  }

  void emit(x86::Mem memory) const {
    memory.setSize(bytes);
    if (op == AtomicOp::load) {
      if (returns) c.a.mov(own(old), memory);
    } else if (in_place() && !returns) {
      change_in_place(memory);
    } else if (!locked) {
      c.a.mov(own(old), memory);
      change();
      c.a.mov(memory, own(changed));
      if (returns && op == AtomicOp::predec) c.a.mov(own(old), own(changed));
    } else if (exchanges()) {
      exchange(memory);
    } else if (op == AtomicOp::cmpwr) {
      // Lanes contending for one address mostly find that another was faster, and then need no lock.
      const asmjit::Label differs = c.a.newLabel();
      c.a.mov(own(old), memory);
      c.a.cmp(own(old), own(value));
      c.a.jne(differs);
      c.lock_unless_exclusive();
      c.a.cmpxchg(memory, own(second), own(old));
      c.a.bind(differs);
    } else {
      const asmjit::Label again = c.a.newLabel(), exclusive = c.a.newLabel(), done = c.a.newLabel();
      c.a.mov(own(old), memory);
      c.a.bind(again);
      change();
      c.skip_if_exclusive(exclusive);
      c.a.lock().cmpxchg(memory, own(changed), own(old));
      c.a.jnz(again);
      c.a.jmp(done);
      c.a.bind(exclusive);
      c.a.mov(memory, own(changed));
      c.a.bind(done);
    }
  }

 private:
  x86::Gp own(x86::Gp reg) const { return low_part(reg, bytes); }
  Assembler& code() const {
    if (locked) c.lock_unless_exclusive();
    return c.a;
  }

  void change_in_place(const x86::Mem& memory) const {
    switch (op) {
      case AtomicOp::and_:
        return (void)code().and_(memory, own(value));
      case AtomicOp::or_:
        return (void)code().or_(memory, own(value));
      case AtomicOp::xor_:
        return (void)code().xor_(memory, own(value));
      case AtomicOp::add:
        return (void)code().add(memory, own(value));
      case AtomicOp::sub:
        return (void)code().sub(memory, own(value));
      case AtomicOp::inc:
        return (void)code().add(memory, 1);
      default:
        return (void)code().sub(memory, 1);
    }
  }

  void exchange(const x86::Mem& memory) const {
    auto& a = c.a;
    switch (op) {
      case AtomicOp::mov: {  // xchg always locks
        const asmjit::Label exclusive = a.newLabel(), done = a.newLabel();
        c.skip_if_exclusive(exclusive);
        a.mov(own(old), own(value));
        a.xchg(memory, own(old));
        a.jmp(done);
        a.bind(exclusive);
        a.mov(own(old), memory);
        a.mov(memory, own(value));
        return (void)a.bind(done);
      }
      case AtomicOp::add:
        a.mov(own(old), own(value));
        break;
      case AtomicOp::sub:
        a.mov(own(old), own(value));
        a.neg(own(old));
        break;
      case AtomicOp::inc:
        a.mov(own(old), 1);
        break;
      default:
        a.mov(own(old), -1);
        break;
    }
    c.lock_unless_exclusive();
    a.xadd(memory, own(old));
    if (op == AtomicOp::predec) a.dec(own(old));
  }

  /// changed = a + b, of which the first one's NaN counts.
  void add_float(const x86::Xmm& a, const x86::Xmm& b) const {
    c.a.vmovd(float_old, own(old));
    c.a.vmovd(float_value, own(value));
    c.a.vaddss(float_old, a, b);
    c.a.vmovd(own(changed), float_old);
  }

  /// changed = op(old, value, second)
  void change() const {
    auto& a = c.a;
    const x86::Gp to = own(changed), from = own(old), source = own(value);
    const auto choose = [&](std::uint32_t move) {  // the source, if it compares so with the old value
      a.mov(to, from);
      a.cmp(source, from);
      a.emit(move, to, source);
    };
    switch (op) {
      case AtomicOp::and_:
        a.mov(to, from);
        return (void)a.and_(to, source);
      case AtomicOp::or_:
        a.mov(to, from);
        return (void)a.or_(to, source);
      case AtomicOp::xor_:
        a.mov(to, from);
        return (void)a.xor_(to, source);
      case AtomicOp::mov:
        return (void)a.mov(to, source);
      case AtomicOp::inc:
        return (void)a.lea(changed, x86::ptr(old, 1));
      case AtomicOp::dec:
      case AtomicOp::predec:
        return (void)a.lea(changed, x86::ptr(old, -1));
      case AtomicOp::add:
        return (void)a.lea(changed, x86::ptr(old, value));
      case AtomicOp::sub:
        a.mov(to, from);
        return (void)a.sub(to, source);
      case AtomicOp::revsub:
        a.mov(to, source);
        return (void)a.sub(to, from);
      case AtomicOp::imax:
        return choose(x86::Inst::kIdCmovg);
      case AtomicOp::imin:
        return choose(x86::Inst::kIdCmovl);
      case AtomicOp::umax:
        return choose(x86::Inst::kIdCmova);
      case AtomicOp::umin:
        return choose(x86::Inst::kIdCmovb);
      case AtomicOp::cmpwr:
        a.mov(to, from);
        a.cmp(from, source);
        return (void)a.cmove(to, own(second));
      case AtomicOp::fadd:
        return add_float(float_old, float_value);
      case AtomicOp::frevadd:
        return add_float(float_value, float_old);
      default:
        throw codegen::EngineBug("an atomic that is not done in line");
    }
  }
};

/// Frees rax for cmpxchg: `old` is rax, or the content of another register is saved in the frame.
class CompareRegister {
 public:
  /// `own`: registers that hold nothing yet; one that is rax swaps roles with `old`.
  CompareRegister(Compiler& c, bool needed, x86::Gp& old, std::initializer_list<x86::Gp*> own)
      : c_(c), saves_(needed && old != x86::rax) {
    if (!saves_) return;
    for (x86::Gp* reg : own) {
      if (*reg != x86::rax) continue;
      std::swap(*reg, old);
      saves_ = false;
      return;
    }
    old = x86::rax;
  }
  void save() const {
    if (saves_) c_.a.mov(place(), x86::rax);
  }
  void restore() const {
    if (saves_) c_.a.mov(x86::rax, place());
  }

 private:
  static x86::Mem place() { return x86::ptr(x86::rsp, Frame::saved_generals, 8); }
  Compiler& c_;
  bool saves_;
};

class AtomicSite : public LaneSite {
 public:
  AtomicSite(Compiler& c, const CodeInst& inst, unsigned first_lane, unsigned lanes)
      : LaneSite(c, inst, first_lane, lanes), sources_(data_count()) {
    fetch_mask_bits();
    for (unsigned k = 0; k < sources_; ++k)
      for (unsigned i = 0; i < vectors(); ++i) data_.push_back(c.v.use(data(k), first_chunk() + i));
    if (inst.result_count != 0)
      for (unsigned i = 0; i < vectors(); ++i) results_.push_back(c.v.define(inst.result, first_chunk() + i));
    acquire();
    old_ = c.g.scratch();
    if (sources_ == 2) second_ = c.g.scratch();
  }

  void emit() {
    auto& a = c_.a;
    const asmjit::Label slow = a.newLabel(), done = a.newLabel();
    AtomicStep step{
        c_,        mem().atomic, element(), !of_one_host_thread(), !results_.empty(), value(), second_, old_,
        reg.limit, t.xmm(),      u.xmm()};
    const CompareRegister compare(
        c_, step.compares(), step.old,
        {&reg.limit, &reg.base, &reg.first[0], &reg.first[1], &lane, &bits, &step.second});
    step.value = value();
    step.changed = reg.limit;
    locate(slow);
    const CheckedAddress memory = check_all_lanes(slow);
    check_alignment(slow);
    spill_values(data_, sources_);
    const unsigned result = sources_;  // after the sources
    if (masked() && step.returns) {
      a.vpxor(t, t, t);
      for (unsigned i = 0; i < vectors(); ++i) a.vmovups(result_place(result, i), t);
    }
    compare.save();
    for_each_lane([&] {
      if (sources_ > 0) a.mov(low_part(step.value, element()), frame_element(lane, 0, lanes(), element()));
      if (sources_ > 1) a.mov(low_part(step.second, element()), frame_element(lane, 1, lanes(), element()));
      step.emit(memory.lane(place(), component_offset(0), element()));
      if (step.returns) a.mov(frame_element(lane, result, lanes(), element()), low_part(step.old, element()));
    });
    compare.restore();
    for (unsigned i = 0; i < results_.size(); ++i) a.vmovups(results_[i], result_place(result, i));
    a.bind(done);
    call_out_of_line(slow, done, on_data<jit::atomic>,
                     {.addresses = address_registers(), .data = data_, .results = results_});
  }

 private:
  x86::Mem result_place(unsigned value, unsigned vector) const {
    return x86::ptr(x86::rsp, Frame::data + static_cast<int>(value * bytes() + vector * 32), 32);
  }

  /// Jumps to `otherwise`, where the call faults, unless all addresses are multiples of the elements' size.
  void check_alignment(asmjit::Label otherwise) const {
    auto& a = c_.a;
    a.lea(bits, x86::ptr(reg.base, static_cast<int>(component_offset(0))));
    a.test(bits.r8(), element() - 1);
    a.jnz(otherwise);
    x86::Ymm all = places_[0];
    if (masked()) {
      all = t;
      a.vpand(t, places_[0], masks_[0]);
    }
    if (rows() == 2) {
      if (masked()) {
        a.vpand(u, places_[1], masks_[1]);
        a.vpor(t, t, u);
      } else {
        a.vpor(t, places_[0], places_[1]);
      }
      all = t;
    }
    a.vptest(all, c_.splat(element() - 1, 4));
    a.jnz(otherwise);
  }

  unsigned sources_;
  x86::Gp old_, second_;
  std::vector<x86::Ymm> data_, results_;
};

void atomic_on_one_lane(Compiler& c, const CodeInst& inst) {
  auto& a = c.a;
  MemorySite site(c, inst);
  const unsigned sources = site.data_count(), bytes = site.element();
  AtomicStep step{c, site.mem().atomic, bytes, !site.of_one_host_thread(), inst.result_count != 0, {}, {}, {},
                  {}};
  std::array<x86::Gp, 2> source;
  for (unsigned k = 0; k < sources; ++k) source[k] = c.g.use(site.data(k));
  const x86::Gp address = site.acquire_scalar_copy();
  const x86::Gp result = step.returns ? c.g.define(inst.result) : c.g.scratch();
  step.value = source[0];
  step.second = source[1];
  if (step.compares()) {  // they must not be in rax
    for (x86::Gp* copy : {&step.value, &step.second})
      if (copy->isValid()) *copy = c.g.scratch();
  }
  step.old = result;
  step.changed = site.reg.limit;
  const CompareRegister compare(
      c, step.compares(), step.old,
      {&site.reg.limit, &site.reg.base, &site.reg.first[0], &step.value, &step.second});
  step.changed = site.reg.limit;
  const asmjit::Label slow = a.newLabel(), done = a.newLabel();
  if (site.masked()) {
    if (step.returns) a.xor_(result.r32(), result.r32());
    a.test(site.reg.mask.r8(), 1);
    a.jz(done);
  }
  site.copy_address(address);
  const CheckedAddress memory = site.check_runs(1, site.extent(), false, slow);
  const unsigned offset = site.component_offset(0);
  a.lea(step.changed, memory.at(offset, bytes));
  a.test(step.changed.r8(), bytes - 1);
  a.jnz(slow);
  if (sources > 0 && step.value != source[0]) a.mov(step.value, source[0]);
  if (sources > 1 && step.second != source[1]) a.mov(step.second, source[1]);
  compare.save();
  step.emit(memory.at(offset, bytes));
  if (step.returns && step.old != result) a.mov(low_part(result, bytes), low_part(step.old, bytes));
  compare.restore();
  a.bind(done);
  site.call_out_of_line(slow, done, on_data<jit::atomic>,
                        {.address = address,
                         .in_vectors = false,
                         .generals = {source.data(), sources},
                         .result = step.returns ? result : x86::Gp()});
}

}  // namespace

void emit_atomic(Compiler& c, const CodeInst& inst) {
  MemorySite site(c, inst);
  const mem::AtomicOp op = site.mem().atomic;
  const bool adds_floats =
      (op == mem::AtomicOp::fadd || op == mem::AtomicOp::frevadd) && site.element() == 4 && inst.lanes > 1;
  const bool in_line = (adds_floats || mem::info(op).kind == mem::AtomicKind::Integer) &&
                       site.element() >= 4 && site.fits_in_line() && !site.based();
  if (!in_line) return site.call_inline(on_data<jit::atomic>);
  if (inst.lanes == 1) return atomic_on_one_lane(c, inst);
  const unsigned lanes = LaneSite::lanes_at_once(c, inst, site.data_count() + inst.result_count);
  if (lanes == 0) return site.call_inline(on_data<jit::atomic>);
  for (unsigned first = 0; first < inst.lanes; first += lanes) {
    AtomicSite(c, inst, first, lanes).emit();
    c.regs.unpin();
  }
}

}  // namespace eum::jit::avx2::emit

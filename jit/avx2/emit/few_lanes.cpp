// Accesses of two or four lanes; see few_lanes.hpp. At the first lane that is out of bounds the call performs
// the whole access, and repeats what the lanes before it have done.
#include "jit/avx2/emit/few_lanes.hpp"

#include <vector>

namespace eum::jit::avx2::emit {

namespace {

class FewLanes : public MemorySite {
 public:
  FewLanes(Compiler& c, const CodeInst& inst) : MemorySite(c, inst) {}

  void load() {
    auto& a = c_.a;
    for (unsigned k = 0; k < components(); ++k) values_.push_back(c_.v.define(inst().result + k));
    acquire();
    // Inactive lanes are 0.
    for (const x86::Ymm& value : values_) a.vpxor(value, value, value);
    if (in_two_halves()) a.vpxor(high_, high_, high_);
    for_each_element([&](const x86::Mem& from, unsigned k, unsigned lane) { insert(from, k, lane); });
    if (in_two_halves()) a.vinserti128(values_[0], values_[0], high_.xmm(), 1);
    finish(on_data<jit::load>, {.addresses = {&addresses_, 1}, .results = values_});
  }

  void store() {
    for (unsigned k = 0; k < components(); ++k) values_.push_back(c_.v.use(data(k)));
    acquire();
    if (in_two_halves()) c_.a.vextracti128(high_.xmm(), values_[0], 1);
    for_each_element([&](const x86::Mem& to, unsigned k, unsigned lane) { extract(to, k, lane); });
    finish(on_data<jit::store>, {.addresses = {&addresses_, 1}, .data = values_});
  }

 private:
  bool in_two_halves() const { return bytes() > 16; }
  bool addresses_in_two_halves() const { return wide() && lanes() > 2; }

  void acquire() {
    addresses_ = c_.v.use(MemorySite::addresses());
    if (masked()) reg.mask = c_.m.bits(inst().mask);
    if (in_two_halves()) high_ = c_.v.scratch();
    if (addresses_in_two_halves()) high_addresses_ = c_.v.scratch();
    acquire_window();
    reg.first[0] = c_.g.scratch();
    slow_ = c_.a.newLabel();
    done_ = c_.a.newLabel();
    if (addresses_in_two_halves()) c_.a.vextracti128(high_addresses_.xmm(), addresses_, 1);
  }

  void finish(AccessFunction function, const CallRegisters& registers) {
    c_.a.bind(done_);
    call_out_of_line(slow_, done_, function, registers);
  }

  /// reg.first[0] = the address of a lane.
  void take_address(unsigned lane) const {
    auto& a = c_.a;
    const x86::Gp to = reg.first[0];
    if (!wide()) {
      if (lane == 0) return (void)a.vmovd(to.r32(), addresses_.xmm());
      return (void)a.vpextrd(to.r32(), addresses_.xmm(), lane);
    }
    const x86::Xmm from = lane < 2 ? addresses_.xmm() : high_addresses_.xmm();
    if (lane % 2 == 0) return (void)a.vmovq(to, from);
    a.vpextrq(to, from, 1);
  }

  template <class Move>
  void for_each_element(Move move) const {
    auto& a = c_.a;
    for (unsigned lane = 0; lane < lanes(); ++lane) {
      const asmjit::Label skip = a.newLabel();
      if (masked()) {
        a.test(reg.mask.r8(), 1u << lane);
        a.jz(skip);
      }
      take_address(lane);
      const CheckedAddress memory = check_runs(1, extent(), false, slow_);
      for (unsigned k = 0; k < components(); ++k) move(memory.at(component_offset(k), element()), k, lane);
      a.bind(skip);
    }
  }

  x86::Xmm part(unsigned k, unsigned lane) const {
    return (element() == 8 && lane >= 2 ? high_ : values_[k]).xmm();
  }

  void insert(const x86::Mem& from, unsigned k, unsigned lane) const {
    auto& a = c_.a;
    const x86::Xmm to = part(k, lane);
    switch (element()) {
      case 1:
        return (void)a.vpinsrb(to, to, from, lane);
      case 2:
        return (void)a.vpinsrw(to, to, from, lane);
      case 4:
        return (void)a.vpinsrd(to, to, from, lane);
      default:
        return (void)a.vpinsrq(to, to, from, lane % 2);
    }
  }

  void extract(const x86::Mem& to, unsigned k, unsigned lane) const {
    store_element(c_, to, part(k, lane), element() == 8 ? lane % 2 : lane);
  }

  std::vector<x86::Ymm> values_;
  x86::Ymm addresses_, high_, high_addresses_;
  asmjit::Label slow_, done_;
};

}  // namespace

bool is_of_few_lanes(const MemorySite& site) {
  const bool fits = site.bytes() <= (site.components() == 1 ? 32u : 16u) && site.components() <= 4;
  return site.does(Optimisation::few_lanes) && (site.lanes() == 2 || site.lanes() == 4) && fits &&
         site.fits_in_line();
}

void load_few_lanes(Compiler& c, const CodeInst& inst) { FewLanes(c, inst).load(); }

void store_few_lanes(Compiler& c, const CodeInst& inst) { FewLanes(c, inst).store(); }

}  // namespace eum::jit::avx2::emit

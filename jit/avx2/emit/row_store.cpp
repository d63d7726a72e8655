// Stores whose lanes walk along rows: see row_stores.hpp.
#include "jit/avx2/emit/lane_site.hpp"
#include "jit/avx2/row_stores.hpp"

namespace eum::jit::avx2::emit {

void LaneSite::collect_in_row(std::span<const x86::Ymm> values, asmjit::Label done) const {
  const auto site = masked() ? std::nullopt : c_.row_store(inst(), first_lane());
  if (!site) return;
  auto& a = c_.a;
  const asmjit::Label looks = a.newLabel(), apart = a.newLabel();
  a.cmp(site->mode(), RowStoreState::Apart);
  a.jne(looks);
  a.bind(apart);
  const std::array<x86::Ymm, 2> elements{values[0], values.back()};
  c_.out_of_line([self = *this, site = *site, elements, looks, apart, done] {
    auto& a = self.c_.a;
    const unsigned rows = self.rows();
    const asmjit::Label collects = a.newLabel(), elsewhere = a.newLabel();
    a.bind(looks);
    a.cmp(site.mode(), RowStoreState::Collecting);
    a.je(collects);
    for (unsigned row = 0; row < rows; ++row) a.vmovups(site.firsts(row), self.places_[row]);
    a.or_(site.done(), site.bits(rows));
    a.jmp(apart);
    a.bind(collects);
    a.vpbroadcastd(self.t, site.at());
    for (unsigned row = 0; row < rows; ++row) {
      const x86::Ymm agrees = row == 0 ? self.u : self.v;
      a.vpaddd(agrees, self.t, site.firsts(row));
      a.vpcmpeqd(agrees, agrees, self.places_[row]);
    }
    if (rows == 2) a.vpand(self.u, self.u, self.v);
    a.vmovmskps(self.bits.r32(), self.u);
    a.cmp(self.bits.r32(), 0xff);
    a.jne(elsewhere);
    a.mov(self.bits.r32(), site.at());
    for (unsigned row = 0; row < rows; ++row) a.vmovups(site.elements(row, self.bits), elements[row]);
    a.or_(site.done(), site.bits(rows));
    a.jmp(done);
    a.bind(elsewhere);
    self.c_.row_store_event(site, RowStoreEvent::Abandon);
    a.jmp(apart);
  });
}

}  // namespace eum::jit::avx2::emit

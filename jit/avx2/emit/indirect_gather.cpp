// Reads of the register file with an address per lane. See indirect.hpp.
#include "jit/avx2/emit/indirect.hpp"

#include <algorithm>

#include "jit/avx2/emit/formula.hpp"

namespace eum::jit::avx2::emit {

void Indirect::gather_lanes() {
  fetch();
  // Lanes outside the mask have address 0.
  for (unsigned k = 0; bits_.isValid() && k < addresses_.size(); ++k) {
    const x86::Ymm on = c_.v.scratch();
    c_.a.vpand(on, addresses_[k], c_.m.lanes(inst_.mask, 2, k));
    addresses_[k] = on;
  }
  if (reads_qwords()) return insert_qwords();
  lane_ = c_.g.scratch();
  c_.in_small_loop() ? insert_lanes() : gather_dwords();
}

bool Indirect::reads_qwords() const {
  // The second address must not wrap around where the first one is in bounds.
  if (element_ != 4 || inst_.mask != ir::no_value || end_ > 0x10000 - 8) return false;
  const CodeInst* sum = definition(c_, inst_.args[0]);
  if (!sum || sum->op != ir::Op::add) return false;
  const CodeInst* first = definition(c_, sum->args[0]);
  const CodeInst* steps = definition(c_, sum->args[1]);
  if (!first || !steps || first->op != ir::Op::reg_read || steps->op != ir::Op::vconst) return false;
  const ir::PoolEntry& lanes = c_.function.pool[steps->imm];
  for (unsigned i = 0; i < inst_.lanes; i += 2)
    if (first->region.byte_of(i, 2) != first->region.byte_of(i + 1, 2) || lanes[i + 1] != lanes[i] + element_)
      return false;
  return true;
}

void Indirect::check_addresses(x86::Ymm free, unsigned most) {
  for (const x86::Ymm& addresses : addresses_) {
    c_.a.vpminuw(free, addresses, c_.splat(most, 2));
    c_.a.vpcmpeqw(free, free, addresses);
    c_.a.vpmovmskb(first_.r32(), free);
    c_.a.not_(first_.r32());
    c_.a.test(first_.r32(), asmjit::Imm(inst_.lanes == 8 ? 0xffff : -1));
    c_.a.jnz(slow_);
  }
}

x86::Xmm Indirect::eight_addresses(unsigned i, x86::Ymm free) {
  if (i % 2 == 0) return addresses_[i / 2].xmm();
  c_.a.vextracti128(free.xmm(), addresses_[i / 2], 1);
  return free.xmm();
}

void Indirect::gather_dwords() {
  const unsigned count = inst_.lanes / 8;
  std::vector<x86::Ymm> dwords;
  for (unsigned i = 0; i < count; ++i)
    dwords.push_back(element_ == 4 ? c_.v.define(inst_.result, i) : c_.v.scratch());
  const x86::Ymm index = c_.v.scratch(), on = c_.v.scratch();
  go_if_lone();
  check_addresses(index, end_ - 4);
  for (unsigned i = 0; i < count; ++i) {
    c_.a.vpmovzxwd(index, eight_addresses(i, index));
    c_.a.vpcmpeqd(on, on, on);
    c_.a.vpgatherdd(dwords[i], file(index, 0, 4), on);
  }
  // Packed in place, halving the width in each step.
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
  for (unsigned chunk = 0; element_ < 4 && chunk < data_.size(); ++chunk)
    c_.v.bind(inst_.result, chunk, data_[chunk]);
  finish();
}

void Indirect::insert_lanes() {
  auto& a = c_.a;
  for (unsigned chunk = 0; chunk < c_.v.chunks(inst_.result); ++chunk)
    data_.push_back(c_.v.define(inst_.result, chunk));
  const x86::Ymm free = c_.v.scratch(), second = c_.v.scratch(),
                 third = element_ == 1 && inst_.lanes > 16 ? c_.v.scratch() : second;
  const Words places{c_.g.scratch(), c_.g.scratch()};
  go_if_lone();
  check_addresses(free, end_ - element_);
  const auto insert = [&](x86::Ymm to, unsigned i) {
    insert_narrow(to.xmm(), eight_addresses(i, free), places);
  };
  const unsigned eights = std::min<unsigned>(inst_.lanes, 32 / element_) / 8;  // in a vector
  for (unsigned chunk = 0; chunk < data_.size(); ++chunk) {
    const x86::Ymm to = data_[chunk];
    const unsigned first = chunk * eights;
    if (element_ == 4) {
      insert_dwords(to, second, eight_addresses(first, free), places);
      continue;
    }
    insert(to, first);
    if (eights >= 2) insert(second, first + 1);
    if (eights >= 2 && element_ == 1) a.vpunpcklqdq(to.xmm(), to.xmm(), second.xmm());
    if (eights == 4) {
      insert(second, first + 2);
      insert(third, first + 3);
      a.vpunpcklqdq(second.xmm(), second.xmm(), third.xmm());
    }
    if (eights == 4 || (eights == 2 && element_ == 2)) a.vinserti128(to, to, second.xmm(), 1);
  }
  finish();
}

void Indirect::insert_narrow(x86::Xmm to, x86::Xmm words, Words places) {
  auto& a = c_.a;
  a.vmovq(places[0].r64(), words);
  a.vpextrq(places[1].r64(), words, 1);
  a.vpxor(to, to, to);
  for (unsigned i = 0; i < 8; ++i) {
    const x86::Gp& four = places[i / 4];
    const bool last = i % 4 == 3;
    if (!last) a.movzx(first_.r32(), four.r16());
    const x86::Mem from = file(last ? four.r64() : first_.r64(), 0, element_);
    element_ == 1 ? a.vpinsrb(to, to, from, i) : a.vpinsrw(to, to, from, i);
    if (!last) a.shr(four.r64(), 16);
  }
}

void Indirect::insert_dwords(x86::Ymm to, x86::Ymm upper, x86::Xmm words, Words places) {
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

void Indirect::insert_qwords() {
  auto& a = c_.a;
  for (unsigned chunk = 0; chunk < c_.v.chunks(inst_.result); ++chunk)
    data_.push_back(c_.v.define(inst_.result, chunk));
  const x86::Ymm free = c_.v.scratch(), upper = c_.v.scratch();
  const Words places{c_.g.scratch(), c_.g.scratch()};
  check_addresses(free, end_ - 4);
  for (unsigned i = 0; i < data_.size(); ++i) {
    const x86::Xmm words = eight_addresses(i, free);
    a.vmovq(places[0].r64(), words);
    a.vpextrq(places[1].r64(), words, 1);
    for (const bool second : {false, true})
      for (const auto& [half, four] :
           {std::pair{data_[i].xmm(), places[0]}, std::pair{upper.xmm(), places[1]}}) {
        if (second) a.shr(four.r64(), 32);
        a.movzx(first_.r32(), four.r16());
        const x86::Mem from = file(first_.r64(), 0, 8);
        second ? a.vmovhps(half, half, from) : a.vmovq(half, from);
      }
    a.vinserti128(data_[i], data_[i], upper.xmm(), 1);
  }
  finish();
}

}  // namespace eum::jit::avx2::emit

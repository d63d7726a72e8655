// Reads of the register file with an address per lane. See indirect.hpp.
#include "jit/avx2/emit/indirect.hpp"

#include <algorithm>
#include <bit>

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
  // Vectors of which a part is missing are only packed.
  c_.in_small_loop() && std::has_single_bit(inst_.lanes) ? insert_lanes() : gather_dwords();
}

bool Indirect::reads_qwords() const {
  // The second address must not wrap around where the first one is in bounds.
  if (element_ != 4 || inst_.mask != ir::no_value || end_ > 0x10000 - 8) return false;
  const Sum sum = address_sum();
  if (!sum.value || sum.value->op != ir::Op::reg_read) return false;
  const ir::Region& first = sum.value->region;
  const ir::PoolEntry& lanes = *sum.steps;
  for (unsigned i = 0; i < inst_.lanes; i += 2)
    if (first.byte_of(i, 2) != first.byte_of(i + 1, 2) || lanes[i + 1] != lanes[i] + element_) return false;
  return true;
}

void Indirect::check_addresses(x86::Ymm free, unsigned most) {
  for (const x86::Ymm& addresses : addresses_) check(addresses, most, free);
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
    c_.a.vpmovzxwd(index, eight_words(addresses_, i, index));
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
  define_results();
  const x86::Ymm free = c_.v.scratch(), second = c_.v.scratch(),
                 third = element_ == 1 && inst_.lanes > 16 ? c_.v.scratch() : second;
  const Words places{c_.g.scratch(), c_.g.scratch()};
  go_if_lone();
  check_addresses(free, end_ - element_);
  const auto insert = [&](x86::Ymm to, unsigned i) {
    insert_narrow(to.xmm(), eight_words(addresses_, i, free), places);
  };
  const unsigned eights = std::min<unsigned>(inst_.lanes, 32 / element_) / 8;  // in a vector
  for (unsigned chunk = 0; chunk < data_.size(); ++chunk) {
    const x86::Ymm to = data_[chunk];
    const unsigned first = chunk * eights;
    if (element_ == 4) {
      insert_dwords(to, second, eight_words(addresses_, first, free), places);
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

void Indirect::insert_narrow(x86::Xmm to, x86::Xmm words, const Words& places) {
  auto& a = c_.a;
  load_words(places, words);
  a.vpxor(to, to, to);
  for (unsigned i = 0; i < 8; ++i)
    with_address(places[i / 4], i % 4, [&](const x86::Gp& address) {
      const x86::Mem from = file(address, 0, element_);
      element_ == 1 ? a.vpinsrb(to, to, from, i) : a.vpinsrw(to, to, from, i);
    });
}

void Indirect::insert_dwords(x86::Ymm to, x86::Ymm upper, x86::Xmm words, const Words& places) {
  auto& a = c_.a;
  load_words(places, words);
  for (unsigned i = 0; i < 4; ++i)
    for (const auto& [half, four] : {std::pair{to.xmm(), places[0]}, std::pair{upper.xmm(), places[1]}})
      with_address(four, i, [&, half = half](const x86::Gp& address) {
        const x86::Mem from = file(address, 0, 4);
        i == 0 ? a.vmovd(half, from) : a.vpinsrd(half, half, from, i);
      });
  a.vinserti128(to, to, upper.xmm(), 1);
}

void Indirect::insert_qwords() {
  auto& a = c_.a;
  define_results();
  const x86::Ymm free = c_.v.scratch(), upper = c_.v.scratch();
  const Words places{c_.g.scratch(), c_.g.scratch()};
  check_addresses(free, end_ - 4);
  for (unsigned i = 0; i < data_.size(); ++i) {
    load_words(places, eight_words(addresses_, i, free));
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

// Loads: rows of consecutive elements, a single address for all lanes, gathers, or by call.
#include "jit/avx2/emit/few_lanes.hpp"
#include "jit/avx2/emit/load_site.hpp"
#include "jit/avx2/emit/one_address.hpp"
#include "jit/avx2/emit/scalar.hpp"

namespace eum::jit::avx2::emit {

LoadSite::LoadSite(Compiler& c, const CodeInst& inst, unsigned first_lane, unsigned lanes)
    : LaneSite(c, inst, first_lane, lanes),
      in_small_loop_(c.in_small_loop()),
      clears_(masked() && !c.uncleared_loads().has(inst.result)) {
  fetch_mask_bits();
  for (unsigned k = 0; k < components(); ++k)
    for (unsigned i = 0; i < vectors(); ++i) {
      if (i > 0 && all_lanes_alike()) {
        results_.push_back(results_.back());
        c.v.bind(inst.result + k, first_chunk() + i, results_.back());
      } else {
        results_.push_back(c.v.define(inst.result + k, first_chunk() + i));
      }
    }
  lanes_are_late_ = may_make_lanes_late();
  acquire(!lanes_are_late_);
}

bool LoadSite::may_make_lanes_late() const {
  if (!masked() || !by_runs() || clears_ || element() != 4 || c_.host.target.mask_registers != 0)
    return false;
  if (c_.m.needs_lanes_behind(inst())) return false;  // which then wait for less
  for (unsigned row = 0; row < rows(); ++row)
    if (c_.m.holds_lanes(inst().mask, 4, first_lane() / 8 + row)) return false;
  return true;
}

void LoadSite::emit() {
  auto& a = c_.a;
  slow_ = a.newLabel();
  done_ = a.newLabel();
  if (by_runs()) return emit_runs();
  if (interleaved_) return emit_interleaved_apart();
  const unsigned stride = possible(row_stride() != 0 ? row_stride() : side_by_side());
  locate(slow_);
  if (goes_along_rows()) {
    emit_rows(stride);
  } else if (stride != 0) {
    const asmjit::Label spread = a.newLabel();
    count_scattered();
    go_if_scattered();
    load_run(stride, spread);
    c_.out_of_line([site = *this, spread, stride] { site.load_otherwise(spread, stride); });
  } else {
    load_in_bounds();
  }
  a.bind(done_);
  call_out_of_line(slow_, done_, on_data<jit::load>, {.addresses = address_registers(), .results = results_});
}

void LoadSite::emit_rows(unsigned stride) {
  auto& a = c_.a;
  const asmjit::Label miss = a.newLabel();
  serve_ = a.newLabel();
  take_from_window(results_, miss, serve_, clears_);
  if (stride != 0) count_scattered();
  c_.out_of_line([site = *this, miss, stride] {
    auto& a = site.c_.a;
    a.bind(miss);
    if (site.masked()) site.go_if_no_lane(site.results_, site.done_);
    if (stride == 0) return site.load_anywhere();
    const asmjit::Label spread = a.newLabel();
    site.go_if_scattered();
    site.load_run(stride, spread);
    a.jmp(site.done_);
    site.load_otherwise(spread, stride);
  });
}

void LoadSite::emit_runs() const {
  const CheckedAddress memory = check_known_runs(slow_);
  prefetch(memory, false);
  if (interleaved_) return emit_interleaved(memory);
  if (goes_down())
    load_reversed(memory);
  else
    load_runs(memory, known_runs(), known_stride());
  clear_outside_mask();
  c_.a.bind(done_);
  if (has_window()) return;
  asmjit::Label call = slow_;
  if (may_retry()) {
    call = c_.a.newLabel();
    c_.out_of_line([site = *this, call] { site.load_known_lanes(call); });
  }
  call_for_runs(call, done_, on_data<jit::load>, {.results = results_});
}

void LoadSite::load_known_lanes(asmjit::Label otherwise) const {
  auto& a = c_.a;
  a.bind(slow_);
  go_if_no_lane(results_, done_);
  LoadSite site = *this;
  for (unsigned row = 0; lanes_are_late_ && row < rows(); ++row)  // results have no other content yet
    site.masks_[row] = c_.spread_mask(result(0, row), reg.mask, row);
  const CheckedAddress memory = site.check_known_lanes(otherwise);
  if (element() == 4) {
    for (unsigned row = 0; row < rows(); ++row) {
      a.vmovaps(v, x86::ptr(x86::rsp, places_of_known_lanes(row), 32));
      for (unsigned k = 0; k < components(); ++k)
        gather_under(lanes_are_late_ ? c_.spread_mask(t, reg.mask, row) : masks_[row],
                     x86::Inst::kIdVpgatherdd, result(k, row), memory.gather(v, component_offset(k), 4));
    }
    return (void)a.jmp(done_);
  }
  for (const x86::Ymm& result : results_) a.vpxor(result, result, result);
  spill_values(results_, components());
  for_each_known_lane([&](const LaneSite& site) {
    for (unsigned k = 0; k < components(); ++k) {
      a.mov(low_part(site.value(), element()), memory.lane(site.place(), component_offset(k), element()));
      a.mov(frame_element(site.lane, k, lanes(), element()), low_part(site.value(), element()));
    }
  });
  restore_values(results_, components());
  a.jmp(done_);
}

void LoadSite::load_reversed(const CheckedAddress& memory) const {
  c_.a.vmovups(t, reversing());
  for (unsigned row = 0; row < rows(); ++row) c_.a.vpermd(result(0, row), t, reversed_row(memory, row));
}

void LoadSite::emit_interleaved(const CheckedAddress& memory) const {
  auto& a = c_.a;
  for (unsigned row = 0; row < rows(); ++row) load_parts(memory, row, parts_of_row(results_, row));
  a.bind(done_);
  if (has_window()) return;
  call_for_runs(slow_, interleave_called(), on_data<jit::load>, {.results = results_});
}

void LoadSite::emit_interleaved_apart() {
  auto& a = c_.a;
  const unsigned stride = possible(run_stride());
  const auto load_apart = [](const LoadSite& site) {
    const CheckedAddress memory = site.check_lanes_apart(site.slow_);
    for (unsigned row = 0; row < site.rows(); ++row)
      site.load_parts_apart(memory, row, site.parts_of_row(site.results_, row));
  };
  locate(slow_);
  if (stride == 0) {
    load_apart(*this);
  } else {
    const asmjit::Label apart = a.newLabel();
    count_scattered();
    go_if_scattered();
    const CheckedAddress memory = check_run(stride, apart, slow_);
    for (unsigned row = 0; row < rows(); ++row) load_parts(memory, row, parts_of_row(results_, row));
    c_.out_of_line([site = *this, apart, load_apart] {
      site.c_.a.bind(apart);
      site.bind_scattered();
      load_apart(site);
      site.c_.a.jmp(site.done_);
    });
  }
  a.bind(done_);
  if (!shared().swapped())
    return call_out_of_line(slow_, interleave_called(), on_data<jit::load>,
                            {.addresses = address_registers(), .results = results_});
  const asmjit::Label call = a.newLabel();
  c_.out_of_line([site = *this, call] {
    site.c_.a.bind(site.slow_);
    site.swap_addresses(site.addresses_, false);
    site.c_.a.jmp(call);
  });
  call_out_of_line(call, interleave_called(), on_data<jit::load>,
                   {.addresses = std::span(swapped_).first(rows()), .results = results_});
}

asmjit::Label LoadSite::interleave_called() const {
  const asmjit::Label called = c_.a.newLabel();
  c_.out_of_line([site = *this, called] {
    site.c_.a.bind(called);
    for (unsigned row = 0; row < site.rows(); ++row)
      site.to_memory_order(site.parts_of_row(site.results_, row));
    site.c_.a.jmp(site.done_);
  });
  return called;
}

// ---- Rows

void LoadSite::load_otherwise(asmjit::Label entry, unsigned stride) const {
  auto& a = c_.a;
  a.bind(entry);
  if (rows() == 2 && !masked()) {
    const asmjit::Label spread = a.newLabel();
    load_runs(check_second_row(stride, spread, slow_), 2, stride);
    a.jmp(done_);
    a.bind(spread);
  }
  if (side_by_side() != 0 && stride != side_by_side()) {
    const asmjit::Label spread = a.newLabel();
    load_run(side_by_side(), spread);
    a.jmp(done_);
    a.bind(spread);
  }
  bind_scattered();
  load_anywhere();
}

void LoadSite::load_anywhere() const {
  auto& a = c_.a;
  if (goes_along_rows()) {
    const asmjit::Label spread = a.newLabel();
    if (element() == 4 && !masked()) go_if_one_place(spread);
    fill_window(results_, spread, serve_);
    a.bind(spread);
  }
  load_in_bounds();
  a.jmp(done_);
}

void LoadSite::load_run(unsigned stride, asmjit::Label otherwise) const {
  load_runs(masked() ? check_run_under_mask(stride, otherwise) : check_run(stride, otherwise, slow_), 1,
            stride);
  clear_outside_mask();
}

void LoadSite::load_runs(const CheckedAddress& memory, unsigned runs, unsigned stride) const {
  if (element() < 4 && stride != 0 && stride != row_stride()) return load_narrow_apart(memory, runs, stride);
  if (runs == 1 && are_overlapping(stride)) return load_overlapping(memory, stride);
  if (components() > 1 || runs > 1 || stride != row_stride()) {
    for (unsigned row = 0; row < rows(); ++row)
      load_row(memory, runs > 1 ? row : 0, row, runs > 1 ? 0 : 8 * row * stride, stride);
  } else {
    for (unsigned i = 0; i < vectors(); ++i)
      load_chunk(result(0, i), memory, component_offset(0) + 32 * i, std::min(32u, bytes()));
  }
}

void LoadSite::load_row(const CheckedAddress& memory, unsigned run, unsigned row, unsigned offset,
                        unsigned stride) const {
  auto& a = c_.a;
  const auto at = [&](unsigned behind, unsigned bytes) {
    return memory.at(component_offset(0) + offset + behind, bytes, run);
  };
  if (stride == 0) return load_one_address(memory, run, row);
  if (is_blended_run(stride)) return blend_row(memory, run, row, offset, stride);
  if (stride == side_by_side()) {
    const unsigned each = element() / 4;  // vectors of a row
    for (unsigned k = 0; k < components(); ++k)
      for (unsigned i = 0; i < each; ++i)
        a.vmovups(result(k, each * row + i), memory.at(component_offset(k) + offset + 32 * i, 32, run));
    return;
  }
  const auto of_lane = [&](unsigned i, int behind, unsigned bytes) {
    return at(i * stride + static_cast<unsigned>(behind), bytes);
  };
  if (stride != row_stride() || span() > 2)
    return load_row_apart(of_lane, stride >= 4 ? Beyond::ButLast : Beyond::None, row);
  if (element() == 8 && span() == 2) return load_qword_pairs(of_lane, row);
  if (span() == 2) return load_pairs(at(0, 32), at(32, 32), row);
  switch (element()) {
    case 8:
      a.vmovups(result(0, 2 * row), at(0, 32));
      return (void)a.vmovups(result(0, 2 * row + 1), at(32, 32));
    case 4:
      return (void)a.vmovups(result(0, row), at(0, 32));
    case 2:
      if (row == 0) return (void)a.vmovups(result(0).xmm(), at(0, 16));
      return (void)a.vinserti128(result(0), result(0), at(0, 16), 1);
    default:
      if (row == 0) return (void)a.vmovq(result(0).xmm(), at(0, 8));
      return (void)a.vmovhps(result(0).xmm(), result(0).xmm(), at(0, 8));
  }
}

void LoadSite::load_one_address(const CheckedAddress& memory, unsigned run, unsigned row) const {
  namespace I = x86::Inst;
  constexpr std::array<std::uint32_t, 9> broadcast{
      0, I::kIdVpbroadcastb, I::kIdVpbroadcastw, 0, I::kIdVbroadcastss, 0, 0, 0, I::kIdVbroadcastsd};
  const unsigned each = std::max(1u, vectors() / rows());  // vectors of a row
  if (row > 0 && vectors() == 1) return;                   // rows of bytes and words share one
  for (unsigned k = 0; k < components(); ++k) {
    const x86::Ymm first = result(k, run * each);
    if (row == run) c_.a.emit(broadcast[element()], first, memory.at(component_offset(k), element(), run));
    for (unsigned i = row == run ? 1 : 0; i < each; ++i)
      if (const x86::Ymm to = result(k, row * each + i); to != first) c_.a.vmovaps(to, first);
  }
}

void LoadSite::load_pairs(const x86::Mem& low, const x86::Mem& high, unsigned row) const {
  auto& a = c_.a;
  const x86::Ymm x = result(0, row), y = result(1, row);
  a.vmovups(x, low);
  a.vmovups(t, high);
  a.vshufps(y, x, t, 0xdd);
  a.vshufps(x, x, t, 0x88);
  a.vpermq(y, y, 0xd8);
  a.vpermq(x, x, 0xd8);
}

void LoadSite::clear_outside_mask() const {
  if (element() < 4) {
    if (!clears_) return;
    narrow_mask(t);
    return (void)c_.a.vpand(result(0), result(0), t);
  }
  for (unsigned row = 0; row < rows(); ++row) clear_outside_mask(row);
}

void LoadSite::clear_outside_mask(unsigned row) const {
  if (!clears_) return;
  auto& a = c_.a;
  const unsigned each = element() / 4;
  for (unsigned i = 0; i < each; ++i) {
    const x86::Ymm mask = each == 1 ? masks_[row] : t;
    if (each > 1) wide_mask(mask, row, i);
    for (unsigned k = 0; k < components(); ++k)
      a.vpand(result(k, each * row + i), result(k, each * row + i), mask);
  }
}

void emit_load(Compiler& c, const CodeInst& inst) {
  MemorySite site(c, inst);
  if (c.regs.is_scalar(inst.result)) {
    if (inst.result_count == 1 && site.fits_in_line()) return load_one_lane(c, inst);
    return site.call_inline(on_data<jit::load>);
  }
  if (is_of_few_lanes(site)) return load_few_lanes(c, inst);
  const unsigned lanes = LaneSite::lanes_at_once(c, inst, site.components());
  if (lanes == 0) return site.call_inline(on_data<jit::load>);
  for (unsigned first = 0; first < inst.lanes; first += lanes) {
    LoadSite(c, inst, first, lanes).emit();
    c.regs.unpin();
  }
}

void emit_probe(Compiler& c, const CodeInst& inst) { MemorySite(c, inst).call_inline(on_data<jit::probe>); }

}  // namespace eum::jit::avx2::emit

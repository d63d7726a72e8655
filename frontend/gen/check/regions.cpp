// Regions of sources and destinations: shapes, spans and alignment (BXT, Register Region Restrictions 1 to 3
// and 8).
#include "frontend/gen/check/subject.hpp"

namespace eum::gen::check {
namespace {

constexpr unsigned most_bytes = 64;

/// Calls f(operand, place) for each source in general registers that has a region of its own.
template <class F>
void for_sources(const Subject& s, F&& f) {
  if (!s.regions()) return;
  for (std::size_t i = 0; i < s.sources().size(); ++i)
    if (in_register(s.in.src[i])) f(s.in.src[i], source_place(i));
}

/// Rows of a source that the execution size covers.
unsigned rows_of(const Subject& s, const Operand& op) {
  return std::max(1u, s.in.exec_size / std::max<unsigned>(1, op.region.width));
}

/// The first byte after a direct source, from the beginning of the register file.
unsigned end_of(const Subject& s, const Operand& op) {
  const unsigned columns = std::min<unsigned>(op.region.width, s.in.exec_size);
  const unsigned last = (rows_of(s, op) - 1) * op.region.vstride + (columns - 1) * op.region.hstride;
  return op.byte_address(s.grf_bytes) + (last + 1) * size_of(op.type);
}

unsigned end_of_dst(const Subject& s) {
  const Operand& dst = s.in.dst;
  const unsigned stride = s.in.align16 ? 1 : dst.region.hstride;
  return dst.byte_address(s.grf_bytes) + ((s.in.exec_size - 1u) * stride + 1) * size_of(dst.type);
}

unsigned registers_between(const Subject& s, unsigned begin, unsigned end) {
  return (end - 1) / s.grf_bytes - begin / s.grf_bytes + 1;
}

}  // namespace

void rule_execution_bytes(const Subject& s, Report& found) {
  if (!s.computes()) return;
  const auto check = [&](const Operand& op, Place place) {
    found.when(s.in.exec_size * element_bytes(op.type) > most_bytes, place);
  };
  if (s.writes()) check(s.in.dst, Place::Dst);
  for (std::size_t i = 0; i < s.sources().size(); ++i)
    if (in_register(s.in.src[i])) check(s.in.src[i], source_place(i));
}

void rule_src_width(const Subject& s, Report& found) {
  for_sources(s, [&](const Operand& op, Place place) {
    if (!is_vxh(op)) found.when(op.region.width > s.in.exec_size, place);
  });
}

void rule_src_vertical_stride(const Subject& s, Report& found) {
  for_sources(s, [&](const Operand& op, Place place) {
    const Region& r = op.region;
    if (!is_vxh(op) && r.width == s.in.exec_size && r.hstride != 0)
      found.when(r.vstride != r.width * r.hstride, place);
  });
}

void rule_src_width_one(const Subject& s, Report& found) {
  for_sources(s, [&](const Operand& op, Place place) {
    found.when(op.region.width == 1 && op.region.hstride != 0, place);
  });
}

void rule_src_scalar(const Subject& s, Report& found) {
  for_sources(s, [&](const Operand& op, Place place) {
    const Region& r = op.region;
    if (!is_vxh(op) && s.in.exec_size == 1 && r.width == 1)
      found.when(r.vstride != 0 || r.hstride != 0, place);
  });
}

void rule_src_replicated(const Subject& s, Report& found) {
  for_sources(s, [&](const Operand& op, Place place) {
    found.when(op.region.vstride == 0 && op.region.hstride == 0 && op.region.width != 1, place);
  });
}

void rule_dst_stride_zero(const Subject& s, Report& found) {
  if (s.regions() && s.writes()) found.when(s.in.dst.region.hstride == 0, Place::Dst);
}

void rule_src_row_crosses(const Subject& s, Report& found) {
  for_sources(s, [&](const Operand& op, Place place) {
    if (!op.is_grf()) return;
    const unsigned bytes = size_of(op.type);
    const unsigned columns = std::min<unsigned>(op.region.width, s.in.exec_size);
    for (unsigned row = 0; row < rows_of(s, op); ++row) {
      const unsigned begin = op.byte_address(s.grf_bytes) + row * op.region.vstride * bytes;
      const unsigned end = begin + ((columns - 1) * op.region.hstride + 1) * bytes;
      if (registers_between(s, begin, end) > 1) return found(place);
    }
  });
}

void rule_src_span(const Subject& s, Report& found) {
  for_sources(s, [&](const Operand& op, Place place) {
    if (op.is_grf()) found.when(registers_between(s, op.byte_address(s.grf_bytes), end_of(s, op)) > 2, place);
  });
}

void rule_dst_span(const Subject& s, Report& found) {
  if (!s.computes() || !s.in.dst.is_grf()) return;
  found.when(registers_between(s, s.in.dst.byte_address(s.grf_bytes), end_of_dst(s)) > 2, Place::Dst);
}

void rule_register_exists(const Subject& s, Report& found) {
  if (!s.computes()) return;
  const unsigned file = s.grf_bytes * info(s.family).grf_count;
  if (s.in.dst.is_grf()) found.when(end_of_dst(s) > file, Place::Dst);
  for_sources(s, [&](const Operand& op, Place place) {
    if (op.is_grf()) found.when(end_of(s, op) > file, place);
  });
}

void rule_element_alignment(const Subject& s, Report& found) {
  if (!s.computes()) return;
  const auto check = [&](const Operand& op, Place place) {
    if (op.kind == OperandKind::Direct) found.when(op.subreg % size_of(op.type) != 0, place);
  };
  if (s.writes()) check(s.in.dst, Place::Dst);
  for (std::size_t i = 0; i < s.sources().size(); ++i) check(s.in.src[i], source_place(i));
}

void rule_double_pairs(const Subject& s, Report& found) { found.when(s.splits_doubles); }

void rule_vxh_channels(const Subject& s, Report& found) {
  for_sources(s,
              [&](const Operand& op, Place place) { found.when(is_vxh(op) && s.in.exec_size > 16, place); });
}

void rule_vxh_registers(const Subject& s, Report& found) {
  // A group of address registers is aligned to its own size, up to the number of registers.
  const unsigned words = info(s.family).address_words;
  for_sources(s, [&](const Operand& op, Place place) {
    if (!is_vxh(op)) return;
    const unsigned rows = rows_of(s, op);
    found.when(op.address_subreg + rows > words || op.address_subreg % std::min(rows, words) != 0, place);
  });
}

void rule_src1_indirect(const Subject& s, Report& found) {
  if (s.in.source_count > 1) found.when(is_vxh(s.in.src[1]), Place::Src1);
}

void rule_compressed_overlap(const Subject& s, Report& found) {
  if (!s.regions() || !s.in.dst.is_grf()) return;
  const unsigned begin = s.in.dst.byte_address(s.grf_bytes);
  if (registers_between(s, begin, end_of_dst(s)) < 2) return;
  for_sources(s, [&](const Operand& op, Place place) {
    if (!op.is_grf() || is_scalar(op)) return;
    const unsigned source = op.byte_address(s.grf_bytes);
    found.when(registers_between(s, source, end_of(s, op)) == 2 && op.reg + 1 == s.in.dst.reg, place);
  });
}

}  // namespace eum::gen::check

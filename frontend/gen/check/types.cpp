// Types of operands, and what the execution type requires of the destination (BXT, Register Region
// Restrictions 1, 4 to 7).
#include "frontend/gen/check/subject.hpp"

namespace eum::gen::check {

bool Subject::mixed_floats() const {
  bool half = false, single = false;
  const auto note = [&](Type type) {
    half |= type == Type::hf;
    single |= type == Type::f || type == Type::vf;
  };
  if (writes()) note(in.dst.type);
  for (const Operand& op : sources()) note(op.type);
  return half && single;
}

unsigned Subject::execution_bytes() const {
  unsigned bytes = 2;
  bool half = false;
  for (const Operand& op : sources()) {
    if (op.is_null() || op.kind == OperandKind::None) continue;
    bytes = std::max(bytes, element_bytes(op.type));
    half |= op.type == Type::hf;
  }
  return half && writes() && in.dst.type == Type::f ? std::max(bytes, 4u) : bytes;
}

bool Subject::dword_multiply() const {
  constexpr TypeSet dwords = types(Type::d, Type::ud);
  if (in.opcode == Opcode::mul) return contains(dwords, in.src[0].type) && contains(dwords, in.src[1].type);
  return in.opcode == Opcode::mad && contains(dwords, in.src[1].type) && contains(dwords, in.src[2].type);
}

bool Subject::wide() const {
  if (!computes()) return false;
  if (writes() && size_of(in.dst.type) == 8) return true;
  for (const Operand& op : sources())
    if (in_register(op) && size_of(op.type) == 8) return true;
  return dword_multiply();
}

namespace {

/// A mov that changes no bit: equal types, or integers of the same size.
bool is_raw_move(const Instruction& in) {
  if (in.opcode != Opcode::mov || in.saturate || in.src[0].modifier != SourceModifier::None) return false;
  const Type to = in.dst.type, from = in.src[0].type;
  return to == from || (!is_float(to) && !is_float(from) && size_of(to) == element_bytes(from));
}

bool is_packed(const Operand& dst) { return dst.region.hstride == 1; }
bool is_byte(Type type) { return size_of(type) == 1; }
bool is_word(Type type) { return size_of(type) == 2; }

/// Packed hf results of f computations, to which other rules apply.
bool is_packed_half(const Subject& s) {
  return info(s.family).has(trait::PackedHalf) && s.in.dst.type == Type::hf && is_packed(s.in.dst) &&
         s.mixed_floats();
}

template <class F>
void for_wide_sources(const Subject& s, F&& f) {
  if (!s.regions() || !s.wide()) return;
  for (std::size_t i = 0; i < s.sources().size(); ++i) {
    const Operand& op = s.in.src[i];
    if (in_register(op) && !is_scalar(op)) f(op, source_place(i));
  }
}

}  // namespace

void rule_dst_stride(const Subject& s, Report& found) {
  if (!s.regions() || !s.writes() || s.in.exec_size == 1) return;
  const Operand& dst = s.in.dst;
  const unsigned bytes = size_of(dst.type), execution = s.execution_bytes();
  // Packed bytes have a rule of their own.
  if (bytes >= execution || dst.region.hstride == 0 || is_packed_half(s) ||
      (is_byte(dst.type) && is_packed(dst)))
    return;
  // Compilers also write bytes from words at a stride of four bytes: the ratio is the minimum stride.
  found.when(dst.region.hstride * bytes % execution != 0, Place::Dst);
}

void rule_dst_alignment(const Subject& s, Report& found) {
  if (!s.regions() || !s.writes() || s.in.dst.kind != OperandKind::Direct || s.in.exec_size == 1) return;
  const Operand& dst = s.in.dst;
  const unsigned bytes = size_of(dst.type), execution = s.execution_bytes();
  if (bytes >= execution || is_packed_half(s) || (is_byte(dst.type) && is_packed(dst))) return;
  const unsigned place = dst.subreg % execution;
  const bool relaxed = is_byte(dst.type) || is_word(dst.type);
  found.when(place != 0 && !(relaxed && place == bytes), Place::Dst);
}

void rule_packed_bytes(const Subject& s, Report& found) {
  if (!s.regions() || !s.writes() || s.in.exec_size == 1) return;
  found.when(is_byte(s.in.dst.type) && is_packed(s.in.dst) && !is_raw_move(s.in), Place::Dst);
}

void rule_wide_stride(const Subject& s, Report& found) {
  if (!s.writes() || s.in.exec_size == 1) return;
  const unsigned step = s.in.dst.region.hstride * size_of(s.in.dst.type);
  for_wide_sources(s, [&](const Operand& op, Place place) {
    if (!is_vxh(op)) found.when(step_of(op) * size_of(op.type) != step, place);
  });
}

void rule_wide_vertical_stride(const Subject& s, Report& found) {
  if (s.in.exec_size == 1) return;
  for_wide_sources(s, [&](const Operand& op, Place place) {
    const Region& r = op.region;
    if (!is_vxh(op) && r.width > 1) found.when(r.vstride != r.width * r.hstride, place);
  });
}

void rule_wide_offset(const Subject& s, Report& found) {
  if (!s.writes() || s.in.dst.kind != OperandKind::Direct) return;
  for_wide_sources(s, [&](const Operand& op, Place place) {
    if (op.kind == OperandKind::Direct) found.when(op.subreg != s.in.dst.subreg, place);
  });
}

void rule_wide_indirect(const Subject& s, Report& found) {
  if (!s.regular() || !s.wide()) return;
  found.when(s.in.has_dst && s.in.dst.kind == OperandKind::Indirect, Place::Dst);
  for (std::size_t i = 0; i < s.sources().size(); ++i)
    found.when(s.in.src[i].kind == OperandKind::Indirect, source_place(i));
}

void rule_wide_arf(const Subject& s, Report& found) {
  if (!s.regular() || is_macro(s.in.math)) return;
  const auto check = [&](const Operand& op, Place place) {
    found.when(op.kind == OperandKind::Direct && op.file == RegisterFile::Arf && size_of(op.type) == 8,
               place);
  };
  if (s.writes()) check(s.in.dst, Place::Dst);
  for (std::size_t i = 0; i < s.sources().size(); ++i) check(s.in.src[i], source_place(i));
}

void rule_wide_dependency(const Subject& s, Report& found) {
  found.when(s.wide() && (s.in.no_dd_chk || s.in.no_dd_clr));
}

void rule_mixed_packed_simd16(const Subject& s, Report& found) {
  if (!s.computes() || !s.writes() || !s.mixed_floats() || s.in.dst.type != Type::hf) return;
  found.when(s.in.exec_size > 8 && (s.in.align16 || is_packed(s.in.dst)), Place::Dst);
}

void rule_mixed_packed_alignment(const Subject& s, Report& found) {
  if (!s.regions() || !s.writes() || !is_packed_half(s) || s.in.dst.kind != OperandKind::Direct ||
      s.in.exec_size == 1)
    return;
  constexpr unsigned oword = 16;
  const unsigned bytes = s.in.exec_size * size_of(s.in.dst.type), place = s.in.dst.subreg % oword;
  found.when(place + bytes > oword, Place::Dst);
}

void rule_mixed_acc_offset(const Subject& s, Report& found) {
  if (!s.regions() || !s.writes() || s.in.dst.type != Type::hf || !is_packed(s.in.dst) || s.in.exec_size == 1)
    return;
  for (std::size_t i = 0; i < s.sources().size(); ++i) {
    const Operand& op = s.in.src[i];
    found.when(op.is_arf(Arf::acc) && is_float(op.type) && op.subreg != 0, source_place(i));
  }
}

void rule_mixed_implicit_acc(const Subject& s, Report& found) {
  if (!s.regions() || !s.writes() || s.in.opcode != Opcode::mac || s.in.exec_size == 1) return;
  found.when(s.in.dst.type == Type::hf && s.mixed_floats() && is_packed(s.in.dst), Place::Dst);
}

void rule_mixed_math_stride(const Subject& s, Report& found) {
  if (!s.regions() || s.format != Format::Math || !s.mixed_floats() || s.in.exec_size == 1) return;
  constexpr unsigned dword = 4;
  for (std::size_t i = 0; i < s.sources().size(); ++i) {
    const Operand& op = s.in.src[i];
    if (in_register(op) && op.type == Type::hf && !is_scalar(op))
      found.when(step_of(op) * size_of(op.type) != dword, source_place(i));
  }
}

void rule_align16_source(const Subject& s, Report& found) {
  if (!s.in.align16 || !s.computes() || !s.writes() || is_macro(s.in.math)) return;
  // Number of channels in one destination register, for sources that advance with the channels.
  const unsigned channels = std::min<unsigned>(s.in.exec_size, s.grf_bytes / size_of(s.in.dst.type));
  for (std::size_t i = 0; i < s.sources().size(); ++i) {
    const Operand& op = s.in.src[i];
    const bool steps = s.format == Format::Ternary ? !op.replicate : op.region.vstride != 0;
    if (op.is_grf() && steps)
      found.when(op.subreg + channels * size_of(op.type) > s.grf_bytes, source_place(i));
  }
}

void rule_mixed_align16_acc(const Subject& s, Report& found) {
  if (!s.in.align16 || !s.mixed_floats()) return;
  for (std::size_t i = 0; i < s.sources().size(); ++i)
    found.when(s.in.src[i].is_arf(Arf::acc), source_place(i));
}

void rule_align16_hf_stride(const Subject& s, Report& found) {
  if (!s.regular() || !s.in.align16) return;
  for (std::size_t i = 0; i < s.sources().size(); ++i) {
    const Operand& op = s.in.src[i];
    found.when(op.is_grf() && op.type == Type::hf && op.region.vstride == 0, source_place(i));
  }
}

void rule_int_to_half(const Subject& s, Report& found) {
  if (!s.regions() || !s.writes() || s.in.exec_size == 1) return;
  const Type to = s.in.dst.type;
  bool converts = false;
  for (const Operand& op : s.sources())
    converts |= op.type == Type::hf ? !is_float(to) : to == Type::hf && !is_float(op.type);
  if (!converts) return;
  constexpr unsigned dword = 4;
  found.when(s.in.dst.region.hstride * size_of(to) < dword ||
                 (s.in.dst.kind == OperandKind::Direct && s.in.dst.subreg % dword != 0),
             Place::Dst);
}

void rule_align16_conversion(const Subject& s, Report& found) {
  if (!s.in.align16 || !s.regular() || !s.writes() || is_macro(s.in.math)) return;
  bool differ = false;
  for (const Operand& op : s.sources())
    differ |= in_register(op) && size_of(op.type) != size_of(s.in.dst.type);
  if (!differ) return;
  const auto check = [&](const Operand& op, Place place) {
    if (op.is_grf()) found.when(op.subreg + s.in.exec_size * size_of(op.type) > s.grf_bytes, place);
  };
  check(s.in.dst, Place::Dst);
  for (std::size_t i = 0; i < s.sources().size(); ++i) check(s.in.src[i], source_place(i));
}

void rule_immediate_words(const Subject& s, Report& found) {
  if (!s.regular() || s.in.compacted() || s.word.size() < 16) return;
  for (std::size_t i = 0; i < s.sources().size(); ++i) {
    const Operand& op = s.in.src[i];
    if (!op.is_immediate() || !is_word(op.type)) continue;
    found.when(s.word[12] != s.word[14] || s.word[13] != s.word[15], source_place(i));
  }
}

void rule_immediate_vector(const Subject& s, Report& found) {
  if (!s.regions() || !s.writes()) return;
  for (const Operand& op : s.sources()) {
    // The manual has v and vf only; compilers also write dwords from uv.
    if (!op.is_immediate() || !is_packed_vector(op.type) || op.type == Type::uv) continue;
    const unsigned step = op.type == Type::vf ? 4 : 2;
    const Operand& dst = s.in.dst;
    found.when(dst.region.hstride * size_of(dst.type) != step ||
                   (dst.kind == OperandKind::Direct && dst.subreg % 16 != 0),
               Place::Dst);
  }
}

void rule_dst_type(const Subject& s, Report& found) {
  if (s.computes() && s.writes())
    found.when(!contains(shape(s.in.opcode, s.family).dst_types, s.in.dst.type), Place::Dst);
}

void rule_src_type(const Subject& s, Report& found) {
  if (!s.computes()) return;
  // Compilers write integers narrower than those the manual lists (lzd of uw, addc of w on Gen11); these are
  // widened.
  const TypeSet listed = shape(s.in.opcode, s.family).src_types;
  const auto reads = [&](Type type) {
    if (contains(listed, type)) return true;
    for (std::size_t t = 0; t < type_table.size(); ++t) {
      const auto wider = static_cast<Type>(t);
      if (contains(listed, wider) && !is_float(wider) && !is_float(type) && size_of(type) <= size_of(wider))
        return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < s.sources().size(); ++i)
    if (!s.in.src[i].is_null()) found.when(!reads(s.in.src[i].type), source_place(i));
}

void rule_mixed_kinds(const Subject& s, Report& found) {
  if (!s.regular()) return;
  for (std::size_t i = 1; i < s.sources().size(); ++i)
    if (!s.in.src[i].is_null() && !s.in.src[0].is_null())
      found.when(is_float(s.in.src[i].type) != is_float(s.in.src[0].type), source_place(i));
}

}  // namespace eum::gen::check

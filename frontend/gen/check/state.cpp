// Architecture registers, accumulators, flags, channels, and requirements of individual instructions.
#include "frontend/gen/check/subject.hpp"

#include "frontend/gen/operand.hpp"

namespace eum::gen::check {
namespace {

constexpr unsigned arf_bytes = 32;

bool is_arf(const Operand& op) { return op.kind == OperandKind::Direct && op.file == RegisterFile::Arf; }
bool is_acc(const Operand& op) { return is_arf(op) && op.arf == Arf::acc; }
constexpr bool is_dword(Type type) { return type == Type::d || type == Type::ud; }

/// Calls f(operand, place) for the destination and each source.
template <class F>
void for_operands(const Subject& s, F&& f) {
  if (!s.regular()) return;
  if (s.writes()) f(s.in.dst, Place::Dst);
  for (std::size_t i = 0; i < s.sources().size(); ++i) f(s.in.src[i], source_place(i));
}

bool is_quotient(MathFunction f) {
  return f == MathFunction::idiv || f == MathFunction::iqot || f == MathFunction::irem;
}

}  // namespace

void rule_arf_span(const Subject& s, Report& found) {
  if (!s.regions()) return;
  for_operands(s, [&](const Operand& op, Place place) {
    // The region of an accumulator may continue in the next one.
    if (!is_arf(op) || is_acc(op)) return;
    const Region r = place == Place::Dst ? Region{op.region.hstride, 1, 0} : op.region;
    const unsigned rows = std::max(1u, s.in.exec_size / std::max<unsigned>(1, r.width));
    const unsigned columns = std::min<unsigned>(r.width, s.in.exec_size);
    const unsigned last = (rows - 1) * r.vstride + (columns - 1) * r.hstride;
    found.when(op.subreg + (last + 1) * size_of(op.type) > arf_bytes, place);
  });
}

void rule_arf_read_only(const Subject& s, Report& found) {
  if (!s.regular() || !s.writes() || !is_arf(s.in.dst)) return;
  switch (s.in.dst.arf) {
    case Arf::ce:
    case Arf::tdr:  // n is excluded, contrary to 3.3.3.9: compilers clear n0 at the start of a kernel
      return found(Place::Dst);
    default:
      return;
  }
}

void rule_null_source(const Subject& s, Report& found) {
  if (!s.computes() || s.in.opcode == Opcode::movi || is_macro(s.in.math)) return;
  for (std::size_t i = 0; i < s.sources().size(); ++i)
    found.when(s.in.src[i].is_null() && s.writes(), source_place(i));
}

void rule_control_switch(const Subject& s, Report& found) {
  if (s.in.thread_ctrl == ThreadCtrl::Switch) return;
  for_operands(s, [&](const Operand& op, Place place) {
    if (is_arf(op)) found.when(op.arf == Arf::cr, place);
  });
}

void rule_acc_other(const Subject& s, Report& found) {
  if (!s.regular() || !is_acc(s.in.dst) || is_macro(s.in.math)) return;
  for (std::size_t i = 0; i < s.sources().size(); ++i)
    found.when(is_acc(s.in.src[i]) && s.in.src[i].reg != s.in.dst.reg, source_place(i));
}

void rule_acc_region(const Subject& s, Report& found) {
  if (!s.regions() || !s.writes() || !in_register(s.in.dst) || s.in.exec_size == 1) return;
  if (s.mixed_floats()) return;  // these have rules of their own (BXT 7)
  const unsigned step = s.in.dst.region.hstride * size_of(s.in.dst.type);
  for (std::size_t i = 0; i < s.sources().size(); ++i) {
    const Operand& op = s.in.src[i];
    if (!is_acc(op) || is_scalar(op)) continue;
    found.when(step_of(op) * size_of(op.type) != step, source_place(i));
  }
}

void rule_acc_simd16(const Subject& s, Report& found) {
  for_operands(s, [&](const Operand& op, Place place) {
    found.when(is_acc(op) && size_of(op.type) == 4 && s.in.exec_size > 8, place);
  });
}

void rule_acc_dwords(const Subject& s, Report& found) {
  for_operands(s, [&](const Operand& op, Place place) {
    if (is_acc(op) && is_dword(op.type)) found.when(s.in.exec_size > 8 || op.reg == 1, place);
  });
}

void rule_acc1_small(const Subject& s, Report& found) {
  for_operands(s, [&](const Operand& op, Place place) {
    found.when(is_acc(op) && op.reg == 1 && size_of(op.type) < 4, place);
  });
}

void rule_acc_negated_unsigned(const Subject& s, Report& found) {
  const bool to_accumulator =
      s.in.opcode == Opcode::mach || (s.in.opcode == Opcode::mul && (is_acc(s.in.dst) || s.in.acc_wr_en));
  if (!to_accumulator) return;
  for (std::size_t i = 0; i < s.sources().size(); ++i) {
    const Operand& op = s.in.src[i];
    found.when(
        op.type == Type::ud && (op.modifier == SourceModifier::Neg || op.modifier == SourceModifier::NegAbs),
        source_place(i));
  }
}

void rule_align16_acc(const Subject& s, Report& found) {
  if (!s.regular() || !s.in.align16 || is_macro(s.in.math)) return;
  for (std::size_t i = 0; i < s.sources().size(); ++i)
    found.when(is_acc(s.in.src[i]) && s.in.src[i].reg < 2 && s.in.src[i].swizzle != identity_swizzle,
               source_place(i));
}

void rule_align16_pairs(const Subject& s, Report& found) {
  if (!s.in.align16 || !s.computes() || is_macro(s.in.math) || s.in.opcode == Opcode::madm) return;
  if (s.writes()) found.when(size_of(s.in.dst.type) == 8 && !s.in.dst.enables_pairs(), Place::Dst);
  for (std::size_t i = 0; i < s.sources().size(); ++i) {
    const Operand& op = s.in.src[i];
    found.when(in_register(op) && !op.replicate && size_of(op.type) == 8 && !op.swizzles_pairs(),
               source_place(i));
  }
}

void rule_align16_rows(const Subject& s, Report& found) {
  if (!s.in.align16 || !s.regular()) return;
  for (std::size_t i = 0; i < s.sources().size(); ++i)
    found.when(s.in.src[i].kind == OperandKind::Indirect && s.in.src[i].region.vstride == Region::vxh,
               source_place(i));
}

void rule_sel_simd32(const Subject& s, Report& found) {
  found.when(s.in.opcode == Opcode::sel && s.in.exec_size > 16);
}

void rule_select_condition(const Subject& s, Report& found) {
  if (s.in.opcode == Opcode::sel) found.when(s.in.predicated() == (s.in.cond_mod != CondMod::None));
  if (s.in.opcode == Opcode::csel) found.when(s.in.cond_mod == CondMod::None);
}

void rule_compare_condition(const Subject& s, Report& found) {
  if (s.in.opcode == Opcode::cmp || s.in.opcode == Opcode::cmpn) found.when(s.in.cond_mod == CondMod::None);
}

void rule_overflow_condition(const Subject& s, Report& found) {
  switch (s.in.opcode) {
    case Opcode::cmp:
    case Opcode::cmpn:
    case Opcode::sel:
    case Opcode::csel:
      return found.when(s.in.cond_mod == CondMod::ov);
    default:
      return;
  }
}

void rule_carry_accumulator(const Subject& s, Report& found) {
  switch (s.in.opcode) {
    case Opcode::addc:
    case Opcode::subb:
      return found.when(!s.in.acc_wr_en && !is_acc(s.in.dst));
    default:
      return;
  }
}

void rule_carry_modifier(const Subject& s, Report& found) {
  if (s.in.opcode != Opcode::addc && s.in.opcode != Opcode::subb) return;
  found.when(s.in.saturate);
}

void rule_math_modifier(const Subject& s, Report& found) {
  if (!is_quotient(s.in.math)) return;
  found.when(s.in.saturate);
  for (std::size_t i = 0; i < s.sources().size(); ++i)
    found.when(s.in.src[i].modifier != SourceModifier::None, source_place(i));
}

void rule_math_channels(const Subject& s, Report& found) {
  if (s.format == Format::Math) found.when(s.in.exec_size > (is_quotient(s.in.math) ? 8 : 16));
}

void rule_channel_alignment(const Subject& s, Report& found) {
  found.when(s.in.channel_offset % s.in.exec_size != 0 && s.in.exec_size >= 4);
}

void rule_channel_range(const Subject& s, Report& found) {
  found.when(s.in.channel_offset + s.in.exec_size > 32);
}

void rule_predicate_group(const Subject& s, Report& found) {
  // Any2H to All32H use groups of 2 to 32 channels; a single channel may use a whole group.
  if (s.in.pred_ctrl < PredCtrl::Any2H || s.in.pred_ctrl > PredCtrl::All32H) return;
  const unsigned step = static_cast<unsigned>(s.in.pred_ctrl) - static_cast<unsigned>(PredCtrl::Any2H);
  const unsigned group = 2u << step / 2;
  constexpr unsigned flag_bits = 32;
  found.when(16u * s.in.flag_subreg + s.in.channel_offset / group * group + group > flag_bits);
}

void rule_wait_register(const Subject& s, Report& found) {
  if (s.format != Format::Wait) return;
  found.when(s.in.exec_size != 1);
  found.when(!is_arf(s.in.src[0]) || s.in.src[0].arf != Arf::n, Place::Src0);
}

void rule_ternary_scalar(const Subject& s, Report& found) {
  if (s.format == Format::Ternary && s.in.align16) found.when(s.in.exec_size == 1);
}

void rule_ternary_alignment(const Subject& s, Report& found) {
  if (s.format != Format::Ternary || !s.in.align16 || s.in.opcode == Opcode::madm) return;
  constexpr unsigned oword = 16;
  found.when(s.in.dst.subreg % oword != 0, Place::Dst);
  for (std::size_t i = 0; i < s.sources().size(); ++i)
    found.when(!s.in.src[i].replicate && s.in.src[i].subreg % oword != 0, source_place(i));
}

}  // namespace eum::gen::check

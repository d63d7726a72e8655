// Execution types. Facts: the manual's section on execution data types, type conversion (2.4) and accumulator
// precision; words are the smallest type that the pipeline computes in.
#include "frontend/eu/exec_type.hpp"

#include <algorithm>

namespace eum::eu {
namespace {

constexpr unsigned smallest_int_bytes = 2;

struct Sources {
  unsigned bytes = smallest_int_bytes;  ///< of the widest integer source
  unsigned unsigned_bytes = 0;  ///< of the widest source whose value may need the top bit for its magnitude
  unsigned float_bytes = 0;     ///< of the widest float source
  bool any_signed = false;
  bool accumulator = false;  ///< an integer accumulator, which has up to 64 bits
};

/// An immediate that is not negative may count as signed or unsigned.
bool signless(const Operand& op) {
  if (!op.is_immediate() || op.packed == PackedVector::Signed) return false;
  unsigned bits = 8 * ir::size_of(op.type);
  return op.packed == PackedVector::Unsigned || ((op.immediate >> (bits - 1)) & 1) == 0;
}

Sources look_at(const Instruction& inst) {
  Sources s;
  for (unsigned i = 0; i < inst.source_count; ++i) {
    const Operand& op = inst.src[i];
    if (op.kind == OperandKind::None || op.is_null()) continue;
    ir::Type type = op.type;
    unsigned bytes = ir::size_of(type);
    if (ir::is_float(type)) {
      s.float_bytes = std::max(s.float_bytes, bytes);
      continue;
    }
    s.bytes = std::max(s.bytes, bytes);
    if (signless(op)) continue;
    s.accumulator |= op.is_accumulator();
    // A negated or absolute value may need one bit more than its type has.
    const bool modified =
        op.modifier != SourceModifier::None && (ir::is_signed(type) || op.modifier != SourceModifier::Abs);
    if (!ir::is_signed(type) || modified) s.unsigned_bytes = std::max(s.unsigned_bytes, bytes);
    if (ir::is_signed(type) || modified) s.any_signed = true;
  }
  return s;
}

ir::Type float_type(unsigned bytes) {
  return bytes == 2 ? ir::Type::f16 : bytes == 4 ? ir::Type::f32 : ir::Type::f64;
}

ir::Type ordered(const Sources& s) {
  if (s.accumulator) return ir::Type::s64;
  unsigned bytes = s.bytes;
  if (s.any_signed && s.unsigned_bytes == bytes) bytes = std::min(2 * bytes, 8u);
  return ir::int_type(bytes, s.any_signed);
}

}  // namespace

ir::Type modular_type(const Instruction& inst) {
  Sources s = look_at(inst);
  bool float_dst = inst.has_dst() && ir::is_float(inst.dst.type);
  if (s.float_bytes != 0)
    return float_type(float_dst ? std::max(s.float_bytes, ir::size_of(inst.dst.type)) : s.float_bytes);
  if (float_dst) return ordered(s);
  unsigned bytes = inst.has_dst() ? std::max(s.bytes, ir::size_of(inst.dst.type)) : s.bytes;
  return ir::int_type(bytes, inst.has_dst() ? ir::is_signed(inst.dst.type) : s.any_signed);
}

ir::Type ordered_type(const Instruction& inst) {
  Sources s = look_at(inst);
  return s.float_bytes != 0 ? modular_type(inst) : ordered(s);
}

ir::Type widened(ir::Type type) {
  return ir::is_int(type) && ir::size_of(type) < 8 ? ir::int_type(2 * ir::size_of(type), ir::is_signed(type))
                                                   : type;
}

}  // namespace eum::eu

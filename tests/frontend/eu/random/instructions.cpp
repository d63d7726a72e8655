// Each field is chosen independently; what the decoder or lowering refuses is discarded.
#include "tests/frontend/eu/random/instructions.hpp"

#include <algorithm>
#include <vector>

#include "frontend/gen/encoding.hpp"
#include "frontend/gen/isa/probe.hpp"
#include "frontend/gen/operand.hpp"
#include "tests/frontend/gen/encode.hpp"
#include "tests/jit/world.hpp"

namespace eum::test {

using namespace gen;

namespace {

constexpr unsigned register_bytes = 32;

bool is_vector(Type type) { return type == Type::v || type == Type::uv || type == Type::vf; }

const TypeCodes& types_of(Family family) {
  static const TypeCodes rows[] = {
#define GEN_ENCODING(name) EncodingData<Encoding::name>::types,
#include "frontend/gen/encodings.def"
#undef GEN_ENCODING
  };
  return rows[static_cast<std::size_t>(info(family).encoding)];
}

bool has_type(const TypeList& list, Type type) {
  for (unsigned code = 0; code < 16; ++code)
    if (list[code] == type) return true;
  return false;
}

}  // namespace

std::optional<Instruction> executable(const Instruction& inst, Family family) {
  const auto word = gen::test::encode(inst, family);
  const Result<Instruction> decoded = decode(word, 0, family);
  if (!decoded || probe(*decoded, family).execution == Execution::Unsupported) return std::nullopt;
  return *decoded;
}

bool computes(Opcode opcode, Family family) {
  if (!exists_on(opcode, family)) return false;
  switch (shape(opcode, family).format) {
    case Format::Unary:
    case Format::Binary:
    case Format::Ternary:
    case Format::Math:
    case Format::DoubleImm:
      return true;
    default:
      return false;
  }
}

bool InstructionSource::has_align16() const { return gen::test::layout_of(family_).has(Part::AccessMode); }

Instruction InstructionSource::computing() {
  for (;;) {
    const auto opcode = static_cast<Opcode>(choice_.below(opcode_count));
    if (!computes(opcode, family_)) continue;
    if (const auto found = of(opcode)) return *found;
  }
}

std::optional<Instruction> InstructionSource::of(Opcode opcode) {
  for (unsigned tries = 0; tries < 40; ++tries)
    if (const auto found = executable(attempt(opcode), family_)) return found;
  return std::nullopt;
}

Type InstructionSource::type_of(TypeSet set) {
  std::vector<Type> members;
  for (unsigned n = 0; n < static_cast<unsigned>(Type::none); ++n)
    if (contains(set, static_cast<Type>(n))) members.push_back(static_cast<Type>(n));
  return members.empty() ? Type::ud : members[choice_.below(members.size())];
}

void InstructionSource::types(Instruction& inst) {
  const OpcodeShape& row = shape(inst.opcode, family_);
  inst.dst.type = type_of(row.dst_types);
  Type like = inst.dst.type;
  for (unsigned i = 0; i < inst.source_count; ++i) {
    Type& type = inst.src[i].type;
    const bool follows = row.format == Format::Ternary ? !choice_.one_in(4) : !choice_.one_in(3);
    type = follows && contains(row.src_types, like) ? like : type_of(row.src_types);
    if (!is_vector(type)) like = type;
  }
}

void InstructionSource::channels(Instruction& inst) {
  inst.exec_size = choice_.any_of<std::uint8_t>({1, 2, 4, 8, 8, 8, 16, 16, 16, 16, 32});
  const unsigned unit = choice_.one_in(4) ? 4 : std::max<unsigned>(4, inst.exec_size);
  inst.channel_offset = static_cast<std::uint8_t>(choice_.one_in(2) ? 0 : unit * choice_.below(32 / unit));
  inst.no_mask = choice_.one_in(4);
}

void InstructionSource::predicate(Instruction& inst) {
  const OpcodeShape& row = shape(inst.opcode, family_);
  inst.flag_reg = static_cast<std::uint8_t>(choice_.below(2));
  inst.flag_subreg = static_cast<std::uint8_t>(choice_.below(2));
  if (row.has(cap::Pred) && (choice_.one_in(3) || inst.opcode == Opcode::sel)) {
    const unsigned code = choice_.one_in(2)     ? 1
                          : inst.align16        ? 6 + choice_.below(6)
                          : inst.exec_size < 16 ? 1 + choice_.below(9)
                                                : 1 + choice_.below(13);
    constexpr PredCtrl in_align16[] = {PredCtrl::X, PredCtrl::Y,     PredCtrl::Z,
                                       PredCtrl::W, PredCtrl::Any4H, PredCtrl::All4H};
    inst.pred_ctrl = inst.align16 && code >= 6 ? in_align16[code - 6] : static_cast<PredCtrl>(code);
    inst.pred_inverse = choice_.one_in(2);
  }
  if (!row.has(cap::CMod)) return;
  const bool compares =
      inst.opcode == Opcode::cmp || inst.opcode == Opcode::cmpn || inst.opcode == Opcode::csel;
  if (!compares && !choice_.one_in(3)) return;
  using enum CondMod;
  inst.cond_mod = choice_.any_of({eq, ne, gt, ge, lt, le, ov, un});
  if (inst.opcode == Opcode::sel) inst.pred_ctrl = PredCtrl::None, inst.pred_inverse = false;
}

void InstructionSource::indirect(const Instruction& inst, Operand& op) {
  op.kind = OperandKind::Indirect;
  op.address_subreg = static_cast<std::uint8_t>(choice_.below(family_ >= Family::Gen8 ? 16 : 8));
  const int unit = inst.align16 ? 16 : static_cast<int>(choice_.any_of({1u, 2u, 4u, 8u, 32u}));
  op.address_offset = static_cast<std::int16_t>((static_cast<int>(choice_.below(1024)) - 512) / unit * unit);
}

void InstructionSource::state_register(Operand& op, bool destination) {
  op.kind = OperandKind::Direct;
  op.file = RegisterFile::Arf;
  using enum Arf;
  // Most accesses to state registers are to accumulators and address registers.
  op.arf = choice_.one_in(6)   ? choice_.any_of({cr, sr, n, tm, tdr, sp, dbg, ce, ip, f, fc, msg})
           : choice_.one_in(4) ? choice_.any_of({f, a})
                               : acc;
  // Jumps that terminate are generated elsewhere, and float modes are set where programs begin.
  if (destination && (op.arf == ip || op.arf == cr) && !choice_.one_in(8)) op.arf = acc;
  op.reg =
      static_cast<std::uint8_t>(op.arf == acc ? (choice_.one_in(8) ? choice_.below(10) : choice_.below(2))
                                : op.arf == f ? choice_.below(2)
                                              : 0);
  op.subreg = static_cast<std::uint8_t>(
      choice_.one_in(2) ? 0 : choice_.below(register_bytes / size_of(op.type)) * size_of(op.type));
  if (op.arf == Arf::f || op.arf == Arf::cr || op.arf == Arf::sr) op.subreg &= 7;
}

void InstructionSource::macro(Operand& op) {
  op.macro = true;
  op.mme = static_cast<std::uint8_t>(choice_.below(no_mme + 1));
}

void InstructionSource::destination(Instruction& inst) {
  Operand& dst = inst.dst;
  const unsigned bytes = size_of(dst.type);
  dst.kind = OperandKind::Direct;
  dst.file = RegisterFile::Grf;
  dst.reg = general_register();
  dst.region.hstride = static_cast<std::uint8_t>(choice_.one_in(3) ? choice_.any_of({1u, 2u, 4u}) : 1);
  const bool ternary = inst.source_count == 3;
  if (inst.align16) {
    dst.region.hstride = 1;
    dst.subreg =
        static_cast<std::uint8_t>(ternary ? 4 * choice_.below(8) & ~(bytes - 1) : 16 * choice_.below(2));
    dst.channel_enable = static_cast<std::uint8_t>(choice_.one_in(2) ? 15 : choice_.below(16));
    if (bytes == 8 && choice_.one_in(2)) dst.channel_enable = choice_.any_of<std::uint8_t>({3, 12, 15});
  } else if (!choice_.one_in(3)) {
    dst.subreg = 0;
  } else {
    dst.subreg = static_cast<std::uint8_t>(choice_.below(register_bytes / bytes) * bytes);
    if (ternary) dst.subreg &= 0x18;
  }
  if (inst.opcode == Opcode::madm || is_macro(inst.math)) return macro(dst);
  if (ternary) {
    if (!inst.align16 && choice_.one_in(10)) state_register(dst, true);
    return;
  }
  if (inst.opcode == Opcode::math) return;
  switch (choice_.below(12)) {
    case 0:
      dst.kind = OperandKind::Null;
      dst.file = RegisterFile::Arf;
      dst.arf = Arf::null;
      dst.reg = dst.subreg = 0;
      break;
    case 1:
      indirect(inst, dst);
      break;
    case 2:
      state_register(dst, true);
      if (inst.align16) dst.subreg &= 16;
      break;
    default:
      break;
  }
}

void InstructionSource::region(Operand& op, unsigned lanes) {
  const auto u8 = [](unsigned value) { return static_cast<std::uint8_t>(value); };
  const unsigned bytes = size_of(op.type);
  if (choice_.one_in(4)) {
    op.region = {choice_.any_of<std::uint8_t>({0, 1, 2, 4, 8, 16, 32}),
                 choice_.any_of<std::uint8_t>({1, 2, 4, 8, 16}), choice_.any_of<std::uint8_t>({0, 1, 2, 4})};
  } else if (choice_.one_in(5) || lanes == 1) {
    op.region = {0, 1, 0};
  } else {
    const unsigned stride = choice_.one_in(4) ? 2 : 1;
    const unsigned width = std::min({lanes, register_bytes / bytes / stride, 16u});
    op.region = {u8(width * stride), u8(width), u8(width == 1 ? 0 : stride)};
    if (width == 1) op.region.vstride = u8(stride);
  }
}

std::uint64_t InstructionSource::immediate(Type type) {
  const std::uint64_t bits = jit::test::interesting_bits(choice_.engine());
  return bits & low_mask(8 * size_of(type));
}

void InstructionSource::ternary_source(Instruction& inst, unsigned index) {
  Operand& op = inst.src[index];
  const unsigned bytes = size_of(op.type);
  op.kind = OperandKind::Direct;
  op.file = RegisterFile::Grf;
  op.reg = general_register();
  if (inst.align16) {
    const unsigned unit = std::max(bytes, family_ >= Family::Gen9 ? 2u : 4u);
    op.replicate = inst.opcode != Opcode::madm && choice_.one_in(4);
    op.swizzle = choice_.one_in(2) ? identity_swizzle : static_cast<std::uint8_t>(choice_.bits());
    op.subreg = static_cast<std::uint8_t>(op.replicate || choice_.one_in(3)
                                              ? choice_.below(register_bytes / unit) * unit
                                              : 16 * choice_.below(2));
    if (inst.opcode == Opcode::madm) macro(op);
    return;
  }
  if (inst.opcode == Opcode::madm) {
    macro(op);
    op.region = {8, 8, 1};
    return;
  }
  if (index != 1 && choice_.one_in(6) && (bytes == 2 || !is_float(op.type))) {
    op.kind = OperandKind::Immediate;
    op.immediate = choice_.bits() & 0xffff;
    return;
  }
  if (index == 1 && choice_.one_in(8)) return state_register(op, false);
  op.region.hstride = choice_.any_of<std::uint8_t>({0, 1, 1, 2, 4});
  op.region.vstride = choice_.any_of<std::uint8_t>({0, 2, 4, 8, 8});
  op.subreg =
      static_cast<std::uint8_t>(choice_.one_in(2) ? 0 : choice_.below(register_bytes / bytes) * bytes);
}

void InstructionSource::source(Instruction& inst, unsigned index) {
  Operand& op = inst.src[index];
  const OpcodeShape& row = shape(inst.opcode, family_);
  const TypeCodes& codes = types_of(family_);
  if (row.has(cap::SrcMod) && choice_.one_in(3))
    op.modifier = static_cast<SourceModifier>(1 + choice_.below(3));
  if (inst.source_count == 3) return ternary_source(inst, index);
  const unsigned lanes = inst.exec_size, bytes = size_of(op.type);
  const bool last = index + 1u == inst.source_count;
  if (is_vector(op.type) || row.format == Format::DoubleImm ||
      (last && choice_.one_in(5) && has_type(codes.immediates, op.type))) {
    op.kind = OperandKind::Immediate;
    op.modifier = SourceModifier::None;
    op.immediate = is_vector(op.type) ? choice_.bits() & 0xffffffff : immediate(op.type);
    return;
  }
  op.kind = OperandKind::Direct;
  op.file = RegisterFile::Grf;
  op.reg = general_register();
  op.subreg =
      static_cast<std::uint8_t>(choice_.one_in(2) ? 0 : choice_.below(register_bytes / bytes) * bytes);
  region(op, lanes);
  if (inst.align16) {
    op.subreg &= 16;
    op.region = {choice_.any_of<std::uint8_t>({0, 2, 4, 4, 4}), 1, 0};
    const auto swizzle =
        static_cast<std::uint8_t>(choice_.one_in(3) ? choice_.below(4) * 0x55 : choice_.bits());
    op.swizzle = choice_.one_in(2) ? identity_swizzle : swizzle;
    if (bytes == 8 && choice_.one_in(2)) op.swizzle = choice_.any_of<std::uint8_t>({0x44, 0xee, 0xe4, 0x4e});
  }
  if (is_macro(inst.math)) return macro(op);
  if (inst.opcode == Opcode::pln && index == 1) op.region = {8, 8, 1}, op.subreg = 0;
  if ((inst.opcode == Opcode::pln || inst.opcode == Opcode::line) && index == 0 && !inst.align16)
    op.region = {0, 1, 0}, op.subreg &= 16;
  if (inst.opcode == Opcode::movi || choice_.one_in(8)) {
    indirect(inst, op);
    // Vx1 and VxH: each row has its own address.
    if (lanes > 1 && !inst.align16 && choice_.one_in(2)) {
      op.region.vstride = Region::vxh;
      op.region.width = choice_.any_of<std::uint8_t>({1, 2, 4, 8});
      op.region.hstride = choice_.any_of<std::uint8_t>({0, 1, 2});
      op.address_subreg = static_cast<std::uint8_t>(choice_.below(2) * 8);
    }
  } else if (index == 0 && choice_.one_in(8)) {
    state_register(op, false);
    if (inst.align16) op.subreg &= 16;
  } else if (choice_.one_in(60)) {
    op.kind = OperandKind::Null;
    op.file = RegisterFile::Arf;
    op.arf = Arf::null;
    op.reg = op.subreg = 0;
  }
}

Instruction InstructionSource::attempt(Opcode opcode) {
  Instruction inst;
  inst.opcode = opcode;
  const OpcodeShape& row = shape(opcode, family_);
  if (row.format == Format::Math) inst.math = static_cast<MathFunction>(1 + choice_.below(15));
  inst.has_dst = true;
  inst.source_count = row.format == Format::Ternary  ? 3
                      : row.format == Format::Binary ? 2
                      : row.format == Format::Math   ? info(inst.math).sources
                                                     : 1;
  const bool macro = is_macro(inst.math) || opcode == Opcode::madm;
  inst.align16 = has_align16() && (choice_.one_in(4) || row.format == Format::Ternary || macro);
  types(inst);
  channels(inst);
  predicate(inst);
  inst.saturate = row.has(cap::Sat) && choice_.one_in(4);
  inst.acc_wr_en = choice_.one_in(10) || (opcode == Opcode::mach && choice_.one_in(2));
  inst.debug_ctrl = choice_.one_in(400);
  destination(inst);
  for (unsigned i = 0; i < inst.source_count; ++i) source(inst, i);
  return inst;
}

}  // namespace eum::test

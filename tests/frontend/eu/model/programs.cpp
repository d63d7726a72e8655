#include "tests/frontend/eu/model/programs.hpp"

#include <algorithm>
#include <cstring>

namespace eum::model {
namespace {

using gen::Opcode;
using gen::OperandKind;
using gen::Region;
using gen::SourceModifier;

constexpr unsigned register_bytes = 32;

constexpr bool is_early(gen::Family family) { return family < gen::Family::Gen8; }
unsigned address_words(gen::Family family) { return is_early(family) ? 8 : 16; }

/// The types of a set that the family has: operands are no quadwords and no halves before Gen8.
std::vector<Type> members(gen::TypeSet set, gen::Family family) {
  std::vector<Type> out;
  for (unsigned n = 0; n < static_cast<unsigned>(Type::none); ++n) {
    const auto type = static_cast<Type>(n);
    if (is_early(family) && (type == Type::q || type == Type::uq || type == Type::hf)) continue;
    if (gen::contains(set, type)) out.push_back(type);
  }
  return out;
}
bool is_immediate_type(Type type) { return type == Type::uv || type == Type::v || type == Type::vf; }

bool is_float_type(Type type) { return gen::is_float(type); }

unsigned span_of(const Region& region, unsigned lanes, unsigned bytes) {
  const unsigned rows = region.vstride == Region::vxh ? 0 : (lanes - 1) / region.width * region.vstride;
  const unsigned columns = (std::min<unsigned>(lanes, region.width) - 1) * region.hstride;
  return (rows + columns + 1) * bytes;
}

/// Whether the manual defines the combination.
bool legal(const Combination& c, unsigned sources, gen::Family family) {
  const auto quad = [](Type type) { return type == Type::q || type == Type::uq; };
  // The accumulator holds no quadwords; coordinates of pln are pairs of registers.
  if (c.opcode == Opcode::mac && (quad(c.dst) || quad(c.src[0]) || quad(c.src[1]))) return false;
  if (c.opcode == Opcode::mac && is_float_type(c.dst) && !is_float_type(c.src[0]) && !is_float_type(c.src[1]))
    return false;
  if (c.opcode == Opcode::smov && c.src[1] != Type::ud) return false;  // the channel mask
  if (c.opcode == Opcode::pln && c.src[1] != Type::f) return false;
  const bool ternary = sources == 3;
  const auto is = [](Type type) { return gen::is_float(type); };
  bool float_source = false, int_source = false, df = c.dst == Type::df, other_float = false;
  for (unsigned i = 0; i < sources; ++i) {
    (is(c.src[i]) ? float_source : int_source) = true;
    df |= c.src[i] == Type::df;
    other_float |= is(c.src[i]) && c.src[i] != Type::df;
  }
  // math has no immediates before Gen8.
  if (is_early(family) && c.opcode == Opcode::math)
    for (unsigned i = 0; i < sources; ++i)
      if (is_immediate_type(c.src[i])) return false;
  // Ternary instructions have Align16 regions; immediate vectors have no element for the second channel of a
  // double.
  if (family == gen::Family::Gen7 && df && (ternary || is_immediate_type(c.src[sources - 1]))) return false;
  if (ternary) {
    // All sources have one type, except that f and hf mix.
    for (unsigned i = 1; i < 3; ++i) {
      const bool mixes = (c.src[0] == Type::f || c.src[0] == Type::hf);
      if (mixes ? c.src[i] != Type::f && c.src[i] != Type::hf : c.src[i] != c.src[0]) return false;
    }
    if (float_source != is(c.dst)) return false;
    return (c.dst == Type::df) == (c.src[0] == Type::df);
  }
  if (sources == 2 && is_immediate_type(c.src[0])) return false;
  if (c.opcode == Opcode::math) {
    const bool divides = c.math == gen::MathFunction::idiv || c.math == gen::MathFunction::iqot ||
                         c.math == gen::MathFunction::irem;
    if (divides == is(c.dst) || divides == float_source || (divides && sources == 2 && c.src[0] != c.src[1]))
      return false;
    return !df && !(float_source && int_source);
  }
  if (c.opcode != Opcode::mov && df && other_float) return false;
  // Only a move mixes quadwords with floats.
  if (c.opcode != Opcode::mov && ((sources == 2 && float_source && int_source) || is(c.dst)))
    for (unsigned i = 0; i < sources; ++i)
      if (!is(c.src[i]) && gen::size_of(c.src[i]) == 8) return false;
  return true;
}

}  // namespace

std::vector<Combination> combinations(Opcode opcode, gen::Family family) {
  std::vector<Combination> out;
  const gen::OpcodeShape& row = gen::shape(opcode, family);
  std::vector<gen::MathFunction> functions{gen::MathFunction::None};
  if (row.format == gen::Format::Math) {
    functions.clear();
    for (unsigned n = 1; n < 16; ++n)
      if (has_model(static_cast<gen::MathFunction>(n)) &&
          !gen::info(static_cast<gen::MathFunction>(n)).name.empty())
        functions.push_back(static_cast<gen::MathFunction>(n));
  }
  const std::vector<Type> dsts = members(row.dst_types, family), srcs = members(row.src_types, family);
  for (const gen::MathFunction function : functions) {
    const unsigned sources = row.format == gen::Format::Unary || row.format == gen::Format::DoubleImm ? 1
                             : row.format == gen::Format::Ternary                                     ? 3
                             : row.format == gen::Format::Math ? gen::info(function).sources
                                                               : 2;
    for (Type dst : dsts) {
      if (is_immediate_type(dst)) continue;
      for (Type a : srcs)
        for (Type b : srcs)
          for (Type c : srcs) {
            if ((sources < 2 && b != srcs[0]) || (sources < 3 && c != srcs[0])) continue;
            const Combination combination{opcode, function, dst, {a, b, c}};
            if (legal(combination, sources, family)) out.push_back(combination);
          }
    }
  }
  return out;
}

std::uint64_t Source::edge(Type type) {
  const unsigned bits = bits_of(type);
  const std::uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1, top = 1ull << (bits - 1);
  if (!gen::is_float(type)) {
    switch (below(10)) {
      case 0:
        return 0;
      case 1:
        return top;
      case 2:
        return top - 1;
      case 3:
        return mask;
      case 4:
        return 1;
      case 5:
        return (top + 1) & mask;
      case 6:
        return below(64);
      case 7:
        return (0 - below(64)) & mask;
      default:
        return random_() & mask;
    }
  }
  const unsigned fraction = type == Type::hf ? 10 : type == Type::f ? 23 : 52;
  const std::uint64_t infinity = mask >> 1 >> fraction << fraction, unit = 1ull << fraction;
  const std::uint64_t sign = one_in(2) ? top : 0, one = (infinity >> 1) / unit * unit;
  switch (below(16)) {
    case 0:
      return sign;
    case 1:
      return sign | 1;  // denormals
    case 2:
      return sign | (random_() & (unit - 1));
    case 3:
      return sign | unit;  // the smallest normal number
    case 4:
      return sign | infinity;
    case 5:
      return sign | infinity | unit >> 1;  // NaN, quiet and signalling
    case 6:
      return sign | infinity | 1;
    case 7:
      return sign | (infinity - 1);  // the largest number
    case 8:
      return sign | one;
    case 9:
      return sign | (one - unit);
    case 10:
      return sign | (one + below(20) * unit + (random_() & (unit - 1)));
    case 11:
      return sign | ((one + (bits - 2) * unit) & (infinity - 1));
    case 12:
      return sign | ((one + below(4) * unit) | unit >> 1);
    default:
      return random_() & mask;
  }
}

Machine Source::machine() {
  Machine m;
  m.family = family_;
  const Type types[] = {Type::f, Type::hf, Type::df, Type::d, Type::w, Type::b, Type::q, Type::f};
  for (unsigned reg = 0; reg < 128; ++reg) {
    const Type type = types[reg / 8 % 8];
    const unsigned bytes = gen::size_of(type);
    for (unsigned at = 0; at < register_bytes; at += bytes) {
      const std::uint64_t bits = edge(type);
      std::memcpy(m.grf.data() + reg * register_bytes + at, &bits, bytes);
    }
  }
  for (std::uint16_t& a : m.address) a = static_cast<std::uint16_t>(1024 + 8 * below(256));
  m.flags = random_();
  m.execution_mask = one_in(3) ? ~0u : static_cast<std::uint32_t>(random_());
  return m;
}

void Source::flags(gen::Instruction& inst) {
  const gen::OpcodeShape& row = gen::shape(inst.opcode, family_);
  if (row.format == gen::Format::DoubleImm) return;  // its immediate overlaps the flag fields
  unsigned group = 1;
  if (row.has(gen::cap::Pred) && (one_in(3) || inst.opcode == Opcode::sel)) {
    const bool ternary = row.format == gen::Format::Ternary;
    const unsigned control = ternary || one_in(2) ? 1 : static_cast<unsigned>(1 + below(13));
    inst.pred_ctrl = static_cast<gen::PredCtrl>(control);
    inst.pred_inverse = one_in(2);
    if (control >= 4) group = 2u << (control - 4) / 2;
  }
  if (row.has(gen::cap::CMod) && (one_in(3) || inst.opcode == Opcode::cmp || inst.opcode == Opcode::cmpn ||
                                  inst.opcode == Opcode::csel)) {
    using enum gen::CondMod;
    const bool compares = inst.opcode == Opcode::cmp || inst.opcode == Opcode::csel;
    const bool plain = inst.opcode == Opcode::cmpn || inst.opcode == Opcode::sel;
    const gen::CondMod all[] = {eq, ne, gt, ge, lt, le, un, ov};
    inst.cond_mod = all[below(plain ? 6 : compares ? 7 : 8)];
    if (inst.opcode == Opcode::sel) inst.pred_ctrl = gen::PredCtrl::None, inst.pred_inverse = false;
  }
  inst.flag_reg = static_cast<std::uint8_t>(below(2));
  inst.flag_subreg = static_cast<std::uint8_t>(below(2));
  // The flags of whole predicate groups must lie within the register.
  const unsigned lanes = inst.exec_size, unit = std::max(4u, lanes);
  const unsigned places = 32 / unit;
  for (unsigned tries = 0;; ++tries) {
    inst.channel_offset = static_cast<std::uint8_t>(tries > 8 ? 0 : unit * below(places));
    if (tries > 4) inst.flag_subreg = 0;
    const unsigned end = (inst.channel_offset + lanes + group - 1) / group * group;
    if (16u * inst.flag_subreg + end <= 32) break;
  }
}

void Source::indirect(gen::Operand& op, unsigned span) {
  op.kind = OperandKind::Indirect;
  op.address_subreg = static_cast<std::uint8_t>(below(address_words(family_)));
  op.address_offset = static_cast<std::int16_t>(8 * (static_cast<int>(below(64)) - 32));
  (void)span;
}

void Source::destination(gen::Instruction& inst) {
  gen::Operand& dst = inst.dst;
  const bool pair = has_paired_doubles(inst, family_);
  const unsigned bytes = pair && dst.type == Type::df ? 4 : gen::size_of(dst.type), lanes = inst.exec_size;
  dst.kind = OperandKind::Direct;
  dst.file = gen::RegisterFile::Grf;
  dst.region.hstride = 1;
  if (inst.source_count == 3) {
    dst.reg = static_cast<std::uint8_t>(64 + below(60));
    dst.subreg = static_cast<std::uint8_t>(lanes * bytes <= 16 ? 16 * below(2) : 0);
    return;
  }
  const unsigned most = inst.opcode == Opcode::math ? 1 : 64 / (lanes * bytes);
  const bool packed = pair && dst.type == Type::df;
  while (!packed && dst.region.hstride < 4 && dst.region.hstride * 2u <= most && one_in(3))
    dst.region.hstride = static_cast<std::uint8_t>(dst.region.hstride * 2);
  const unsigned span = ((lanes - 1) * dst.region.hstride + 1) * bytes;
  dst.reg = static_cast<std::uint8_t>(64 + below(56));
  dst.subreg = static_cast<std::uint8_t>(
      span > register_bytes ? 0 : below((register_bytes - span) / bytes + 1) * bytes);
  if (packed) dst.subreg &= 0x18;
  if (inst.opcode == Opcode::math) {
    dst.subreg = 0;
    return;
  }
  if (one_in(10)) {
    dst.file = gen::RegisterFile::Arf;
    dst.arf = gen::Arf::null;
    dst.kind = OperandKind::Null;
    dst.reg = dst.subreg = 0;
  } else if (one_in(10)) {
    indirect(dst, span);
  }
}

/// For doubles that occupy two channels each: packed pairs, in rows or all the same.
void Source::paired_region(gen::Operand& op, unsigned channels) {
  const unsigned width = std::min<unsigned>(channels, any_of<std::uint8_t>({2, 4, 8}));
  const bool same = one_in(3) && width == 2;
  op.region = {static_cast<std::uint8_t>(same ? 0 : width), static_cast<std::uint8_t>(width), 1};
}

void Source::region(gen::Operand& op, unsigned lanes) {
  const unsigned bytes = gen::size_of(op.type);
  const auto u8 = [](std::size_t value) { return static_cast<std::uint8_t>(value); };
  if (one_in(6) || lanes == 1) {
    op.region = {0, 1, 0};
    return;
  }
  if (one_in(3)) {
    // Any region within two registers.
    for (unsigned tries = 0; tries < 20; ++tries) {
      op.region.width = u8(std::min<std::size_t>(1u << below(5), lanes));
      op.region.hstride = op.region.width == 1 ? 0 : u8(any_of<std::size_t>({0, 1, 2, 4}));
      op.region.vstride = u8(any_of<std::size_t>({0, 1, 2, 4, 8, 16, 32}));
      if (span_of(op.region, lanes, bytes) <= 64) return;
    }
  }
  const unsigned stride = lanes * bytes * 2 <= 64 && one_in(3) ? 2 : 1;
  const unsigned width = std::min({lanes, register_bytes / bytes / stride, 16u});
  op.region = {u8(width * stride), u8(width), u8(width == 1 ? 0 : stride)};
  if (width == 1) op.region.vstride = u8(stride);
}

void Source::source(gen::Instruction& inst, unsigned index) {
  gen::Operand& op = inst.src[index];
  const gen::OpcodeShape& row = gen::shape(inst.opcode, family_);
  const bool pair = has_paired_doubles(inst, family_), paired = pair && op.type == Type::df;
  const unsigned lanes = inst.exec_size, bytes = gen::size_of(op.type);
  const bool last = index + 1u == inst.source_count;
  const bool line = inst.opcode == Opcode::line || inst.opcode == Opcode::pln;
  if (row.has(gen::cap::SrcMod) && one_in(3)) {
    op.modifier = row.has(gen::cap::Logic) ? SourceModifier::Neg : static_cast<SourceModifier>(1 + below(3));
    // Products of negated unsigned dwords exceed the pipeline (accumulator registers).
    const bool multiplies = inst.opcode == Opcode::mul || inst.opcode == Opcode::mac ||
                            inst.opcode == Opcode::mach || inst.opcode == Opcode::mad;
    if (op.type == Type::uq || (multiplies && op.type == Type::ud)) op.modifier = SourceModifier::None;
  }
  const bool early = is_early(family_), immediate_double = row.format == gen::Format::DoubleImm;
  const bool immediate_fits = !(early && (bytes == 8 || inst.opcode == Opcode::math)) && bytes >= 2 &&
                              (bytes < 8 || inst.source_count == 1) && inst.source_count < 3;
  const bool reads_pairs = inst.opcode == Opcode::sad2 || inst.opcode == Opcode::sada2;
  if (is_immediate_type(op.type) || immediate_double ||
      (last && immediate_fits && one_in(5) && inst.opcode != Opcode::movi && inst.opcode != Opcode::pln)) {
    op.kind = OperandKind::Immediate;
    op.modifier = SourceModifier::None;
    op.immediate = op.type == Type::v || op.type == Type::uv || op.type == Type::vf ? random_() & 0xffffffff
                                                                                    : edge(op.type);
    return;
  }
  op.kind = OperandKind::Direct;
  op.file = gen::RegisterFile::Grf;
  // Mostly registers with values of the operand's type, sometimes others, such as results.
  const Type element = op.type;
  const unsigned home = element == Type::f    ? 0
                        : element == Type::hf ? 8
                        : element == Type::df ? 16
                        : bytes == 4          ? 24
                        : bytes == 2          ? 32
                        : bytes == 1          ? 40
                                              : 48;
  op.reg = static_cast<std::uint8_t>(one_in(5) ? below(120) : home + below(6));
  if (inst.source_count == 3) {
    op.replicate = inst.opcode != Opcode::madm && one_in(4);
    op.region = op.replicate ? Region{0, 1, 0} : Region{4, 4, 1};
    op.subreg = static_cast<std::uint8_t>(op.replicate ? below(register_bytes / std::max(bytes, 4u)) *
                                                             std::max(bytes, 4u)
                                          : lanes * bytes <= 16 ? 16 * below(2)
                                                                : 0);
    return;
  }
  if (line && index == 0) {
    op.region = {0, 1, 0};
    op.subreg = static_cast<std::uint8_t>(16 * below(2));
    return;
  }
  if (inst.opcode == Opcode::pln) {
    op.region = {8, 8, 1};
    op.subreg = 0;
    return;
  }
  if (paired)
    paired_region(op, lanes);
  else
    region(op, lanes);
  const unsigned span = span_of(op.region, lanes, paired ? 4 : bytes);
  op.subreg = static_cast<std::uint8_t>(
      span > register_bytes ? 0 : below((register_bytes - span) / bytes + 1) * bytes);
  if (paired) op.subreg &= 0x18;
  const bool may_be_indirect = inst.opcode != Opcode::math && !line && !reads_pairs;
  if (inst.opcode == Opcode::movi || (may_be_indirect && one_in(8))) {
    indirect(op, span);
    if (lanes > 1 && !pair && one_in(2)) {
      // Vx1 and VxH: each row has its own address.
      op.region.vstride = Region::vxh;
      op.region.width = static_cast<std::uint8_t>(std::min<std::size_t>(lanes, 1u << below(4)));
      const unsigned words = address_words(family_);
      while (lanes / op.region.width > words)
        op.region.width = static_cast<std::uint8_t>(op.region.width * 2);
      op.region.hstride = op.region.width == 1 ? 0 : 1;
      const unsigned rows = lanes / op.region.width;
      op.address_subreg = static_cast<std::uint8_t>(below(words + 1 - rows));
    }
  }
}

bool Source::accumulators(gen::Instruction& inst) {
  const unsigned lanes = inst.exec_size;
  const auto to_acc = [&](gen::Operand& op) {
    op.kind = OperandKind::Direct;
    op.file = gen::RegisterFile::Arf;
    op.arf = gen::Arf::acc;
    op.reg = op.subreg = 0;
  };
  const auto fits = [&](Type type) {
    const unsigned bytes = gen::size_of(type);
    if (bytes == 1 || type == Type::q || type == Type::uq) return false;
    return lanes * bytes <= (gen::is_float(type) && bytes < 8 ? 64u : 32u);
  };
  const bool computes = inst.opcode != Opcode::math && inst.opcode != Opcode::movi &&
                        inst.opcode != Opcode::smov && inst.source_count < 3 && inst.opcode != Opcode::line &&
                        inst.opcode != Opcode::pln;
  if (!computes) return false;
  // No 64-bit type but df can be combined with an accumulator.
  for (unsigned i = 0; i <= inst.source_count; ++i) {
    const Type type = i == inst.source_count ? inst.dst.type : inst.src[i].type;
    if (type == Type::q || type == Type::uq) return false;
  }
  const bool implicit =
      inst.opcode == Opcode::mac || inst.opcode == Opcode::mach || inst.opcode == Opcode::sada2;
  if (one_in(6) && fits(inst.dst.type)) {
    to_acc(inst.dst);
    inst.dst.region.hstride = 1;
  } else if (fits(inst.dst.type) && inst.dst.type != Type::df) {
    inst.acc_wr_en = one_in(implicit ? 2 : 6);
  }
  gen::Operand& src = inst.src[0];
  if (!implicit && one_in(8) && src.kind == OperandKind::Direct && fits(src.type)) {
    to_acc(src);
    const unsigned width = std::min({lanes, register_bytes / gen::size_of(src.type), 16u});
    src.region = {static_cast<std::uint8_t>(width), static_cast<std::uint8_t>(width),
                  static_cast<std::uint8_t>(width == 1 ? 0 : 1)};
    return true;
  }
  return false;
}

gen::Instruction Source::instruction(const Combination& types) {
  gen::Instruction inst;
  const gen::OpcodeShape& row = gen::shape(types.opcode, family_);
  inst.opcode = types.opcode;
  inst.math = types.math;
  inst.has_dst = true;
  inst.source_count = row.format == gen::Format::Unary || row.format == gen::Format::DoubleImm ? 1
                      : row.format == gen::Format::Ternary                                     ? 3
                      : row.format == gen::Format::Math ? gen::info(types.math).sources
                                                        : 2;
  inst.dst.type = types.dst;
  unsigned widest = gen::size_of(types.dst);
  for (unsigned i = 0; i < inst.source_count; ++i) {
    inst.src[i].type = types.src[i];
    widest = std::max(widest, is_immediate_type(types.src[i]) ? 2 : gen::size_of(types.src[i]));
  }
  const bool pair = has_paired_doubles(inst, family_);
  if (pair) widest = 4;
  // Opcodes that work on groups of channels need whole groups.
  const bool quads = types.opcode == Opcode::dp2 || types.opcode == Opcode::dp3 ||
                     types.opcode == Opcode::dp4 || types.opcode == Opcode::dph;
  const unsigned least = quads || inst.source_count == 3 ? 4 : types.opcode == Opcode::pln ? 8 : 1;
  const bool pairs = types.opcode == Opcode::sad2 || types.opcode == Opcode::sada2;
  unsigned most = std::min(32u, 64 / widest);
  if (types.opcode == Opcode::math || pairs || types.opcode == Opcode::line || inst.source_count == 3)
    most = std::min(most, 16u);
  if (types.math == gen::MathFunction::idiv) most = std::min(most, 8u);
  std::vector<unsigned> sizes;
  for (unsigned size = pairs || pair ? 2 : least; size <= most; size *= 2) sizes.push_back(size);
  inst.exec_size = static_cast<std::uint8_t>(one_in(2) ? sizes.back() : sizes[below(sizes.size())]);
  inst.no_mask = one_in(3);
  inst.saturate = row.has(gen::cap::Sat) && one_in(3);
  flags(inst);
  destination(inst);
  for (unsigned i = 0; i < inst.source_count; ++i) source(inst, i);
  const bool converts = inst.opcode == Opcode::f32to16 || inst.opcode == Opcode::f16to32;
  if (!pair && !converts && row.format != gen::Format::DoubleImm) accumulators(inst);
  return inst;
}

}  // namespace eum::model

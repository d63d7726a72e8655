// Operands: from registers, immediates and flags to values and back.
// Facts: the manual's sections on register regions and source modifiers (a modifier acts after the conversion
// to the execution type).
#include <algorithm>

#include "frontend/gen/lower/arf_layout.hpp"
#include "frontend/gen/lower/lowering.hpp"

namespace eum::gen {
namespace {

/// Lane i's distance in bytes from the region's origin.
unsigned lane_distance(const Region& region, unsigned lane, unsigned bytes) {
  return ((lane / region.width) * region.vstride + (lane % region.width) * region.hstride) * bytes;
}

/// Width as the hardware uses it: never 0, whatever an encoding says.
Region sane(Region region) {
  if (region.width == 0) region.width = 1;
  return region;
}

/// Value of a packed restricted float: sign, 3-bit exponent of bias 3, 4-bit fraction; 0x00 and 0x80 are
/// zeros.
double restricted_float(unsigned bits) {
  if ((bits & 0x7f) == 0) return (bits & 0x80) != 0 ? -0.0 : 0.0;
  double value = (16.0 + (bits & 15)) / 16.0;
  int exponent = static_cast<int>((bits >> 4) & 7) - 3;
  value = exponent >= 0 ? value * (1 << exponent) : value / (1 << -exponent);
  return (bits & 0x80) != 0 ? -value : value;
}

double half_value(std::uint16_t bits) {
  unsigned exponent = (bits >> 10) & 31, fraction = bits & 0x3ff;
  double magnitude;
  if (exponent == 31)
    magnitude = fraction != 0 ? __builtin_nan("") : __builtin_inf();
  else if (exponent == 0)
    magnitude = fraction / 16777216.0;
  else
    magnitude = __builtin_ldexp(1024.0 + fraction, static_cast<int>(exponent) - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// The float that an immediate of a float type means.
double float_value(Type type, std::uint64_t bits) {
  if (type == Type::hf) return half_value(static_cast<std::uint16_t>(bits));
  if (type == Type::df) return __builtin_bit_cast(double, bits);
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits));
}

std::uint64_t float_bits(ir::Type type, double value) {
  if (type == ir::Type::f64) return __builtin_bit_cast(std::uint64_t, value);
  return __builtin_bit_cast(std::uint32_t, static_cast<float>(value));
}

/// An integer immediate, sign-extended if its type is signed.
std::int64_t int_value(Type type, std::uint64_t bits) {
  unsigned unused = 64 - 8 * size_of(type);
  return is_signed(type) ? static_cast<std::int64_t>(bits << unused) >> unused
                         : static_cast<std::int64_t>(bits);
}

std::uint64_t low_bits(std::uint64_t value, ir::Type type) {
  unsigned unused = 64 - 8 * ir::size_of(type);
  return value << unused >> unused;
}

/// A scalar immediate in `exec`, or nothing if the conversion rounds.
std::optional<std::uint64_t> fold_immediate(const Operand& op, ir::Type exec) {
  ir::Type raw = ir_type(op.type);
  if (raw == exec) return op.immediate;
  if (ir::is_float(raw)) {
    if (!ir::is_float(exec) || ir::size_of(exec) < ir::size_of(raw)) return std::nullopt;
    return float_bits(exec, float_value(op.type, op.immediate));
  }
  std::int64_t value = int_value(op.type, op.immediate);
  if (ir::is_int(exec)) return low_bits(static_cast<std::uint64_t>(value), exec);
  if (exec == ir::Type::f16 || size_of(op.type) > 2) return std::nullopt;
  return float_bits(exec, static_cast<double>(value));
}

bool bad_arf(const Operand& op, bool destination) {
  switch (op.arf) {
    case Arf::null:
    case Arf::a:
    case Arf::acc:
    case Arf::f:
    case Arf::cr:
    case Arf::sr:
    case Arf::n:
      return false;
    case Arf::ip:
    case Arf::ce:
      return destination;
    default:
      return true;
  }
}

}  // namespace

bool is_uniform(const Region& region, unsigned lanes) {
  return lanes == 1 ||
         ((region.hstride == 0 || region.width <= 1) && (region.vstride == 0 || lanes <= region.width));
}

unsigned region_span(const Region& region, unsigned lanes, unsigned bytes) {
  Region r = sane(region);
  unsigned rows = (lanes + r.width - 1) / r.width, columns = std::min<unsigned>(lanes, r.width);
  return ((rows - 1) * r.vstride + (columns - 1) * r.hstride) * bytes + bytes;
}

ir::Region ir_region(const Region& region, unsigned offset, unsigned lanes) {
  Region r = sane(region);
  ir::Region result{static_cast<std::uint16_t>(offset), r.vstride, r.width, r.hstride};
  int stride = result.stride(lanes);
  return stride >= 0 ? ir::Region::strided(offset, static_cast<unsigned>(stride)) : result;
}

unsigned Lowering::file_offset(const Operand& op) const {
  unsigned grf_bytes = info(family_).grf_bytes;
  if (op.file == RegisterFile::Grf) return op.byte_address(grf_bytes);
  return arf_offset(family_, op.arf) + op.byte_address(32);
}

/// Compilers write sizes that the manual does not list, such as lzd of 0x0:uw, with the obvious meaning; a
/// float where the manual lists integers, or the other way round, has none.
constexpr bool has_kind_of(TypeSet set, Type type) {
  return (set & (is_float(type) ? type_set::Float : type_set::Int)) != 0;
}

const char* Lowering::refuse_operands() const {
  const Instruction& in = *inst_;
  auto refuse = [&](const Operand& op, bool destination) -> const char* {
    if (op.kind == OperandKind::Indirect) {
      unsigned rows = !destination && op.region.vstride == Region::vxh ? lanes() / sane(op.region).width : 1;
      return op.address_subreg + std::max(rows, 1u) > 16 ? "address registers beyond a0.15" : nullptr;
    }
    if (op.kind != OperandKind::Direct) return nullptr;
    Region region = destination ? Region{op.region.hstride, 1, 0} : op.region;
    unsigned span = region_span(region, lanes(), size_of(op.type));
    if (op.file == RegisterFile::Grf)
      return file_offset(op) + span > grf_file_bytes(family_) ? "region beyond the last general register"
                                                              : nullptr;
    if (bad_arf(op, destination)) return "architecture register that is not modelled";
    if (op.arf == Arf::acc && size_of(op.type) < 4 && op.type != Type::hf) return "word accumulators";
    if (op.arf == Arf::f) {
      if (op.reg > 1 || op.subreg + size_of(op.type) > 4) return "region beyond the flag register";
      if (is_float(op.type)) return "flag register of a float type";
      return destination && lanes() > 1 ? "flag register written by several channels" : nullptr;
    }
    const ArfSlot* slot = find_slot(op.arf);
    return slot && op.byte_address(32) + span > slot->bytes ? "region beyond the architecture register"
                                                            : nullptr;
  };
  if (in.align16) return "Align16 access mode";
  const OpcodeShape& row = shape(in.opcode, family_);
  if (in.has_dst && !in.dst.is_null() && !has_kind_of(row.dst_types, in.dst.type))
    return is_float(in.dst.type) ? "float destination" : "integer destination";
  for (unsigned i = 0; i < in.source_count; ++i)
    if (!in.src[i].is_null() && !has_kind_of(row.src_types, in.src[i].type))
      return is_float(in.src[i].type) ? "float operand" : "integer operand";
  if (in.has_dst) {
    if (const char* reason = refuse(in.dst, true)) return reason;
    bool stored = in.dst.kind == OperandKind::Direct || in.dst.kind == OperandKind::Indirect;
    if (stored && in.dst.region.hstride == 0 && lanes() > 1) return "destination stride 0";
  }
  for (unsigned i = 0; i < in.source_count; ++i)
    if (const char* reason = refuse(in.src[i], false)) return reason;
  if (in.cond_mod == CondMod::ov) return "overflow condition";
  return nullptr;
}

ir::ValueId Lowering::immediate(const Operand& op, ir::Type exec, unsigned lanes) {
  ir::Type raw = ir_type(op.type);
  if (op.type == Type::v || op.type == Type::uv || op.type == Type::vf) {
    unsigned elements = op.type == Type::vf ? 4 : 8, bits = 32 / elements;
    bool direct = op.type == Type::vf ? exec != ir::Type::f16 && ir::is_float(exec)
                                      : ir::is_int(exec) || exec != ir::Type::f16;
    ir::Type type = direct ? exec : raw;
    // Integer elements are words, one behind the other: a destination that steps in dwords takes every second
    // (IGC writes {0, 4} for two dwords as 0x400:uv).
    const Operand& dst = inst().dst;
    bool in_dwords = op.type != Type::vf && dst.kind == OperandKind::Direct &&
                     dst.region.hstride * ir::size_of(ir_type(dst.type)) >= 4;
    unsigned step = in_dwords ? 2 : 1;
    std::array<std::uint64_t, ir::max_lanes> values{};
    for (unsigned lane = 0; lane < lanes; ++lane) {
      unsigned field =
          static_cast<unsigned>(op.immediate >> (lane * step % elements * bits)) & ((1u << bits) - 1);
      int value = op.type == Type::v && field > 7 ? static_cast<int>(field) - 16 : static_cast<int>(field);
      if (op.type == Type::vf)
        values[lane] = float_bits(type, restricted_float(field));
      else
        values[lane] = ir::is_float(type) ? float_bits(type, value)
                                          : low_bits(static_cast<std::uint64_t>(std::int64_t{value}), type);
    }
    ir::ValueId vector = lanes == 1 ? builder_.constant(type, 1, values[0])
                                    : builder_.vconst(type, lanes, std::span(values).first(lanes));
    return builder_.convert(ir::Op::convert, exec, vector);
  }
  if (std::optional<std::uint64_t> bits = fold_immediate(op, exec))
    return builder_.constant(exec, lanes, *bits);
  return builder_.convert(ir::Op::convert, exec, builder_.constant(raw, lanes, op.immediate));
}

ir::ValueId Lowering::addresses(const Operand& op, unsigned lanes, bool destination) {
  using ir::Type;
  unsigned bytes = size_of(op.type), base = arf_offset(family_, Arf::a) + 2u * op.address_subreg;
  Region region = destination ? Region{op.region.hstride, 1, 0} : sane(op.region);
  auto plus_offset = [&](ir::ValueId address) {
    if (op.address_offset == 0) return address;
    return builder_.lanewise(ir::Op::add,
                             {address, builder_.constant(Type::u16, builder_.lanes_of(address),
                                                         static_cast<std::uint16_t>(op.address_offset))});
  };
  ir::ValueId address;
  bool each_row = region.vstride == Region::vxh;
  if (each_row) {
    ir::Region rows = region.width == 1 ? ir::Region::packed(base)
                                        : ir::Region{static_cast<std::uint16_t>(base), 1, region.width, 0};
    address = plus_offset(
        lanes <= region.width
            ? builder_.splat(scalar(Type::u16, base), lanes)
            : builder_.reg_read(Type::u16, lanes, rows, region.width == 1 ? lane_mask() : ir::no_value));
    region.vstride = 0;
  } else {
    address = plus_offset(scalar(Type::u16, base));
    if (is_uniform(region, lanes)) return address;
    address = builder_.splat(address, lanes);
  }
  if (is_uniform(region, lanes)) return address;
  std::array<std::uint64_t, ir::max_lanes> distance{};
  for (unsigned lane = 0; lane < lanes; ++lane) distance[lane] = lane_distance(region, lane, bytes);
  return builder_.lanewise(ir::Op::add,
                           {address, builder_.vconst(Type::u16, lanes, std::span(distance).first(lanes))});
}

ir::ValueId Lowering::read_flags(const Operand& op, ir::Type raw) {
  unsigned bits = std::min(8u * ir::size_of(raw), 32u), first = 32u * op.reg + 8u * op.subreg;
  bits = std::min(bits, 64u - first);
  return channel_bits(builder_.flag_read(bits, first), raw);
}

ir::ValueId Lowering::channel_bits(ir::ValueId mask, ir::Type type) {
  unsigned bits = 8 * ir::size_of(type);
  if (builder_.lanes_of(mask) > bits) mask = builder_.slice(mask, 0, bits);
  if (!ir::is_float(type)) return builder_.mask_bits(type, mask);
  return builder_.convert(ir::Op::bitcast, type,
                          builder_.mask_bits(ir::int_type(ir::size_of(type), false), mask));
}

ir::ValueId Lowering::read_register(const Operand& op, ir::Type raw) {
  if (op.kind == OperandKind::Indirect) {
    ir::ValueId where = addresses(op, lanes(), false);
    ir::ValueId mask = builder_.lanes_of(where) == lanes() ? lane_mask() : ir::no_value;
    return builder_.reg_gather(raw, where, mask);
  }
  if (op.file == RegisterFile::Arf) {
    if (op.arf == Arf::f) return read_flags(op, raw);
    if (op.arf == Arf::ip) return builder_.constant(raw, 1, inst_->offset);
    if (op.arf == Arf::ce) return channel_bits(execution_mask(), raw);
  }
  unsigned offset = file_offset(op);
  if (is_uniform(op.region, lanes())) return scalar(raw, offset);
  ir::Region region = ir_region(op.region, offset, lanes());
  // Lanes that are channels of their own need not be read where the channel is off.
  bool own = region.stride(lanes()) > 0;
  return builder_.reg_read(raw, lanes(), region, own ? lane_mask() : ir::no_value);
}

ir::ValueId Lowering::modify(ir::ValueId value, SourceModifier modifier, bool logic) {
  if (logic) return modifier == SourceModifier::Neg ? builder_.lanewise(ir::Op::not_, {value}) : value;
  if (modifier == SourceModifier::Abs || modifier == SourceModifier::NegAbs)
    value = builder_.lanewise(ir::Op::abs, {value});
  if (modifier == SourceModifier::Neg || modifier == SourceModifier::NegAbs)
    value = builder_.lanewise(ir::Op::neg, {value});
  return value;
}

ir::ValueId Lowering::read(const Operand& op, ir::Type exec, bool logic) {
  if (op.is_immediate()) return immediate(op, exec, lanes());
  if (op.kind == OperandKind::None || op.is_null()) return builder_.constant(exec, lanes(), 0);
  ir::Type raw = ir_type(op.type);
  if (logic && ir::is_float(raw)) raw = ir::int_type(ir::size_of(raw), false);
  bool is_abs = op.modifier == SourceModifier::Abs || op.modifier == SourceModifier::NegAbs;
  // The absolute value needs the sign that the source type has, whatever the execution type says.
  ir::Type type = ir::is_int(exec) && is_abs ? ir::int_type(ir::size_of(exec), ir::is_signed(raw)) : exec;
  ir::ValueId value = read_register(op, same_size_ints(raw, type) ? type : raw);
  value = builder_.convert(ir::Op::convert, type, value);
  if (op.modifier != SourceModifier::None) {
    bool unsigned_abs = is_abs && ir::is_int(type) && !ir::is_signed(type);
    SourceModifier rest = op.modifier == SourceModifier::NegAbs ? SourceModifier::Neg : SourceModifier::None;
    value = modify(value, unsigned_abs ? rest : op.modifier, logic);
  }
  if (type != exec) value = builder_.convert(ir::Op::bitcast, exec, value);
  return builder_.lanes_of(value) == lanes() ? value : builder_.splat(value, lanes());
}

ir::ValueId Lowering::to_destination(ir::ValueId value) {
  ir::Type from = builder_.type_of(value), to = ir_type(inst_->dst.type);
  if (inst_->saturate) {
    if (from == to && ir::is_float(to)) return builder_.lanewise(ir::Op::sat, {value});
    return builder_.convert(ir::Op::convert_sat, to, value);
  }
  return same_size_ints(from, to) ? value : builder_.convert(ir::Op::convert, to, value);
}

void Lowering::write_flag_operand(const Operand& dst, ir::ValueId value, ir::ValueId mask) {
  unsigned first = 32u * dst.reg + 8u * dst.subreg;
  unsigned bits = std::min(8u * ir::size_of(builder_.type_of(value)), 64u - first);
  if (bits > 32) bits = 32;
  if (ir::Type type = builder_.type_of(value); ir::is_float(type))
    value = builder_.convert(ir::Op::bitcast, ir::int_type(ir::size_of(type), false), value);
  if (mask != ir::no_value) {
    ir::ValueId old = builder_.mask_bits(builder_.type_of(value), builder_.flag_read(bits, first));
    value = builder_.select(mask, value, old);
  }
  builder_.flag_write(first, builder_.bits_mask(value, bits));
}

void Lowering::write(const Operand& dst, ir::ValueId value, ir::ValueId mask) {
  if (dst.kind == OperandKind::Indirect) {
    ir::ValueId where = addresses(dst, lanes(), true);
    builder_.reg_scatter(where, value, mask);
    return;
  }
  if (dst.kind != OperandKind::Direct || dst.is_arf(Arf::null)) return;
  if (dst.is_arf(Arf::f)) return write_flag_operand(dst, value, mask);
  unsigned offset = file_offset(dst), stride = lanes() == 1 ? 1 : dst.region.hstride;
  if (dst.is_arf(Arf::acc)) return write_accumulator(offset, stride, value, ir::no_value, mask);
  builder_.reg_write(ir::Region::strided(offset, stride), value, mask);
  if (dst.is_arf(Arf::cr) && dst.subreg < 4) {
    bool whole = lanes() == 1 && mask == ir::no_value && ir::size_of(builder_.type_of(value)) == 4;
    builder_.effect(ir::Op::fpmode_set, whole ? value : scalar(ir::Type::u32, arf_offset(family_, Arf::cr)));
  }
}

void Lowering::finish(ir::ValueId result) {
  // The condition looks at the result before saturation and before conversion to the destination.
  if (inst_->cond_mod != CondMod::None) write_flags(result);
  bool used = inst_->dst.kind != OperandKind::Null || inst_->acc_wr_en;
  if (!used) return;
  ir::ValueId value = to_destination(result), mask = write_mask();
  write(inst_->dst, value, mask);
  if (inst_->acc_wr_en && !inst_->dst.is_arf(Arf::acc))
    write_accumulator(implicit_acc_offset(builder_.type_of(value)), 1, value, ir::no_value, mask);
}

}  // namespace eum::gen

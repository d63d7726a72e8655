// Operands: from registers, immediates and flags to values and back.
// Facts: the manual's sections on register regions and source modifiers (a modifier acts after the conversion
// to the execution type).
#include <algorithm>

#include "frontend/eu/lowering.hpp"
#include "frontend/ir/semantics/half.hpp"

namespace eum::eu {
namespace {

/// Distance of a lane from the region's origin in bytes.
unsigned lane_distance(const Region& region, unsigned lane, unsigned bytes) {
  return ((lane / region.width) * region.vstride + (lane % region.width) * region.hstride) * bytes;
}

/// The region with a width that is never 0, as the hardware uses it, whatever the encoding.
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

/// The float that an immediate of a float type means.
double float_value(ir::Type type, std::uint64_t bits) {
  if (type == ir::Type::f16) return ir::to_float(ir::Half{static_cast<std::uint16_t>(bits)});
  if (type == ir::Type::f64) return __builtin_bit_cast(double, bits);
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits));
}

std::uint64_t float_bits(ir::Type type, double value) {
  if (type == ir::Type::f64) return __builtin_bit_cast(std::uint64_t, value);
  return __builtin_bit_cast(std::uint32_t, static_cast<float>(value));
}

/// An integer immediate, sign-extended if its type is signed.
std::int64_t int_value(ir::Type type, std::uint64_t bits) {
  unsigned unused = 64 - 8 * ir::size_of(type);
  return ir::is_signed(type) ? static_cast<std::int64_t>(bits << unused) >> unused
                             : static_cast<std::int64_t>(bits);
}

std::uint64_t low_bits(std::uint64_t value, ir::Type type) {
  unsigned unused = 64 - 8 * ir::size_of(type);
  return value << unused >> unused;
}

/// A scalar immediate in `exec`, or nothing if the conversion would round.
std::optional<std::uint64_t> fold_immediate(const Operand& op, ir::Type exec) {
  ir::Type raw = op.type;
  if (raw == exec) return op.immediate;
  if (ir::is_float(raw)) {
    if (!ir::is_float(exec) || ir::size_of(exec) < ir::size_of(raw)) return std::nullopt;
    return float_bits(exec, float_value(op.type, op.immediate));
  }
  std::int64_t value = int_value(op.type, op.immediate);
  if (ir::is_int(exec)) return low_bits(static_cast<std::uint64_t>(value), exec);
  if (exec == ir::Type::f16 || ir::size_of(op.type) > 2) return std::nullopt;
  return float_bits(exec, static_cast<double>(value));
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
  ir::Region result{offset, r.vstride, r.width, r.hstride};
  int stride = result.stride(lanes);
  return stride >= 0 ? ir::Region::strided(offset, static_cast<unsigned>(stride)) : result;
}

const char* Lowering::check_operand(const Operand& op, bool destination) const {
  const Region region = destination ? Region{op.region.hstride, 1, 0} : op.region;
  // A swizzle reaches any column of the last row.
  const unsigned columns = op.is_swizzled() ? (lanes() + 3) / 4 * 4 : lanes();
  const unsigned bytes = ir::size_of(op.type);
  const auto span = [&] { return region_span(region, columns, bytes); };
  switch (op.kind) {
    case OperandKind::None:
    case OperandKind::Null:
    case OperandKind::Immediate:
      return nullptr;
    case OperandKind::ExecutionMask:
      return destination ? "architecture register that is not modelled" : nullptr;
    case OperandKind::Indirect: {
      const unsigned rows = region.vstride == Region::vxh ? lanes() / sane(region).width : 1;
      const unsigned end = op.offset + address_bytes * std::max(rows, 1u);
      const bool beyond = op.offset < target_.grf_file_bytes()
                              ? end > target_.grf_file_bytes()
                              : end > target_.offset(StateRegister::Address) + address_register_bytes;
      return beyond ? "addresses beyond the address register" : nullptr;
    }
    case OperandKind::Flag:
      if (8 * bytes > flag_register_bits || op.offset % (8 * bytes) != 0 ||
          op.offset + 8 * span() > target_.flag_bits)
        return "region beyond the flag register";
      return ir::is_float(op.type) ? "flag register of a float type" : nullptr;
    case OperandKind::Accumulator:
      if (bytes == 1) return "byte accumulators, which there are none of";
      return op.offset + span() > target_.offset(StateRegister::AccumulatorHigh)
                 ? "region beyond the architecture register"
                 : nullptr;
    case OperandKind::Register:
      if (!op.is_grf(target_))
        return op.offset + span() > target_.file_bytes() ? "region beyond the architecture register"
                                                         : nullptr;
      return op.offset + span() > target_.grf_file_bytes() ? "region beyond the last general register"
                                                           : nullptr;
  }
  return nullptr;
}

const char* Lowering::check_operands() const {
  const Instruction& in = *inst_;
  if (const char* reason = check_operand(in.dst, true)) return reason;
  if (const char* reason = check_operand(in.dst2, true)) return reason;
  if (in.has_dst() && !in.dst.is_null() && in.dst.region.hstride == 0 && lanes() > 1)
    return "destination stride 0";
  for (unsigned i = 0; i < in.source_count; ++i)
    if (const char* reason = check_operand(in.src[i], false)) return reason;
  return nullptr;
}

ir::ValueId Lowering::packed_immediate(const Operand& op, ir::Type exec, unsigned lanes) {
  const bool floats = op.packed == PackedVector::Float;
  const unsigned elements = floats ? 4 : 8, bits = 32 / elements;
  const bool direct = floats ? exec != ir::Type::f16 && ir::is_float(exec) : exec != ir::Type::f16;
  const ir::Type type = direct ? exec : op.type;
  // GEN's integer vectors have consecutive word elements: a destination with a stride of dwords takes every
  // second one (IGC writes {0, 4} for two dwords as 0x400:uv).
  const Operand& dst = inst().dst;
  const bool in_dwords = !floats && !op.by_channel && dst.kind != OperandKind::Null &&
                         dst.kind != OperandKind::Indirect && dst.region.hstride * ir::size_of(dst.type) >= 4;
  const unsigned step = in_dwords ? 2 : 1;
  std::array<std::uint64_t, ir::max_lanes> values{};
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const unsigned field =
        static_cast<unsigned>(op.immediate >> (lane * step % elements * bits)) & ((1u << bits) - 1);
    const bool negative = op.packed == PackedVector::Signed && field > 7;
    const int value = static_cast<int>(field) - (negative ? 16 : 0);
    if (floats)
      values[lane] = float_bits(type, restricted_float(field));
    else
      values[lane] = ir::is_float(type) ? float_bits(type, value)
                                        : low_bits(static_cast<std::uint64_t>(std::int64_t{value}), type);
  }
  const ir::ValueId vector = lanes == 1 ? builder_.constant(type, 1, values[0])
                                        : builder_.vconst(type, lanes, std::span(values).first(lanes));
  return builder_.convert(ir::Op::convert, exec, vector);
}

ir::ValueId Lowering::immediate(const Operand& op, ir::Type exec, unsigned lanes) {
  if (op.packed != PackedVector::None) return packed_immediate(op, exec, lanes);
  if (std::optional<std::uint64_t> bits = fold_immediate(op, exec))
    return builder_.constant(exec, lanes, *bits);
  return builder_.convert(ir::Op::convert, exec, builder_.constant(op.type, lanes, op.immediate));
}

ir::ValueId Lowering::addresses(const Operand& op, unsigned lanes, bool destination) {
  using ir::Type;
  const unsigned bytes = ir::size_of(op.type), base = op.offset;
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
    ir::Region rows = region.width == 1 ? ir::Region::packed(base) : ir::Region{base, 1, region.width, 0};
    address = plus_offset(
        lanes <= region.width
            ? builder_.splat(scalar(Type::u16, base), lanes)
            : builder_.reg_read(Type::u16, lanes, rows, region.width == 1 ? needed_lanes() : ir::no_value));
    region.vstride = 0;
  } else {
    address = plus_offset(scalar(Type::u16, base));
    if (is_uniform(region, lanes) && !op.is_swizzled()) return address;
    address = builder_.splat(address, lanes);
  }
  if (is_uniform(region, lanes) && !op.is_swizzled()) return address;
  std::array<std::uint64_t, ir::max_lanes> distance{};
  for (unsigned lane = 0; lane < lanes; ++lane)
    distance[lane] = op.is_swizzled() ? (lane / region.width * region.vstride + op.column(lane)) * bytes
                                      : lane_distance(region, lane, bytes);
  return builder_.lanewise(ir::Op::add,
                           {address, builder_.vconst(Type::u16, lanes, std::span(distance).first(lanes))});
}

ir::ValueId Lowering::read_flags(const Operand& op, ir::Type raw) {
  const unsigned bytes = ir::size_of(raw), bits = 8 * bytes;
  const auto element = [&](unsigned lane) {
    const unsigned at = op.offset + 8 * lane_distance(sane(op.region), lane, bytes);
    return channel_bits(builder_.flag_read(bits, at), raw);
  };
  ir::ValueId value = element(0);
  if (is_uniform(op.region, lanes())) return value;
  for (unsigned lane = 1; lane < lanes(); ++lane) value = builder_.concat(value, element(lane));
  return value;
}

ir::ValueId Lowering::channel_bits(ir::ValueId mask, ir::Type type) {
  unsigned bits = 8 * ir::size_of(type);
  if (builder_.lanes_of(mask) > bits) mask = builder_.slice(mask, 0, bits);
  if (!ir::is_float(type)) return builder_.mask_bits(type, mask);
  return builder_.convert(ir::Op::bitcast, type,
                          builder_.mask_bits(ir::int_type(ir::size_of(type), false), mask));
}

ir::ValueId Lowering::read_all(unsigned index, ir::Type exec) {
  reads_all_ = true;
  const ir::ValueId value = source(index, exec);
  reads_all_ = false;
  return value;
}

ir::ValueId Lowering::read_swizzled(const Operand& op, ir::Type raw) {
  // Reads each column once, repeated along its row; constant masks select among the columns.
  ir::ValueId value = ir::no_value;
  for (unsigned column = 0; column < op.region.width; ++column) {
    std::uint64_t chosen = 0;
    for (unsigned lane = 0; lane < lanes(); ++lane)
      chosen |= std::uint64_t{op.column(lane) == column} << lane;
    if (chosen == 0) continue;
    Operand repeated = op;
    repeated.swizzle = identity_swizzle;
    repeated.offset += column * ir::size_of(raw);
    repeated.region.hstride = 0;
    ir::ValueId read = read_register(repeated, raw);
    if (builder_.lanes_of(read) != lanes()) read = builder_.splat(read, lanes());
    value = value == ir::no_value
                ? read
                : builder_.select(builder_.constant(ir::Type::m, lanes(), chosen), read, value);
  }
  return value;
}

ir::ValueId Lowering::read_register(const Operand& op, ir::Type raw) {
  if (op.kind == OperandKind::Indirect) {
    const ir::ValueId where = addresses(op, lanes(), false);
    ir::ValueId mask = builder_.lanes_of(where) == lanes() ? needed_lanes() : ir::no_value;
    return builder_.reg_gather(raw, where, mask);
  }
  if (op.kind == OperandKind::Flag) return read_flags(op, raw);
  if (op.kind == OperandKind::ExecutionMask) return channel_bits(execution_mask(), raw);
  if (op.is_immediate()) return builder_.constant(raw, 1, op.immediate);
  if (op.is_swizzled()) return read_swizzled(op, raw);
  if (is_uniform(op.region, lanes())) return scalar(raw, op.offset);
  ir::Region region = ir_region(op.region, op.offset, lanes());
  // If lanes and channels correspond, inactive ones need not be read.
  bool own = region.stride(lanes()) > 0;
  return builder_.reg_read(raw, lanes(), region, own ? needed_lanes() : ir::no_value);
}

// The channel may be inactive.
ir::ValueId Lowering::scalar(const Operand& op, ir::Type type) {
  if (op.is_immediate()) return immediate(op, type, 1);
  Operand first = op;
  if (op.is_swizzled()) {
    const unsigned distance = op.column(0) * ir::size_of(op.type);
    first.swizzle = identity_swizzle;
    if (op.kind == OperandKind::Indirect)
      first.address_offset = static_cast<std::int16_t>(op.address_offset + static_cast<int>(distance));
    else
      first.offset += distance;
  }
  Instruction one = inst();
  one.exec_size = 1;
  one.no_mask = true;
  one.enabled = ~0u;
  ir::ValueId value = ir::no_value;
  as(one, [&] { value = read(first, type, false); });
  return value;
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
  const ir::ValueId value = read_operand(op, exec, logic);
  return logic ? value : as_input(op, value);
}

ir::ValueId Lowering::read_operand(const Operand& op, ir::Type exec, bool logic) {
  if (op.is_immediate() && op.modifier == SourceModifier::None) return immediate(op, exec, lanes());
  if (op.kind == OperandKind::None || op.is_null()) return builder_.constant(exec, lanes(), 0);
  ir::Type raw = op.type;
  if (logic && ir::is_float(raw)) raw = ir::int_type(ir::size_of(raw), false);
  bool is_abs = op.modifier == SourceModifier::Abs || op.modifier == SourceModifier::NegAbs;
  if (is_abs && op.is_accumulator() && ir::is_int(raw) && ir::is_int(exec) && exec != ir::Type::s64) {
    // The sign is that of the whole accumulator channel.
    return builder_.convert(ir::Op::convert, exec, read(op, ir::Type::s64, logic));
  }
  // The absolute value depends on the sign in the source's type, whatever the execution type.
  ir::Type type = ir::is_int(exec) && is_abs ? ir::int_type(ir::size_of(exec), ir::is_signed(raw)) : exec;
  // An integer accumulator channel has more bits than its type; a wider execution type receives all of them.
  const bool content = op.is_accumulator() && ir::is_int(raw) && ir::size_of(raw) <= 4 &&
                       (ir::is_float(type) || ir::size_of(type) > ir::size_of(raw));
  ir::ValueId value;
  if (content) {
    const ir::Type wide = ir::is_int(type) ? type : ir::Type::s64;
    value = read_content(ir_region(op.region, op.offset, lanes()), ir::size_of(raw), wide, ir::no_value);
    if (is_abs && ir::is_int(type)) type = ir::int_type(ir::size_of(type), true);
    if (type != wide && ir::is_int(type)) value = builder_.convert(ir::Op::convert, type, value);
  } else {
    value = read_register(op, same_size_ints(raw, type) ? type : raw);
  }
  value = converted(type, value);
  if (op.modifier != SourceModifier::None) {
    bool unsigned_abs = is_abs && ir::is_int(type) && !ir::is_signed(type);
    SourceModifier rest = op.modifier == SourceModifier::NegAbs ? SourceModifier::Neg : SourceModifier::None;
    value = modify(value, unsigned_abs ? rest : op.modifier, logic);
  }
  if (type != exec) value = builder_.convert(ir::Op::bitcast, exec, value);
  return builder_.lanes_of(value) == lanes() ? value : builder_.splat(value, lanes());
}

ir::ValueId Lowering::converted(ir::Type to, ir::ValueId value) {
  const ir::Type from = builder_.type_of(value);
  if (truncates(from, to)) return truncated(value);
  const bool keeps = keeps_denormals_ && ir::is_float(from) && ir::is_float(to) &&
                     std::min(ir::size_of(from), ir::size_of(to)) == 4;
  return builder_.convert(keeps ? ir::Op::convert_keep : ir::Op::convert, to, value);
}

ir::ValueId Lowering::truncated(ir::ValueId value) {
  using enum ir::Type;
  const unsigned lanes = builder_.lanes_of(value);
  const ir::ValueId rounded = builder_.convert(ir::Op::convert_keep, f32, value);
  const auto size = [&](ir::ValueId x) { return builder_.lanewise(ir::Op::abs, {x}); };
  const ir::ValueId away = builder_.compare(
      ir::Op::cmp_gt, size(builder_.convert(ir::Op::convert_keep, f64, rounded)), size(value));
  const ir::ValueId bits = builder_.convert(ir::Op::bitcast, u32, rounded);
  const ir::ValueId nearer = builder_.lanewise(ir::Op::sub, {bits, builder_.constant(u32, lanes, 1)});
  return builder_.convert(ir::Op::bitcast, f32, builder_.select(away, nearer, bits));
}

ir::ValueId Lowering::to_destination(ir::ValueId value) {
  ir::Type from = builder_.type_of(value), to = inst_->dst.type;
  if (inst_->saturate) {
    if (truncates(from, to)) return builder_.lanewise(ir::Op::sat, {truncated(value)});
    if (from == to && ir::is_float(to)) return builder_.lanewise(ir::Op::sat, {value});
    return builder_.convert(ir::Op::convert_sat, to, value);
  }
  return same_size_ints(from, to) ? value : converted(to, value);
}

ir::ValueId Lowering::as_destination(ir::ValueId value) {
  const ir::Type type = inst_->dst.type, from = builder_.type_of(value);
  return from != type && same_size_ints(from, type) ? builder_.convert(ir::Op::bitcast, type, value) : value;
}

void Lowering::write_flag_operand(const Operand& dst, ir::ValueId value, ir::ValueId mask) {
  const unsigned bits = 8 * ir::size_of(builder_.type_of(value));
  for (unsigned lane = 0; lane < lanes(); ++lane) {
    const unsigned first = dst.offset + lane * dst.region.hstride * bits;
    ir::ValueId element = builder_.slice(value, lane, 1);
    if (mask != ir::no_value) {
      const ir::ValueId old = builder_.mask_bits(builder_.type_of(value), builder_.flag_read(bits, first));
      element = builder_.select(builder_.slice(mask, lane, 1), element, old);
    }
    builder_.flag_write(first, builder_.bits_mask(element, bits));
  }
}

void Lowering::write(const Operand& dst, ir::ValueId value, ir::ValueId mask) {
  if (dst.kind == OperandKind::Indirect) {
    ir::ValueId where = addresses(dst, lanes(), true);
    builder_.reg_scatter(where, value, mask);
    return;
  }
  if (dst.kind == OperandKind::None || dst.is_null()) return;
  if (dst.kind == OperandKind::Flag) return write_flag_operand(dst, value, mask);
  const unsigned stride = lanes() == 1 ? 1 : dst.region.hstride;
  if (dst.is_accumulator())
    return write_accumulator(dst.offset, stride, dst.type, as_destination(value), mask);
  // Only two bits of each dword of a macro accumulator exist.
  if (target_.is_macro_accumulator(dst.offset) && ir::is_int(builder_.type_of(value)))
    value = builder_.lanewise(
        ir::Op::and_, {value, builder_.constant(builder_.type_of(value), builder_.lanes_of(value), 3)});
  builder_.reg_write(ir::Region::strided(dst.offset, stride), value, mask);
  const unsigned control = target_.offset(StateRegister::Control);
  if (dst.offset >= control && dst.offset < control + 4) {
    const ir::Type type = builder_.type_of(value);
    const bool whole = lanes() == 1 && mask == ir::no_value && ir::is_int(type) && ir::size_of(type) == 4;
    builder_.effect(ir::Op::fpmode_set, whole ? value : scalar(ir::Type::u32, control));
  }
}

void Lowering::finish(ir::ValueId result, ir::ValueId exact, ir::ValueId overflow) {
  result = as_result(result);
  // The condition is evaluated on what the destination receives, saturated and converted, as the manual
  // defines the zero bit (SKL PRM volume 7, "Assigning Conditional Flags") and as hardware does.
  const bool conditional = inst_->condition != Condition::None;
  if (inst_->dst.is_null() && !inst_->writes_accumulator && !conditional) return;
  const ir::ValueId value = to_destination(result);
  // Computed before the destination is written, because it may read sources that the destination overlaps.
  if (inst_->condition == Condition::ov && overflow == ir::no_value) overflow = this->overflow(result);
  if (inst_->dst.is_accumulator() && exact != ir::no_value) {
    if (conditional) write_flags(accumulator_content(exact), result, overflow);
    const unsigned stride = lanes() == 1 ? 1 : inst_->dst.region.hstride;
    return write_accumulator(inst_->dst.offset, stride, inst_->dst.type, exact, write_mask());
  }
  const auto flags = [&] {
    if (!conditional) return;
    write_flags(as_destination(value), result, overflow);
  };
  commit(value, flags);
  if (inst_->writes_accumulator && !inst_->dst.is_accumulator())
    update_accumulator(exact != ir::no_value ? exact : as_destination(value));
}

}  // namespace eum::eu

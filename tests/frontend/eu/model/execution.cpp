#include "tests/frontend/eu/model/execution.hpp"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>

namespace eum::model {
namespace {

constexpr unsigned register_bytes = 32;

/// The value of a packed restricted float (2.2.5).
double restricted_float(unsigned bits) {
  const double sign = (bits & 0x80) != 0 ? -1 : 1;
  if ((bits & 0x7f) == 0) return std::copysign(0.0, sign);
  return sign * std::ldexp(1 + (bits & 15) / 16.0, static_cast<int>(bits >> 4 & 7) - 3);
}

bool flushes(Type type, const FloatMode& mode) { return flush(0x1p-1074, type, mode) == 0; }
/// The host also flushes what rounds up to the smallest normal number.
bool is_flushable(double value, Type type) {
  const double least = type == Type::df ? 0x1p-1022 : type == Type::f ? 0x1p-126 : 0x1p-14;
  return is_denormal(value, type) || std::fabs(value) == least;
}
/// There are no byte accumulators; the pipeline computes bytes as words.
Type accumulator_type(Type type) { return gen::size_of(type) == 1 ? Type::w : type; }

bool is_acc(const gen::Operand& op) { return op.is_arf(gen::Arf::acc); }

std::optional<Type> execution_float(const gen::Instruction& inst) {
  std::optional<Type> widest;
  const auto consider = [&](Type type) {
    if (gen::is_float(type) && (!widest || gen::size_of(type) > gen::size_of(*widest))) widest = type;
  };
  for (unsigned i = 0; i < inst.source_count; ++i)
    if (!inst.src[i].is_null()) consider(element_type(inst.src[i].type));
  if (widest && inst.has_dst) consider(inst.dst.type);
  return widest;
}

}  // namespace

bool has_paired_doubles(const gen::Instruction& inst, gen::Family family) {
  bool any = inst.has_dst && inst.dst.type == Type::df;
  for (unsigned i = 0; i < inst.source_count; ++i) any |= inst.src[i].type == Type::df;
  return any && family == gen::Family::Gen7;
}

Execution::Execution(const gen::Instruction& inst, Machine& machine, Outcome& outcome)
    : inst_(inst),
      paired_(has_paired_doubles(inst, machine.family)),
      machine_(machine),
      outcome_(outcome),
      before_(machine),
      float_type_(execution_float(inst)) {
  for (unsigned i = 0; i < inst_.source_count; ++i) {
    const gen::Operand& op = inst_.src[i];
    const bool content_source = is_acc(op) && op.reg < 2 && !gen::is_float(op.type);
    if (content_source && gen::size_of(op.type) <= 4) reads_accumulator_ = true;
    for (unsigned n = 0; n < lanes(); ++n) {
      raw_[i][n] = read(op, n, false);
      value_[i][n] = decode(raw_[i][n], element_type(op.type));
      if (content_source && gen::size_of(op.type) <= 4)
        value_[i][n] = Number::of(content(address(op, n, false), gen::size_of(op.type)));
    }
  }
}

unsigned Execution::distance(const gen::Operand& op, unsigned n, bool destination) const {
  unsigned bytes = gen::size_of(op.type);
  if (paired_) {
    n *= 2;
    if (op.type == Type::df) bytes = 4;
  }
  if (destination) return n * op.region.hstride * bytes;
  const unsigned width = std::max<unsigned>(op.region.width, 1);
  const unsigned rows = op.region.vstride == gen::Region::vxh ? 0 : n / width * op.region.vstride;
  return (rows + n % width * op.region.hstride) * bytes;
}

unsigned Execution::address(const gen::Operand& op, unsigned n, bool destination) const {
  if (op.kind != gen::OperandKind::Indirect)
    return op.byte_address(register_bytes) + distance(op, n, destination);
  const bool each_row = !destination && op.region.vstride == gen::Region::vxh;
  const unsigned subreg = op.address_subreg + (each_row ? n / std::max<unsigned>(op.region.width, 1) : 0);
  return static_cast<std::uint16_t>(before_.address[subreg % 16] + op.address_offset +
                                    static_cast<int>(distance(op, n, destination)));
}

std::uint64_t Execution::immediate(const gen::Operand& op, unsigned n) const {
  if (op.type == Type::vf) return encode_float(restricted_float(op.immediate >> n % 4 * 8 & 0xff), Type::f);
  if (op.type != Type::v && op.type != Type::uv) return op.immediate;
  // The immediate is a vector of words: if the destination steps in dwords, a channel takes every second
  // word.
  const unsigned pitch = inst_.dst.region.hstride * gen::size_of(inst_.dst.type);
  const bool skips = !inst_.dst.is_null() && inst_.dst.kind != gen::OperandKind::Indirect && pitch >= 4;
  const unsigned field = static_cast<unsigned>(op.immediate >> n * (skips ? 2 : 1) % 8 * 4) & 15;
  return op.type == Type::v && field > 7 ? 0xfff0 | field : field;
}

std::uint64_t Execution::read(const gen::Operand& op, unsigned n, bool destination) const {
  if (op.is_null() || op.kind == gen::OperandKind::None) return 0;
  if (op.is_immediate()) return immediate(op, n);
  const unsigned at = address(op, n, destination), bytes = gen::size_of(op.type);
  std::uint64_t bits = 0;
  if (op.kind == gen::OperandKind::Indirect || op.is_grf())
    std::memcpy(&bits, before_.grf.data() + at, bytes);
  else if (is_acc(op))
    std::memcpy(&bits, before_.acc.data() + at, bytes);
  else if (op.is_arf(gen::Arf::a))
    std::memcpy(&bits, reinterpret_cast<const std::uint8_t*>(before_.address.data()) + at, bytes);
  else if (op.is_arf(gen::Arf::f))
    std::memcpy(&bits, reinterpret_cast<const std::uint8_t*>(&before_.flags) + 4 * op.reg + at % 32, bytes);
  return bits;
}

Wide Execution::content(unsigned offset, unsigned bytes) const {
  std::uint32_t low = 0;
  std::int32_t high = 0;
  std::memcpy(&low, before_.acc.data() + offset, bytes);
  std::memcpy(&high, before_.acc_high.data() + offset / bytes * 4, 4);
  return Wide{high} * (Wide{1} << 8 * bytes) + low;
}

void Execution::write_content(unsigned offset, unsigned bytes, Wide value) {
  // An accumulator keeps 33 bits of a word, 64 of a dword.
  value = wrap(value, bytes == 2 ? 33 : 64, true);
  const auto low = static_cast<std::uint32_t>(static_cast<std::uint64_t>(value));
  const auto high = static_cast<std::int32_t>(value >> 8 * bytes);
  std::memcpy(machine_.acc.data() + offset, &low, bytes);
  std::memcpy(machine_.acc_high.data() + offset / bytes * 4, &high, 4);
}

bool Execution::predicate(unsigned n) const {
  using enum gen::PredCtrl;
  const gen::PredCtrl control = inst_.pred_ctrl;
  if (control == None) return true;
  const unsigned channel = channel_of(n);
  const unsigned first = 32u * inst_.flag_reg + 16u * inst_.flag_subreg;
  const auto bit = [&](unsigned at) { return (before_.flags >> at & 1) != 0; };
  bool value;
  if (control == Sequential) {
    value = bit(first + channel);
  } else if (control == AnyV || control == AllV) {
    const unsigned at = 16u * inst_.flag_subreg + channel;
    value = control == AnyV ? bit(at) || bit(32 + at) : bit(at) && bit(32 + at);
  } else {
    const unsigned number = static_cast<unsigned>(control) - static_cast<unsigned>(Any2H);
    const unsigned group = 2u << number / 2;
    bool any = false, all = true;
    for (unsigned k = 0; k < group; ++k) {
      const bool is_one = bit(first + channel / group * group + k);
      any |= is_one;
      all &= is_one;
    }
    value = number % 2 == 0 ? any : all;
  }
  return value != inst_.pred_inverse;
}

/// The flag bits of the element's channels.
std::uint64_t Execution::flag_bits(unsigned n) const {
  return std::uint64_t{paired_ ? 3u : 1u} << (32u * inst_.flag_reg + 16u * inst_.flag_subreg + channel_of(n));
}

bool Execution::enabled(unsigned n) const {
  const unsigned channel = channel_of(n);
  const bool on = inst_.no_mask || (channel < 32 && (before_.execution_mask >> channel & 1) != 0);
  const bool selects = inst_.opcode == gen::Opcode::sel && inst_.cond_mod == gen::CondMod::None;
  return on && (selects || predicate(n));
}

Number Execution::source(unsigned index, unsigned n, bool flushed) const {
  const gen::SourceModifier modifier = inst_.src[index].modifier;
  const bool absolute = modifier == gen::SourceModifier::Abs || modifier == gen::SourceModifier::NegAbs;
  const bool negated = modifier == gen::SourceModifier::Neg || modifier == gen::SourceModifier::NegAbs;
  Number value = value_[index][n];
  if (!float_type_) {
    if (absolute && value.integer < 0) value.integer = -value.integer;
    if (negated) value.integer = -value.integer;
    return value;
  }
  value = to_float(value, *float_type_);
  if (absolute) value.real = std::fabs(value.real);
  if (negated) value.real = -value.real;
  if (flushed) value.real = flush(value.real, *float_type_, mode());
  return value;
}

Number Execution::behind(unsigned index, unsigned bytes) const {
  const gen::Operand& op = inst_.src[index];
  std::uint64_t bits = 0;
  std::memcpy(&bits, before_.grf.data() + op.byte_address(register_bytes) + bytes, gen::size_of(op.type));
  Number value = decode(bits, op.type);
  value.real = flush(value.real, op.type, mode());
  return value;
}

unsigned Execution::implicit_offset(Type type, unsigned n) const {
  // For floats the quarter selects acc0 or acc1; integers have acc0 only (accumulator registers).
  const unsigned bytes = gen::size_of(type), per_register = register_bytes / bytes;
  const bool split = gen::is_float(type) && bytes <= 4 && lanes() <= per_register;
  return (split ? inst_.channel_offset / per_register % 2 * register_bytes : 0) + n * bytes;
}

Number Execution::accumulator(unsigned n) const {
  if (float_type_) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, before_.acc.data() + implicit_offset(*float_type_, n), gen::size_of(*float_type_));
    Number value = decode(bits, *float_type_);
    value.real = flush(value.real, *float_type_, mode());
    return value;
  }
  const Type type = accumulator_type(inst_.dst.type);
  return Number::of(content(implicit_offset(type, n), gen::size_of(type)));
}

void Execution::write_register(unsigned n, std::uint64_t bits) {
  const gen::Operand& dst = inst_.dst;
  if (dst.is_null()) return;
  const unsigned at = address(dst, n, true), bytes = gen::size_of(dst.type);
  if (dst.kind == gen::OperandKind::Indirect || dst.is_grf())
    std::memcpy(machine_.grf.data() + at, &bits, bytes);
  else if (dst.is_arf(gen::Arf::a))
    std::memcpy(reinterpret_cast<std::uint8_t*>(machine_.address.data()) + at, &bits, bytes);
  else if (dst.is_arf(gen::Arf::f))
    std::memcpy(reinterpret_cast<std::uint8_t*>(&machine_.flags) + 4 * dst.reg + at % 32, &bits, bytes);
}

void Execution::write_accumulator(unsigned offset, Type type, const Result& result, const Number& final,
                                  std::uint64_t bits) {
  if (gen::is_float(type) || gen::size_of(type) == 8) {
    std::memcpy(machine_.acc.data() + offset, &bits, gen::size_of(type));
    return;
  }
  Wide value = final.integer;
  if (result.exact && !inst_.saturate && !result.value.is_float) value = result.value.integer;
  if (result.accumulator) value = *result.accumulator;
  write_content(offset, gen::size_of(type), value);
}

void Execution::write_flag(unsigned n, bool value) {
  if (!enabled(n)) return;
  machine_.flags = (machine_.flags & ~flag_bits(n)) | (value ? flag_bits(n) : 0);
}

void Execution::finish(unsigned n, const Result& result) {
  using enum gen::CondMod;
  // By the manual, conversions keep denormals.
  const bool wide = inst_.dst.type == Type::df, from_wide = inst_.src[0].type == Type::df;
  const bool converts = inst_.opcode == gen::Opcode::mov && !inst_.saturate && wide != from_wide &&
                        (wide ? inst_.src[0].type : inst_.dst.type) == Type::f;
  const auto may_be_flushed = [&](Type to, double value) {
    return !converts && flushes(to, mode()) && is_flushable(value, to);
  };
  // f32to16 has an integer destination, which holds a half.
  const bool halves = inst_.opcode == gen::Opcode::f32to16;
  const Type type = halves ? Type::hf : inst_.dst.type;
  Number exact = result.value;
  if (!exact.is_float && reads_accumulator_) exact.integer = wrap(exact.integer, 64, true);
  Number final = exact;
  bool overflow = false;
  if (gen::is_float(type)) {
    const int rounding = std::fegetround();
    if (machine_.family == gen::Family::Gen7 && exact.is_float && float_type_ == Type::df && type == Type::f)
      std::fesetround(FE_TOWARDZERO);  // IVB 2.4.5
    final = to_float(exact, type);
    std::fesetround(rounding);
    bool finite = !exact.is_float || !std::isinf(exact.real);
    if (exact.is_float && std::isinf(exact.real)) {
      finite = true;  // the operation overflowed, unless a source is infinite
      for (unsigned i = 0; i < inst_.source_count; ++i)
        finite &= !std::isinf(source(i, n, false).real) && !source(i, n, false).is_nan();
    }
    overflow = std::isinf(final.real) && finite && inst_.opcode != gen::Opcode::f16to32;
    if (inst_.saturate) final.real = final.real > 0 ? std::min(final.real, 1.0) : 0.0;
  } else if (exact.is_float) {
    overflow = exact.real <= static_cast<double>(lowest(type)) - 1 ||
               exact.real >= std::ldexp(1.0, static_cast<int>(bits_of(type)) - gen::is_signed(type));
    final = Number::of(truncate(exact.real, type));
  } else {
    overflow = exact.integer < lowest(type) || exact.integer > highest(type);
    final.integer =
        inst_.saturate ? std::clamp(exact.integer, lowest(type), highest(type)) : wrap(exact.integer, type);
  }
  std::uint64_t bits =
      final.is_float ? encode_float(final.real, type) : static_cast<std::uint64_t>(final.integer);
  if (result.raw) bits = *result.raw;
  if (!enabled(n)) return;

  const bool explicit_acc = is_acc(inst_.dst);
  if (result.holds) {
    write_flag(n, *result.holds);
  } else if (inst_.cond_mod != None && inst_.opcode != gen::Opcode::sel &&
             inst_.opcode != gen::Opcode::csel) {
    // An accumulator keeps the exact integer, so the condition is evaluated on that.
    Number seen = final;
    if (explicit_acc && result.exact && !inst_.saturate && !final.is_float && !exact.is_float)
      seen.integer = wrap(exact.integer, gen::size_of(type) == 2 ? 33 : 64, true);
    const double x = seen.is_float ? flush(seen.real, type, mode()) : 0;
    const auto compare = [&](auto relation) {
      return seen.is_float ? relation(x, 0.0) : relation(seen.integer, Wide{0});
    };
    bool holds = false;
    switch (inst_.cond_mod) {
      case eq:
        holds = compare([](auto a, auto b) { return a == b; });
        break;
      case ne:
        holds = compare([](auto a, auto b) { return a != b; });
        break;
      case gt:
        holds = compare([](auto a, auto b) { return a > b; });
        break;
      case ge:
        holds = compare([](auto a, auto b) { return a >= b; });
        break;
      case lt:
        holds = compare([](auto a, auto b) { return a < b; });
        break;
      case le:
        holds = compare([](auto a, auto b) { return a <= b; });
        break;
      case ov:
        holds = overflow;
        break;
      default:
        holds = exact.is_nan();
    }
    write_flag(n, holds);
    if (seen.is_float && may_be_flushed(type, seen.real)) outcome_.open_flags |= flag_bits(n);
  }

  const auto note = [&](bool in_accumulator, unsigned offset) {
    if (result.raw || !gen::is_float(type)) return;
    if (result.unknown)
      outcome_.open.push_back({in_accumulator, offset, type, Open::Anything, final.real});
    else if (result.approximate)
      outcome_.open.push_back({in_accumulator, offset, type, Open::Approximate, final.real});
    else if (final.is_nan())
      outcome_.open.push_back({in_accumulator, offset, type, Open::AnyNan, final.real});
    else if (may_be_flushed(type, final.real))
      outcome_.open.push_back({in_accumulator, offset, type, Open::Flushed, final.real});
  };
  if (explicit_acc) {
    const unsigned at = address(inst_.dst, n, true);
    Result own = result;
    own.accumulator.reset();  // an explicit accumulator destination takes the result itself
    write_accumulator(at, type, own, final, bits);
    note(true, at);
    return;
  }
  write_register(n, bits);
  if (inst_.dst.is_grf() || inst_.dst.kind == gen::OperandKind::Indirect)
    note(false, address(inst_.dst, n, true));
  if (inst_.acc_wr_en) {
    const Type kept = accumulator_type(type);
    const unsigned at = implicit_offset(kept, n);
    write_accumulator(at, kept, result, final, bits);
    note(true, at);
  }
}

void Execution::write_behind(unsigned n, unsigned bytes, Wide value) {
  if (!enabled(n)) return;
  const Type type = inst_.dst.type;
  if (inst_.saturate) value = std::clamp(value, lowest(type), highest(type));
  const auto bits = static_cast<std::uint64_t>(wrap(value, type));
  std::memcpy(machine_.grf.data() + address(inst_.dst, n, true) + bytes, &bits, gen::size_of(inst_.dst.type));
}

}  // namespace eum::model

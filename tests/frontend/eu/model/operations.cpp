// What each opcode computes for one channel, from the pseudo code of the manual's instruction pages.
#include <algorithm>
#include <cmath>

#include "tests/frontend/eu/model/execution.hpp"

namespace eum::model {
namespace {

using gen::Opcode;
/// An empty result: the channel is not written.
using Operation = std::optional<Result> (*)(Execution&, unsigned channel);

/// A float operation, rounded to the execution type. Halves are computed as df, in which their sums and
/// products are exact or nearly so.
template <class F, class... Numbers>
Number compute(const Execution& x, F function, Numbers... numbers) {
  const Type type = *x.float_type();
  double value;
  if (type != Type::f)
    value = function(numbers.real...);
  else
    value = function(static_cast<float>(numbers.real)...);
  // A subnormal result is flushed even if it would round up to the smallest normal number, unless it does so
  // at the full precision of normal numbers.
  if (type == Type::f && !x.mode().keep_f &&
      std::fabs(static_cast<float>(static_cast<double>(function(numbers.real...)) * 0x1p64)) < 0x1p-62f)
    value = std::copysign(0.0, value);
  if (type == Type::hf) value = round_to_half(value);
  return Number::of_float(flush(value, type, x.mode()));
}

Result arithmetic(Wide value) {
  Result result;
  result.value = Number::of(value);
  result.exact = true;
  return result;
}
Result integer(Wide value) { return {Number::of(value)}; }

constexpr auto sum = [](auto a, auto b) { return a + b; };
constexpr auto product = [](auto a, auto b) { return a * b; };
constexpr auto fused = [](auto a, auto b, auto c) { return std::fma(a, b, c); };

std::optional<Result> do_mov(Execution& x, unsigned n) {
  const gen::Operand& src = x.inst().src[0];
  Result result = arithmetic(0);
  result.value = x.source(0, n, false);
  const bool accumulator = x.reads_accumulator();
  if (element_type(src.type) == x.inst().dst.type && src.modifier == gen::SourceModifier::None &&
      !x.inst().saturate && !accumulator)
    result.raw = x.bits(0, n);
  return result;
}

std::optional<Result> do_f32to16(Execution& x, unsigned n) {
  Result result;
  result.value = x.source(0, n, false);
  return result;
}

std::optional<Result> do_f16to32(Execution& x, unsigned n) {
  const gen::SourceModifier modifier = x.inst().src[0].modifier;
  Result result;
  result.value = decode(x.bits(0, n), Type::hf);
  double& value = result.value.real;
  if (modifier == gen::SourceModifier::Abs || modifier == gen::SourceModifier::NegAbs)
    value = std::fabs(value);
  if (modifier == gen::SourceModifier::Neg || modifier == gen::SourceModifier::NegAbs) value = -value;
  return result;
}

std::optional<Result> do_smov(Execution& x, unsigned n) {
  if ((x.bits(1, 0) >> n & 1) == 0) return std::nullopt;
  Result result = *do_mov(x, n);
  if (!x.float_type()) return result;
  result.value = x.element(0, n);
  return result;
}

std::optional<Result> do_add(Execution& x, unsigned n) {
  const Number a = x.source(0, n), b = x.source(1, n);
  if (x.float_type()) return Result{compute(x, sum, a, b)};
  return arithmetic(a.integer + b.integer);
}

std::optional<Result> do_mul(Execution& x, unsigned n) {
  const Number a = x.source(0, n);
  Number b = x.source(1, n);
  if (x.float_type()) return Result{compute(x, product, a, b)};
  // "only the low 16 bits of src1 are used even if src1 is a DWord" (IVB PRM volume 4 part 3, 1.3)
  if (x.family() < gen::Family::Gen8 && is_dword(x.inst().src[1].type)) b.integer &= 0xffff;
  Wide result;
  const bool beyond = __builtin_mul_overflow(a.integer, b.integer, &result);
  // The product of two unsigned quadwords may exceed even 127 bits: replaced by another too large number with
  // the same low 64 bits.
  return arithmetic(beyond ? (result & ((Wide{1} << 64) - 1)) | Wide{1} << 100 : result);
}

std::optional<Result> do_mac(Execution& x, unsigned n) {
  const Number a = x.source(0, n), b = x.source(1, n), c = x.accumulator(n);
  if (x.float_type()) return Result{compute(x, fused, a, b, c)};
  x.read_implicit_accumulator();
  return arithmetic(a.integer * b.integer + c.integer);
}

std::optional<Result> do_mad(Execution& x, unsigned n) {
  const Number a = x.source(1, n), b = x.source(2, n), c = x.source(0, n);
  if (x.float_type()) return Result{compute(x, fused, a, b, c)};
  return arithmetic(a.integer * b.integer + c.integer);
}

std::optional<Result> do_mach(Execution& x, unsigned n) {
  const Wide a = x.source(0, n).integer, b = x.source(1, n).integer;
  const Wide total = wrap(x.accumulator(n).integer + (a * (b >> 16) << 16), 64, true);
  bool is_signed = false;
  for (unsigned i = 0; i < 2; ++i) {
    const gen::Operand& source = x.inst().src[i];
    const bool positive = source.is_immediate() && x.element(i, 0).integer >= 0;  // signedness irrelevant
    is_signed |= !positive && (gen::is_signed(source.type) || source.modifier != gen::SourceModifier::None);
  }
  Result result = integer(is_signed ? total >> 32 : wrap(total, 64, false) >> 32);
  result.accumulator = total;
  return result;
}

std::optional<Result> do_addc(Execution& x, unsigned n) {
  const Wide total = x.source(0, n).integer + x.source(1, n).integer;
  Result result = integer(total);
  result.accumulator = total >> 32;
  return result;
}

std::optional<Result> do_subb(Execution& x, unsigned n) {
  const Wide difference = x.source(0, n).integer - x.source(1, n).integer;
  Result result = integer(difference);
  result.accumulator = difference < 0 ? 1 : 0;
  return result;
}

std::optional<Result> do_avg(Execution& x, unsigned n) {
  return arithmetic((x.source(0, n).integer + x.source(1, n).integer + 1) >> 1);
}

/// The sum of the absolute differences of a pair of channels, for the first of them.
std::optional<Result> absolute_differences(Execution& x, unsigned n, Wide start) {
  Wide total = start;
  for (unsigned k = n; k < n + 2; ++k) {
    const Wide difference = x.source(0, k).integer - x.source(1, k).integer;
    total += difference < 0 ? -difference : difference;
  }
  return arithmetic(total);
}
std::optional<Result> do_sad2(Execution& x, unsigned n) {
  if (n % 2 != 0) return std::nullopt;
  return absolute_differences(x, n, 0);
}
std::optional<Result> do_sada2(Execution& x, unsigned n) {
  if (n % 2 != 0) return std::nullopt;
  return absolute_differences(x, n, x.accumulator(n).integer);
}

/// A source of a bitwise instruction: the negation modifier complements, before Gen8 it negates.
Wide logic_source(const Execution& x, unsigned index, unsigned n) {
  if (x.family() < gen::Family::Gen8) return x.source(index, n).integer;
  const Wide value = x.element(index, n).integer;
  return x.inst().src[index].modifier == gen::SourceModifier::Neg ? ~value : value;
}
/// A result that never overflows.
Result bitwise(const Execution& x, Wide value) { return integer(wrap(value, x.inst().dst.type)); }
std::optional<Result> do_not(Execution& x, unsigned n) { return bitwise(x, ~logic_source(x, 0, n)); }
std::optional<Result> do_and(Execution& x, unsigned n) {
  return bitwise(x, logic_source(x, 0, n) & logic_source(x, 1, n));
}
std::optional<Result> do_or(Execution& x, unsigned n) {
  return bitwise(x, logic_source(x, 0, n) | logic_source(x, 1, n));
}
std::optional<Result> do_xor(Execution& x, unsigned n) {
  return bitwise(x, logic_source(x, 0, n) ^ logic_source(x, 1, n));
}

/// Shift counts have five bits, six if a source or destination is a quadword.
bool shifts_quadwords(const Execution& x) {
  return gen::size_of(x.inst().src[0].type) == 8 || gen::size_of(x.inst().dst.type) == 8;
}
unsigned shift_count(const Execution& x, unsigned n) {
  return static_cast<unsigned>(x.source(1, n).integer & (shifts_quadwords(x) ? 63 : 31));
}
std::optional<Result> do_shl(Execution& x, unsigned n) {
  return arithmetic(wrap(x.source(0, n).integer, 65, true) << shift_count(x, n));
}
std::optional<Result> do_shr(Execution& x, unsigned n) {
  const gen::Operand& src = x.inst().src[0];
  const unsigned own = std::max(gen::size_of(src.type), 2u) * 8;
  const unsigned bits = shifts_quadwords(x) || src.is_arf(gen::Arf::acc) ? 64 : own;
  return arithmetic(wrap(x.source(0, n).integer, bits, false) >> shift_count(x, n));
}
std::optional<Result> do_asr(Execution& x, unsigned n) {
  return arithmetic(x.source(0, n).integer >> shift_count(x, n));
}

// ---- comparison ----

template <class T>
bool relation(gen::CondMod condition, T a, T b) {
  using enum gen::CondMod;
  switch (condition) {
    case eq:
      return a == b;
    case ne:
      return a != b;
    case gt:
      return a > b;
    case ge:
      return a >= b;
    case lt:
      return a < b;
    case le:
      return a <= b;
    case un:
      return a != a || b != b;
    default:
      return false;
  }
}
bool ordinary(gen::CondMod condition, const Number& a, const Number& b) {
  return a.is_float ? relation(condition, a.real, b.real) : relation(condition, a.integer, b.integer);
}
/// The comparison of min and max (2.3.1.1): a NaN as src1 makes it true, except ne.
bool special(gen::CondMod condition, const Number& a, const Number& b) {
  if (b.is_nan()) return condition != gen::CondMod::ne;
  return ordinary(condition, a, b);
}

Result comparison(const Execution& x, bool holds) {
  Result result = integer(holds ? -1 : 0);
  const unsigned bits = bits_of(x.inst().dst.type);
  result.raw = holds ? ~0ull >> (64 - bits) : 0;
  result.holds = holds;
  return result;
}
std::optional<Result> do_cmp(Execution& x, unsigned n) {
  return comparison(x, ordinary(x.inst().cond_mod, x.source(0, n), x.source(1, n)));
}
std::optional<Result> do_cmpn(Execution& x, unsigned n) {
  return comparison(x, special(x.inst().cond_mod, x.source(0, n), x.source(1, n)));
}

Result moved(const Number& value) {
  Result result = arithmetic(0);
  result.value = value;
  return result;
}
std::optional<Result> do_sel(Execution& x, unsigned n) {
  const bool first = x.inst().cond_mod == gen::CondMod::None
                         ? x.predicate(n)
                         : special(x.inst().cond_mod, x.source(0, n), x.source(1, n));
  return moved(x.source(first ? 0 : 1, n, false));
}
std::optional<Result> do_csel(Execution& x, unsigned n) {
  const bool first = ordinary(x.inst().cond_mod, x.source(2, n), Number::of_float(0));
  return moved(x.source(first ? 0 : 1, n, false));
}

// ---- bits ----

std::uint32_t dword(const Execution& x, unsigned index, unsigned n) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(x.source(index, n).integer));
}
/// The bits reinterpreted as the destination's type.
Result dword_result(const Execution& x, std::uint32_t bits) {
  return integer(wrap(Wide{bits}, x.inst().dst.type));
}
std::optional<Result> do_bfrev(Execution& x, unsigned n) {
  std::uint32_t out = 0;
  for (unsigned k = 0; k < 32; ++k)
    if (dword(x, 0, n) >> k & 1) out |= 0x80000000u >> k;
  return dword_result(x, out);
}
std::optional<Result> do_bfe(Execution& x, unsigned n) {
  const unsigned width = dword(x, 0, n) & 31, offset = dword(x, 1, n) & 31;
  const Wide data = wrap(Wide{dword(x, 2, n)}, x.inst().dst.type);
  const Wide field = data >> offset;  // bits beyond the dword are the sign or zeros
  if (width == 0) return integer(0);
  if (width + offset >= 32) return integer(field);
  return integer(wrap(field, width, gen::is_signed(x.inst().dst.type)));
}
std::optional<Result> do_bfi1(Execution& x, unsigned n) {
  const unsigned width = dword(x, 0, n) & 31, offset = dword(x, 1, n) & 31;
  return dword_result(x, ((1u << width) - 1) << offset);
}
std::optional<Result> do_bfi2(Execution& x, unsigned n) {
  const std::uint32_t mask = dword(x, 0, n);
  unsigned place = 0;
  while (place < 32 && (mask >> place & 1) == 0) ++place;
  const std::uint32_t field = place < 32 ? dword(x, 1, n) << place : 0;
  return dword_result(x, (field & mask) | (dword(x, 2, n) & ~mask));
}
unsigned leading(std::uint32_t bits, bool one) {
  unsigned count = 0;
  while (count < 32 && ((bits >> (31 - count) & 1) != 0) == one) ++count;
  return count;
}
std::optional<Result> do_lzd(Execution& x, unsigned n) { return integer(leading(dword(x, 0, n), false)); }
std::optional<Result> do_fbh(Execution& x, unsigned n) {
  const std::uint32_t bits = dword(x, 0, n);
  const bool negative = gen::is_signed(x.inst().src[0].type) && bits >> 31 != 0;
  const unsigned count = leading(bits, negative);
  return integer(count == 32 ? Wide{0xffffffff} : Wide{count});
}
std::optional<Result> do_fbl(Execution& x, unsigned n) {
  const std::uint32_t bits = dword(x, 0, n);
  unsigned count = 0;
  while (count < 32 && (bits >> count & 1) == 0) ++count;
  return integer(count == 32 ? Wide{0xffffffff} : Wide{count});
}
std::optional<Result> do_cbit(Execution& x, unsigned n) {
  unsigned count = 0;
  for (unsigned k = 0; k < 32; ++k) count += dword(x, 0, n) >> k & 1;
  return integer(count);
}

// ---- floats ----

std::optional<Result> do_frc(Execution& x, unsigned n) {
  constexpr auto fraction = [](auto a) {
    using T = decltype(a);
    return std::min(static_cast<T>(a - std::floor(a)), std::nextafter(T{1}, T{0}));
  };
  const Number a = x.source(0, n);
  if (a.is_nan()) return Result{a};
  return Result{compute(x, fraction, a)};
}
std::optional<Result> do_rndd(Execution& x, unsigned n) {
  return Result{compute(
      x, [](auto a) { return std::floor(a); }, x.source(0, n))};
}
std::optional<Result> do_rndu(Execution& x, unsigned n) {
  return Result{compute(
      x, [](auto a) { return std::ceil(a); }, x.source(0, n))};
}
std::optional<Result> do_rnde(Execution& x, unsigned n) {
  // Independent of cr0: std::remainder rounds to the nearest integer, ties to even.
  constexpr auto nearest = [](auto a) {
    using T = decltype(a);
    return std::isinf(a) ? a : std::copysign(a - std::remainder(a, T{1}), a);
  };
  return Result{compute(x, nearest, x.source(0, n))};
}
std::optional<Result> do_rndz(Execution& x, unsigned n) {
  return Result{compute(
      x, [](auto a) { return std::trunc(a); }, x.source(0, n))};
}
std::optional<Result> do_lrp(Execution& x, unsigned n) {
  const Number a = x.source(0, n), b = x.source(1, n), c = x.source(2, n);
  const Number rest = compute(
      x, [](auto v) { return 1 - v; }, a);
  return Result{compute(x, fused, a, b, compute(x, product, rest, c))};
}

/// A coefficient of line and pln.
Number coefficient(const Execution& x, unsigned index) {
  Number value = x.behind(0, 4 * index);
  const gen::SourceModifier modifier = x.inst().src[0].modifier;
  if (modifier == gen::SourceModifier::Abs || modifier == gen::SourceModifier::NegAbs)
    value.real = std::fabs(value.real);
  if (modifier == gen::SourceModifier::Neg || modifier == gen::SourceModifier::NegAbs)
    value.real = -value.real;
  return value;
}
std::optional<Result> do_line(Execution& x, unsigned n) {
  return Result{compute(x, fused, coefficient(x, 0), x.source(1, n), coefficient(x, 3))};
}
std::optional<Result> do_pln(Execution& x, unsigned n) {
  const unsigned at = n / 8 * 64 + n % 8 * 4;
  const Number u = x.behind(1, at), v = x.behind(1, at + 32);
  const Number first = compute(x, fused, coefficient(x, 0), u, coefficient(x, 3));
  return Result{compute(x, fused, coefficient(x, 1), v, first)};
}

/// Dot product of a group of four channels; the homogeneous one takes 1 for w of source 0.
Result dot_product(const Execution& x, unsigned n, unsigned components, bool homogeneous) {
  Number total;
  for (unsigned k = 0; k < components; ++k) {
    const unsigned channel = n / 4 * 4 + k;
    const Number a = x.source(0, channel), b = x.source(1, channel);
    const Number term = homogeneous && k == 3 ? b : compute(x, product, a, b);
    total = k == 0 ? term : compute(x, sum, total, term);
  }
  return {total};
}
std::optional<Result> do_dp2(Execution& x, unsigned n) { return dot_product(x, n, 2, false); }
std::optional<Result> do_dp3(Execution& x, unsigned n) { return dot_product(x, n, 3, false); }
std::optional<Result> do_dp4(Execution& x, unsigned n) { return dot_product(x, n, 4, false); }
std::optional<Result> do_dph(Execution& x, unsigned n) { return dot_product(x, n, 4, true); }

// ---- math ----

template <class F>
std::optional<Result> exactly_rounded(Execution& x, unsigned n, F function) {
  return Result{compute(x, function, x.source(0, n))};
}
template <class F>
std::optional<Result> approximately(Execution& x, unsigned n, F function) {
  Result result{compute(x, function, x.source(0, n))};
  result.approximate = !result.value.is_nan();
  return result;
}

/// Quotient and remainder of dwords; division by 0 follows the manual's table of IDIV.
std::pair<Wide, Wide> divide(const Execution& x, unsigned n) {
  // The divider takes dwords, so modified values are wrapped.
  const Wide a = wrap(x.source(0, n).integer, x.inst().src[0].type);
  const Wide b = wrap(x.source(1, n).integer, x.inst().src[1].type);
  const bool is_signed = gen::is_signed(x.inst().src[0].type);
  if (b == 0) {
    if (!is_signed) return {0xffffffff, 0xffffffff};
    return {a < 0 ? lowest(Type::d) : highest(Type::d), a};
  }
  return {wrap(a / b, x.inst().src[0].type), a % b};
}

std::optional<Result> do_math(Execution& x, unsigned n) {
  using enum gen::MathFunction;
  const auto f = [&](auto function) { return approximately(x, n, function); };
  // Far from 0 the accuracy of these functions is that of their argument reduction.
  const auto angle = [&](auto function) {
    std::optional<Result> result = f(function);
    result->unknown = std::fabs(x.source(0, n).real) > 0x1p19;
    return result;
  };
  switch (x.inst().math) {
    case inv:
      return exactly_rounded(x, n, [](auto a) { return 1 / a; });
    case sqt:
      return exactly_rounded(x, n, [](auto a) { return std::sqrt(a); });
    case fdiv:
      return Result{compute(
          x, [](auto a, auto b) { return a / b; }, x.source(0, n), x.source(1, n))};
    case rsqt:
      return f([](auto a) { return static_cast<decltype(a)>(1 / std::sqrt(static_cast<double>(a))); });
    case log:
      return f([](auto a) { return std::log2(a); });
    case exp:
      return f([](auto a) { return std::exp2(a); });
    case sin:
      return angle([](auto a) { return std::sin(a); });
    case cos:
      return angle([](auto a) { return std::cos(a); });
    case pow: {
      const Number a = x.source(0, n), b = x.source(1, n);
      Result result{compute(
          x, [](auto p, auto q) { return std::pow(std::fabs(p), q); }, a, b)};
      if (a.is_nan() || b.is_nan()) result.value.real = std::numeric_limits<double>::quiet_NaN();
      result.approximate = !result.value.is_nan();
      return result;
    }
    case iqot:
      return integer(divide(x, n).first);
    case irem:
      return integer(divide(x, n).second);
    case idiv: {
      const unsigned bytes = (x.lanes() * gen::size_of(x.inst().dst.type) + 31) / 32 * 32;
      x.write_behind(n, bytes, divide(x, n).second);
      return integer(divide(x, n).first);
    }
    default:
      return std::nullopt;
  }
}

constexpr std::array<Operation, gen::opcode_count> operations = [] {
  std::array<Operation, gen::opcode_count> table{};
  const auto set = [&](Opcode opcode, Operation operation) {
    table[static_cast<std::size_t>(opcode)] = operation;
  };
  using enum Opcode;
  set(mov, do_mov);
  set(movi, do_mov);
  set(smov, do_smov);
  set(dim, do_mov);
  set(f32to16, do_f32to16);
  set(f16to32, do_f16to32);
  set(sel, do_sel);
  set(csel, do_csel);
  set(cmp, do_cmp);
  set(cmpn, do_cmpn);
  set(not_, do_not);
  set(and_, do_and);
  set(or_, do_or);
  set(xor_, do_xor);
  set(shr, do_shr);
  set(shl, do_shl);
  set(asr, do_asr);
  set(bfrev, do_bfrev);
  set(bfe, do_bfe);
  set(bfi1, do_bfi1);
  set(bfi2, do_bfi2);
  set(lzd, do_lzd);
  set(fbh, do_fbh);
  set(fbl, do_fbl);
  set(cbit, do_cbit);
  set(add, do_add);
  set(mul, do_mul);
  set(avg, do_avg);
  set(mac, do_mac);
  set(mach, do_mach);
  set(addc, do_addc);
  set(subb, do_subb);
  set(sad2, do_sad2);
  set(sada2, do_sada2);
  set(mad, do_mad);
  set(madm, do_mad);
  set(lrp, do_lrp);
  set(line, do_line);
  set(pln, do_pln);
  set(dp2, do_dp2);
  set(dp3, do_dp3);
  set(dp4, do_dp4);
  set(dph, do_dph);
  set(frc, do_frc);
  set(rndd, do_rndd);
  set(rndu, do_rndu);
  set(rnde, do_rnde);
  set(rndz, do_rndz);
  set(math, do_math);
  return table;
}();

}  // namespace

bool has_model(Opcode opcode) { return operations[static_cast<std::size_t>(opcode)] != nullptr; }

bool has_model(gen::MathFunction function) {
  // Steps of a macro have no defined results of their own (translate.cpp's tests cover whole macros).
  return function != gen::MathFunction::None && !gen::is_macro(function);
}

Outcome execute(const gen::Instruction& inst, Machine& machine) {
  Outcome outcome;
  Execution x(inst, machine, outcome);
  const Operation operation = operations[static_cast<std::size_t>(inst.opcode)];
  for (unsigned n = 0; n < x.lanes(); ++n)
    if (const std::optional<Result> result = operation(x, n)) x.finish(n, *result);
  return outcome;
}

}  // namespace eum::model

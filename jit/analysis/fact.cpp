#include "jit/analysis/fact.hpp"

#include <algorithm>
#include <bit>

namespace eum::jit {
namespace {

using ir::Inst;
using ir::Op;

/// A power of two that divides every multiple of n.
constexpr std::uint32_t alignment_of(std::uint32_t n) { return n == 0 ? 1u << 31 : lowest_bit(n); }
constexpr std::uint32_t scaled(std::uint32_t align, std::uint32_t by) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(1u << 31, std::uint64_t{align} * alignment_of(by)));
}

/// The alignment of the first of each `run` lanes, which may be fewer than those of the fact.
std::uint32_t align_of(const Fact& of, unsigned run) {
  return run < of.run ? std::min(of.align, alignment_of(run * of.stride)) : of.align;
}

/// How many lanes of each aligned group have their value in one block of `size`, a power of two.
unsigned lanes_in_block(const Fact& of, unsigned run, std::uint64_t size) {
  if (!std::has_single_bit(of.stride) || of.stride >= size) return 0;
  return static_cast<unsigned>(
      std::min<std::uint64_t>({run, size / of.stride, align_of(of, run) / of.stride}));
}

/// The position of each lane in its block, whose size is a power of two; quotient(): the number of its block.
Fact remainder(const Fact& of, unsigned run, std::uint32_t mask) {
  const unsigned lanes = (mask & (mask + 1)) == 0 ? lanes_in_block(of, run, std::uint64_t{mask} + 1) : 0;
  if (lanes < 2) return {};
  return {.run = static_cast<std::uint8_t>(lanes),
          .exact = true,
          .stride = of.stride,
          .align = lanes * of.stride};
}
Fact quotient(const Fact& of, unsigned run, unsigned shift, bool exact) {
  if (of.exact && of.stride % (1u << shift) == 0)
    return {.run = static_cast<std::uint8_t>(run),
            .exact = true,
            .stride = of.stride >> shift,
            .align = std::max(1u, align_of(of, run) >> shift)};
  const unsigned lanes = lanes_in_block(of, run, std::uint64_t{1} << shift);
  if (lanes < 2) return {};
  return {.run = static_cast<std::uint8_t>(lanes), .exact = exact};
}

/// The fact of a sum, a difference, or a product with a constant.
template <class Arg>
Fact moved(const Inst& inst, Arg arg, unsigned run) {
  const auto by = [&](std::uint32_t stride, std::uint32_t align) {
    return Fact{
        .run = static_cast<std::uint8_t>(run), .exact = stride == 0, .stride = stride, .align = align};
  };
  const auto align = [&](unsigned k) { return align_of(arg(k), run); };
  const auto product = [&]() -> Fact {
    for (const unsigned k : {0u, 1u})
      if (const Fact& factor = arg(k); factor.constant)
        return by(arg(1 - k).stride * factor.bits, scaled(align(1 - k), factor.bits));
    return {};
  };
  const unsigned width = 8 * ir::size_of(inst.type);
  switch (inst.op) {
    case Op::add:
    case Op::addc:
      return by(arg(0).stride + arg(1).stride, std::min(align(0), align(1)));
    case Op::sub:
    case Op::subb:
      return by(arg(0).stride - arg(1).stride, std::min(align(0), align(1)));
    case Op::neg:
      return by(0 - arg(0).stride, align(0));
    case Op::not_:  // -1 - x
      return by(0 - arg(0).stride, 1);
    case Op::shl:
      if (!arg(1).constant) return {};
      return by(arg(0).stride << arg(1).bits % width, scaled(align(0), 1u << arg(1).bits % width));
    case Op::mul:
    case Op::mul_wide:
      return product();
    case Op::and_:
      for (const unsigned k : {0u, 1u})
        if (arg(k).constant) return remainder(arg(1 - k), run, arg(k).bits);
      return {};
    case Op::shr:
    case Op::asr:
      if (!arg(1).constant) return {};
      return quotient(arg(0), run, arg(1).bits % width,
                      arg(0).exact || (inst.op == Op::shr && arg(1).bits % width != 0));
    case Op::mad: {
      Fact fact = product();
      if (fact.run == 0) return {};
      return by(fact.stride + arg(2).stride, std::min(fact.align, align(2)));
    }
    default:
      return {};
  }
}

Fact constant(const Inst& inst, std::uint64_t bits) {
  Fact fact = uniform;
  const unsigned width = 8 * ir::size_of(inst.type);
  fact.constant = ir::is_int(inst.type) && bits >> (std::min(width, 32u) - 1) == 0;
  fact.bits = fact.constant ? static_cast<std::uint32_t>(bits) : 0;
  if (fact.constant) fact.align = alignment_of(fact.bits);
  return fact;
}

Fact pool_entry(const ir::Function& function, const Inst& inst) {
  const ir::PoolEntry& entry = function.pool[static_cast<std::size_t>(inst.imm)];
  if (!ir::is_int(inst.type) || inst.lanes < 2) return {};
  const unsigned bits = std::min(8 * ir::size_of(inst.type), 32u);
  const std::uint64_t limit = std::uint64_t{1} << (bits - 1), all = 2 * limit - 1;
  unsigned run = lowest_bit(inst.lanes);
  bool exact = true;
  const std::uint64_t stride = (entry[1] - entry[0]) & all;
  for (unsigned lane = 0; lane < inst.lanes; ++lane) {
    exact &= entry[lane] < limit;
    if (lane != 0 && ((entry[lane] - entry[lane - 1]) & all) != stride) run = std::min(run, lowest_bit(lane));
  }
  if (run < 2 || (!exact && ir::size_of(inst.type) > 4)) return {};
  return {
      .run = static_cast<std::uint8_t>(run), .exact = exact, .stride = static_cast<std::uint32_t>(stride)};
}

Fact joined(const ir::Function& function, const Inst& inst, const Fact& a, const Fact& b) {
  if (a.constant && b.constant && a.bits == b.bits) return a;
  const unsigned lanes = function.values[function.arg(inst, 0)].lanes;
  unsigned run = std::min<unsigned>({a.run, b.run, lowest_bit(lanes)});
  if (a.stride != b.stride) return {};
  const SymbolicSum next{a.first.symbol, a.first.offset + lanes * a.stride};
  const bool one_run = next.symbol != no_symbol && next == b.first && lowest_bit(inst.lanes) == inst.lanes;
  if (one_run) run = inst.lanes;
  if (run < 2) return {};
  return {.run = static_cast<std::uint8_t>(run),
          .exact = a.exact && b.exact,
          .stride = a.stride,
          .first = one_run ? a.first : SymbolicSum{}};
}

Fact converted(const Inst& inst, Fact fact) {
  const unsigned to = ir::size_of(inst.type), from = ir::size_of(inst.from);
  if (to > from) return fact.exact ? fact : Fact{};
  if (to < from) {
    fact.exact = fact.stride == 0;
    fact.constant &= fact.bits >> (8 * to - 1) == 0;
    fact.align = 1;
  }
  return fact;
}

}  // namespace

Fact fact_of(const ir::Function& function, const Inst& inst, std::span<const Fact> facts) {
  const auto arg = [&](unsigned k) -> const Fact& { return facts[function.arg(inst, k)]; };
  switch (inst.op) {
    case Op::constant:
      return constant(inst, inst.imm);
    case Op::vconst:
      return pool_entry(function, inst);
    case Op::splat: {
      Fact fact = arg(0);
      if (!fact.constant) fact = uniform;
      return fact;
    }
    case Op::slice: {
      Fact fact = arg(0);
      if (inst.imm != 0) {
        const unsigned run = std::min<unsigned>(fact.run, lowest_bit(static_cast<unsigned>(inst.imm)));
        fact.align = align_of(fact, run);
        fact.run = static_cast<std::uint8_t>(run);
      }
      return inst.lanes == 1 ? uniform : fact.run < 2 ? Fact{} : fact;
    }
    case Op::concat:
      return joined(function, inst, arg(0), arg(1));
    case Op::bitcast:
      return ir::size_of(inst.type) == ir::size_of(inst.from) ? arg(0) : Fact{};
    case Op::convert:
      if (ir::is_int(inst.type) && ir::is_int(inst.from)) return converted(inst, arg(0));
      break;
    default:
      break;
  }
  if (!ir::is_lanewise(inst.op)) return {};
  if (inst.lanes == 1) return uniform;
  unsigned run = all_lanes;
  bool equal = inst.arg_count != 0;
  for (unsigned k = 0; k < inst.arg_count; ++k) {
    run = std::min<unsigned>(run, arg(k).run);
    equal &= arg(k).stride == 0;
  }
  if (run < 2) return {};
  if (equal) return {.run = static_cast<std::uint8_t>(run), .exact = true};
  if (!ir::is_int(inst.type) || ir::size_of(inst.type) > 4) return {};
  return moved(inst, arg, run);
}

}  // namespace eum::jit

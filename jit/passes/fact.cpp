#include "jit/passes/fact.hpp"

#include <algorithm>

namespace eum::jit {
namespace {

using ir::Inst;
using ir::Op;

/// Of a sum, a difference, or a product with a constant.
template <class Arg>
Fact moved(const Inst& inst, Arg arg, unsigned run) {
  const auto by = [&](std::uint32_t stride) {
    return Fact{.run = static_cast<std::uint8_t>(run), .exact = stride == 0, .stride = stride};
  };
  const auto product = [&]() -> Fact {
    if (arg(0).constant) return by(arg(1).stride * arg(0).bits);
    if (arg(1).constant) return by(arg(0).stride * arg(1).bits);
    return {};
  };
  switch (inst.op) {
    case Op::add:
    case Op::addc:
      return by(arg(0).stride + arg(1).stride);
    case Op::sub:
    case Op::subb:
      return by(arg(0).stride - arg(1).stride);
    case Op::shl:
      if (!arg(1).constant) return {};
      return by(arg(0).stride << arg(1).bits % (8 * ir::size_of(inst.type)));
    case Op::mul:
    case Op::mul_wide:
      return product();
    case Op::mad: {
      Fact fact = product();
      if (fact.run == 0) return {};
      return by(fact.stride + arg(2).stride);
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
  return fact;
}

Fact pool_entry(const ir::Function& function, const Inst& inst) {
  const ir::PoolEntry& entry = function.pool[static_cast<std::size_t>(inst.imm)];
  if (!ir::is_int(inst.type) || inst.lanes < 2) return {};
  const std::uint64_t limit = std::uint64_t{1} << (std::min(8 * ir::size_of(inst.type), 32u) - 1);
  unsigned run = lowest_bit(inst.lanes);
  const std::uint64_t stride = entry[1] - entry[0];
  for (unsigned lane = 0; lane < inst.lanes; ++lane) {
    if (entry[lane] >= limit) return {};
    if (lane != 0 && entry[lane] - entry[lane - 1] != stride) run = std::min(run, lowest_bit(lane));
  }
  if (run < 2) return {};
  return {.run = static_cast<std::uint8_t>(run), .exact = true, .stride = static_cast<std::uint32_t>(stride)};
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
      if (inst.imm != 0)
        fact.run = static_cast<std::uint8_t>(
            std::min<unsigned>(fact.run, lowest_bit(static_cast<unsigned>(inst.imm))));
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

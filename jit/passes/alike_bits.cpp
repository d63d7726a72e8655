#include "jit/passes/alike_bits.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace eum::jit {

using ir::Inst;
using ir::Op;

namespace {

/// From which bit on lanes differ.
unsigned alike(std::span<const std::uint64_t> lanes) {
  std::uint64_t differ = 0;
  for (const std::uint64_t lane : lanes) differ |= lane ^ lanes[0];
  return static_cast<unsigned>(std::countr_zero(differ));
}

unsigned zeros(std::uint64_t constant) { return static_cast<unsigned>(std::countr_zero(constant)); }

}  // namespace

AlikeBits::AlikeBits(const ir::Function& function)
    : bits_(function.values.size()),
      constants_(function.values.size()),
      is_constant_(function.values.size()) {
  for (const ir::Block& block : function.blocks)
    for (const Inst& inst : block.insts) {
      if (inst.result_count != 1) continue;
      if (inst.op == Op::constant) {
        constants_[inst.result] = inst.imm;
        is_constant_[inst.result] = true;
      }
      const ir::ValueInfo& value = function.values[inst.result];
      unsigned bits = value.lanes == 1 ? all : of_result(function, inst);
      if (bits >= 8 * ir::size_of(value.type)) bits = all;
      bits_[inst.result] = static_cast<std::uint8_t>(bits);
    }
}

unsigned AlikeBits::of_result(const ir::Function& function, const Inst& inst) const {
  const auto args = function.args(inst);
  const auto least = [&] {
    unsigned bits = all;
    for (const ir::ValueId arg : args) bits = std::min(bits, of(arg));
    return bits;
  };
  // Of an operand the other one of which is a constant: what it has, and that constant.
  const auto beside_constant = [&](auto combine) {
    for (unsigned k = 0; k < 2; ++k)
      if (const std::uint64_t* known = constant(args[k])) return combine(of(args[1 - k]), *known);
    return least();
  };
  if (!ir::is_int(inst.type) && inst.op != Op::splat) return 0;
  switch (inst.op) {
    case Op::constant:
    case Op::splat:
      return all;
    case Op::vconst:
      return alike(std::span(function.pool[static_cast<std::size_t>(inst.imm)]).first(inst.lanes));
    case Op::reg_read:
      return inst.region.stride(inst.lanes) == 0 ? all : 0;
    case Op::add:
    case Op::sub:
    case Op::neg:
    case Op::not_:
    case Op::or_:
    case Op::xor_:
    case Op::andn:
    case Op::slice:
      return least();
    case Op::and_:
      return beside_constant([&](unsigned bits, std::uint64_t mask) { return std::max(bits, zeros(mask)); });
    case Op::mul:
      return beside_constant(
          [&](unsigned bits, std::uint64_t factor) { return std::min(bits + zeros(factor), all); });
    case Op::shl: {
      const std::uint64_t* count = constant(args[1]);
      return count != nullptr && *count < 8 * ir::size_of(inst.type)
                 ? of(args[0]) + static_cast<unsigned>(*count)
                 : 0;
    }
    case Op::convert:
    case Op::bitcast:
      return ir::is_int(inst.from) ? of(args[0]) : 0;
    default:
      return 0;
  }
}

}  // namespace eum::jit

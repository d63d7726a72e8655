#include "jit/analysis/alike_bits.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

namespace eum::jit {

using ir::Inst;
using ir::Op;

namespace {

/// The lowest bit in which lanes differ.
unsigned alike(std::span<const std::uint64_t> lanes) {
  std::uint64_t differ = 0;
  for (const std::uint64_t lane : lanes) differ |= lane ^ lanes[0];
  return static_cast<unsigned>(std::countr_zero(differ));
}

unsigned zeros(std::uint64_t constant) { return static_cast<unsigned>(std::countr_zero(constant)); }

/// Propagates from operands to results.
class Finder {
 public:
  explicit Finder(const ir::Function& function)
      : function_(function), bits_(function.values.size()), definition_(function.values.size()) {}

  std::vector<std::uint8_t> run() {
    for (const ir::Block& block : function_.blocks)
      for (const Inst& inst : block.insts) {
        if (inst.result_count != 1) continue;
        definition_[inst.result] = &inst;
        const ir::ValueInfo& value = function_.values[inst.result];
        unsigned bits = value.lanes == 1 ? AlikeBits::all : of_result(inst);
        if (bits >= 8 * ir::size_of(value.type)) bits = AlikeBits::all;
        bits_[inst.result] = static_cast<std::uint8_t>(bits);
      }
    return std::move(bits_);
  }

 private:
  unsigned of(ir::ValueId value) const { return bits_[value]; }
  const std::uint64_t* constant(ir::ValueId value) const {
    const Inst* inst = definition_[value];
    return inst != nullptr && inst->op == Op::constant ? &inst->imm : nullptr;
  }
  unsigned of_result(const Inst& inst) const;

  const ir::Function& function_;
  std::vector<std::uint8_t> bits_;
  std::vector<const Inst*> definition_;
};

unsigned Finder::of_result(const Inst& inst) const {
  const auto args = function_.args(inst);
  const auto least = [&] {
    unsigned bits = AlikeBits::all;
    for (const ir::ValueId arg : args) bits = std::min(bits, of(arg));
    return bits;
  };
  // For ops with a constant operand: combines what is known of the other one with that constant.
  const auto beside_constant = [&](auto combine) {
    for (unsigned k = 0; k < 2; ++k)
      if (const std::uint64_t* known = constant(args[k])) return combine(of(args[1 - k]), *known);
    return least();
  };
  if (!ir::is_int(inst.type) && inst.op != Op::splat) return 0;
  switch (inst.op) {
    case Op::constant:
    case Op::splat:
      return AlikeBits::all;
    case Op::vconst:
      return alike(std::span(function_.pool[static_cast<std::size_t>(inst.imm)]).first(inst.lanes));
    case Op::reg_read:
      return inst.region.stride(inst.lanes) == 0 ? AlikeBits::all : 0;
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
      return beside_constant([&](unsigned bits, std::uint64_t factor) {
        return std::min(bits + zeros(factor), AlikeBits::all);
      });
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

}  // namespace

AlikeBits::AlikeBits(const ir::Function& function) : bits_(Finder(function).run()) {}

}  // namespace eum::jit

#pragma once
// How packed_elements computes dwords of bytes or words: a graph of plans, from which it builds micro-ops.
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <tuple>

#include "jit/passes/rewrite.hpp"

namespace eum::jit {

/// What computes the dwords of some elements.
struct ElementPlan {
  using Id = std::size_t;  ///< its place among all plans; operands have lower ones
  enum Kind : std::uint8_t {
    Value,     ///< dwords that there are
    Constant,  ///< of these bits
    Repeat,    ///< the same element of each lane, repeated
    Splat,     ///< one element in all lanes
    Extend,    ///< words: every second byte of dwords that there are
    Words,     ///< bytes: those of even number from one plan of words, those of odd number from another
    Compute,   ///< an op on all elements
    Choose,    ///< the first or the second operand: as a mask says, or a comparison of the other two
  } kind;
  ir::Op op =
      ir::Op::constant;  ///< of Compute; of Choose: the comparison, or constant if `value` is the mask
  ir::Type type = ir::Type::u32;     ///< of the elements that `op` takes; of Extend: of the words
  ir::ValueId value = ir::no_value;  ///< the dwords; of Repeat and Splat: the element, in its low bits
  /// Of a constant; of a shift: by how much; of Extend and Words: the first byte's lowest bit.
  std::uint32_t bits = 0;
  std::array<Id, 4> of{};  ///< operands
  unsigned width = 8;      ///< of the elements, in bits
  bool are_bytes = false;  ///< of Words: they have no more bits

  unsigned operand_count() const;
};

/// A constant of `width` bits in each element.
constexpr std::uint32_t in_each_element(std::uint32_t bits, unsigned width) {
  return width == 8 ? bits * 0x01010101u : bits * 0x00010001u;
}

class ElementPlanBuilder {
 public:
  /// Appends to `out`.
  ElementPlanBuilder(ir::Function& function, NewBlock& out) : function_(function), out_(out) {}

  /// The dwords, `lanes` of them.
  ir::ValueId build(std::span<const ElementPlan> plans, ElementPlan::Id root, unsigned lanes,
                    std::uint32_t guest_ip);

 private:
  using Plan = ElementPlan;
  using Operands = std::array<ir::ValueId, 4>;

  std::uint32_t element_mask() const { return (1u << width_) - 1; }
  ir::Type element_type(bool is_signed) const { return ir::int_type(width_ / 8, is_signed); }

  ir::ValueId build(const Plan& plan, const Operands& of);
  ir::ValueId extended(const Plan& plan, ir::ValueId dwords);
  ir::ValueId bytes_of_words(const Plan& plan, ir::ValueId even, ir::ValueId odd);
  ir::ValueId product_of_bytes(ir::ValueId a, ir::ValueId b);
  ir::ValueId computed(const Plan& plan, const Operands& of);
  ir::ValueId shifted(const Plan& plan, ir::ValueId value);
  ir::ValueId shifted_words(ir::Op by, ir::Type type, ir::ValueId value, unsigned bits);

  ir::ValueId op(ir::Op op, ir::Type type, std::initializer_list<ir::ValueId> args);
  ir::ValueId dword_constant(std::uint32_t bits, unsigned lanes);
  ir::ValueId with_constant(ir::Op bitwise, ir::ValueId value, std::uint32_t bits);
  ir::ValueId converted(ir::Op by, ir::Type type, ir::ValueId value) {
    return out_.converted(by, type, value, guest_ip_);
  }
  /// The same bits as lanes of this type.
  ir::ValueId recast(ir::Type type, ir::ValueId value);
  /// The element in the low bits of a value, and zeros.
  ir::ValueId low_element(ir::ValueId value);
  /// The constant that all lanes of `type` in these dwords are.
  std::optional<std::uint64_t> same_in_each(ir::ValueId dwords, ir::Type type) const;
  /// The op on lanes of `type`, with the first `count` dwords as operands.
  ir::ValueId in_lanes(ir::Op by, ir::Type type, const Operands& of, unsigned count);
  /// compute(operands) on lanes of `type`, as many of the dwords at a time as an op may have lanes.
  template <class ComputePart>
  ir::ValueId by_parts(ir::Type type, const Operands& of, unsigned count, ComputePart compute);

  ir::Function& function_;
  NewBlock& out_;
  unsigned width_ = 8;  ///< of the plan's elements, in bits
  unsigned lanes_ = 0;  ///< of the dwords
  std::uint32_t guest_ip_ = 0;
  std::map<ir::ValueId, std::uint32_t> made_constants_;  ///< dwords
  /// Of which elements, of how many bits, in how many lanes: components that use one stay in memory order.
  std::map<std::tuple<ir::ValueId, unsigned, unsigned>, ir::ValueId> splats_;
};

}  // namespace eum::jit

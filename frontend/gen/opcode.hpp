#pragma once
// Opcodes of the GEN EU and the properties of each instruction. The rows are in instructions.def and
// instruction_variants.def. This file must not know bit positions (layout.hpp).
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "frontend/gen/family.hpp"
#include "frontend/gen/type.hpp"

namespace eum::gen {

enum class Opcode : std::uint8_t {
#define GEN_OP(name, ...) name,
#include "frontend/gen/instructions.def"
#undef GEN_OP
};

/// Which operands and special fields an instruction has.
enum class Format : std::uint8_t {
  Nullary,     ///< only an opcode (illegal, nop)
  Unary,       ///< dst, src0
  DoubleImm,   ///< dst, a double (dim)
  Binary,      ///< dst, src0, src1
  Ternary,     ///< dst, src0, src1, src2
  Math,        ///< dst, src0 and, for some math functions, src1
  Branch1,     ///< JIP
  Branch2,     ///< JIP, UIP
  BranchReg,   ///< JIP, or a register that holds it
  BranchRegs,  ///< JIP and UIP, or a register pair that holds both
  Jump,        ///< jmpi: offset from the next instruction, or a register that holds it
  Call,        ///< dst (return address), JIP or a register that holds it
  Return,      ///< src0 (return address and mask)
  Wait,        ///< src0 (notification register)
  Send,        ///< dst, src0, extended descriptor, descriptor
  SendSplit,   ///< dst, src0, src1, extended descriptor, descriptor
};

/// Capabilities, a bit set.
namespace cap {
inline constexpr std::uint8_t Pred = 1, CMod = 2, Sat = 4, SrcMod = 8, Logic = 16, BranchCtl = 32,
                              DstType = 64;
}

/// Operand types and capabilities of an instruction.
struct OpcodeShape {
  Format format;
  TypeSet dst_types;
  TypeSet src_types;
  std::uint8_t caps;

  constexpr bool has(std::uint8_t capability) const { return (caps & capability) != 0; }
};

struct OpcodeInfo {
  std::string_view name;  ///< as spelled in the manual
  std::uint8_t number;    ///< opcode field of the encodings gen7 to gen11
  FamilyRange families;   ///< those that have it
  OpcodeShape shape;      ///< without variants; shape() includes them
};

inline constexpr auto opcode_table = [] {
  using namespace cap;
  using namespace type_set;
  using namespace family_range;
  using enum Format;
  using enum Family;
  return std::array{
#define GEN_OP(name, text, number, families, format, dst, src, caps, ...) \
  OpcodeInfo{text, number, families, {format, dst, src, caps}},
#include "frontend/gen/instructions.def"
#undef GEN_OP
  };
}();
inline constexpr std::size_t opcode_count = opcode_table.size();

constexpr const OpcodeInfo& info(Opcode opcode) { return opcode_table[static_cast<std::size_t>(opcode)]; }
constexpr bool exists_on(Opcode opcode, Family family) { return info(opcode).families.contains(family); }

constexpr bool is_send(Format f) { return f == Format::Send || f == Format::SendSplit; }
constexpr bool is_send(Opcode opcode) { return is_send(info(opcode).shape.format); }
/// Whether the instruction changes the instruction pointer of some channel.
constexpr bool is_branch(Format f) { return f >= Format::Branch1 && f <= Format::Return; }
constexpr bool is_branch(Opcode opcode) { return is_branch(info(opcode).shape.format); }

/// By opcode and family: the row, or its variant.
inline constexpr auto shape_table = [] {
  using namespace cap;
  using namespace type_set;
  using namespace family_range;
  using enum Format;
  using enum Family;
  std::array<std::array<OpcodeShape, family_count>, opcode_count> out{};
  std::array<std::array<bool, family_count>, opcode_count> varied{};
  for (std::size_t i = 0; i < opcode_count; ++i) out[i].fill(opcode_table[i].shape);
  const auto vary = [&](Opcode opcode, FamilyRange families, const OpcodeShape& shape) {
    if (is_branch(shape.format) != is_branch(opcode) || is_send(shape.format) != is_send(opcode))
      throw "a variant is a branch or message as its instruction is";
    const auto row = static_cast<std::size_t>(opcode);
    for (std::size_t i = 0; i < family_count; ++i) {
      if (!families.contains(static_cast<Family>(i))) continue;
      if (varied[row][i]) throw "two variants of one instruction on one family";
      varied[row][i] = true;
      out[row][i] = shape;
    }
  };
#define GEN_OP_VARIANT(name, families, format, dst, src, caps) \
  vary(Opcode::name, families, {format, dst, src, caps});
#include "frontend/gen/instruction_variants.def"
#undef GEN_OP_VARIANT
  constexpr auto remaining = static_cast<TypeSet>(~types(Type::hf, Type::uq, Type::q));
  for (auto& row : out)
    for (std::size_t i = 0; i < family_count; ++i) {
      if (!family_table[i].has(trait::FewTypes)) continue;
      row[i].dst_types &= remaining;
      row[i].src_types &= remaining;
    }
  return out;
}();
/// The shape of `opcode` on `family`.
constexpr const OpcodeShape& shape(Opcode opcode, Family family) {
  return shape_table[static_cast<std::size_t>(opcode)][static_cast<std::size_t>(family)];
}

}  // namespace eum::gen

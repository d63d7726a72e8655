#pragma once
// Opcodes of the GEN EU and what each instruction may carry. The rows are instructions.def.
// This file must not know bit positions (fields.hpp).
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
  Binary,      ///< dst, src0, src1
  Ternary,     ///< dst, src0, src1, src2 (Align16 on Gen8 and Gen9)
  Math,        ///< dst, src0 and perhaps src1, by math function
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
inline constexpr std::uint8_t Pred = 1, CMod = 2, Sat = 4, SrcMod = 8, Logic = 16, BranchCtl = 32;
}

struct OpcodeInfo {
  std::string_view name;  ///< as the manual spells it
  std::uint8_t number;    ///< opcode field, families 7 to 11
  Family since;
  Format format;
  TypeSet dst_types;
  TypeSet src_types;
  std::uint8_t caps;
};

inline constexpr std::array opcode_table = [] {
  using namespace cap;
  using namespace type_set;
  using enum Format;
  using enum Family;
  return std::array{
#define GEN_OP(name, text, number, since, format, dst, src, caps, ...) \
  OpcodeInfo{text, number, since, format, dst, src, caps},
#include "frontend/gen/instructions.def"
#undef GEN_OP
  };
}();
inline constexpr std::size_t opcode_count = opcode_table.size();

constexpr const OpcodeInfo& info(Opcode opcode) { return opcode_table[static_cast<std::size_t>(opcode)]; }
constexpr bool has(Opcode opcode, std::uint8_t capability) { return (info(opcode).caps & capability) != 0; }
constexpr bool is_send(Opcode opcode) {
  return info(opcode).format == Format::Send || info(opcode).format == Format::SendSplit;
}
/// Changes the instruction pointer of some channel.
constexpr bool is_branch(Opcode opcode) {
  Format f = info(opcode).format;
  return f >= Format::Branch1 && f <= Format::Return;
}
constexpr bool exists_on(Opcode opcode, Family family) { return info(opcode).since <= family; }

}  // namespace eum::gen

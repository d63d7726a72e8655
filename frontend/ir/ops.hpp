#pragma once
// The op enumeration and its table, derived from ops.def.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "frontend/ir/types.hpp"

namespace eum::ir {

enum class Op : std::uint8_t {
#define IR_OP(name, ...) name,
#include "frontend/ir/ops.def"
#undef IR_OP
};

/// How operands, results and attributes of an op look.
/// T = the op's type, N = its lanes.
enum class Shape : std::uint8_t {
  Constant,    ///< () -> TxN, imm
  PoolConst,   ///< () -> TxN, imm = pool index
  Convert,     ///< (from x N) -> TxN
  Lanewise1,   ///< (TxN) -> TxN
  Lanewise2,   ///< (TxN, TxN) -> TxN
  Lanewise3,   ///< (TxN, TxN, TxN) -> TxN
  Compare,     ///< (TxN, TxN) -> mxN
  Select,      ///< (mxN, TxN, TxN) -> TxN
  Wide2,       ///< (TxN, TxN) -> TxN, TxN
  Wide4,       ///< (TxN, TxN, TxN, TxN) -> TxN, TxN
  Splat,       ///< (Tx1) -> TxN
  Slice,       ///< (TxM) -> TxN, imm = first lane
  Concat,      ///< (TxA, TxB) -> Tx(A+B)
  MaskToInt,   ///< (mxK) -> Tx1
  IntToMask,   ///< (from x1) -> mxN
  MaskGroup,   ///< (mxN) -> mxN, imm = group size
  RegRead,     ///< () -> TxN, region, optional mask
  RegWrite,    ///< (TxN), region, optional mask
  RegGather,   ///< (u16xN) -> TxN, optional mask
  RegScatter,  ///< (u16xN, TxN), optional mask
  FlagRead,    ///< () -> mxN, imm = first flag bit
  FlagWrite,   ///< (mxN), imm = first flag bit, optional mask
  MaskGet,     ///< () -> mxN, imm = variable
  MaskSet,     ///< (mxN), imm = variable
  Effect0,     ///< ()
  Effect1,     ///< (Tx1)
  Load,        ///< (address xN) -> TxN for each component, mem, optional mask
  Store,       ///< (address xN, TxN for each component), mem, optional mask
  Atomic,      ///< (address xN, 0 to 2 TxN) -> TxN or nothing, mem, optional mask
  BlockLoad,   ///< (address x1) -> TxN, mem
  BlockStore,  ///< (address x1, TxN), mem
  SystemCall,  ///< (Tx1, Tx1) -> Tx1, Tx1, imm
  Jump,        ///< taken
  Branch,      ///< (mxN), taken, fallthrough
  JumpIp,      ///< (u32x1)
  Wait,        ///< taken
  Exit,        ///<
  Trap,        ///< imm = string index
};

enum class Effect : std::uint8_t {
  Pure,
  ReadsState,
  WritesState,
  ReadsMemory,
  WritesMemory,
  Control,
  Effect
};

/// Sets of element types.
enum class Types : std::uint8_t { None, Int, Int32, U64, Float, Float32, Arith, Mask, IntMask, All };

enum class Backend : std::uint8_t { Native, Helper, Expand };

struct OpInfo {
  std::string_view name;
  Shape shape;
  Effect effect;
  Types types;
  Backend backend;
  std::string_view doc;
};

inline constexpr auto op_table = [] {
  using enum Shape;
  using enum Types;
  return std::to_array<OpInfo>({
#define IR_OP(name, shape, effect, types, backend, doc) \
  {#name, Shape::shape, Effect::effect, Types::types, Backend::backend, doc},
#include "frontend/ir/ops.def"
#undef IR_OP
  });
}();
inline constexpr std::size_t op_count = op_table.size();

constexpr const OpInfo& info(Op op) { return op_table[static_cast<std::size_t>(op)]; }

/// Text name of an op: the identifier without the `_` that keeps it apart from a C++ keyword.
constexpr std::string_view op_name(Op op) {
  std::string_view name = info(op).name;
  if (name.back() == '_') name.remove_suffix(1);
  return name;
}

constexpr std::optional<Op> parse_op(std::string_view name) {
  for (std::size_t i = 0; i < op_count; ++i)
    if (op_name(static_cast<Op>(i)) == name) return static_cast<Op>(i);
  return std::nullopt;
}

/// Int32: u32, s32. Float32: f16, f32.
constexpr bool takes(Types types, Type type) {
  switch (types) {
    case Types::None:
      return false;
    case Types::Int:
      return is_int(type);
    case Types::Int32:
      return type == Type::u32 || type == Type::s32;
    case Types::U64:
      return type == Type::u64;
    case Types::Float:
      return is_float(type);
    case Types::Float32:
      return type == Type::f16 || type == Type::f32;
    case Types::Arith:
      return !is_mask(type);
    case Types::Mask:
      return is_mask(type);
    case Types::IntMask:
      return is_int(type) || is_mask(type);
    case Types::All:
      return true;
  }
  return false;
}

constexpr bool is_terminator(Op op) { return info(op).effect == Effect::Control; }
constexpr bool is_pure(Op op) { return info(op).effect == Effect::Pure; }

}  // namespace eum::ir

#pragma once
// Ops, their shapes and kinds of attributes as enumerations with tables, derived from ops.def, shapes.def and
// attributes.def.
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

enum class Shape : std::uint8_t {
#define IR_SHAPE(name, ...) name,
#include "frontend/ir/shapes.def"
#undef IR_SHAPE
};

enum class Attribute : std::uint8_t {
#define IR_ATTRIBUTE(name, ...) name,
#include "frontend/ir/attributes.def"
#undef IR_ATTRIBUTE
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

/// Whether the thread may leave the function's code at an op.
enum class Leaves : std::uint8_t { Never, Faults, Always };

/// Sets of element types.
enum class Types : std::uint8_t {
  None,
  Int,
  Int16,
  UpTo16,
  Int32,
  U32,
  U64,
  Float,
  Float32,
  Arith,
  Mask,
  IntMask,
  All
};

enum class Backend : std::uint8_t { Native, Table, Expand };

struct OpInfo {
  std::string_view name;
  Shape shape;
  Effect effect;
  Leaves leaves;
  Types types;
  Backend backend;
  std::string_view doc;
};

inline constexpr auto op_table = [] {
  using enum Shape;
  using enum Types;
  return std::to_array<OpInfo>({
#define IR_OP(name, shape, effect, leaves, types, backend, doc) \
  {#name, Shape::shape, Effect::effect, Leaves::leaves, Types::types, Backend::backend, doc},
#include "frontend/ir/ops.def"
#undef IR_OP
  });
}();
inline constexpr std::size_t op_count = op_table.size();

constexpr const OpInfo& info(Op op) { return op_table[static_cast<std::size_t>(op)]; }

/// Text name of an op: the identifier without the `_` that distinguishes it from a C++ keyword.
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

/// Int16, Int32: integers of that size. UpTo16: integers of 8 and 16 bits. Float32: f16, f32.
constexpr bool takes(Types types, Type type) {
  switch (types) {
    case Types::None:
      return false;
    case Types::Int:
      return is_int(type);
    case Types::Int16:
      return type == Type::u16 || type == Type::s16;
    case Types::UpTo16:
      return is_int(type) && size_of(type) <= 2;
    case Types::Int32:
      return type == Type::u32 || type == Type::s32;
    case Types::U32:
      return type == Type::u32;
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
constexpr bool may_leave(Op op) { return info(op).leaves != Leaves::Never; }

// Shapes.

/// Element type of an operand or result.
enum class TypeRule : std::uint8_t {
  Op,       ///< the op's
  From,     ///< the op's second type
  Mask,     ///< m
  Address,  ///< the address type of the memory space
  Place,    ///< u16: a byte address of the register file
  Index,    ///< u32: an index of the binding table
  Half,     ///< u32, for an op on u64
};
enum class LaneRule : std::uint8_t { Op, One, Any };
/// How many operands or results a rule stands for.
enum class CountRule : std::uint8_t {
  One,
  Maybe,           ///< none or one
  Any,             ///< as many as the instruction has besides the others; at most one rule of a list
  SurfaceOperand,  ///< one if surface_is_operand is set in the MemoryAccess or ImageAccess
  Scalars,         ///< ImageAccess::scalars
  Components,      ///< one for each bit of MemoryAccess::components
  AtomicSources,   ///< as many as MemoryAccess::atomic takes
};

/// Consecutive operands or results under the same rules.
struct ValueRule {
  TypeRule type = TypeRule::Op;
  LaneRule lanes = LaneRule::Op;
  CountRule count = CountRule::One;
};

struct ValueRules {
  static constexpr std::size_t most = 4;
  std::array<ValueRule, most> rules{};
  std::uint8_t count = 0;

  constexpr const ValueRule* begin() const { return rules.data(); }
  constexpr const ValueRule* end() const { return rules.data() + count; }
};

template <class... Rule>
constexpr ValueRules rules(Rule... rule) {
  return {{rule...}, static_cast<std::uint8_t>(sizeof...(rule))};
}

/// The rules that shapes.def names.
namespace value_rule {
inline constexpr ValueRule value{};
inline constexpr ValueRule scalar{TypeRule::Op, LaneRule::One};
inline constexpr ValueRule any_lanes{TypeRule::Op, LaneRule::Any};
inline constexpr ValueRule from{TypeRule::From, LaneRule::Op};
inline constexpr ValueRule from_any_lanes{TypeRule::From, LaneRule::Any};
inline constexpr ValueRule from_scalar{TypeRule::From, LaneRule::One};
inline constexpr ValueRule mask{TypeRule::Mask, LaneRule::Op};
inline constexpr ValueRule any_mask{TypeRule::Mask, LaneRule::Any};
inline constexpr ValueRule places{TypeRule::Place, LaneRule::Op};
inline constexpr ValueRule half{TypeRule::Half, LaneRule::Op};
inline constexpr ValueRule surface{TypeRule::Index, LaneRule::One, CountRule::SurfaceOperand};
inline constexpr ValueRule scalars{TypeRule::Op, LaneRule::One, CountRule::Scalars};
inline constexpr ValueRule addresses{TypeRule::Address, LaneRule::Op};
inline constexpr ValueRule address{TypeRule::Address, LaneRule::One};
inline constexpr ValueRule components{TypeRule::Op, LaneRule::Op, CountRule::Components};
inline constexpr ValueRule sources{TypeRule::Op, LaneRule::Op, CountRule::AtomicSources};
inline constexpr ValueRule maybe{TypeRule::Op, LaneRule::Op, CountRule::Maybe};
inline constexpr ValueRule any_count{TypeRule::Op, LaneRule::Op, CountRule::Any};
}  // namespace value_rule

/// None: an op of this shape has neither type nor lanes (u32 and 1).
enum class Lanes : std::uint8_t { None, One, Many };

namespace shape_flag {
inline constexpr std::uint8_t Lanewise = 1, From = 2, Maskable = 4;
}

struct ShapeInfo {
  Lanes lanes;
  std::uint8_t flags;
  Attribute attribute;
  ValueRules operands;
  ValueRules results;

  constexpr bool typed() const { return lanes != Lanes::None; }
  constexpr bool lanewise() const { return (flags & shape_flag::Lanewise) != 0; }
  constexpr bool has_from() const { return (flags & shape_flag::From) != 0; }
  constexpr bool maskable() const { return (flags & shape_flag::Maskable) != 0; }
  /// Whether the instruction's attribute is the index of a MemoryAccess; has_image: of an ImageAccess.
  constexpr bool has_memory() const {
    return attribute == Attribute::Memory || attribute == Attribute::Atomic;
  }
  constexpr bool has_image() const { return attribute == Attribute::Image; }
  /// Whether a rule allows any number of operands.
  constexpr bool any_operands() const {
    for (const ValueRule& rule : operands)
      if (rule.count == CountRule::Any) return true;
    return false;
  }
  constexpr unsigned targets() const {
    return attribute == Attribute::Target ? 1 : attribute == Attribute::Targets ? 2 : 0;
  }
};

inline constexpr auto shape_table = [] {
  using namespace shape_flag;
  using namespace value_rule;
  return std::to_array<ShapeInfo>({
#define IR_SHAPE(name, lanes, flags, attribute, operands, results) \
  {Lanes::lanes, flags, Attribute::attribute, operands, results},
#include "frontend/ir/shapes.def"
#undef IR_SHAPE
  });
}();
constexpr const ShapeInfo& info(Shape shape) { return shape_table[static_cast<std::size_t>(shape)]; }
constexpr const ShapeInfo& shape_of(Op op) { return info(info(op).shape); }
constexpr bool is_lanewise(Op op) { return shape_of(op).lanewise(); }

inline constexpr std::size_t attribute_count = 0
#define IR_ATTRIBUTE(...) +1
#include "frontend/ir/attributes.def"
#undef IR_ATTRIBUTE
    ;

/// The largest number of operands of a pure op, each of whose rules stands for one.
inline constexpr std::size_t max_pure_operands = [] {
  std::size_t most = 0;
  for (const OpInfo& op : op_table) {
    if (op.effect != Effect::Pure) continue;
    for (const ValueRule& rule : info(op.shape).operands)
      if (rule.count != CountRule::One) throw "a pure op has a fixed number of operands";
    most = most < info(op.shape).operands.count ? info(op.shape).operands.count : most;
  }
  return most;
}();

}  // namespace eum::ir

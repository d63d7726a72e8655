#pragma once
// What the shape of an op asks of its operands, results and attribute, as data: verifier, printer, parser and
// the random generators of the tests derive from it. It must not know single ops.
#include "frontend/ir/function.hpp"

namespace eum::ir {

/// What the union of an Inst holds.
enum class Attribute : std::uint8_t {
  None,
  Bits,      ///< imm: the lane bits of a constant
  Pool,      ///< imm: index of a pool entry
  Lane,      ///< imm: first lane of a slice
  Group,     ///< imm: lanes of a group
  Number,    ///< imm: 64 bits, what they mean is the op's
  Flag,      ///< imm: first flag bit
  Variable,  ///< imm: mask variable
  String,    ///< imm: index of a string
  Region,
  Mem,
  Targets,
};

struct ShapeInfo {
  Attribute attribute;
  bool typed;     ///< the op has a type and lanes; without: u32 and 1
  bool has_from;  ///< Inst::from means something
  bool maskable;  ///< may have a lane mask
  std::uint8_t targets;
};

constexpr ShapeInfo info(Shape shape) {
  using enum Attribute;
  switch (shape) {
    case Shape::Constant:
      return {Bits, true, false, false, 0};
    case Shape::PoolConst:
      return {Pool, true, false, false, 0};
    case Shape::Convert:
    case Shape::IntToMask:
      return {None, true, true, false, 0};
    case Shape::Lanewise1:
    case Shape::Lanewise2:
    case Shape::Lanewise3:
    case Shape::Compare:
    case Shape::Select:
    case Shape::Wide2:
    case Shape::Wide4:
    case Shape::Splat:
    case Shape::Concat:
    case Shape::MaskToInt:
    case Shape::Effect1:
    case Shape::JumpIp:
      return {None, true, false, false, 0};
    case Shape::Slice:
      return {Lane, true, false, false, 0};
    case Shape::MaskGroup:
      return {Group, true, false, false, 0};
    case Shape::RegRead:
    case Shape::RegWrite:
      return {Region, true, false, true, 0};
    case Shape::RegGather:
    case Shape::RegScatter:
      return {None, true, false, true, 0};
    case Shape::FlagRead:
      return {Flag, true, false, false, 0};
    case Shape::FlagWrite:
      return {Flag, true, false, true, 0};
    case Shape::MaskGet:
    case Shape::MaskSet:
      return {Variable, true, false, false, 0};
    case Shape::SystemCall:
      return {Number, true, false, false, 0};
    case Shape::Effect0:
    case Shape::Exit:
      return {None, false, false, false, 0};
    case Shape::Load:
    case Shape::Store:
    case Shape::Atomic:
      return {Mem, true, true, true, 0};
    case Shape::BlockLoad:
    case Shape::BlockStore:
      return {Mem, true, true, false, 0};
    case Shape::Jump:
    case Shape::Wait:
      return {Targets, false, false, false, 1};
    case Shape::Branch:
      return {Targets, true, false, false, 2};
    case Shape::Trap:
      return {String, false, false, false, 0};
  }
  return {None, false, false, false, 0};
}

/// Address type of a memory space.
constexpr Type address_type(MemSpace space) { return space == MemSpace::A64 ? Type::u64 : Type::u32; }

/// The operands and results that an instruction must have, from its op, type, lanes, from and attribute.
struct Signature {
  std::array<ValueInfo, max_args> args{};  ///< lanes 0: any number of lanes
  std::uint8_t arg_count = 0;
  ValueInfo result{Type::u32, 1};  ///< of each result
  std::uint8_t min_results = 0, max_results = 0;
};

/// arg_count may exceed max_args: such an instruction cannot be well formed.
Signature signature(const Inst& inst);

}  // namespace eum::ir

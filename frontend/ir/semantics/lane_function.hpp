#pragma once
// The meaning of the lanewise ops as functions over arrays of lanes, derived from ops.def and
// frontend/ir/semantics/convert.hpp. Both engines, constant folding and Helper ops call these. It must not
// know functions, blocks or engines.
#include "frontend/ir/ops.hpp"

namespace eum::ir {

/// Computes `lanes` (1 to 32) lanes. Arrays are packed: lane i of a type lies at byte i * its size; a mask is
/// one std::uint32_t, bit i = lane i, and bits beyond the lanes come out 0. args[k] is operand k (for select
/// the mask first). The second result of a Wide op follows the first, at results + lanes * size. `results`
/// may be one of the operands only if the op has one result, of the operand's size. No alignment is needed.
/// Reads MXCSR.
using LaneFunction = void (*)(void* results, const void* const* args, unsigned lanes);

/// The function of an op of shape Convert, Lanewise1 to 3, Compare, Select, Wide2 or Wide4 at `type`; `from`
/// is the operand type of Convert and ignored otherwise. nullptr for another shape, where the row does not
/// take the type, and for a bitcast between sizes.
LaneFunction lane_function(Op op, Type type, Type from = Type::u32);

}  // namespace eum::ir

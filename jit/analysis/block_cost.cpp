#include "jit/analysis/block_cost.hpp"

#include <algorithm>
#include <optional>
#include <span>

namespace eum::jit {
namespace {

using namespace ir;

/// The cost of an op on a vector, in instructions; nothing for ops that take long, unless they may.
std::optional<unsigned> cost_of(const Inst& inst, bool may_take_long) {
  constexpr unsigned long_op = 10;
  switch (inst.op) {
    case Op::constant:
    case Op::vconst:
    case Op::mask_get:
    case Op::mask_set:
    case Op::flag_read:
    case Op::slice:
    case Op::concat:
    case Op::spend:
      return 0;
    case Op::flag_write:
      return 2;
    case Op::load:
      return access_cost(inst.lanes) * inst.result_count;
    case Op::store:
      return access_cost(inst.lanes) * (inst.arg_count - 1u);
    default:
      break;
  }
  const OpInfo& row = info(inst.op);
  const bool state = inst.op == Op::reg_read || inst.op == Op::reg_write;
  if (!state && (row.effect != Effect::Pure || row.backend != Backend::Native)) return std::nullopt;
  if (is_mask(inst.type)) return 1;
  unsigned each = 1;
  switch (inst.op) {
    case Op::reg_read:
      each = inst.region.stride(inst.lanes) == 1 || inst.lanes == 1 ? 0 : 3;
      break;
    case Op::reg_write:
      each = inst.region.stride(inst.lanes) == 1 || inst.lanes == 1 ? 1 : 4;
      break;
    case Op::div:
    case Op::sqrt:
    case Op::rcp:
    case Op::rsqrt:
    case Op::quot:
      if (!may_take_long) return std::nullopt;
      each = long_op;
      break;
    case Op::mul_wide:
    case Op::mach:
      each = 5;
      break;
    case Op::mul:
    case Op::mad:
      each = is_int(inst.type) ? (size_of(inst.type) == 8 ? 6 : 2) : 1;
      break;
    default:
      break;
  }
  const unsigned bytes =
      inst.lanes * std::max(size_of(inst.type), shape_of(inst.op).has_from() ? size_of(inst.from) : 0u);
  return each * std::max(1u, (bytes + cost_vector_bytes - 1) / cost_vector_bytes);
}

/// Other ops on floats move them, or change their signs.
bool computes_floats(const Inst& inst) {
  if (!is_pure(inst.op) || (!is_float(inst.type) && !is_float(inst.from))) return false;
  switch (inst.op) {
    case Op::constant:
    case Op::vconst:
    case Op::splat:
    case Op::slice:
    case Op::concat:
    case Op::bitcast:
    case Op::select:
    case Op::neg:
    case Op::abs:
      return false;
    default:
      return true;
  }
}

}  // namespace

bool is_short(const Block& block, std::size_t first, const CostLimit& limit) {
  const std::span insts = std::span(block.insts).subspan(first, block.insts.size() - 1 - first);
  const unsigned most = std::ranges::any_of(insts, computes_floats) ? limit.cost : limit.integer_cost;
  unsigned cost = 0;
  return std::ranges::none_of(insts, [&](const Inst& inst) {
    const std::optional<unsigned> own = cost_of(inst, limit.may_take_long);
    return !own || (cost += *own) > most;
  });
}

}  // namespace eum::jit

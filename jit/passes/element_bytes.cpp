#include "jit/passes/element_bytes.hpp"

namespace eum::jit {

using namespace ir;

namespace {

/// Whether lanes and types leave a value's low bits as they are.
bool keeps_low_bits(const Inst& inst) {
  return (inst.op == Op::bitcast || inst.op == Op::convert) && is_int(inst.type) && is_int(inst.from);
}

/// Where bits of a value are in the dword, if its lowest one is at `place`.
std::uint32_t at(int place, std::uint64_t bits) {
  constexpr int most = 32;
  if (place <= -2 * most || place >= most) return 0;
  return static_cast<std::uint32_t>(place >= 0 ? bits << place : bits >> -place);
}

}  // namespace

std::optional<DwordBytes> ElementBytes::of(const Inst& whole) {
  bytes_ = {};
  if (!add_operands(whole, 0, ~Bits{0}, 0)) return std::nullopt;
  return bytes_;
}

bool ElementBytes::add(ValueId value, int place, Bits bits, unsigned depth) {
  constexpr unsigned deepest = 16;
  const Inst* inst = out_.definition(value);
  if (inst && inst->mask == no_value && depth < deepest) {
    const DwordBytes before = bytes_;
    if (add_operands(*inst, place, bits, depth + 1)) return true;
    bytes_ = before;  // an op like others
  }
  return add_source(value, place, bits);
}

bool ElementBytes::add_operands(const Inst& inst, int place, Bits bits, unsigned depth) {
  const auto arg = [&](unsigned k) { return function_.arg(inst, k); };
  switch (inst.op) {
    case Op::or_:
      return add(arg(0), place, bits, depth) && add(arg(1), place, bits, depth);
    case Op::and_:
      for (const unsigned k : {0u, 1u})
        if (const auto mask = constant(arg(k))) return add(arg(1 - k), place, bits & at(place, *mask), depth);
      return false;
    case Op::bfi2: {
      const auto mask = constant(arg(0));
      return mask && add(arg(1), place, bits & at(place, *mask), depth) &&
             add(arg(2), place, bits & ~at(place, *mask), depth);
    }
    case Op::shl:
    case Op::shr: {
      const auto by = constant(arg(1));
      if (!by || *by >= 8 * size_of(inst.type)) return false;
      const int count = static_cast<int>(*by), all = static_cast<int>(8 * size_of(inst.type));
      if (inst.op == Op::shr)
        return add(arg(0), place - count,
                   bits & at(place, PossibleBits::low_bits(static_cast<unsigned>(all - count))), depth);
      return add(arg(0), place + count, bits & at(place, PossibleBits::low_bits(static_cast<unsigned>(all))),
                 depth);
    }
    default:
      return keeps_low_bits(inst) && (!is_signed(inst.from) || size_of(inst.from) >= size_of(inst.type)) &&
             add(arg(0), place, bits & at(place, PossibleBits::low_bits(8 * size_of(inst.type))), depth);
  }
}

bool ElementBytes::add_source(ValueId value, int place, Bits bits) {
  constexpr Bits byte = 0xff;
  const Bits present = at(place, possible_.of(value));
  for (unsigned k = 0; k < bytes_.size(); ++k) {
    const Bits own = present >> 8 * k & byte, wanted = bits >> 8 * k & byte;
    if ((own & wanted) == 0) continue;
    const int shift = static_cast<int>(8 * k) - place;
    if (bytes_[k].value != no_value || shift < 0 || (own & ~wanted) != 0) return false;
    bytes_[k] = {value, static_cast<unsigned>(shift)};
  }
  return true;
}

ValueId ElementBytes::source_of(const Inst& inst, unsigned width, unsigned& shift) const {
  const ValueId arg = inst.arg_count != 0 ? function_.arg(inst, 0) : no_value;
  const unsigned bits = 8 * size_of(inst.type), end = shift + width;
  const auto by = [&]() -> std::optional<unsigned> {
    const auto known = constant(function_.arg(inst, 1));
    return known && *known < bits ? std::optional(static_cast<unsigned>(*known)) : std::nullopt;
  };
  switch (inst.op) {
    case Op::bitcast:
    case Op::convert:
      return keeps_low_bits(inst) && end <= 8 * size_of(inst.from) ? arg : no_value;
    case Op::shr:
    case Op::asr:
      if (const auto count = by(); count && end + *count <= bits) {
        shift += *count;
        return arg;
      }
      return no_value;
    case Op::shl:
      if (const auto count = by(); count && *count <= shift) {
        shift -= *count;
        return arg;
      }
      return no_value;
    case Op::and_:
    case Op::bfi2: {
      const std::uint64_t field = (std::uint64_t{1} << width) - 1;
      for (const unsigned k : {0u, 1u}) {
        const auto mask = constant(function_.arg(inst, k));
        if (!mask) {
          if (inst.op == Op::bfi2) return no_value;
          continue;
        }
        const std::uint64_t own = *mask >> shift & field;
        if (inst.op == Op::bfi2)
          return own == field ? function_.arg(inst, 1) : own == 0 ? function_.arg(inst, 2) : no_value;
        if (own == field) return function_.arg(inst, 1 - k);
      }
      return no_value;
    }
    default:
      return no_value;
  }
}

Element ElementBytes::source(Element element, unsigned width) const {
  while (element.value != no_value) {
    const Inst* inst = out_.definition(element.value);
    if (!inst || inst->mask != no_value || inst->result_count != 1 || !is_int(inst->type)) break;
    const ValueId next = source_of(*inst, width, element.shift);
    if (next == no_value) break;
    element.value = next;
  }
  return element;
}

}  // namespace eum::jit

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
  constexpr unsigned most = 64;
  bytes_ = {};
  steps_left_ = most;
  if (!add_operands(whole, 0, ~Bits{0})) return std::nullopt;
  return bytes_;
}

bool ElementBytes::add(ValueId value, int place, Bits bits) {
  if ((bits & at(place, possible_.of(value))) == 0) return true;
  if (steps_left_ == 0) return false;
  --steps_left_;
  const Inst* inst = out_.definition(value);
  if (inst && inst->mask == no_value) {
    const DwordBytes before = bytes_;
    if (add_operands(*inst, place, bits)) return true;
    bytes_ = before;  // an op like others
  }
  return add_source(value, place, bits);
}

bool ElementBytes::add_operands(const Inst& inst, int place, Bits bits) {
  const auto arg = [&](unsigned k) { return function_.arg(inst, k); };
  switch (inst.op) {
    case Op::or_:
      return add(arg(0), place, bits) && add(arg(1), place, bits);
    case Op::and_:
      for (const unsigned k : {0u, 1u})
        if (const auto mask = constant(arg(k))) return add(arg(1 - k), place, bits & at(place, *mask));
      return false;
    case Op::bfi2: {
      const auto mask = constant(arg(0));
      return mask && add(arg(1), place, bits & at(place, *mask)) &&
             add(arg(2), place, bits & ~at(place, *mask));
    }
    case Op::shl:
    case Op::shr: {
      const auto by = constant(arg(1));
      if (!by || *by >= 8 * size_of(inst.type)) return false;
      const int count = static_cast<int>(*by), all = static_cast<int>(8 * size_of(inst.type));
      if (inst.op == Op::shr)
        return add(arg(0), place - count,
                   bits & at(place, PossibleBits::low_bits(static_cast<unsigned>(all - count))));
      return add(arg(0), place + count, bits & at(place, PossibleBits::low_bits(static_cast<unsigned>(all))));
    }
    default:
      return keeps_low_bits(inst) && (!is_signed(inst.from) || size_of(inst.from) >= size_of(inst.type)) &&
             add(arg(0), place, bits & at(place, PossibleBits::low_bits(8 * size_of(inst.type))));
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
  const std::uint64_t field = PossibleBits::low_bits(width);
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
      return possible_.unmasked(inst, field << shift);
    case Op::bfi2: {
      const auto mask = constant(arg);
      const std::uint64_t own = mask ? *mask >> shift & field : 0;
      return own == field ? function_.arg(inst, 1) : mask && own == 0 ? function_.arg(inst, 2) : no_value;
    }
    default:
      return no_value;
  }
}

Element ElementBytes::source(Element element, unsigned width) const {
  constexpr unsigned longest = 32;
  for (unsigned step = 0; step < longest && element.value != no_value; ++step) {
    const Inst* inst = out_.definition(element.value);
    if (!inst || inst->mask != no_value || inst->result_count != 1 || !is_int(inst->type)) break;
    const ValueId next = source_of(*inst, width, element.shift);
    if (next == no_value) break;
    element.value = next;
  }
  return element;
}

Extension ElementBytes::extension_of(ValueId value, unsigned width) const {
  const Inst* inst = out_.definition(value);
  if (!inst || inst->mask != no_value || !is_int(inst->type)) return Extension::None;
  const std::uint64_t element_mask = PossibleBits::low_bits(width);
  if (const PossibleBits::Bits set = possible_.of(value); set <= element_mask)
    return set <= element_mask >> 1 ? Extension::Both : Extension::Zero;
  if (width < 32)
    for (const bool is_signed : {false, true})
      if (ranges_.lies_in(value, range_of(int_type(width / 8, is_signed))))
        return is_signed ? Extension::Sign : Extension::Zero;
  const auto of_bits = [&](unsigned bits, bool is_signed) {
    if (bits > width) return Extension::None;
    return is_signed ? Extension::Sign : bits < width ? Extension::Both : Extension::Zero;
  };
  switch (inst->op) {
    case Op::convert:
      if (!is_int(inst->from) || size_of(inst->from) >= size_of(inst->type)) return Extension::None;
      if (8 * size_of(inst->from) > width)
        return common(extension_of(function_.arg(*inst, 0), width),
                      is_signed(inst->from) ? Extension::Both : Extension::Zero);
      return of_bits(8 * size_of(inst->from), is_signed(inst->from));
    case Op::bitcast:
      return is_int(inst->from) ? extension_of(function_.arg(*inst, 0), width) : Extension::None;
    case Op::constant: {
      const std::uint64_t bits = *constant(value), all = ~std::uint64_t{0} >> (64 - bits_of(value));
      return bits >= all - (element_mask >> 1) ? Extension::Sign : Extension::None;
    }
    case Op::shr:
    case Op::asr: {
      const auto by = constant(function_.arg(*inst, 1));
      if (!by || *by >= bits_of(value)) return Extension::None;
      return of_bits(bits_of(value) - static_cast<unsigned>(*by), inst->op == Op::asr);
    }
    default:
      return Extension::None;
  }
}

}  // namespace eum::jit

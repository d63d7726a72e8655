#pragma once
// Bytes and words in wider values: where those of dwords come from that ops have put together.
#include <array>
#include <compare>
#include <optional>

#include "jit/passes/possible_bits.hpp"
#include "jit/passes/value_ranges.hpp"

namespace eum::jit {

/// Bits of each lane of a value, from `shift` up; zeros if there is no value.
struct Element {
  ir::ValueId value = ir::no_value;
  unsigned shift = 0;
  auto operator<=>(const Element&) const = default;
};

/// The bytes of a dword, the lowest one first, 8 bits each.
using DwordBytes = std::array<Element, 4>;

/// How a value follows from its low bits.
enum class Extension : std::uint8_t { None, Zero, Sign, Both };

/// How two values do.
constexpr Extension common(Extension a, Extension b) {
  if (a == Extension::Both) return b;
  return b == Extension::Both || a == b ? a : Extension::None;
}

class ElementBytes {
 public:
  /// Looks at the definitions in `out`, and at the `ranges` of these values.
  ElementBytes(const ir::Function& function, const NewBlock& out, const ValueRanges& ranges)
      : function_(function), out_(out), possible_(function, out), ranges_(ranges) {}

  /// Must see each instruction of the block that is added to `out`.
  void see(const ir::Inst& inst) {
    if (inst.result_count == 1) possible_.find(inst);
  }
  /// The sources of the bytes of an or of u32; nothing if one has several.
  std::optional<DwordBytes> of(const ir::Inst& whole);
  /// The element of `width` bits in the value from which ops took, moved or widened it, if its bits are
  /// there.
  Element source(Element element, unsigned width) const;
  /// How the value follows from its `width` low bits, as far as its definition tells.
  Extension extension_of(ir::ValueId value, unsigned width) const;
  std::optional<std::uint64_t> constant(ir::ValueId value) const { return possible_.constant(value); }

 private:
  using Bits = std::uint32_t;

  /// Adds the bits of the dword among `bits` that come from `value`, whose lowest bit is bit `place` of the
  /// dword. False if bytes have other sources too, or only a part of the value's bits.
  bool add(ir::ValueId value, int place, Bits bits);
  bool add_operands(const ir::Inst& inst, int place, Bits bits);
  bool add_source(ir::ValueId value, int place, Bits bits);
  ir::ValueId source_of(const ir::Inst& inst, unsigned width, unsigned& shift) const;
  unsigned bits_of(ir::ValueId value) const { return 8 * ir::size_of(function_.values[value].type); }

  const ir::Function& function_;
  const NewBlock& out_;
  PossibleBits possible_;
  const ValueRanges& ranges_;
  DwordBytes bytes_{};
  unsigned steps_left_ = 0;
};

}  // namespace eum::jit

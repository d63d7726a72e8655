// Converts Align16 to Align1 where Align1 can express the same: three-source instructions with whole or
// scalar operands, math macros, saves and restores of the macro accumulators. In one place, so that printer
// and lowering agree.
#include "frontend/gen/instruction.hpp"

namespace eum::gen {
namespace {

constexpr std::uint8_t swizzle(unsigned x, unsigned y, unsigned z, unsigned w) {
  return static_cast<std::uint8_t>(x | y << 2 | z << 4 | w << 6);
}
constexpr std::uint8_t swizzle_xyxy = swizzle(0, 1, 0, 1), swizzle_zwzw = swizzle(2, 3, 2, 3);
static_assert(swizzle(0, 1, 2, 3) == identity_swizzle);

constexpr unsigned all_channels = 0xf;

Error inconvertible(const Instruction& i, const char* operand, const char* why) {
  return error("instruction at byte {:#x}: {}: Align16 {} has no Align1 form: {}", i.offset,
               info(i.opcode).name, operand, why);
}

/// A three-source destination. Enabling a single element makes a scalar, because hardware lacks SIMD1 in
/// Align16.
const char* ternary_destination(Instruction& i, unsigned grf_bytes) {
  Operand& dst = i.dst;
  if (dst.channel_enable == all_channels) return i.exec_size == 1 ? "execution size 1" : nullptr;
  const unsigned enable = dst.channel_enable;
  unsigned element = 0;
  if (i.exec_size == 2 && dst.type == Type::df && (enable == 0b0011 || enable == 0b1100)) {
    element = enable == 0b1100;
  } else if (i.exec_size == 4 && (enable == 1 || enable == 2 || enable == 4 || enable == 8)) {
    element = enable == 8 ? 3 : enable >> 1;
  } else {
    return "channel enables that no region describes";
  }
  const unsigned subreg = dst.subreg + element * size_of(dst.type);
  dst.reg = static_cast<std::uint8_t>(dst.reg + subreg / grf_bytes);
  dst.subreg = static_cast<std::uint8_t>(subreg % grf_bytes);
  i.exec_size = 1;
  return nullptr;
}

/// A three-source operand. In df an element is a pair of channels: xyxy selects the first, zwzw the second.
const char* ternary_source(Operand& src) {
  if (src.replicate) return nullptr;
  if (src.swizzle == identity_swizzle) {
    src.region = {2, 2, 1};
    return nullptr;
  }
  if (src.type != Type::df || (src.swizzle != swizzle_xyxy && src.swizzle != swizzle_zwzw))
    return "a swizzle that no region describes";
  src.region = {0, 1, 0};
  if (src.swizzle == swizzle_zwzw) src.subreg = static_cast<std::uint8_t>(src.subreg + 8);
  return nullptr;
}

const char* basic_destination(Operand& dst) {
  if (dst.is_arf(Arf::acc) && dst.reg >= 2) {
    // Context save and restore: the channel enables, not the register, select acc2 to acc9; xyzw selects
    // acc9, as xyz does.
    const unsigned n = dst.channel_enable == all_channels ? 7 : dst.channel_enable;
    if (n > 7) return "channel enables that name no macro accumulator";
    dst.reg = static_cast<std::uint8_t>(2 + n);
    return nullptr;
  }
  return dst.channel_enable == all_channels ? nullptr : "channel enables other than xyzw";
}

const char* basic_source(Operand& src) {
  if (src.kind == OperandKind::Immediate) return nullptr;
  if (src.region.vstride != 4) return "a vertical stride other than 4";
  if (src.is_arf(Arf::acc) && src.reg >= 2) {
    const unsigned n = src.swizzle & 15;
    if (n > 7) return "a swizzle that names no macro accumulator";
    src.reg = static_cast<std::uint8_t>(2 + n);
    src.subreg = 0;
  } else if (src.swizzle != identity_swizzle) {
    return "a swizzle other than xyzw";
  }
  src.region = {1, 1, 0};
  return nullptr;
}

/// A math macro reads whole registers; its swizzle bits name the accumulator.
const char* macro_source(Operand& src, unsigned exec_size) {
  if (src.region.vstride != (src.type == Type::df ? 2 : 4))
    return "a vertical stride that the macro does not take";
  src.region = exec_size == 1 ? Region{0, 1, 0} : Region{4, 4, 1};
  return nullptr;
}

}  // namespace

Result<Instruction> align1_form(const Instruction& instruction, Family family) {
  Instruction i = instruction;
  if (!i.align16) return i;
  static constexpr const char* names[] = {"source 0", "source 1", "source 2"};
  const bool ternary = shape(i.opcode, family).format == Format::Ternary;
  const bool macro = i.dst.macro;
  if (i.pred_ctrl == PredCtrl::X || i.pred_ctrl == PredCtrl::Y || i.pred_ctrl == PredCtrl::Z ||
      i.pred_ctrl == PredCtrl::W)
    return inconvertible(i, "predicate", "it replicates one channel");

  if (!is_send(i.opcode)) {
    if (i.has_dst && !macro)
      if (const char* why =
              ternary ? ternary_destination(i, info(family).grf_bytes) : basic_destination(i.dst))
        return inconvertible(i, "destination", why);
    for (unsigned n = 0; n < i.source_count; ++n) {
      Operand& src = i.src[n];
      const char* why = ternary && !macro ? ternary_source(src)
                        : ternary         ? nullptr
                        : macro           ? macro_source(src, i.exec_size)
                                          : basic_source(src);
      if (why) return inconvertible(i, names[n], why);
    }
  }
  i.align16 = false;
  return i;
}

}  // namespace eum::gen

// Align16 operands. A row of a region is four channels, or two of quadwords, whose swizzles and channel
// enables count dwords, two per element (as in align1.cpp).
#include "frontend/gen/lower/align16.hpp"

#include <array>
#include <utility>

namespace eum::gen {
namespace {

/// The columns that the lanes of a row read; .first is the row's width, or 0 if elements would be split.
std::pair<unsigned, std::array<unsigned, 4>> columns(const Operand& op) {
  std::array<unsigned, 4> dwords{};
  for (unsigned i = 0; i < 4; ++i) dwords[i] = op.swizzle >> 2 * i & 3;
  if (size_of(op.type) < 8) return {4, dwords};
  std::array<unsigned, 4> elements{};
  if (!op.swizzles_pairs()) return {};
  for (unsigned i = 0; i < 2; ++i) elements[i] = elements[i + 2] = dwords[2 * i] / 2;
  return {2, elements};
}

/// Adds `bytes` to the operand's origin.
void advance(eu::Operand& op, unsigned bytes) {
  if (op.kind == eu::OperandKind::Indirect)
    op.address_offset = static_cast<std::int16_t>(op.address_offset + static_cast<int>(bytes));
  else
    op.offset += bytes;
}

}  // namespace

const char* align16_source(const Operand& op, bool ternary, eu::Operand& result) {
  if (result.kind == eu::OperandKind::Null || result.kind == eu::OperandKind::Immediate) return nullptr;
  if (op.region.vstride == Region::vxh) return "vertical stride VxH in Align16";
  if (op.replicate) {
    result.region = {0, 1, 0};
    return nullptr;
  }
  const auto [width, column] = columns(op);
  if (width == 0) return "a swizzle that splits elements of 64 bits";
  const auto row = static_cast<std::uint8_t>(width);
  // Consecutive rows of quadwords have vertical stride 4, as of other types, or 2 (Haswell).
  const bool packed = ternary || op.region.vstride == 4;
  const std::uint8_t vstride = packed ? row : op.region.vstride;
  bool same = true, identity = true;
  for (unsigned i = 0; i < 4; ++i) {
    same &= column[i] == column[0];
    identity &= column[i] == i % width;
  }
  result.region = {vstride, row, 1};
  if (identity) return nullptr;
  if (same) {
    advance(result, column[0] * size_of(op.type));
    // Three-source instructions lack replicate control of quadwords: IGA encodes scalars as xyxy and zwzw.
    result.region =
        vstride == 0 || (ternary && width == 2) ? eu::Region{0, 1, 0} : eu::Region{vstride, row, 0};
    return nullptr;
  }
  if (result.kind == eu::OperandKind::Accumulator) return "swizzle of an accumulator";
  if (result.kind == eu::OperandKind::Flag || result.kind == eu::OperandKind::ExecutionMask)
    return "swizzle of a mask";
  result.swizzle = 0;
  for (unsigned i = 0; i < 4; ++i)
    result.swizzle = static_cast<std::uint8_t>(result.swizzle | column[i] << 2 * i);
  return nullptr;
}

const char* align16_enabled(const Operand& dst, std::uint32_t& lanes) {
  const unsigned enable = dst.channel_enable;
  unsigned row = enable;
  if (size_of(dst.type) == 8) {
    if (!dst.enables_pairs()) return "channel enables that split elements of 64 bits";
    row = (enable & 1) * 5 | (enable >> 2 & 1) * 10;
  }
  lanes = row * 0x11111111u;
  return nullptr;
}

bool is_equivalent(const Instruction& instruction, const Instruction& form) {
  if (form.exec_size == instruction.exec_size) return true;
  // A scalar replaces one channel: only its mask, its flag and its sources depend on which one.
  if ((instruction.dst.channel_enable & 1) != 0) return true;
  bool replicated = true;
  for (unsigned i = 0; i < instruction.source_count; ++i)
    replicated &= instruction.src[i].replicate || form.src[i].region.vstride == 0;
  return instruction.no_mask && !instruction.predicated() && instruction.cond_mod == CondMod::None &&
         !instruction.acc_wr_en && replicated;
}

}  // namespace eum::gen

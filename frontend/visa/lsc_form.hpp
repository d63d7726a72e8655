#pragma once
// The syntax of lsc instructions: the shape of each operation and the texts of the values of Lsc. It must not
// know how they are read or printed.
#include <cstdint>
#include <iterator>
#include <string_view>

#include "frontend/visa/lsc.hpp"

namespace eum::visa {

enum class LscShape : std::uint8_t {
  Load,         ///< data, address
  LoadStrided,  ///< data, address with a pitch
  LoadQuad,     ///< data with a channel mask, address
  LoadBlock2d,  ///< data with blocks, block
  Store,        ///< address, data
  StoreStrided,
  StoreQuad,
  StoreBlock2d,
  Atomic,         ///< data, address, two sources
  AppendCounter,  ///< data, surface, data
  ReadStateInfo,  ///< destination, surface and optionally one coordinate
  Fence,          ///< no operands; operation and scope are suffixes
};

struct LscOpInfo {
  std::string_view text;  ///< after "lsc_"
  std::uint8_t number;
  LscShape shape;
};
inline constexpr LscOpInfo lsc_op_table[] = {
#define VISA_LSC_OP(name, text, number, shape) {text, number, LscShape::shape},
#include "frontend/visa/lsc_ops.def"
#undef VISA_LSC_OP
};
inline constexpr std::size_t lsc_op_count = std::size(lsc_op_table);
constexpr const LscOpInfo& info(LscOp op) { return lsc_op_table[static_cast<std::size_t>(op)]; }

constexpr bool is_store(LscShape shape) {
  return shape >= LscShape::Store && shape <= LscShape::StoreBlock2d;
}
constexpr bool is_block2d(LscShape shape) {
  return shape == LscShape::LoadBlock2d || shape == LscShape::StoreBlock2d;
}
constexpr bool is_strided(LscShape shape) {
  return shape == LscShape::LoadStrided || shape == LscShape::StoreStrided;
}
constexpr bool is_quad(LscShape shape) { return shape == LscShape::LoadQuad || shape == LscShape::StoreQuad; }
/// Whether the text has an execution size (otherwise there is one channel without a mask).
constexpr bool has_exec_size(LscShape shape, LscUnit unit) {
  return shape != LscShape::Fence && shape != LscShape::ReadStateInfo &&
         !(is_block2d(shape) && unit == LscUnit::tgm);
}
/// Whether this is the unit of typed memory, whose operations have coordinates.
constexpr bool is_typed(LscUnit unit) { return unit == LscUnit::tgm; }
constexpr bool unit_has(LscUnit unit, LscShape shape) {
  using enum LscShape;
  if (shape == Fence) return true;
  if (shape == ReadStateInfo) return is_typed(unit);
  return !is_typed(unit) || is_quad(shape) || is_block2d(shape) || shape == Atomic;
}

// Texts of the enumerations of lsc.hpp, in their order.
inline constexpr std::string_view lsc_unit_names[] = {"ugm", "ugml", "tgm", "slm", "urb"};
inline constexpr std::string_view lsc_caching_names[] = {"df", "uc", "ca", "wb", "wt", "st", "ri", "cc"};
inline constexpr std::string_view lsc_model_names[] = {"", "flat", "bss", "ss", "bti", "arg", "surf"};
inline constexpr std::string_view lsc_address_size_names[] = {"", "a16", "a32", "a64"};
inline constexpr std::string_view lsc_data_size_names[] = {"",    "d8",    "d16",    "d32",
                                                           "d64", "d8u32", "d16u32", "d16u32h"};
inline constexpr std::string_view lsc_fence_names[] = {"none",    "evict", "invalidate",
                                                       "discard", "clean", "flushl3"};
inline constexpr std::string_view lsc_scope_names[] = {"group", "local",  "tile",  "gpu",
                                                       "gpus",  "sysrel", "sysacq"};
inline constexpr std::string_view lsc_channel_letters = "xyzw";
inline constexpr std::uint8_t lsc_element_counts[] = {1, 2, 3, 4, 8, 16, 32, 64};

}  // namespace eum::visa

#pragma once
// The values of name suffixes and of words among operands: each enumeration with its texts, in the numbering
// of the binary format. It must not know which instruction has which.
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace eum::visa {

struct SuffixText {
  std::uint32_t value;
  std::string_view text;
};

enum class AtomicOperation : std::uint8_t {
  add,
  sub,
  inc,
  dec,
  min,
  max,
  xchg,
  cmpxchg,
  and_,
  or_,
  xor_,
  minsint,
  maxsint,
  fmax = 16,
  fmin,
  fcmpwr,
  fadd,
  fsub,
};
inline constexpr SuffixText atomic_operations[] = {
    {0, "add"},      {1, "sub"},     {2, "inc"},   {3, "dec"},     {4, "min"},   {5, "max"},
    {6, "xchg"},     {7, "cmpxchg"}, {8, "and"},   {9, "or"},      {10, "xor"},  {11, "minsint"},
    {12, "maxsint"}, {16, "fmax"},   {17, "fmin"}, {18, "fcmpwr"}, {19, "fadd"}, {20, "fsub"},
};

/// Types of the sources of dpas: signed and unsigned integers of 1 to 8 bits, floats.
enum class Precision : std::uint8_t { u1 = 1, s1, u2, s2, u4, s4, u8, s8, bf, hf, bf8, tf32, hf8 = 14, e2m1 };
inline constexpr SuffixText precisions[] = {
    {1, "u1"}, {2, "s1"}, {3, "u2"},  {4, "s2"},   {5, "u4"},    {6, "s4"},   {7, "u8"},
    {8, "s8"}, {9, "bf"}, {10, "hf"}, {11, "bf8"}, {12, "tf32"}, {14, "hf8"}, {15, "e2m1"},
};

enum class MediaMode : std::uint8_t { nomod, modified, top, bottom, top_mod, bottom_mod };
inline constexpr SuffixText media_modes[] = {
    {0, "nomod"}, {1, "modified"}, {2, "top"}, {3, "bottom"}, {4, "top_mod"}, {5, "bottom_mod"},
};

enum class OutputFormat : std::uint8_t { full_16, downsampled_16, full_8, downsampled_8 };
inline constexpr SuffixText output_formats[] = {
    {0, "16-full"},
    {1, "16-downsampled"},
    {2, "8-full"},
    {3, "8-downsampled"},
};

enum class AvsControl : std::uint8_t { full_16, down_sample_16, full_8, down_sample_8 };
inline constexpr SuffixText avs_controls[] = {
    {0, "AVS_16_FULL"},
    {1, "AVS_16_DOWN_SAMPLE"},
    {2, "AVS_8_FULL"},
    {3, "AVS_8_DOWN_SAMPLE"},
};
enum class AvsMode : std::uint8_t { m4x4, m8x4, m16x4, m4x8, m8x8, m16x8 };
inline constexpr SuffixText avs_modes[] = {
    {0, "AVS_4x4"}, {1, "AVS_8x4"}, {2, "AVS_16x4"}, {3, "AVS_4x8"}, {4, "AVS_8x8"}, {5, "AVS_16x8"},
};

// Sets: each value is one bit.
enum class CallFlag : std::uint32_t { uniform = 1, noreturn = 2 };
inline constexpr SuffixText call_flags[] = {{1, "uniform"}, {2, "noreturn"}};

enum class SamplerFlag : std::uint32_t { pixel_null_mask = 1, cps = 2, div_s = 4 };
inline constexpr SuffixText sampler_flags[] = {{1, "pixel_null_mask"}, {2, "cps"}, {4, "divS"}};

/// Letters of the fence's suffix, in their order (vISA document, FENCE).
enum class FenceFlag : std::uint32_t {
  commit = 1,
  instruction = 2,
  sampler = 4,
  constant = 8,
  read_write = 16,
  l1 = 64
};
inline constexpr SuffixText fence_flags[] = {{1, "E"}, {2, "I"}, {4, "S"}, {8, "C"}, {16, "R"}, {64, "L1"}};

enum class TargetFlag : std::uint32_t {
  a = 1,
  o = 2,
  cps = 4,
  ps = 8,
  cm = 16,
  si = 32,
  st = 64,
  lrtw = 128,
  rti = 256,
  z = 512,
  nullrt = 1024,
};
inline constexpr SuffixText target_flags[] = {
    {1, "A"},   {2, "O"},      {4, "CPS"},   {8, "PS"},  {16, "CM"},       {32, "SI"},
    {64, "ST"}, {128, "LRTW"}, {256, "RTI"}, {512, "Z"}, {1024, "NULLRT"},
};

/// In the order of the bits.
inline constexpr std::string_view channel_letters = "RGBA";

inline constexpr std::string_view condition_names[] = {"", "eq", "ne", "gt", "ge", "lt", "le"};

constexpr std::optional<std::uint32_t> suffix_value(std::span<const SuffixText> table,
                                                    std::string_view text) {
  for (const SuffixText& row : table)
    if (row.text == text) return row.value;
  return std::nullopt;
}
constexpr std::string_view suffix_text(std::span<const SuffixText> table, std::uint32_t value) {
  for (const SuffixText& row : table)
    if (row.value == value) return row.text;
  return "?";
}

}  // namespace eum::visa

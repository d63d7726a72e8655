#pragma once
// The rows of messages.def as constant tables, and finding a row. For message.cpp and message_text.cpp only.
#include <array>
#include <cstdint>
#include <string_view>

#include "frontend/gen/fields.hpp"
#include "frontend/gen/message.hpp"

namespace eum::gen::message_table {

/// How the descriptor of a message is read beyond what selects it.
enum class Form : std::uint8_t {
  OwordBlock,
  ByteScattered,
  DwordScattered,
  ScratchBlock,
  MemoryFence,
  Untyped,
  UntypedAtomic,
  FloatAtomic,
  Typed,
  TypedAtomic,
  CounterAtomic,
  MediaBlock,
  A64Byte,
  A64Dword,
  A64Qword,
  A64Untyped,
  A64Atomic,
  A64FloatAtomic,
  A64OwordBlock,
  A64HwordBlock,
  Sampler,
  Plain,
  Unsupported,
};

/// Bits of the descriptor and the value that they must have.
struct Selector {
  Bits field;
  std::uint32_t value = 0;
};
constexpr Selector at(unsigned hi, unsigned lo, std::uint32_t value) { return {bits(hi, lo), value}; }
constexpr Selector at(unsigned hi, unsigned lo, std::uint32_t value, unsigned hi2, unsigned lo2,
                      std::uint32_t value2) {
  return {bits(hi, lo, hi2, lo2), value << (hi2 - lo2 + 1) | value2};
}
inline constexpr Selector everywhere{};

struct Row {
  MessageInfo info;
  Selector where;
  Form form;
};

inline constexpr auto rows = [] {
  using enum Form;
  using enum Access;
  using enum Family;
  return std::to_array<Row>({
#define GEN_MESSAGE(kind, sfid, where, since, form, access, text, ...) \
  {{#kind, text, Sfid::sfid, access, since}, where, form},
#include "frontend/gen/messages.def"
  });
}();

constexpr std::uint32_t take(std::uint32_t value, const Bits& field) {
  std::uint64_t out = 0;
  for (unsigned i = 0; i < field.count; ++i) {
    const unsigned width = field.ranges[i].hi - field.ranges[i].lo + 1u;
    out = out << width | (value >> field.ranges[i].lo & low_mask(width));
  }
  return static_cast<std::uint32_t>(out);
}
constexpr bool matches(const Selector& s, std::uint32_t desc) { return take(desc, s.field) == s.value; }

inline constexpr unsigned max_rows = static_cast<unsigned>(rows.size());

/// The first row of each shared function, and one past the last: rows of one function are consecutive.
struct Span {
  std::uint8_t first = 0, last = 0;
};
inline constexpr auto rows_of = [] {
  std::array<Span, 16> out{};
  for (unsigned i = 0; i < max_rows; ++i) {
    Span& span = out[static_cast<unsigned>(rows[i].info.sfid)];
    if (span.last == 0)
      span.first = static_cast<std::uint8_t>(i);
    else if (span.last != i)
      throw "rows of one shared function must be consecutive";
    span.last = static_cast<std::uint8_t>(i + 1);
  }
  return out;
}();

/// Whether a descriptor with `type` in bits 18:14 may match: the first range of a selector decides if it is
/// there.
constexpr bool may_match(const Selector& s, std::uint32_t type) {
  if (s.field.count == 0 || s.field.ranges[0].hi != 18) return true;
  const Bits first = bits(18, s.field.ranges[0].lo);
  return take(type << 14, first) == s.value >> (s.field.width() - first.width());
}

/// By shared function and bits 18:14: the first row that can match; subtypes follow it.
inline constexpr auto first_by_type = [] {
  std::array<std::array<std::uint8_t, 32>, 16> out{};
  for (unsigned sfid = 0; sfid < 16; ++sfid)
    for (unsigned type = 0; type < 32; ++type) {
      unsigned row = rows_of[sfid].first;
      while (row < rows_of[sfid].last && !may_match(rows[row].where, type)) ++row;
      out[sfid][type] = static_cast<std::uint8_t>(row);
    }
  return out;
}();

struct AtomicRow {
  bool is_float;
  std::uint8_t code;
  mem::AtomicOp op;
  std::string_view text;
};
inline constexpr auto atomics = [] {
  constexpr bool Integer = false, Float = true;
  return std::to_array<AtomicRow>({
#define GEN_ATOMIC(set, code, operation, text) {set, code, mem::AtomicOp::operation, text},
#include "frontend/gen/messages.def"
  });
}();

constexpr const AtomicRow* find_atomic(bool is_float, unsigned code) {
  for (const AtomicRow& row : atomics)
    if (row.is_float == is_float && row.code == code) return &row;
  return nullptr;
}

struct SampleRow {
  SampleInfo info;
  std::uint8_t code;
  bool wide;
};
inline constexpr auto samples = [] {
  using enum Family;
  return std::to_array<SampleRow>({
#define GEN_SAMPLE(operation, code, wide, since, parameters, text) \
  {{#operation, parameters, text, since}, code, wide},
#include "frontend/gen/messages.def"
  });
}();

constexpr std::string_view function_name(unsigned sfid, Family family) {
  constexpr auto names = [] {
    std::array<std::array<std::string_view, 16>, family_count> out{};
#define GEN_SHARED_FUNCTION(sfid, gen8, gen9)                                            \
  out[static_cast<std::size_t>(Family::Gen8)][static_cast<unsigned>(Sfid::sfid)] = gen8; \
  out[static_cast<std::size_t>(Family::Gen9)][static_cast<unsigned>(Sfid::sfid)] = gen9;
#include "frontend/gen/messages.def"
    return out;
  }();
  return names[static_cast<std::size_t>(family)][sfid];
}

}  // namespace eum::gen::message_table

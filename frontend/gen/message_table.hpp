#pragma once
// The rows of messages.def as constant tables, and look-up in them. For message.cpp, message_text.cpp and
// isa/ only.
#include <array>
#include <cstdint>
#include <string_view>

#include "frontend/gen/message.hpp"
#include "frontend/gen/word.hpp"

namespace eum::gen::message_table {

/// How the descriptor of a message is read, apart from the bits that select the message.
enum class DescriptorLayout : std::uint8_t {
  OwordBlock,
  OwordDualBlock,
  ByteScattered,
  DwordScattered,
  ScratchBlock,
  ScratchRegisters,
  MemoryFence,
  Untyped,
  UntypedAtomic,
  FloatAtomic,
  Atomic4x2,
  FloatAtomic4x2,
  Typed,
  TypedHalves,
  TypedAtomic,
  CounterAtomic,
  MediaBlock,
  A64Byte,
  A64Dword,
  A64Qword,
  A64Untyped,
  A64Atomic,
  A64FloatAtomic,
  A64Atomic4x2,
  A64FloatAtomic4x2,
  A64DualBlock,
  A64OwordBlock,
  A64HwordBlock,
  Sampler,
  Plain,
  Unsupported,
};

/// Bits of the descriptor and their required value.
struct Selector {
  Bits field;
  std::uint32_t value = 0;
};
constexpr Selector at(unsigned hi, unsigned lo, std::uint32_t value) { return {bits(hi, lo), value}; }
constexpr Selector at(unsigned hi, unsigned lo, std::uint32_t value, unsigned hi2, unsigned lo2,
                      std::uint32_t value2) {
  return {bits(hi, lo, hi2, lo2), value << (hi2 - lo2 + 1) | value2};
}
/// Selects a message whatever its descriptor.
inline constexpr Selector any_descriptor{};

struct Row {
  MessageInfo info;
  Selector where;
  DescriptorLayout layout;
};

inline constexpr auto rows = [] {
  using namespace family_range;
  using enum DescriptorLayout;
  using enum Access;
  using enum Family;
  return std::to_array<Row>({
#define GEN_MESSAGE(kind, sfid, where, families, layout, access, text, ...) \
  {{#kind, text, Sfid::sfid, access, families}, where, layout},
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

/// Whether a descriptor with `type` in bits 18:14 may match, judged by the first range of the selector, if
/// that begins at bit 18.
constexpr bool may_match(const Selector& s, std::uint32_t type) {
  if (s.field.count == 0 || s.field.ranges[0].hi != 18) return true;
  const Bits first = bits(18, s.field.ranges[0].lo);
  return take(type << 14, first) == s.value >> (s.field.width() - first.width());
}

/// For each shared function and value of bits 18:14, the first row that can match; subtypes follow it.
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

/// Rows of atomics by set and code; one past the last if the manual defines none.
inline constexpr auto atomic_by_code = [] {
  std::array<std::array<std::uint8_t, 16>, 2> out{};
  for (auto& set : out) set.fill(static_cast<std::uint8_t>(atomics.size()));
  for (std::size_t i = 0; i < atomics.size(); ++i)
    out[atomics[i].is_float][atomics[i].code] = static_cast<std::uint8_t>(i);
  return out;
}();
constexpr const AtomicRow* find_atomic(bool is_float, unsigned code) {
  const std::size_t row = atomic_by_code[is_float][code & 15];
  return row < atomics.size() ? &atomics[row] : nullptr;
}

struct SampleRow {
  SampleOp op;
  std::uint8_t code;
  bool wide;
  FamilyRange families;
  std::string_view text;
};
inline constexpr auto samples = [] {
  using namespace family_range;
  using enum Family;
  return std::to_array<SampleRow>({
#define GEN_SAMPLE(operation, code, wide, families, text) {SampleOp::operation, code, wide, families, text},
#include "frontend/gen/messages.def"
  });
}();

/// Rows of samples by family, SIMD mode and code; one past the last if the family has none.
inline constexpr auto sample_by_code = [] {
  std::array<std::array<std::array<std::uint8_t, 32>, 2>, family_count> out{};
  for (std::size_t family = 0; family < family_count; ++family) {
    for (auto& mode : out[family]) mode.fill(static_cast<std::uint8_t>(samples.size()));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (!samples[i].families.contains(static_cast<Family>(family))) continue;
      std::uint8_t& row = out[family][samples[i].wide][samples[i].code];
      if (row != samples.size()) throw "two sampler messages claim one code";
      row = static_cast<std::uint8_t>(i);
    }
  }
  return out;
}();
constexpr const SampleRow* find_sample(Family family, bool wide, unsigned code) {
  const std::size_t row = sample_by_code[static_cast<std::size_t>(family)][wide][code & 31];
  return row < samples.size() ? &samples[row] : nullptr;
}

/// The text of each operation of the sampler; an operation without a message fails the build.
inline constexpr auto sample_texts = [] {
  std::array<std::string_view, mem::image::sample_op_table.size()> out{};
  for (const SampleRow& row : samples) out[static_cast<std::size_t>(row.op)] = row.text;
  for (std::string_view text : out)
    if (text.empty()) throw "an operation of the sampler has no message";
  return out;
}();

/// The address model by family and binding table index.
inline constexpr auto address_models = [] {
  using namespace family_range;
  using enum Family;
  std::array<std::array<AddressModel, 256>, family_count> out{};
  for (std::size_t i = 0; i < family_count; ++i) {
    out[i].fill(AddressModel::Surface);
    const auto add = [&](unsigned index, FamilyRange families, AddressModel model) {
      if (families.contains(static_cast<Family>(i))) out[i][index] = model;
    };
#define GEN_BINDING(index, families, model) add(index, families, AddressModel::model);
#include "frontend/gen/messages.def"
  }
  return out;
}();

/// The names of shared functions; empty if the family has none.
inline constexpr auto function_names = [] {
  using namespace family_range;
  using enum Family;
  std::array<std::array<std::string_view, 16>, family_count> out{};
  const auto add = [&](Sfid sfid, FamilyRange families, std::string_view name) {
    for (std::size_t i = 0; i < family_count; ++i) {
      if (!families.contains(static_cast<Family>(i))) continue;
      std::string_view& at = out[i][static_cast<unsigned>(sfid)];
      if (!at.empty()) throw "a shared function has two names";
      at = name;
    }
  };
#define GEN_SHARED_FUNCTION(sfid, families, name) add(Sfid::sfid, families, name);
#include "frontend/gen/messages.def"
  return out;
}();
constexpr std::string_view function_name(unsigned sfid, Family family) {
  return function_names[static_cast<std::size_t>(family)][sfid];
}

}  // namespace eum::gen::message_table

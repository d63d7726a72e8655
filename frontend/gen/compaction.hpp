#pragma once
// Expansion of 64-bit compacted instructions. It knows bits and tables, not what the fields mean.
#include <cstdint>

#include "frontend/gen/encoding.hpp"

namespace eum::gen {

/// Whether instructions of `format` may be compacted.
template <Encoding E>
constexpr bool has_compacted_form(Format format) {
  return (EncodingData<E>::compaction.formats & formats(format)) != 0;
}

/// The 128-bit form of a compacted instruction whose opcode has `format`, with a compaction control bit of 0.
template <Encoding E>
InstructionWord expand(std::uint64_t compact, Format format);

#define GEN_ENCODING(name) extern template InstructionWord expand<Encoding::name>(std::uint64_t, Format);
#include "frontend/gen/encodings.def"
#undef GEN_ENCODING

}  // namespace eum::gen

#pragma once
// Expansion of 64-bit compacted instructions. It knows bits and tables, not what the fields mean.
#include <cstdint>

#include "frontend/gen/family.hpp"
#include "frontend/gen/fields.hpp"
#include "frontend/gen/opcode.hpp"

namespace eum::gen {

/// Whether instructions of `format` may be compacted on `family`.
bool has_compacted_form(Format format, Family family);

/// The 128-bit form of a compacted instruction whose opcode has `format`. The compaction control bit is zero
/// in it.
Encoding expand(std::uint64_t compact, Format format);

}  // namespace eum::gen

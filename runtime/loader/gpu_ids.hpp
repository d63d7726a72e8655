#pragma once
// Maps the numbers in binaries to a GEN family, or to an error that names the GPU. The rows are in
// gpu_ids.def.
#include <cstdint>

#include "frontend/gen/family.hpp"
#include "memory/base/result.hpp"

namespace eum::rt {

/// Render core family number (patch tokens' Device field).
Result<gen::Family> family_of_core(std::uint32_t core);

/// Product family number (zebin's .note.intelgt.compat, type 1).
Result<gen::Family> family_of_product(std::uint32_t product);

}  // namespace eum::rt

#pragma once
// GEN kernels into micro-op functions: the only door of frontend/gen/lower.
#include <cstddef>
#include <memory_resource>
#include <span>
#include <string>

#include "frontend/gen/family.hpp"
#include "frontend/ir/function.hpp"
#include "memory/base/result.hpp"

namespace eum::gen {

/// Lowers the kernel that starts at byte 0 of `code` and is dispatched `simd_width` (8, 16 or 32) channels
/// wide. The register file of the function is laid out by arf_layout.hpp; the caller sets general registers
/// (payload), cr0, sr0 and mask variable 0 before it runs. An instruction that cannot be lowered, does not
/// decode or leads outside of `code` becomes a trap with its text, so that only a thread that reaches it
/// faults. Blocks, values and pool come from `memory`. An error says what is wrong with the request itself.
Result<ir::Function> lower_kernel(std::span<const std::byte> code, Family family, unsigned simd_width,
                                  std::string name,
                                  std::pmr::memory_resource* memory = std::pmr::get_default_resource());

}  // namespace eum::gen

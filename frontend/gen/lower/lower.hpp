#pragma once
// GEN kernels into micro-op functions: decoded here, given their meaning by frontend/eu.
#include <cstddef>
#include <memory_resource>
#include <span>
#include <string>

#include "frontend/eu/lower.hpp"
#include "frontend/gen/family.hpp"

namespace eum::gen {

/// What a thread of `family` has.
eu::Target target(Family family);

/// Lowers the kernel that starts at byte 0 of `code` and is dispatched `simd` (1, 8, 16 or 32) channels wide;
/// see eu::lower.
Result<ir::Function> lower_kernel(std::span<const std::byte> code, Family family, unsigned simd,
                                  std::string name,
                                  std::pmr::memory_resource* memory = std::pmr::get_default_resource(),
                                  const eu::LowerOptions& options = {});

}  // namespace eum::gen

#pragma once
// Lowers kernels into micro-op functions: the entry point of frontend/eu.
#include <memory_resource>
#include <optional>
#include <string>

#include "frontend/eu/control_flow.hpp"
#include "frontend/eu/program.hpp"
#include "frontend/eu/target.hpp"
#include "frontend/ir/function.hpp"
#include "memory/base/result.hpp"

namespace eum::eu {

/// How a kernel is lowered.
struct LowerOptions {
  Granularity granularity = Granularity::Block;
  /// SIP: where in the program the System Routine begins, which handles the exceptions that cr0.1 enables.
  /// Without one they are faults.
  std::optional<std::uint32_t> system_routine = {};
  std::uint32_t modes = 0;  ///< bits of cr0.0 (modes.hpp) that threads may begin with
};

/// Lowers the kernel that starts at byte 0 of `program` and is dispatched `simd` (1, 8, 16 or 32) channels
/// wide. The register file of the function is laid out as `target` says; the caller sets general registers
/// (payload), control and state register and mask variable 0 before it runs. An instruction that cannot be
/// lowered, does not decode or leads outside of the kernel becomes a trap with its text, so that only a
/// thread that reaches it faults. Blocks, values and pool come from `memory`. An error says what is wrong
/// with the request itself.
Result<ir::Function> lower(const Program& program, const Target& target, unsigned simd, std::string name,
                           const LowerOptions& options = {},
                           std::pmr::memory_resource* memory = std::pmr::get_default_resource());

}  // namespace eum::eu

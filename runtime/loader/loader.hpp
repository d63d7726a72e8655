#pragma once
// load_program: from the bytes of a compiled OpenCL program to a Program.
#include <cstddef>
#include <span>

#include "memory/base/result.hpp"
#include "runtime/program.hpp"

namespace eum::rt {

/// Accepts what ocloc and clGetProgramInfo give: patch tokens (bare or in their ELF wrapper) and zebin. The
/// container is found by content. Any other bytes, and any damage that would make the result wrong, are an
/// Error of one line that says what was expected and what was found. `binary` is not needed afterwards.
Result<Program> load_program(std::span<const std::byte> binary);

}  // namespace eum::rt

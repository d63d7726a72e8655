// The entry points for lowering vISA text.
#include "frontend/visa/lower/lower.hpp"

#include <algorithm>

#include "frontend/visa/lower/program.hpp"
#include "frontend/visa/variable.hpp"

namespace eum::visa {

unsigned register_bytes(const Kernel& kernel) {
  constexpr unsigned small = 32, large = 64;
  // The compiler declares r0 first, with its size.
  bool declares_header = false;
  for (const Variable& variable : kernel.variables) {
    if (variable.alias == no_variable) continue;
    const Kernel::Place place = kernel.place(variable.alias);
    if (place.root != id(PredefinedVariable::r0)) continue;
    if (place.offset + variable.alias_offset + variable.bytes() > small) return large;
    declares_header = true;
  }
  if (declares_header) return small;
  // Only code for larger registers has variables aligned to these.
  for (const Variable& variable : kernel.variables)
    if (!variable.predefined && variable.align_bytes >= large) return large;
  return small;
}

Result<unsigned> simd_size(const Kernel& kernel) {
  for (const Attribute& attribute : kernel.attributes) {
    if (attribute.name != "SimdSize") continue;
    const auto* value = std::get_if<std::int64_t>(&attribute.value);
    if (value != nullptr && (*value == 1 || *value == 8 || *value == 16 || *value == 32))
      return static_cast<unsigned>(*value);
    return error("expected .kernel_attr SimdSize of 1, 8, 16 or 32, found {}",
                 value != nullptr ? std::to_string(*value) : "none");
  }
  return error("expected .kernel_attr SimdSize, found none");
}

Result<eu::Target> target(const Module& module, std::size_t kernel, unsigned grf_bytes) {
  const Symbols none;
  const auto program = Program::make(module, kernel, grf_bytes, none);
  if (!program) return program.error();
  return (*program)->target();
}

Result<ir::Function> lower_kernel(const Module& module, std::size_t kernel, std::string name,
                                  const LowerRequest& request, std::pmr::memory_resource* memory) {
  if (request.grf_bytes != 32 && request.grf_bytes != 64)
    return error("kernel {}: expected registers of 32 or 64 bytes, found {}", name, request.grf_bytes);
  const auto program = Program::make(module, kernel, request.grf_bytes, request.symbols);
  if (!program) return program.error();
  const eu::Target target = (*program)->target();
  return eu::lower(**program, target, (*program)->simd(), std::move(name), request.options, memory);
}

}  // namespace eum::visa

#pragma once
// vISA kernels into micro-op functions: parsed here, given their meaning by frontend/eu.
#include <cstdint>
#include <memory_resource>
#include <string>

#include "frontend/eu/lower.hpp"
#include "frontend/visa/kernel.hpp"

namespace eum::visa {

/// Bytes of a general register that the text was written for, 32 or 64: what %r0's aliases, the payload and
/// the alignments of variables say.
unsigned register_bytes(const Kernel& kernel);

/// What a thread of `kernel` has: registers of `grf_bytes`, as many as its variables take.
Result<eu::Target> target(const Kernel& kernel, unsigned grf_bytes);

/// Channels that it is dispatched with (attribute SimdSize).
Result<unsigned> simd_size(const Kernel& kernel);

/// Lowers `module`.kernels[`kernel`] and the functions that it calls; see eu::lower. Variables lie in one
/// linear register file behind the thread's payload, which is that of the compiler's binary: r0, then what
/// .input says.
Result<ir::Function> lower_kernel(const Module& module, std::size_t kernel, unsigned grf_bytes,
                                  std::string name,
                                  std::pmr::memory_resource* memory = std::pmr::get_default_resource(),
                                  const eu::LowerOptions& options = {});

}  // namespace eum::visa

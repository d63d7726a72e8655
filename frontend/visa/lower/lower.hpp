#pragma once
// vISA kernels into micro-op functions: parsed here, given their meaning by frontend/eu.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory_resource>
#include <string>

#include "frontend/eu/lower.hpp"
#include "frontend/visa/kernel.hpp"

namespace eum::visa {

/// Where data that text names by symbol lies in the address space (faddr).
using Symbols = std::map<std::string, std::uint64_t, std::less<>>;

/// Bytes of a general register that the text was written for, 32 or 64: what %r0's aliases, the payload and
/// the alignments of variables say.
unsigned register_bytes(const Kernel& kernel);

/// What a thread of `module`.kernels[`kernel`] has: registers of `grf_bytes`, as many as its variables and
/// those of the functions that it calls take.
Result<eu::Target> target(const Module& module, std::size_t kernel, unsigned grf_bytes);

/// Channels that it is dispatched with (attribute SimdSize).
Result<unsigned> simd_size(const Kernel& kernel);

/// How a kernel is lowered beside what every front end asks.
struct LowerRequest {
  unsigned grf_bytes = 32;  ///< 32 or 64
  Symbols symbols;
  eu::LowerOptions options;
};

/// Lowers `module`.kernels[`kernel`] and the functions that it calls; see eu::lower. Variables lie in one
/// linear register file behind the thread's payload, which is that of the compiler's binary: r0, then what
/// .input says. Ips count instructions in steps of eu::Program::unit_bytes, calls of functions behind the
/// kernel's own.
Result<ir::Function> lower_kernel(const Module& module, std::size_t kernel, std::string name,
                                  const LowerRequest& request,
                                  std::pmr::memory_resource* memory = std::pmr::get_default_resource());

}  // namespace eum::visa

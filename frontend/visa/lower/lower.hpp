#pragma once
// Lowers vISA kernels to micro-op functions: parsed here, given their meaning by frontend/eu.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory_resource>
#include <string>

#include "frontend/eu/lower.hpp"
#include "frontend/visa/kernel.hpp"

namespace eum::visa {

/// Addresses, in the address space, of data that the text refers to by symbol (faddr).
using Symbols = std::map<std::string, std::uint64_t, std::less<>>;

/// Size in bytes of the general registers that the text was written for, 32 or 64, derived from %r0's
/// aliases, the payload and the alignments of variables.
unsigned register_bytes(const Kernel& kernel);

/// The registers of a thread of `module`.kernels[`kernel`]: registers of `grf_bytes`, as many as its
/// variables and those of the functions it calls take.
Result<eu::Target> target(const Module& module, std::size_t kernel, unsigned grf_bytes);

/// Channels of its dispatch (attribute SimdSize).
Result<unsigned> simd_size(const Kernel& kernel);

/// Options of lowering a kernel, including those of every front end.
struct LowerRequest {
  unsigned grf_bytes = 32;  ///< 32 or 64
  Symbols symbols;
  eu::LowerOptions options;
};

/// Lowers `module`.kernels[`kernel`] and the functions that it calls; see eu::lower. Variables are in one
/// linear register file after the thread's payload, which is that of the compiler's binary: r0, then the
/// .input variables. Ips count instructions in steps of eu::Program::unit_bytes; those of functions follow
/// the kernel's own.
Result<ir::Function> lower_kernel(const Module& module, std::size_t kernel, std::string name,
                                  const LowerRequest& request,
                                  std::pmr::memory_resource* memory = std::pmr::get_default_resource());

}  // namespace eum::visa

// The contenders of the comparison.
#pragma once
#include <memory>

#include "perf/contenders/contender.hpp"

namespace eum::perf {

/// Eumulate with `workers` workers, on the engine avx2, or avx512 if `avx512`.
Result<std::unique_ptr<Contender>> make_eumulate(unsigned workers, bool avx512 = false);
/// PoCL with `workers` threads. Sets the environment variables that PoCL reads, so it must be called before
/// anything else uses OpenCL, and only once per process. It has a cache folder of its own, so that first runs
/// compile.
Result<std::unique_ptr<Contender>> make_pocl(unsigned workers);
/// The loops of perf/native on `workers` threads of oneTBB.
std::unique_ptr<Contender> make_native(unsigned workers);

}  // namespace eum::perf

// Who takes part in the comparison.
#pragma once
#include <memory>

#include "perf/contenders/contender.hpp"

namespace eum::perf {

/// Eumulate with so many workers: the engine avx2, or with `avx512` that one.
Result<std::unique_ptr<Contender>> make_eumulate(unsigned workers, bool avx512 = false);
/// PoCL with so many threads. Sets the environment that PoCL reads, so call it before anything else touches
/// OpenCL, and once a process. Its cache is a folder of its own, so that first runs compile.
Result<std::unique_ptr<Contender>> make_pocl(unsigned workers);
/// The loops of perf/native on so many threads of oneTBB.
std::unique_ptr<Contender> make_native(unsigned workers);

}  // namespace eum::perf

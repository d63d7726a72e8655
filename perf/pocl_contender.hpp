// PoCL on one core as a contender.
#pragma once
#include <memory>

#include "perf/contender.hpp"

namespace eum::perf {

/// Sets the environment that PoCL reads (one thread, no kernel cache on disk, so that first runs compile),
/// unless it is set already. Call before anything else touches OpenCL.
Result<std::unique_ptr<Contender>> make_pocl_contender();

}  // namespace eum::perf

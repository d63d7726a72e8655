#pragma once
// The geometric half of the payload, for payload.cpp and its tests.
#include <cstddef>
#include <vector>

#include "runtime/payload.hpp"

namespace eum::rt {

/// Per-thread data of each thread of a group of `size`: local ids in the order of LocalIds::walk.
std::vector<std::byte> local_id_bytes(const Kernel& kernel, const Size3& size, std::uint32_t threads);

/// Walks that cover `global` in groups of `local`, with smaller groups at the ends where it does not divide.
/// Everything except cross_thread is filled in. No size is 0.
std::vector<Walk> plan_walks(const Kernel& kernel, const Size3& global, const Size3& local);

}  // namespace eum::rt

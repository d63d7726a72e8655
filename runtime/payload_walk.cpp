// The geometric half of the payload: local ids, walks over an N-D range, r0, register layout.
#include "runtime/payload_walk.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace eum::rt {
namespace {

/// The largest divisor of n that is at most `most`; among those a multiple of `multiple` is preferred.
std::uint32_t divisor(std::uint32_t n, std::uint32_t most, std::uint32_t multiple) {
  std::uint32_t any = 1;
  for (std::uint32_t d = std::min(n, most); d >= 1; --d) {
    if (n % d != 0) continue;
    if (any == 1) any = d;
    if (d % multiple == 0) return d;
  }
  return any;
}

/// Whether rows of a length are groups of their own. If they were not, rows of lengths that are no multiples
/// of a vector would begin anywhere in the channels of a thread. Some channels of a row's last thread are
/// then off, but access to memory by rows takes half of the time and less. Other rows would begin in the
/// middle of a thread, which is worth an eighth more threads at most.
bool is_row_apart(std::uint32_t length, std::uint32_t simd) {
  constexpr std::uint32_t vector_lanes = 8;
  if (length <= vector_lanes || length % simd == 0) return false;
  const std::uint64_t channels = (std::uint64_t{length} + simd - 1) / simd * simd;
  return length % vector_lanes != 0 || channels * 8 <= std::uint64_t{length} * 9;
}

}  // namespace

Size3 choose_local_size(const Kernel& kernel, const NdRange& range, const PayloadLimits& limits) {
  if (kernel.required_local_size[0] != 0) return kernel.required_local_size;
  const bool whole = !range.allow_remainder && observes_groups(kernel);
  Size3 local{1, 1, 1};
  std::uint32_t left = std::max(limits.max_local_size, 1u);
  for (std::size_t d = 0; d < std::min(range.dims, 3u); ++d) {
    if (d == 1 && is_row_apart(local[0], kernel.simd_size)) break;
    const std::uint32_t multiple = d == 0 ? kernel.simd_size : 1, size = std::max(range.global[d], 1u);
    local[d] = divisor(size, left, multiple);
    // Groups of half the size and more are worth being equal.
    const bool are_small = local[d] <= left / 2 || local[d] % multiple != 0;
    if (!whole && are_small) local[d] = std::min(size, left);
    left /= local[d];
  }
  return local;
}

std::vector<std::byte> local_id_bytes(const Kernel& kernel, const Size3& size, std::uint32_t threads) {
  std::vector<std::byte> bytes(std::size_t{threads} * kernel.per_thread_bytes);
  const LocalIds& ids = kernel.local_ids;
  const auto [fast, middle, slow] = ids.walk;
  Size3 id{};
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    for (std::uint32_t channel = 0; channel < kernel.simd_size; ++channel) {
      std::byte* row = bytes.data() + std::size_t{thread} * kernel.per_thread_bytes;
      for (std::size_t d = 0; d < 3; ++d) {
        if (!ids.present[d]) continue;
        const auto value = static_cast<std::uint16_t>(id[d]);
        std::memcpy(row + channel * sizeof(value), &value, sizeof(value));
        row += ids.row_bytes;
      }
      // Channels beyond the group continue along the slowest dimension; they are inactive.
      if (++id[fast] == size[fast]) {
        id[fast] = 0;
        if (++id[middle] == size[middle]) {
          id[middle] = 0;
          ++id[slow];
        }
      }
    }
  }
  return bytes;
}

std::vector<Walk> plan_walks(const Kernel& kernel, const Size3& global, const Size3& local) {
  // In each dimension the whole groups, then the remainder.
  struct Part {
    std::uint32_t first, count, size;
  };
  std::array<std::vector<Part>, 3> parts;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::uint32_t whole = global[d] / local[d], rest = global[d] % local[d];
    if (whole != 0) parts[d].push_back({0, whole, local[d]});
    if (rest != 0) parts[d].push_back({whole, 1, rest});
  }
  std::vector<Walk> walks;
  for (const Part& z : parts[2]) {
    for (const Part& y : parts[1]) {
      for (const Part& x : parts[0]) {
        Walk walk;
        walk.first_group = {x.first, y.first, z.first};
        walk.group_count = {x.count, y.count, z.count};
        walk.local_size = {x.size, y.size, z.size};
        const std::uint32_t items = x.size * y.size * z.size, simd = kernel.simd_size;
        walk.threads_per_group = (items + simd - 1) / simd;
        const std::uint32_t last = items - (walk.threads_per_group - 1) * simd;
        walk.last_thread_mask = ~std::uint32_t{0} >> (32 - last);
        walk.per_thread = local_id_bytes(kernel, walk.local_size, walk.threads_per_group);
        walks.push_back(std::move(walk));
      }
    }
  }
  return walks;
}

WalkerCommand walker_command(const Payload& payload, const Walk& walk) {
  WalkerCommand command;
  command.surfaces = payload.bindings.get();
  command.samplers = payload.samplers;
  command.first_group = walk.first_group;
  command.groups = walk.group_count;
  command.threads_per_group = walk.threads_per_group;
  command.last_mask = walk.last_thread_mask;
  command.per_thread = walk.per_thread;
  command.per_thread_bytes = payload.kernel->per_thread_bytes;
  command.cross_thread = walk.cross_thread;
  command.header = thread_header(*payload.kernel);
  command.slm_bytes = payload.slm_bytes;
  return command;
}

std::array<std::uint32_t, 8> thread_header(const Kernel& kernel, std::uint32_t sampler_pointer,
                                           std::uint32_t binding_table) {
  std::uint32_t scratch_code = 0;
  if (kernel.scratch_bytes != 0)
    scratch_code = static_cast<std::uint32_t>(std::countr_zero(kernel.scratch_bytes / 1024));
  return {0, 0, 0, (sampler_pointer & ~0x1fu) | scratch_code, binding_table & ~0x1fu, 0, 0, 0};
}

}  // namespace eum::rt

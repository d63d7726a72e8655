#include "runtime/dispatch/thread_payload.hpp"

#include <cstring>

namespace eum::rt {

std::uint32_t ThreadPayload::dispatch_mask(std::uint32_t thread) const {
  const std::uint32_t all = ir::lane_mask(walk_->code->simd);
  return thread + 1 == walk_->threads_per_group ? all & walk_->last_mask : all;
}

void ThreadPayload::write(std::byte* file, std::uint32_t thread) const {
  const ThreadCode& code = *walk_->code;
  std::byte* at = file + code.grf_bytes;
  const std::size_t own = walk_->per_thread_bytes;
  if (own != 0) std::memcpy(at, walk_->per_thread.data() + thread * own, own);
  if (const auto& shared = walk_->cross_thread; !shared.empty())
    std::memcpy(at + own, shared.data(), shared.size());
  const std::uint32_t mask = dispatch_mask(thread);
  std::memcpy(file + code.cr0_offset, &initial_control, sizeof initial_control);
  std::memcpy(file + code.sr0_offset + 8, &mask, sizeof mask);  // sr0.2: dispatch mask
}

std::array<std::uint32_t, 8> ThreadPayload::header(const std::array<std::uint32_t, 3>& group,
                                                   std::uint32_t slot) const {
  std::array<std::uint32_t, 8> r0 = walk_->header;
  r0[1] = group[0];
  r0[5] |= (walk_->scratch.address + slot * walk_->scratch.bytes) | slot;
  r0[6] = group[1];
  r0[7] = group[2];
  return r0;
}

}  // namespace eum::rt

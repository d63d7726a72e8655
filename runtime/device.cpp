// Choice of engine, and allocation of guest memory.
#include "runtime/device.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "memory/base/within_host.hpp"

namespace eum::rt {
namespace {

constexpr std::uint64_t page = mem::HostMemory::page;
constexpr std::uint64_t scratch_alignment = 64 * 1024;
/// Addresses near 0 stay unmapped, so that null pointers fault.
constexpr mem::Placement low_memory{std::uint64_t{1} << 20, std::uint64_t{1} << 32};

/// Size in bytes of the last-level cache that one processor can use. For AMD the C library reports the sum
/// over the package, of which a virtual machine has only a part.
std::uint64_t last_cache() {
  constexpr long usual = 8 << 20;
  std::uint64_t kilobytes = 0;
  if (std::ifstream("/sys/devices/system/cpu/cpu0/cache/index3/size") >> kilobytes) return kilobytes << 10;
  return static_cast<std::uint64_t>(std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), usual));
}

}  // namespace

Result<std::unique_ptr<Device>> Device::create(const DeviceOptions& options) {
  return within_host("device", [&]() -> Result<std::unique_ptr<Device>> {
    auto engine = jit::info(options.engine).make();
    if (!engine) return engine.error();
    const unsigned workers =
        options.workers != 0 ? options.workers : std::max(1u, std::thread::hardware_concurrency());
    return std::unique_ptr<Device>(new Device(options, std::move(*engine), workers));
  });
}

Result<Buffer> Device::allocate(std::uint64_t bytes, std::string_view name) {
  if (bytes == 0) return error("buffer {}: expected at least 1 byte, found 0", name);
  if (bytes > mem::AddressSpace::max_allocation)
    return error("buffer {}: expected at most {} bytes, found {}", name, mem::AddressSpace::max_allocation,
                 bytes);
  mem::Placement placement;
  if (options_.reach == Reach::Pages) placement.granule = page;
  return within_host(name, [&]() -> Result<Buffer> {
    auto region = memory_.allocate(Buffer::reachable(bytes), page, name, placement);
    if (!region) return region.error();
    return Buffer{(*region)->address, (*region)->host, bytes};
  });
}

void Device::release(const Buffer& buffer) {
  // Nothing is mapped at the address of a default Buffer{} or of a released one.
  if (const mem::Region* region = memory_.find(buffer.address); region && region->address == buffer.address)
    static_cast<void>(static_cast<bool>(memory_.unmap(buffer.address)));
}

Result<ScratchSpace> Device::scratch(std::uint32_t bytes_per_thread, std::uint32_t slots) {
  if (bytes_per_thread == 0) return ScratchSpace{};
  const std::uint64_t bytes = std::uint64_t{bytes_per_thread} * slots;
  if (!scratch_ || scratch_->size < bytes) {
    if (scratch_) {
      const auto unmapped = memory_.unmap(scratch_->address);
      scratch_ = nullptr;
      if (!unmapped) return unmapped.error();
    }
    auto region = within_host(
        "scratch", [&] { return memory_.allocate(bytes, scratch_alignment, "scratch", low_memory); });
    if (!region) return region.error();
    scratch_ = *region;
  }
  return ScratchSpace{scratch_->host, static_cast<std::uint32_t>(scratch_->address), bytes_per_thread, slots};
}

bool Device::is_beyond_caches(std::uint64_t bytes) {
  static const std::uint64_t held = last_cache();
  return bytes > held;
}

}  // namespace eum::rt

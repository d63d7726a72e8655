#pragma once
// Device: an engine, an address space, workers and translated code, on which kernels run. Two devices share
// nothing. It must not know binaries or kernel arguments.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "jit/engine.hpp"
#include "memory/address_space.hpp"
#include "memory/base/result.hpp"
#include "memory/surface.hpp"
#include "runtime/code_cache.hpp"
#include "runtime/dispatch/walker.hpp"
#include "runtime/dispatch/workers.hpp"

namespace eum::rt {

/// How far beyond the end of a buffer argument a kernel may access memory by address.
enum class Reach : std::uint8_t {
  Pages,  ///< to the end of the page, which is zero and belongs to nobody else, as with a driver: compilers
          ///< read ahead
  Bytes,  ///< only the rest of a dword: an overrun by a whole dword faults
};

struct DeviceOptions {
  jit::EngineKind engine = jit::EngineKind::avx2;
  unsigned workers = 0;                   ///< host threads that run guest threads; 0: one per processor
  std::uint64_t budget = default_budget;  ///< guest instructions that one guest thread may execute
  Reach reach = Reach::Pages;
  /// Where a step() may pause and what the registers hold then; for debuggers and simulators. More of either
  /// costs speed. See jit::CompileOptions.
  jit::Safepoints safepoints = jit::Safepoints::BackEdges;
  bool exact_registers = false;
  bool listing = false;  ///< translations keep what jit::Executable::host_map needs, for profiles
  /// Whether nobody else accesses the device's memory while a dispatch runs: no thread of the host by
  /// Buffer::host, no other device that has mapped the same bytes. While a single worker runs, atomics then
  /// need no lock, and stores under a mask may write back bytes that they do not change.
  bool exclusive_memory = false;
  bool check_bounds = false;  ///< launches report accesses beyond surfaces (LaunchReport), and run slower
  jit::Limits limits = {};    ///< of the translation of one kernel
  jit::Optimisations optimisations = {};  ///< that translations perform
  /// Limit on the bytes of a program's constants, and of its globals. The part that the binary does not hold
  /// is zero and costs nothing until touched.
  std::uint64_t most_segment_bytes = std::uint64_t{1} << 32;
};

/// Guest memory. `address` is the pointer that a kernel gets.
struct Buffer {
  std::uint64_t address = 0;
  std::byte* host = nullptr;
  std::uint64_t size = 0;  ///< as requested

  std::span<std::byte> bytes() const { return {host, static_cast<std::size_t>(size)}; }
  /// What a kernel can reach through the binding table: up to the next multiple of 4 bytes, as the vendor's
  /// driver sizes surfaces.
  mem::Surface surface() const { return mem::buffer_surface(host, reachable(size), address); }
  static std::uint64_t reachable(std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; }
};

/// Not synchronised: one call at a time.
class Device {
 public:
  /// An error if the host cannot run the engine.
  static Result<std::unique_ptr<Device>> create(const DeviceOptions& options);

  /// Allocates at least 1 byte of zeroed memory; the host provides its pages on first touch.
  Result<Buffer> allocate(std::uint64_t bytes, std::string_view name);
  void release(const Buffer& buffer);

  /// Memory for `slots` threads, below 4 GB so that A32 messages reach it. Valid until the next call.
  Result<ScratchSpace> scratch(std::uint32_t bytes_per_thread, std::uint32_t slots);

  jit::Engine& engine() { return *engine_; }
  mem::AddressSpace& memory() { return memory_; }
  Workers& workers() { return workers_; }
  CodeCache& code_cache() { return code_cache_; }
  mem::image::KernelCache& image_kernels() { return image_kernels_; }
  const DeviceOptions& options() const { return options_; }
  /// Whether so many bytes exceed the host's caches.
  static bool is_beyond_caches(std::uint64_t bytes);

 private:
  Device(const DeviceOptions& options, std::unique_ptr<jit::Engine> engine, unsigned workers)
      : options_(options), engine_(std::move(engine)), workers_(workers) {}

  DeviceOptions options_;
  std::unique_ptr<jit::Engine> engine_;
  mem::AddressSpace memory_;
  Workers workers_;
  CodeCache code_cache_;
  mem::image::KernelCache image_kernels_;
  const mem::Region* scratch_ = nullptr;
};

}  // namespace eum::rt

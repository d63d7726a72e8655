#pragma once
// Device: an engine, an address space, workers and translated code: what kernels run on. Two devices share
// nothing.
// It must not know binaries or kernel arguments.
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

/// How far a kernel gets by addresses beyond the end of a buffer that it was given.
enum class Reach : std::uint8_t {
  Pages,  ///< to the end of the page, which is zero and nobody else's, as behind a driver: compilers read
          ///< ahead
  Bytes,  ///< not at all, but for the rest of a dword: an overrun by any dword is a fault
};

struct DeviceOptions {
  jit::EngineKind engine = jit::EngineKind::avx2;
  unsigned workers = 0;                   ///< host threads that run guest threads; 0: one for each processor
  std::uint64_t budget = default_budget;  ///< guest instructions that one guest thread may execute
  Reach reach = Reach::Pages;
  /// Where a step() may pause and what the registers hold then: for debuggers and simulators, which pay for
  /// more of either with speed. See jit::CompileOptions.
  jit::Safepoints safepoints = jit::Safepoints::BackEdges;
  bool exact_registers = false;
  bool listing = false;       ///< translations keep what jit::Executable::host_map needs, for profiles
  bool check_bounds = false;  ///< launches report accesses beyond surfaces (LaunchReport); they take longer
  jit::Limits limits = {};    ///< of the translation of one kernel
  jit::Optimisations optimisations = {};  ///< that translations do
  /// Bytes that a program's constants, or its globals, may have. What the binary does not hold of them is
  /// zero and costs nothing until it is touched.
  std::uint64_t most_segment_bytes = std::uint64_t{1} << 32;
};

/// Guest memory. `address` is what a kernel gets as a pointer.
struct Buffer {
  std::uint64_t address = 0;
  std::byte* host = nullptr;
  std::uint64_t size = 0;  ///< as asked for

  std::span<std::byte> bytes() const { return {host, static_cast<std::size_t>(size)}; }
  /// What a kernel can reach through the binding table: up to the next multiple of 4 bytes, as the vendor's
  /// driver sizes surfaces.
  mem::Surface surface() const { return mem::buffer_surface(host, reachable(size), address); }
  static std::uint64_t reachable(std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; }
};

/// Not synchronised: one call at a time.
class Device {
 public:
  /// An error where the host cannot run the engine.
  static Result<std::unique_ptr<Device>> create(const DeviceOptions& options);

  /// Zeroed memory of at least 1 byte; the host gives pages of it when they are touched first.
  Result<Buffer> allocate(std::uint64_t bytes, std::string_view name);
  void release(const Buffer& buffer);

  /// Memory for `slots` threads, below 4 GB, where A32 messages reach it. Valid until the next call.
  Result<ScratchSpace> scratch(std::uint32_t bytes_per_thread, std::uint32_t slots);

  jit::Engine& engine() { return *engine_; }
  mem::AddressSpace& memory() { return memory_; }
  Workers& workers() { return workers_; }
  CodeCache& code_cache() { return code_cache_; }
  mem::image::KernelCache& image_kernels() { return image_kernels_; }
  const DeviceOptions& options() const { return options_; }
  /// So many bytes are more than the host's caches hold.
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

#pragma once
// Payload: converts a kernel, its arguments and an N-D range to the input of the hardware's walker: group
// counts, cross-thread and per-thread bytes, binding table, samplers, masks. Plain bytes; it must not know
// engines, threads or the decoder.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "memory/address_space.hpp"
#include "memory/base/result.hpp"
#include "memory/surface.hpp"
#include "runtime/dispatch/walker.hpp"
#include "runtime/program.hpp"

namespace eum::rt {

/// __global or __constant pointer. `surface.gpu_address` is the pointer, `surface` what can be reached
/// through the binding table; a null pointer is BufferValue{}.
struct BufferValue {
  mem::Surface surface;
};

/// __local pointer: the number of bytes that it points to.
struct LocalValue {
  std::uint32_t bytes = 0;
};

/// An image. Width, height and depth are the surface's; the channel format is OpenCL's (cl_channel_type,
/// cl_channel_order).
struct ImageValue {
  mem::Surface surface;
  std::uint32_t channel_data_type = 0;
  std::uint32_t channel_order = 0;
  std::uint32_t array_size = 0;
  std::uint32_t samples = 0;
  std::uint32_t mip_levels = 0;
  bool writable = true;  ///< kernels may write it, as far as its surface format permits
};

struct SamplerValue {
  SamplerAddress address = SamplerAddress::none;
  SamplerFilter filter = SamplerFilter::nearest;
  bool normalized = false;
};

/// One argument as the caller gives it. Bytes for anything passed by value; monostate only for unused
/// arguments.
using ArgumentValue =
    std::variant<std::monostate, std::vector<std::byte>, BufferValue, LocalValue, ImageValue, SamplerValue>;

/// The bytes of a number or structure.
template <class T>
ArgumentValue by_value(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

/// A buffer argument from `address` to the end of the size requested for the region there (address 0: a null
/// pointer). An error if nothing is mapped at `address`.
Result<ArgumentValue> buffer_at(const mem::AddressSpace& space, std::uint64_t address);

struct NdRange {
  unsigned dims = 1;             // 1 to 3; sizes beyond are 1, offsets beyond are 0
  Size3 global{1, 1, 1};         // work-items
  Size3 local{0, 0, 0};          // work-items of a group; all 0: chosen automatically
  Size3 offset{0, 0, 0};         // of the first work-item's global id
  bool allow_remainder = false;  // OpenCL 2.0: groups at the ends may be smaller, of a given local size too
};

/// Memory that the program provides instead of an argument. A surface of size 0 is absent.
struct ImplicitBuffers {
  mem::Surface constants;
  mem::Surface globals;
  /// Kernel::private_bytes * SIMD size for each value of ThreadHeader::thread_slot.
  mem::Surface private_memory;
  mem::Surface printf_buffer;
};

struct PayloadLimits {
  std::uint32_t max_local_size = 256;  // CL_DEVICE_MAX_WORK_GROUP_SIZE of the vendor's driver on Gen9
};

/// Groups of one size. An N-D range is one walk, or up to eight if groups at its ends are smaller.
struct Walk {
  Size3 first_group{};  // id of the first group
  Size3 group_count{1, 1, 1};
  Size3 local_size{1, 1, 1};
  std::uint32_t threads_per_group = 0;
  std::uint32_t last_thread_mask = 0;   // channels of each group's last thread; all are active in the others
  std::vector<std::byte> cross_thread;  // Kernel::cross_thread_bytes, shared by all threads
  std::vector<std::byte>
      per_thread;  // Kernel::per_thread_bytes for each thread of a group; the same for every group
};

struct Payload {
  const Kernel* kernel = nullptr;
  Size3 local_size{1, 1, 1};                       // as enqueued, or as chosen
  std::uint32_t slm_bytes = 0;                     // per group: the kernel's own and its __local arguments
  std::unique_ptr<mem::BindingTable> bindings;     // not null once built; 253 to 255 are the dispatcher's
  std::vector<mem::image::SamplerState> samplers;  // by sampler index
  std::vector<Walk> walks;
};

/// The local size for a range that does not give one: what the kernel requires, or a large divisor of the
/// global size in each dimension, in the first a multiple of the SIMD size if possible. If there is no large
/// one, groups at the ends are smaller, unless the kernel would notice (observes_groups). A row that would
/// leave the next ones in the middle of threads is a group of its own.
Size3 choose_local_size(const Kernel& kernel, const NdRange& range, const PayloadLimits& limits = {});

/// Checks arguments and range and builds everything. Errors are one line, such as
/// "kernel saxpy takes 4 arguments (a: float, x: global const float*, ...), 3 given".
/// `kernel` must outlive the result.
Result<Payload> build_payload(const Kernel& kernel, std::span<const ArgumentValue> arguments,
                              const NdRange& range, const ImplicitBuffers& buffers = {},
                              const PayloadLimits& limits = {});

/// States that the local ids of a kernel's threads, whose data begins at byte `first` of the register file,
/// increase by 1 within each run of `run` channels.
ir::ConsecutiveIds consecutive_ids(const Kernel& kernel, std::uint32_t first, std::uint32_t run);
/// Where a kernel's threads, whose data begins at byte `first` of the register file, get the addresses of the
/// buffers that they also reach through the binding table.
std::vector<ir::PointerArgument> pointer_arguments(const Kernel& kernel, std::uint32_t first);
/// Facts that hold for all threads of the range, whose data begins at byte `first` of the register file: the
/// run length of 8, 16 or 32 channels within which the first local id increases by 1, the channels of threads
/// that form a group alone, and pointer_arguments(). No facts if build_payload() refuses the range.
jit::LaunchFacts thread_facts(const Kernel& kernel, const NdRange& range, std::uint32_t first,
                              const PayloadLimits& limits = {});

/// The walker command that runs `walk`, one of `payload`'s walks; both must outlive it. The caller fills in
/// code, address space, slots, scratch and budget.
WalkerCommand walker_command(const Payload& payload, const Walk& walk);

/// WalkerCommand::header of a kernel's threads: r0.3 the sampler state pointer and in 3:0
/// log2(scratch / 1 KB), r0.4 the binding table pointer. Pointers are multiples of 32 from Dynamic State
/// Base and from Surface State Base. r0.2 holds the barrier's number: 0.
std::array<std::uint32_t, 8> thread_header(const Kernel& kernel, std::uint32_t sampler_pointer = 0,
                                           std::uint32_t binding_table = 0);

}  // namespace eum::rt

#pragma once
// WalkerCommand: the input of the hardware's walker for starting the threads of a range of thread groups.
// Plain data. It must not know kernel arguments, binaries or engines' internals: the kernel API builds it
// from a binary's argument map; a command streamer would read it from memory as a driver wrote it.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "jit/engine.hpp"
#include "memory/address_space.hpp"
#include "memory/image/kernels/kernel_cache.hpp"
#include "memory/image/state.hpp"
#include "memory/surface.hpp"

namespace eum::rt {

/// What a walk needs to know about translated code.
struct ThreadCode {
  const jit::Executable* executable = nullptr;
  unsigned simd = 8;               ///< channels of a thread: 8, 16 or 32
  std::uint32_t grf_bytes = 32;    ///< per general register
  std::uint32_t payload_room = 0;  ///< bytes of general registers, which come first in the register file
  std::uint32_t cr0_offset = 0;    ///< in the register file
  std::uint32_t sr0_offset = 0;    ///< in the register file
  unsigned slot_bits = 9;          ///< number of bits in r0.5 that hold the thread's slot
  bool waits = false;              ///< a thread may wait for other threads of its group
  bool contends = false;           ///< it has atomics on memory that threads of other groups may access
  bool text = false;               ///< from vISA text, which expects more in r0 (ThreadPayload)
  jit::LaunchFacts promised;       ///< the facts that it relies on
};

/// Memory for threads that run at the same time: slot s has `bytes` from base + s * bytes.
struct ScratchSpace {
  std::byte* base = nullptr;
  std::uint32_t address = 0;  ///< of base as A32 messages see it; a multiple of 1024
  std::uint32_t bytes = 0;    ///< per thread, a multiple of 1024; 0: none
  std::uint32_t slots = 0;
};

/// Initial cr0.0: round to nearest even, denormals flushed. Compiled kernels begin with `or cr0.0 0x4c0`,
/// which keeps denormals of all types, or under -cl-denorms-are-zero with `or cr0.0 0x40`, which keeps those
/// of f64 only.
inline constexpr std::uint32_t initial_control = 0;

/// Guest instructions of one thread: some minutes on this emulator, and as many on the hardware, where a
/// driver would have reset such a kernel long before.
inline constexpr std::uint64_t default_budget = std::uint64_t{1} << 36;

struct WalkerCommand {
  const ThreadCode* code = nullptr;
  const mem::BindingTable* surfaces = nullptr;
  mem::image::KernelCache* image_kernels =
      nullptr;  ///< may be null: images are then accessed without specialised host code
  std::span<const mem::image::SamplerState> samplers;  ///< the table that r0.3 points to
  mem::AddressSpace* space = nullptr;                  ///< null: every stateless access faults
  std::array<std::uint32_t, 3> first_group{};          ///< ids of the first group
  std::array<std::uint32_t, 3> groups{1, 1, 1};        ///< how many in each dimension
  std::uint32_t threads_per_group = 1;
  std::uint32_t last_mask = ~0u;            ///< channels of the last thread of each group
  std::span<const std::byte> per_thread;    ///< r1 and up: per_thread_bytes for each thread of a group
  std::uint32_t per_thread_bytes = 0;       ///< a multiple of grf_bytes
  std::span<const std::byte> cross_thread;  ///< after the per-thread data; whole registers
  /// r0 without the parts that depend on group and thread (ThreadPayload).
  std::array<std::uint32_t, 8> header{};
  std::uint32_t slm_bytes = 0;  ///< per group, at most mem::slm_max_size
  /// Number of thread slots for which scratch and private memory have room; see thread_slots().
  std::uint32_t slots = 0;
  ScratchSpace scratch;                         ///< has at least `slots` slots if its `bytes` is not 0
  std::uint64_t budget = default_budget;        ///< guest instructions that one thread may execute
  const jit::BoundsObserver* bounds = nullptr;  ///< may be null
  /// Whether only this dispatch accesses its memory while step() runs; see DeviceOptions::exclusive_memory.
  bool exclusive = false;

  /// Bits 31:5 of r0.3, the pointer to the table of samplers.
  std::uint32_t sampler_table() const { return header[3] & ~0x1fu; }
  std::uint64_t group_count() const { return std::uint64_t{groups[0]} * groups[1] * groups[2]; }
};

/// Number of values of r0.5 bits 8:0 (FFTID): no two threads under way at the same time have the same value.
/// Scratch and private memory are indexed by it.
inline constexpr std::uint32_t max_thread_slots = 512;

/// Maximum number of threads in a group: Gen9 has at most 8 threads on each of a subslice's 8 EUs; OpenCL
/// needs 56.
inline constexpr std::uint32_t max_threads_per_group = 64;

/// Slots needed for a walk by so many workers. Threads that may wait for their group are all under way at the
/// same time. Others run one after the other; only if one does not end do the other threads of its group join
/// in, and there are slots for one such group at a time.
constexpr std::uint32_t thread_slots(unsigned workers, bool waits, std::uint32_t threads_per_group) {
  const std::uint32_t threads = std::clamp(threads_per_group, 1u, max_threads_per_group);
  if (!waits) return std::min(workers + threads - 1, max_thread_slots);
  return std::min(workers, max_thread_slots / threads) * threads;
}

/// Why a walk stopped early.
struct GuestFault {
  enum class Cause : std::uint8_t {
    Instruction,  ///< `fault` has the details
    Deadlock,     ///< threads wait at a barrier that others will never reach
    Budget,       ///< WalkerCommand::budget is used up
  };
  Cause cause = Cause::Instruction;
  jit::Fault fault;
  std::array<std::uint32_t, 3> group{};
  std::uint32_t thread = 0;  ///< in the group
  struct Waiter {
    std::uint32_t thread = 0;   ///< in the group
    std::uint32_t next_ip = 0;  ///< of the instruction after the one that waits
  };
  std::vector<Waiter> waiters;  ///< Deadlock: threads at the barrier
  std::uint32_t ended = 0;      ///< Deadlock: threads that ended without reaching the barrier
};

/// What has been executed.
struct WalkerCounts {
  std::uint64_t groups = 0;
  std::uint64_t threads = 0;
  std::uint64_t instructions = 0;  ///< guest instructions, each counted once for all channels

  WalkerCounts& operator+=(const WalkerCounts& other) {
    groups += other.groups;
    threads += other.threads;
    instructions += other.instructions;
    return *this;
  }
};

}  // namespace eum::rt

#pragma once
// WalkerCommand: what the hardware's walker takes to start the threads of a range of thread groups. Plain
// data. It must not know kernel arguments, binaries or engines' insides: the kernel door builds it from a
// binary's argument map, a command streamer reads it from memory as a driver wrote it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "jit/engine.hpp"
#include "memory/address_space.hpp"
#include "memory/surface.hpp"

namespace eum::rt {

/// What a walk has to know of translated code.
struct ThreadCode {
  const jit::Executable* executable = nullptr;
  unsigned simd = 8;               ///< channels of a thread: 8, 16 or 32
  std::uint32_t payload_room = 0;  ///< bytes of general registers, which come first in the file
  std::uint32_t cr0_offset = 0;    ///< in the file
  std::uint32_t sr0_offset = 0;    ///< in the file
  bool waits = false;              ///< a thread may wait for its group
  /// What a thread reads before it writes it and may also write: brought back before each start. Ascending.
  std::vector<jit::FileRange> restored;
};

/// Memory for threads that run at the same time: slot s has `bytes` from base + s * bytes.
struct ScratchSpace {
  std::byte* base = nullptr;
  std::uint32_t address = 0;  ///< of base as A32 messages see it; a multiple of 1024
  std::uint32_t bytes = 0;    ///< of one thread, a multiple of 1024; 0: none
  std::uint32_t slots = 0;
};

/// cr0.0 that a thread starts with: denormals of all three types kept, round to nearest even.
inline constexpr std::uint32_t initial_control = 0x4c0;

struct WalkerCommand {
  const ThreadCode* code = nullptr;
  const mem::BindingTable* surfaces = nullptr;
  mem::AddressSpace* space = nullptr;            ///< null: every stateless access faults
  std::array<std::uint32_t, 3> first_group{};    ///< ids of the first group
  std::array<std::uint32_t, 3> groups{1, 1, 1};  ///< how many in each dimension
  std::uint32_t threads_per_group = 1;
  std::uint32_t last_mask = ~0u;            ///< channels of the last thread of each group
  std::span<const std::byte> per_thread;    ///< r1 and up: per_thread_bytes for each thread of a group
  std::uint32_t per_thread_bytes = 0;       ///< a multiple of 32
  std::span<const std::byte> cross_thread;  ///< behind the per-thread data; a multiple of 32 bytes
  std::array<std::uint32_t, 8>
      header{};                 ///< r0; what depends on group and thread (r0.1, r0.5 to r0.7) is put in
  std::uint32_t slm_bytes = 0;  ///< of a group, at most mem::slm_max_size
  ScratchSpace scratch;         ///< of at least slots_needed() slots where bytes is not 0
  std::uint64_t budget = std::uint64_t{1} << 40;  ///< guest instructions that one thread may execute

  std::uint64_t group_count() const { return std::uint64_t{groups[0]} * groups[1] * groups[2]; }
};

/// Thread slots (r0.5 bits 8:0) that a dispatch with so many workers tells apart: no two threads that run at
/// the same time have the same one. Scratch and private memory are indexed by it.
inline constexpr std::uint32_t max_thread_slots = 512;

/// Most threads of one group: Gen9 has at most 8 threads on each of a subslice's 8 EUs, OpenCL needs 56.
inline constexpr std::uint32_t max_threads_per_group = 64;

/// Why a walk stopped early.
struct GuestFault {
  enum class Cause : std::uint8_t {
    Instruction,  ///< `fault` says what
    Deadlock,     ///< threads wait at the barrier that others will never reach
    Budget,       ///< WalkerCommand::budget is used up
  };
  Cause cause = Cause::Instruction;
  jit::Fault fault;
  std::array<std::uint32_t, 3> group{};
  std::uint32_t thread = 0;   ///< in the group
  std::uint32_t waiting = 0;  ///< Deadlock: threads at the barrier
  std::uint32_t ended = 0;    ///< Deadlock: threads that ended without reaching it
};

/// What has been executed.
struct WalkerCounts {
  std::uint64_t groups = 0;
  std::uint64_t threads = 0;
  std::uint64_t instructions = 0;  ///< guest instructions, each once for all channels

  WalkerCounts& operator+=(const WalkerCounts& other) {
    groups += other.groups;
    threads += other.threads;
    instructions += other.instructions;
    return *this;
  }
};

}  // namespace eum::rt

#pragma once
// ThreadPayload: initial contents of a thread's general and architecture registers; the only place that
// defines them. It must not know kernel arguments, engines or the order in which threads run.
#include <array>
#include <cstdint>
#include <span>

#include "runtime/dispatch/walker.hpp"

namespace eum::rt {

/// Per-thread data of the threads of a group, one after the other.
struct PerThreadData {
  std::span<const std::byte> bytes;
  std::size_t bytes_per_thread = 0;
  std::size_t first = 0;          ///< offset in the register file
  std::uint32_t last_mask = ~0u;  ///< channels of the last thread
};
/// The longest run of channels for which every thread satisfies what `ids` promises, 8 to ids.count; 0: there
/// is none.
std::uint32_t consecutive_run(const PerThreadData& threads, const ir::ConsecutiveIds& ids);

/// How many threads have all channels active: all of them, or all but the last.
std::uint32_t whole_threads(const PerThreadData& threads, const ir::ConsecutiveIds& ids);

/// What LaunchFacts::id_steps says of those, if consecutive_run finds ids.run; none if they are not like
/// that. Lines of several threads are whole, and so are all threads then.
jit::IdSteps id_steps(const PerThreadData& threads, const ir::ConsecutiveIds& ids);

/// The payload of a GPGPU thread of `walk`, which must outlive this: r0, the thread's own data, the data
/// shared by all threads; cr0 and sr0. r0 (public GPGPU payload descriptions of Gen8 and Gen9, confirmed by
/// compiled code as far as that uses them): r0.1 group id X, r0.5 scratch pointer in 31:10, thread slot
/// (FFTID) in 8:0 below the bit of a GPGPU dispatch, on Gen11 in 9:0, r0.6 group id Y, r0.7 group id Z; the
/// rest is WalkerCommand::header. For vISA text, which may be for a later GPU, r0.2 holds in 7:0 the thread's
/// number in its group (XeHP), and r0.0 the value that lowering reads as sr0.0: where the thread runs, from
/// which kernels compute its slot.
class ThreadPayload {
 public:
  explicit ThreadPayload(const WalkerCommand& walk) : walk_(&walk) {}

  /// Writes the parts that do not depend on group and slot to a zeroed register file.
  void write(std::byte* file, std::uint32_t thread) const;
  using Header = std::array<std::uint32_t, 8>;
  using GroupId = std::array<std::uint32_t, 3>;
  /// Writes r0 in place, dword by dword: copying dwords that have just been written would wait until all of
  /// them are in the cache, which costs more than the rest of a short thread's start.
  void write_header(Header& header, const GroupId& group, std::uint32_t slot, std::uint32_t thread) const;
  Header header(const GroupId& group, std::uint32_t slot, std::uint32_t thread) const {
    Header made;
    write_header(made, group, slot, thread);
    return made;
  }
  /// Bit d: set_group() writes dword d.
  static constexpr std::uint32_t group_dwords = 1u << 1 | 1u << 6 | 1u << 7;
  /// Sets the parts that depend on the group.
  static void set_group(Header& header, const GroupId& group) {
    header[1] = group[0];
    header[6] = group[1];
    header[7] = group[2];
  }

  /// sr0.0 and sr0.1 of a thread in this slot: who dispatched it and where it runs, and FFTID (IVB 3.3.3.7).
  static std::array<std::uint32_t, 2> place(std::uint32_t slot);

  /// Active channels of thread `thread` of each group.
  std::uint32_t dispatch_mask(std::uint32_t thread) const;
  /// Bytes from the beginning of the file that r0 and the data occupy.
  std::size_t bytes() const {
    return walk_->code->grf_bytes + walk_->per_thread_bytes + walk_->cross_thread.size();
  }

 private:
  const WalkerCommand* walk_;
};

}  // namespace eum::rt

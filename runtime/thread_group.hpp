#pragma once
// GroupRunner: runs thread groups one after the other, with memory that is reused from group to group.
// A dispatch has one for each worker. It must not know which groups there are, nor other workers.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "memory/result.hpp"
#include "memory/slm.hpp"
#include "runtime/walker.hpp"

namespace eum::rt {

/// Memory that grows and is 64-byte aligned; growing forgets the contents.
class AlignedBytes {
 public:
  Result<void> reserve(std::size_t bytes);
  std::byte* data() { return bytes_.get(); }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Delete {
    void operator()(std::byte* p) const { ::operator delete(p, alignment); }
  };
  std::unique_ptr<std::byte, Delete> bytes_;
  std::size_t size_ = 0;
};

class GroupRunner {
 public:
  /// Makes ready for the groups of `walk`, which must be valid (Dispatcher checks it) and outlive the runs.
  /// Thread slots of this runner begin at `first_slot`.
  Result<void> begin(const WalkerCommand& walk, std::uint32_t first_slot);

  enum class Outcome : std::uint8_t { Done, Faulted, Stopped };
  /// Runs one group to its end. Stopped: `stop_below` has become smaller than or equal to `index`, the
  /// group's place in the walk. The effects of an unfinished group remain.
  Outcome run(std::uint64_t index, const std::atomic<std::uint64_t>& stop_below);

  const GuestFault& fault() const { return fault_; }
  const WalkerCounts& counts() const { return counts_; }

  /// Threads of one group whose state exists at the same time.
  static std::uint32_t concurrent_threads(const WalkerCommand& walk) {
    return walk.code->waits ? walk.threads_per_group : 1;
  }

 private:
  /// Bytes to bring into a thread's register file before it starts.
  struct Piece {
    std::uint32_t to = 0;     // in the file
    std::uint32_t from = 0;   // in the source
    std::uint32_t slots = 0;  // of 32 bytes
  };
  struct Progress {
    std::uint64_t budget = 0;  // left
    std::uint32_t waits = 0;   // barriers that it has passed or waits at
    bool ended = false;
  };

  void plan();
  void add_piece(std::vector<Piece>& pieces, std::uint32_t slot, std::uint32_t source_begin);
  void start(std::uint32_t thread, std::uint32_t state_index);
  jit::Status advance(std::uint32_t state_index, std::uint64_t index,
                      const std::atomic<std::uint64_t>& stop_below);
  Outcome run_alone(std::uint32_t thread, std::uint64_t index, const std::atomic<std::uint64_t>& stop_below);
  Outcome run_together(std::uint64_t index, const std::atomic<std::uint64_t>& stop_below);
  Outcome conclude(GuestFault::Cause cause, std::uint32_t thread, const jit::ThreadState& state);
  Outcome deadlock();
  jit::ThreadState& state(std::uint32_t index) {
    return *reinterpret_cast<jit::ThreadState*>(states_.data() + std::size_t{index} * layout_.size);
  }

  const WalkerCommand* walk_ = nullptr;
  jit::StateLayout layout_;
  std::vector<Piece> per_thread_, cross_thread_, zero_;
  bool header_read_ = false;
  AlignedBytes states_;
  std::vector<jit::Environment> environments_;
  std::vector<Progress> progress_;
  mem::BindingTable surfaces_;  // the walk's, with the group's SLM
  std::optional<mem::Slm> slm_;
  std::uint32_t first_slot_ = 0;
  std::array<std::uint32_t, 3> group_{};
  GuestFault fault_;
  WalkerCounts counts_;
};

}  // namespace eum::rt

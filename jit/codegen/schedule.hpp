#pragma once
// The order in which a block's instructions are emitted. Guest compilers interleave the computations of the
// first and the last 16 channels, and independent formulas of a kernel, as the guest has many registers.
// Where their values exceed the host's vector registers, each computation is emitted as a whole instead,
// behind the loads that it needs and before others; or what needs each load behind that load, whichever moves
// fewer registers to memory and back.
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "jit/analysis/disjoint_sets.hpp"
#include "jit/codegen/block_code.hpp"
#include "jit/codegen/spill_estimate.hpp"
#include "jit/codegen/target.hpp"

namespace eum::jit::codegen {

class Scheduler {
 public:
  /// With exact liveness, accesses stay in place.
  Scheduler(const ir::Function& function, const Liveness& liveness, const Target& target);

  /// Orders the instructions of a block. Those that may leave, or change masks or modes, stay in place, and
  /// nothing moves across them: the guest's state there is unchanged. Loads and stores that never fault move,
  /// but not across stores to the same memory.
  void run(std::span<CodeInst> insts);

 private:
  static constexpr std::uint32_t none = ~0u;
  struct Edge {
    std::uint32_t from, to;
  };
  /// For a value in the run of epoch `epoch`: the instruction that defines it.
  struct At {
    std::uint32_t epoch = 0, inst = 0;
  };
  /// Accesses of a register, the flags or a memory in the run.
  struct Slot {
    std::uint32_t epoch = 0;
    std::uint32_t last_write = none;
    std::vector<std::uint32_t> reads;  // since then
  };
  /// Ranks come in the order of these.
  struct Key {
    std::uint32_t loads = none, computation = none, place = none;
    auto operator<=>(const Key&) const = default;
  };
  /// What comes together: a whole computation, behind the loads that it needs, or all that needs the same
  /// loads.
  enum class By : std::uint8_t { computation, load };
  enum Special : std::uint8_t { flags, slm, memory, specials };

  bool may_move(const CodeInst& inst) const;
  bool is_moving_access(const CodeInst& inst) const;
  void order(std::span<CodeInst> insts);
  void find_edges(std::span<const CodeInst> insts);
  void access_state(const CodeInst& inst, std::uint32_t number);
  void access(Slot& slot, std::uint32_t inst, bool writes);
  void group_edges(std::size_t count);
  void find_loads(std::span<const CodeInst> insts, By by);
  Key key_of(std::span<const CodeInst> insts, std::uint32_t inst, By by);
  void rank(std::span<const CodeInst> insts, By by);
  void sort();
  bool is_one_computation(std::span<const CodeInst> insts);
  double waits(std::span<const CodeInst> insts);
  unsigned vectors(std::span<const CodeInst> insts) const;
  std::span<const std::uint32_t> behind(std::uint32_t inst) const;

  const ir::Function& function_;
  const bool moves_accesses_;
  const Target target_;
  SpillEstimate estimate_;

  // Of a run of instructions that may move; `epoch_` counts runs.
  std::uint32_t epoch_ = 0;
  std::vector<At> definitions_;            // of each value
  std::vector<Slot> slots_;                // of the register file, followed by those of Special
  std::vector<Edge> edges_;                // in the order in which they are found
  std::vector<std::uint32_t> targets_;     // of the edges, grouped by source
  std::vector<std::uint32_t> first_edge_;  // in targets_, of each instruction
  std::vector<std::uint32_t> next_edge_;
  DisjointSets computations_;         // of instructions
  std::vector<std::uint32_t> waits_;  // of each instruction: how many must come before it
  std::vector<std::uint32_t> depth_;  // of each instruction: cycles of the longest chain up to it
  std::vector<std::uint32_t> work_;   // of the first instruction of each computation: vectors in it
  std::vector<std::uint32_t> loads_;  // of each instruction: the last load it needs; of the first one of a
                                      // computation: that of all of it
  std::vector<Key> keys_;             // of each instruction
  std::vector<std::uint32_t> by_rank_, rank_, ready_;
  std::vector<std::uint32_t> order_, best_;  // numbers of instructions
  std::vector<CodeInst> ordered_;
};

}  // namespace eum::jit::codegen

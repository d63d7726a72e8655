#pragma once
// The order in which a block's instructions are emitted. Compilers interleave what they do for the first and
// the last 16 channels, and independent formulas of a kernel: registers of the guest are many. Where their
// values are more than the host has vector registers, each computation is done as a whole instead.
#include <cstdint>
#include <span>
#include <vector>

#include "jit/codegen/block_code.hpp"
#include "jit/codegen/target.hpp"
#include "jit/passes/disjoint_sets.hpp"

namespace eum::jit::codegen {

class Scheduler {
 public:
  Scheduler(const ir::Function& function, const Target& target);

  /// The instructions of a block. What may leave, and what changes masks, modes or memory, stays where it is,
  /// and nothing moves across it: the guest's state is there as it was.
  void run(std::span<CodeInst> insts);

 private:
  static constexpr std::uint32_t none = ~0u;
  struct Edge {
    std::uint32_t from, to;
  };
  /// Of a value in the run of epoch `epoch`: the instruction that defines it, or uses it next.
  struct At {
    std::uint32_t epoch = 0, inst = 0;
  };
  /// Accesses of a register in the run.
  struct Slot {
    std::uint32_t epoch = 0;
    std::uint32_t last_write = none;
    std::vector<std::uint32_t> reads;  // since
  };
  /// A value in registers.
  struct Held {
    ir::ValueId value;
    std::uint32_t next_use;
    bool in_memory;  ///< too
  };

  void note_uses(std::span<const CodeInst> insts);
  void order(std::span<CodeInst> insts);
  void find_next_uses(std::span<const CodeInst> insts);
  unsigned spills(std::span<const CodeInst> insts);
  void hold(ir::ValueId value, bool in_memory);
  void use(ir::ValueId value);
  void drop(std::size_t held);
  void find_edges(std::span<const CodeInst> insts);
  void access(Slot& slot, std::uint32_t inst, bool writes);
  void rank(std::span<const CodeInst> insts);
  void sort();
  bool is_one_computation(std::span<const CodeInst> insts);
  bool has_chain(std::span<const CodeInst> insts);
  std::span<const std::uint32_t> behind(std::uint32_t inst) const;

  const Target target_;
  std::vector<std::uint8_t> registers_;     // that each value takes, if it is a vector
  std::uint32_t block_ = 0;                 // counts blocks
  std::vector<std::uint32_t> used_behind_;  // of each value: the block in which it is used behind the run

  // Of a run of instructions that may move; `epoch_` counts runs.
  std::uint32_t epoch_ = 0;
  std::vector<At> definitions_, next_uses_;  // of each value
  std::vector<std::uint32_t> uses_;          // of operands and results: the next use; the last one first
  std::vector<Held> held_;
  unsigned registers_held_ = 0, moves_ = 0;
  std::vector<Slot> slots_;                // of the register file, and the flags behind them
  std::vector<Edge> edges_;                // as they are found; and then
  std::vector<std::uint32_t> targets_;     // of the edges, by what comes first
  std::vector<std::uint32_t> first_edge_;  // in targets_, of each instruction
  std::vector<std::uint32_t> next_edge_;
  DisjointSets computations_;         // of instructions
  std::vector<std::uint32_t> waits_;  // of each instruction: how many must come before it
  std::vector<std::uint32_t> depth_;  // of each instruction: those that it waits for, one after the other
  std::vector<std::uint32_t> work_;   // of the first instruction of each computation: vectors in it
  std::vector<std::uint64_t> keys_;   // of each instruction: computation, place in it
  std::vector<std::uint32_t> by_rank_, rank_, ready_;
  std::vector<std::uint32_t> order_;  // numbers of instructions
  std::vector<CodeInst> ordered_;
};

}  // namespace eum::jit::codegen

#pragma once
// The order in which a block's instructions are emitted. Guest compilers interleave the computations of the
// first and the last 16 channels, and independent formulas of a kernel, as the guest has many registers.
// Where their values exceed the host's vector registers, each computation is emitted as a whole instead.
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

  /// Orders the instructions of a block. Those that may leave, or change masks, modes or memory, stay in
  /// place, and nothing moves across them: the guest's state there is unchanged.
  void run(std::span<CodeInst> insts);

 private:
  static constexpr std::uint32_t none = ~0u;
  struct Edge {
    std::uint32_t from, to;
  };
  /// For a value in the run of epoch `epoch`: the instruction that defines it, or uses it next.
  struct At {
    std::uint32_t epoch = 0, inst = 0;
  };
  /// Accesses of a register in the run.
  struct Slot {
    std::uint32_t epoch = 0;
    std::uint32_t last_write = none;
    std::vector<std::uint32_t> reads;  // since then
  };
  /// A value in registers.
  struct Held {
    ir::ValueId value;
    std::uint32_t next_use;
    bool in_memory;  ///< as well
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
  std::vector<std::uint32_t> used_behind_;  // of each value: the block in which it is used after the run

  // Of a run of instructions that may move; `epoch_` counts runs.
  std::uint32_t epoch_ = 0;
  std::vector<At> definitions_, next_uses_;  // of each value
  std::vector<std::uint32_t> uses_;          // of operands and results: the next use; the last one first
  std::vector<Held> held_;
  unsigned registers_held_ = 0, moves_ = 0;
  std::vector<Slot> slots_;                // of the register file, followed by the flags
  std::vector<Edge> edges_;                // in the order in which they are found
  std::vector<std::uint32_t> targets_;     // of the edges, grouped by source
  std::vector<std::uint32_t> first_edge_;  // in targets_, of each instruction
  std::vector<std::uint32_t> next_edge_;
  DisjointSets computations_;         // of instructions
  std::vector<std::uint32_t> waits_;  // of each instruction: how many must come before it
  std::vector<std::uint32_t> depth_;  // of each instruction: the length of the longest chain up to it
  std::vector<std::uint32_t> work_;   // of the first instruction of each computation: vectors in it
  std::vector<std::uint64_t> keys_;   // of each instruction: computation, place in it
  std::vector<std::uint32_t> by_rank_, rank_, ready_;
  std::vector<std::uint32_t> order_;  // numbers of instructions
  std::vector<CodeInst> ordered_;
};

}  // namespace eum::jit::codegen

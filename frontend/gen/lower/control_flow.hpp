#pragma once
// The instructions that control can reach, where blocks begin, and where channels wait.
// It must not know what an instruction computes.
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "frontend/gen/instruction.hpp"
#include "frontend/ir/function.hpp"

namespace eum::gen {

/// Control flow of one kernel. Offsets are bytes from its start.
class ControlFlow {
 public:
  ControlFlow(std::span<const std::byte> code, Family family, std::pmr::memory_resource* memory);

  /// Gives each place where a block begins its block, in program order; block 0 is offset 0.
  void make_blocks(ir::Function& function);

  /// The block that begins at `offset`, or no_block.
  ir::BlockId block_at(std::int64_t offset) const {
    return inside(offset) ? units_[unit(offset)].block : ir::no_block;
  }
  /// The mask variable of the channels that wait at `offset`; 0 if none ever do.
  unsigned mask_variable_at(std::int64_t offset) const {
    return inside(offset) ? units_[unit(offset)].mask_variable : 0;
  }
  /// The decoded instruction at `offset`, or null.
  const Instruction* at(std::int64_t offset) const {
    if (!inside(offset)) return nullptr;
    std::int32_t index = units_[unit(offset)].instruction;
    return index >= 0 ? &instructions_[static_cast<std::size_t>(index)] : nullptr;
  }
  /// Why there is no instruction at `offset`.
  std::string failure_at(std::int64_t offset) const;
  /// Where the channels that `inst`, a break, takes out of the loop go on: behind the while that its UIP
  /// names.
  std::int64_t loop_exit(const Instruction& inst) const;

  unsigned mask_variables() const { return mask_variables_; }
  std::size_t instruction_count() const { return instructions_.size(); }
  /// Byte offsets where a block may begin are the multiples of this.
  static constexpr unsigned unit_bytes = 8;
  std::size_t code_bytes() const { return code_.size(); }

 private:
  struct Unit {
    std::int32_t instruction = not_decoded;  ///< index, not_decoded, or first_failure - index of the failure
    ir::BlockId block = ir::no_block;
    std::uint32_t mask_variable = 0;
    bool leader = false;
  };
  static constexpr std::int32_t not_decoded = -1, first_failure = -2;

  bool inside(std::int64_t offset) const {
    return offset >= 0 && offset % unit_bytes == 0 && static_cast<std::uint64_t>(offset) < code_.size();
  }
  static std::size_t unit(std::int64_t offset) { return static_cast<std::size_t>(offset) / unit_bytes; }
  void reach(std::int64_t offset);
  void park(std::int64_t offset);
  void scan();
  void scan_run(std::int64_t offset);
  /// Notes where `inst` leads; false if control does not fall through.
  bool scan_flow(const Instruction& inst);
  void scan_unreached();

  std::span<const std::byte> code_;
  Family family_;
  std::pmr::vector<Unit> units_;
  std::pmr::vector<Instruction> instructions_;
  std::pmr::vector<std::int64_t> pending_;
  std::pmr::vector<std::int32_t> breaks_;
  std::vector<std::string> failures_;
  unsigned mask_variables_ = 1;
  bool indirect_ = false;
  std::size_t unreached_ = 0;  ///< unit that scan_unreached looks at next
};

}  // namespace eum::gen

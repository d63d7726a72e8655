#pragma once
// The instructions that control can reach, where blocks begin, and where channels are parked.
// It must not know what an instruction computes.
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontend/eu/program.hpp"
#include "frontend/ir/function.hpp"

namespace eum::eu {

/// Where blocks with a safepoint at their entry begin, in addition to the blocks at branch targets.
enum class Granularity : std::uint8_t {
  Block,        ///< nowhere
  Message,      ///< after each message
  Instruction,  ///< at each instruction
};

/// Control flow of one kernel. Offsets are bytes from its start.
class ControlFlow {
 public:
  ControlFlow(const Program& program, const Target& target, unsigned simd, Granularity granularity,
              std::optional<std::uint32_t> system_routine, std::uint32_t modes,
              std::pmr::memory_resource* memory);

  /// Adds a block for each block leader, in program order; block 0 is offset 0. Sets the ips of mask
  /// variables.
  void make_blocks(ir::Function& function);

  /// The block that begins at `offset`, or no_block.
  ir::BlockId block_at(std::int64_t offset) const {
    return inside(offset) ? units_[unit(offset)].block : ir::no_block;
  }
  /// The mask variable of the channels that are parked at `offset`; 0 if none ever are.
  unsigned mask_variable_at(std::int64_t offset) const {
    return inside(offset) ? units_[unit(offset)].mask_variable : 0;
  }
  /// The instruction at `offset`, or null.
  const Instruction* at(std::int64_t offset) const {
    if (!inside(offset)) return nullptr;
    std::int32_t index = units_[unit(offset)].instruction;
    return index >= 0 ? &instructions_[static_cast<std::size_t>(index)] : nullptr;
  }
  /// Whether control reaches `offset`, but no instruction has this encoding.
  bool is_undefined(std::int64_t offset) const {
    return inside(offset) && units_[unit(offset)].instruction <= first_failure;
  }
  /// Bits of cr0.0 that may be set: at the thread's start or by an instruction.
  std::uint32_t modes() const { return modes_; }
  /// Whether some instruction reads the clock.
  bool has_clock() const { return has_clock_; }
  /// Why there is no instruction at `offset`.
  std::string failure_at(std::int64_t offset) const;
  /// Byte offset of `place` for `inst`; `place` must not be Nowhere.
  std::int64_t offset_of(Place place, const Instruction& inst) const;
  /// Whether `inst` may park channels, so that the place needs a mask variable.
  bool may_park(const Instruction& inst) const;
  /// Whether `inst` has all channels of the dispatch.
  bool takes_all_channels(const Instruction& inst) const {
    return inst.channel_offset == 0 && inst.exec_size >= simd_;
  }

  /// Whether `inst` may branch to any instruction, depending on a register.
  bool leads_anywhere(const Instruction& inst) const;
  /// Places where channels may be parked at an address from a register: after calls, or everywhere.
  std::span<const std::uint32_t> named_places(const Instruction& inst) const {
    return inst.flow.kind == FlowKind::return_if ? returns_ : all_;
  }

  unsigned mask_variables() const { return mask_variables_; }
  std::size_t instruction_count() const { return instructions_.size(); }

 private:
  struct Unit {
    std::int32_t instruction = not_fetched;  ///< index, not_fetched, or first_failure - index of the failure
    ir::BlockId block = ir::no_block;
    std::uint32_t mask_variable = 0;
    bool leader = false;
    bool is_target = false;  ///< control may arrive from elsewhere than the previous instruction
    bool safepoint = false;
  };
  static constexpr std::int32_t not_fetched = -1, first_failure = -2;

  bool inside(std::int64_t offset) const {
    return offset >= 0 && offset % Program::unit_bytes == 0 && offset < std::int64_t{program_.bytes()};
  }
  static std::size_t unit(std::int64_t offset) {
    return static_cast<std::size_t>(offset) / Program::unit_bytes;
  }
  void reach(std::int64_t offset);
  void park(std::int64_t offset);
  void scan();
  void scan_run(std::int64_t offset);
  /// Records where `inst` leads; returns false if control does not fall through.
  bool scan_flow(const Instruction& inst);
  void scan_unreached();
  /// Gives blocks and mask variables to the places that are addressed by registers only.
  void scan_named_places();
  /// Completes messages whose descriptors are in registers, where the preceding code determines their values.
  void resolve_descriptors();
  /// Begins a block after `inst` if the granularity requires it.
  void split_behind(const Instruction& inst);

  const Program& program_;
  const Target& target_;
  unsigned simd_;
  std::optional<std::uint32_t> system_routine_;
  std::uint32_t modes_;
  Granularity granularity_;
  std::pmr::vector<Unit> units_;
  std::pmr::vector<Instruction> instructions_;
  std::pmr::vector<std::int64_t> pending_;
  std::pmr::vector<std::int32_t> breaks_;  ///< instructions that park after a loop; resolved last
  std::vector<std::string> failures_;
  unsigned mask_variables_ = 1;
  std::vector<std::uint32_t> returns_;  ///< after calls, if a predicated return needs them
  std::vector<std::uint32_t> all_;      ///< every instruction, if a brc needs them
  bool has_clock_ = false;
  bool has_descriptors_ = false;  ///< some message has its descriptors in registers
  bool computed_ = false;
  bool has_functions_ = false;  ///< there is code that is reached through registers only
  std::size_t unreached_ = 0;   ///< the unit that scan_unreached examines next
};

}  // namespace eum::eu

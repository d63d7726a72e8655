#pragma once
// Effects around an instruction's own meaning: exceptions, writes of ip, the clock. It must not know what
// instructions compute.
#include <string>

#include "frontend/eu/lowering.hpp"

namespace eum::eu {

/// Exceptions caused by an instruction of the thread itself, and the halt requested from outside.
enum class Exception : std::uint8_t { Breakpoint, ExternalHalt, Software, Illegal };

/// What is lowered before and after an instruction's own micro-ops, if it did not end the block.
class Surroundings {
 public:
  explicit Surroundings(Lowering& l) : l_(l) {}
  void before();
  void after();

 private:
  Lowering& l_;
  ir::ValueId old_modes_ = ir::no_value;  ///< value of cr0.0 before the instruction
  // State that an instruction that writes ip changes as well, to be restored on a fault.
  ir::ValueId old_flag_ = ir::no_value;
  ir::ValueId old_accumulator_ = ir::no_value, old_accumulator_high_ = ir::no_value;
};

/// Ends the block with the exception, or with a fault of this text.
void raise_illegal(Lowering& l, std::uint32_t ip, std::string text);

}  // namespace eum::eu

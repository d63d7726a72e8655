#pragma once
// What surrounds the meaning of an instruction: exceptions, writes of ip, the clock. It must not know what
// instructions compute.
#include <string>

#include "frontend/eu/lowering.hpp"

namespace eum::eu {

/// Exceptions that an instruction of the thread itself causes, and the halt that somebody else asks for.
enum class Exception : std::uint8_t { Breakpoint, ExternalHalt, Software, Illegal };

/// What is lowered before and after an instruction's own micro-ops, if it did not end the block.
class Surroundings {
 public:
  explicit Surroundings(Lowering& l) : l_(l) {}
  void before();
  void after();

 private:
  Lowering& l_;
  ir::ValueId old_modes_ = ir::no_value;  ///< cr0.0
  // What an instruction that writes ip changes beside it.
  ir::ValueId old_flag_ = ir::no_value;
  ir::ValueId old_accumulator_ = ir::no_value, old_accumulator_high_ = ir::no_value;
};

/// Ends the block with the exception, or with a fault of this text.
void raise_illegal(Lowering& l, std::uint32_t ip, std::string text);

}  // namespace eum::eu

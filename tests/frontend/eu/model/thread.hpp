#pragma once
// Programs of encoded instructions on the engines: compiled, run step by step or as a whole, and their
// threads' registers in and out as the model has them.
#include <memory>
#include <string>
#include <vector>

#include "frontend/gen/lower/lower.hpp"
#include "jit/engine.hpp"
#include "tests/frontend/eu/model/machine.hpp"

namespace eum::model {

inline constexpr unsigned simd = 32;

struct Program {
  gen::Family family = gen::Family::Gen9;
  std::vector<gen::Instruction> instructions;  ///< as decoded
  std::vector<std::byte> code;                 ///< with the message that ends the thread
};

/// Encodes and decodes; fails the test where either does.
Program assemble(const std::vector<gen::Instruction>& wanted, gen::Family family = gen::Family::Gen9);

/// Every engine that the host can run.
std::vector<std::unique_ptr<jit::Engine>> all_engines();

/// `steps`: so that a budget of 1 is one instruction. `texts`: of traps.
std::unique_ptr<jit::Executable> compile(jit::Engine& engine, const Program& program, bool steps,
                                         std::vector<std::string>* texts = nullptr);

/// A thread of an engine that the model can be compared with.
class Thread {
 public:
  Thread(jit::Executable& executable, const Machine& start, std::uint32_t fp_mode);

  jit::ThreadState& state() { return *reinterpret_cast<jit::ThreadState*>(memory_.get()); }
  jit::Status run(std::int64_t budget);
  /// Goes on behind the instruction that has faulted.
  void skip(jit::Status status);
  Machine machine(const Machine& like);

 private:
  jit::Executable& executable_;
  jit::StateLayout layout_;
  std::unique_ptr<std::byte, void (*)(void*)> memory_;
  jit::Environment environment_;
};

}  // namespace eum::model

#pragma once
// Programs of encoded instructions on the engines: compiled, run step by step or as a whole, and conversion
// of their threads' registers from and to the model's.
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
  std::vector<gen::Instruction> instructions;  ///< as decoded from `code`
  std::vector<std::byte> code;                 ///< ends with the message that ends the thread
};

/// Encodes and decodes the instructions; the test fails if either fails.
Program assemble(const std::vector<gen::Instruction>& wanted, gen::Family family = gen::Family::Gen9);

/// Every engine that the host can run.
std::vector<std::unique_ptr<jit::Engine>> all_engines();

/// `steps`: a budget of 1 executes one instruction. `texts` receives the texts of traps.
std::unique_ptr<jit::Executable> compile(jit::Engine& engine, const Program& program, bool steps,
                                         std::vector<std::string>* texts = nullptr);

/// An engine's thread whose state can be compared with the model's.
class Thread {
 public:
  Thread(jit::Executable& executable, const Machine& start, std::uint32_t fp_mode);

  jit::ThreadState& state() { return *reinterpret_cast<jit::ThreadState*>(memory_.get()); }
  jit::Status run(std::int64_t budget);
  /// Continues behind the instruction that faulted.
  void skip(jit::Status status);
  Machine machine(const Machine& like);

 private:
  jit::Executable& executable_;
  jit::StateLayout layout_;
  std::unique_ptr<std::byte, void (*)(void*)> memory_;
  jit::Environment environment_;
};

}  // namespace eum::model

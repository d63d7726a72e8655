#pragma once
// Evaluates the ops of one thread, one at a time. Lanewise ops are the functions of
// frontend/ir/semantics/lane_function.hpp, memory ops those of jit/access.hpp; the others are in
// interpreter.cpp, one function per op, and a row of ops.def without one does not compile.
#include <span>
#include <vector>

#include "frontend/ir/semantics/lane_function.hpp"
#include "jit/access.hpp"
#include "jit/engine.hpp"
#include "jit/image_access.hpp"

namespace eum::jit::reference {

/// Where each value of a function is while its block is evaluated: bytes from the start of the block's
/// values.
struct ValuePlaces {
  std::vector<std::uint32_t> offset;  ///< by value; the results of one instruction follow each other
  std::uint32_t bytes = 0;            ///< that the largest block needs

  static ValuePlaces of(const ir::Function& function);
};

/// What an op does to the control of its thread.
enum class Next : std::uint8_t {
  Op,     ///< continue with the next op
  Block,  ///< continue with the block `target`
  Stop,   ///< return `status`
};

/// One run of one thread. The function must be well formed (frontend/ir/verifier.hpp).
class Interpreter {
 public:
  Interpreter(const ir::Function& function, const ValuePlaces& places, const StateLayout& layout,
              ThreadState& state);

  Status run();

 private:
  template <ir::Op op>
  Next eval(const ir::Inst& inst) = delete;  // each op that is not lanewise has its own
  Next eval_lanewise(const ir::Inst& inst);
  using Eval = Next (Interpreter::*)(const ir::Inst&);
  template <ir::Op op>
  static constexpr Eval eval_of();
  template <std::size_t... op>
  static constexpr auto make_table(std::index_sequence<op...>);

  Next jump_to(ir::BlockId target);
  ir::BlockId block_at(std::uint32_t ip) const;
  Next pause(ir::BlockId target);
  Next stop(Status status);
  Next fault(const ir::Inst& inst, FaultKind kind, unsigned lane, unsigned bytes, std::uint64_t address);
  Next access(bool done);
  AccessOperands access_operands(const ir::Inst& inst);
  Next eval_image(const ir::Inst& inst);
  Next eval_trap(const ir::Inst& inst);
  void set_mode(std::uint32_t cr0);

  std::byte* value(ir::ValueId id) { return values_.data() + places_.offset[id]; }
  std::byte* arg(const ir::Inst& inst, unsigned k) { return value(function_.arg(inst, k)); }
  std::uint32_t mask_value(ir::ValueId id) { return read<std::uint32_t>(value(id)); }
  /// The lane mask of an instruction: all lanes if it has none.
  std::uint32_t mask_of(const ir::Inst& inst);
  void set_mask_result(const ir::Inst& inst, std::uint32_t mask);
  template <class T>
  static T read(const std::byte* from);

  const ir::Function& function_;
  const ValuePlaces& places_;
  ThreadState& state_;
  std::span<std::byte> file_;
  std::byte* flags_;
  std::uint32_t* masks_;
  std::vector<std::byte> values_;
  ir::BlockId block_ = 0;
  ir::BlockId target_ = 0;
  Status status_ = Status::Exited;
};

}  // namespace eum::jit::reference

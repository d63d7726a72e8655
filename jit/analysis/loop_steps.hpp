#pragma once
// By how much values change from one iteration of a loop to the next.
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/analysis/liveness.hpp"

namespace eum::jit {

class LoopSteps {
 public:
  using Step = std::int64_t;

  /// Of the loop that consists of these blocks.
  LoopSteps(const ir::Function& function, std::span<const ir::BlockId> blocks);

  /// Bytes from one iteration to the next of the addresses of a load or store, the same for all lanes. A
  /// guess: other paths through the loop, and wrapping around, are not considered. Nothing if none is found.
  std::optional<Step> of_address(const ir::Inst& access);

 private:
  struct Write {
    const ir::Inst* inst;
    SlotRange slots;
  };

  std::optional<Step> step(ir::ValueId value, unsigned depth);
  std::optional<Step> find_step(ir::ValueId value, unsigned depth);
  std::optional<Step> product(ir::ValueId a, ir::ValueId b, unsigned depth);
  std::optional<std::uint32_t> number(ir::ValueId value, unsigned depth) const;
  std::optional<Step> step_of_register(const ir::Inst& read, unsigned depth);
  std::optional<Step> increment(ir::ValueId value, const SlotRange& slots, unsigned depth) const;

  const ir::Function* function_;
  std::unordered_map<ir::ValueId, const ir::Inst*> by_;  // instructions of the loop that define values
  std::unordered_map<ir::ValueId, std::optional<Step>> steps_;
  std::vector<Write> writes_;
  bool scatters_ = false;
};

}  // namespace eum::jit

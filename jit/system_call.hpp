#pragma once
// What SystemCall ops do, once for both engines: they ask the environment.
#include "jit/engine.hpp"

namespace eum::jit {

inline constexpr std::uint64_t no_system = ~std::uint64_t{0};  ///< status where the environment has none

/// results[0] = value, results[1] = status of `op` on operands[0] and operands[1].
inline void system_call(const Environment& environment, ir::Op op, std::uint64_t imm,
                        const std::uint64_t* operands, std::uint64_t* results) {
  results[0] = 0;
  const SystemInterface* system = environment.system;
  results[1] = system && system->call
                   ? system->call(system->context, op, imm, operands[0], operands[1], &results[0])
                   : no_system;
}

}  // namespace eum::jit

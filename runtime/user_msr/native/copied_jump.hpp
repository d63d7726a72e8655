#pragma once
// A program may copy code that was patched: the jump in the copy leads as far from there as the original does
// from its site, which is nearly always to no code at all. Copies get the program's bytes before they are
// made executable; one that is executed nevertheless is known by where it led to and what stands before it.
// It must not know signals.
#include <cstdint>

#include "runtime/user_msr/native/runner.hpp"

namespace eum::rt::native {

struct CopiedJump {
  std::uint64_t address = 0;  ///< of the copied site; 0 = there is none
  bool is_replaced = false;   ///< the program's bytes stand there again; else the access is to be done
  x86::Instruction instruction{};
  std::uint8_t length = 0;
};

/// The copied site whose jump leads to `target`, where nothing can be executed, or nothing but a trap byte.
/// The caller has all signals blocked.
CopiedJump find_copied_jump(RunnerState& state, std::uint64_t target);

/// Puts the program's bytes in the place of every copied jump from `start` to before `end`, which is not
/// executable yet. The caller has the lock. Larger ranges than code is made in are left to find_copied_jump.
void replace_copied_jumps(RunnerState& state, std::uint64_t start, std::uint64_t end);

}  // namespace eum::rt::native

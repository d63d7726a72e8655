#pragma once
// A program may copy code that was patched. The jump in the copy has the same displacement as the original,
// so its target is nearly always not code. Copies get the program's bytes back before they are made
// executable; a copy that is executed nevertheless is identified by its target and the bytes around it. It
// must not know signals.
#include <cstdint>

#include "runtime/user_msr/native/runner.hpp"

namespace eum::rt::native {

struct CopiedJump {
  std::uint64_t address = 0;  ///< of the copied site; 0: there is none
  bool is_replaced = false;   ///< the program's bytes are back in place; otherwise the caller does the access
  x86::Instruction instruction{};
  std::uint8_t length = 0;
};

/// The copied site whose jump leads to `target`, where there is nothing executable, or only a trap byte. The
/// caller has blocked all signals.
CopiedJump find_copied_jump(RunnerState& state, std::uint64_t target);

/// Puts the program's bytes in place of every copied jump from `start` up to `end`, in memory that is not
/// executable yet. The caller holds the lock. Ranges larger than code is usually made in are left to
/// find_copied_jump.
void replace_copied_jumps(RunnerState& state, std::uint64_t start, std::uint64_t end);

}  // namespace eum::rt::native

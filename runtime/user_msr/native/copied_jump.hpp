#pragma once
// A program may copy code that was patched and execute the copy: the jump in it then leads as far from the
// copy as the original does from the site, which is nearly always to no code at all. From where it leads to
// and what stands before the copy's instruction is known. It must not know signals.
#include <cstdint>

#include "runtime/user_msr/native/runner.hpp"

namespace eum::rt::native {

struct CopiedJump {
  std::uint64_t address = 0;  ///< of the copied site; 0 = there is none
  bool is_replaced = false;   ///< the program's bytes stand there again; else the access is to be done
  x86::Instruction instruction{};
  std::uint8_t length = 0;
};

/// The copied site whose jump leads to `target`, where nothing can be executed. The caller has all signals
/// blocked.
CopiedJump find_copied_jump(RunnerState& state, std::uint64_t target);

}  // namespace eum::rt::native

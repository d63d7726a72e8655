#pragma once
// Replaces an instruction of the running program by a jump to a stub, and back.
#include <span>

#include "runtime/user_msr/native/runner.hpp"

namespace eum::rt::native {

/// What stands at a site while it is rewritten: PUSH ES, one byte that is #UD in 64-bit mode. Like the
/// instruction itself it ends in the SIGILL handler, so other threads lose nothing meanwhile.
inline constexpr std::uint8_t trap_byte = 0x06;
inline constexpr std::uint8_t jump_opcode = 0xe9;
inline constexpr std::size_t jump_bytes = 5;

/// True if a jump to the site's stub stands in `code`, the bytes at the site.
bool is_patched(const Site& site, std::span<const std::uint8_t> code);

/// Called at a trap, after the access was done: remembers the site and patches it where that is safe. `code`
/// are the bytes at `address`, `msr` the register that was accessed. Does nothing if another thread is
/// patching.
void patch_site(RunnerState& state, std::uint64_t address, std::span<const std::uint8_t> code,
                std::uint8_t length, const x86::Instruction& instruction, std::uint32_t msr);

/// Puts the program's bytes back at every site where the jump still stands.
void unpatch_all(RunnerState& state);

}  // namespace eum::rt::native

#pragma once
// Replaces instructions of the running program by jumps to stubs, and back. It must not know signals or why
// code changes.
#include <span>

#include "runtime/user_msr/native/runner.hpp"

namespace eum::rt::native {

/// What stands at a site while it is rewritten: PUSH ES, one byte that is #UD in 64-bit mode, after prefixes
/// too. Like the instruction itself it ends in the SIGILL handler, so other threads lose nothing meanwhile.
inline constexpr std::uint8_t trap_byte = 0x06;
inline constexpr std::uint8_t jump_opcode = 0xe9;
inline constexpr std::size_t jump_bytes = 5;

/// The program's bytes where the jump stands.
std::span<const std::uint8_t> replaced_bytes(const Site& site);
/// True if a jump to the site's stub stands in `code`, the bytes at the site.
bool is_patched(const Site& site, std::span<const std::uint8_t> code);

/// Replaces jumps in a copy of the bytes at `address` by what the program has there.
void restore_copy(SiteTable& sites, std::uint64_t address, std::span<std::uint8_t> copy);

/// Called at a trap, after the access was done: remembers the site and patches it where that is safe. `code`
/// are the bytes at `address`, `msr` the register that was accessed. Does nothing if another thread is
/// patching, or changes mappings.
void patch_site(RunnerState& state, std::uint64_t address, std::span<const std::uint8_t> code,
                const x86::Instruction& instruction, std::uint32_t msr);

/// Puts `code` in the place of a jump that the program copied to `address`, where that is safe. The caller
/// has the lock. False if nothing was written.
bool replace_copied_jump(RunnerState& state, std::uint64_t address, std::span<const std::uint8_t> code,
                         const x86::Instruction& instruction);

/// Puts the program's bytes back at every site from `start` to before `end` where the jump stands. The caller
/// has the lock. False if that failed somewhere.
bool restore_sites(RunnerState& state, std::uint64_t start, std::uint64_t end);

/// Puts the program's bytes back where a rewrite began and its thread does not exist any more. For the only
/// thread of a process.
void finish_rewrites(RunnerState& state);

}  // namespace eum::rt::native

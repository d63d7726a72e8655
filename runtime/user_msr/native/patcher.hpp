#pragma once
// Replaces instructions of the running program by jumps to stubs, and back. It must not know signals, or why
// code changes.
#include <span>

#include "runtime/user_msr/native/runner.hpp"

namespace eum::rt::native {

/// First byte of a site while it is rewritten: PUSH ES, a single byte that raises #UD in 64-bit mode, even
/// after prefixes. Like the instruction itself it leads to the SIGILL handler, so other threads lose nothing
/// in the meantime.
inline constexpr std::uint8_t trap_byte = 0x06;
inline constexpr std::uint8_t jump_opcode = 0xe9;
inline constexpr std::size_t jump_bytes = 5;

/// The program's bytes that the jump replaces.
std::span<const std::uint8_t> replaced_bytes(const Site& site);
/// Whether `code`, the bytes at the site, begins with a jump to the site's stub.
bool is_patched(const Site& site, std::span<const std::uint8_t> code);

/// Replaces jumps in a copy of the bytes at `address` by the program's bytes.
void restore_copy(SiteTable& sites, std::uint64_t address, std::span<std::uint8_t> copy);

/// Called at a trap after the access was done: remembers the site and patches it if that is safe. `code` are
/// the bytes at `address`, `msr` the accessed register. Does nothing if another thread is patching or
/// changing mappings.
void patch_site(RunnerState& state, std::uint64_t address, std::span<const std::uint8_t> code,
                const x86::Instruction& instruction, std::uint32_t msr);

/// Puts `code` in place of a jump that the program copied to `address`, if that is safe. The caller holds the
/// lock. False if nothing was written.
bool replace_copied_jump(RunnerState& state, std::uint64_t address, std::span<const std::uint8_t> code,
                         const x86::Instruction& instruction);

/// Puts the program's bytes back at every patched site from `start` up to `end`. The caller holds the lock.
/// False if that failed somewhere.
bool restore_sites(RunnerState& state, std::uint64_t start, std::uint64_t end);

/// Puts the program's bytes back where a rewrite was begun by a thread that no longer exists. For the only
/// thread of a process.
void finish_rewrites(RunnerState& state);

}  // namespace eum::rt::native

#pragma once
// Unwind information of stubs for unwinders and debuggers. To them a stub is a function called by the site:
// its caller's RSP is the program's RSP at the site, and it returns to the following instruction. All stubs
// of an arena share one description, made before the first of them, which looks both values up in the arena's
// tables by the executed address. Safe in signal handlers. It must not know what stubs do.
#include <array>
#include <cstddef>
#include <cstdint>

namespace eum::rt::native {

/// An arena in memory: code, followed by these tables.
struct ArenaLayout {
  static constexpr std::size_t code_bytes = 64 * 1024;
  static constexpr std::size_t unit = 16;  ///< stubs begin at multiples of this

  std::array<std::uint8_t, code_bytes> code;
  std::array<std::uint8_t, code_bytes> depths;                    ///< for each byte of code: Stub::depths
  std::array<std::uint64_t, code_bytes / unit> return_addresses;  ///< for each unit of code
  std::array<std::uint8_t, 4096> unwind_info;
};

/// Fills in arena.unwind_info, and notifies a debugger if there is one.
void describe_arena(ArenaLayout& arena);
/// Reverts that, before the arena is removed.
void forget_arena(ArenaLayout& arena);

/// The .eh_frame_hdr of the arena.
void* eh_frame_header(ArenaLayout& arena);

}  // namespace eum::rt::native

#pragma once
// What unwinders and debuggers know of stubs. A stub is to them a function that the site called: its caller's
// RSP is the program's RSP at the site, and it returns behind the instruction. All stubs of an arena share
// one description, made before the first of them: it looks both up in the arena's tables, by the address that
// is executed. Safe in signal handlers. It must not know what stubs do.
#include <array>
#include <cstddef>
#include <cstdint>

namespace eum::rt::native {

/// An arena in memory: code, then these tables.
struct ArenaLayout {
  static constexpr std::size_t code_bytes = 64 * 1024;
  static constexpr std::size_t unit = 16;  ///< stubs begin at multiples of it

  std::array<std::uint8_t, code_bytes> code;
  std::array<std::uint8_t, code_bytes> depths;                    ///< of each byte of code: Stub::depths
  std::array<std::uint64_t, code_bytes / unit> return_addresses;  ///< of each unit of code
  std::array<std::uint8_t, 4096> unwind_info;
};

/// Fills in arena.unwind_info, and tells a debugger, if there is one.
void describe_arena(ArenaLayout& arena);
/// Undoes it, before the arena goes away.
void forget_arena(ArenaLayout& arena);

/// The .eh_frame_hdr of the arena.
void* eh_frame_header(ArenaLayout& arena);

}  // namespace eum::rt::native

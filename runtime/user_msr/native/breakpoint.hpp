#pragma once
// A debugger's breakpoint on a user MSR instruction. Before it passes a signal on, a debugger sets one at the
// instruction that raised it, so the handler cannot read what the processor executed. It must not know
// signals.
#include <cstdint>
#include <span>

#include "runtime/user_msr/native/mappings.hpp"
#include "runtime/user_msr/native/trapped.hpp"

namespace eum::rt::native {

inline constexpr std::uint8_t breakpoint_byte = 0xcc;

/// What the other bytes of an instruction reveal.
struct UnderBreakpoint {
  enum Kind : std::uint8_t {
    NotOurs,  ///< no first byte would make it an access
    Access,
    Unknown,  ///< a read or a write, depending on whether the first byte is F2 or F3
  } kind = NotOurs;
  x86::Instruction instruction{};
  std::uint8_t length = 0;
};

/// `code`: the bytes at `rip`, beginning with a breakpoint. `first_byte`: the first byte in the program's
/// file, or a negative number.
UnderBreakpoint look_under_breakpoint(SiteTable& sites, std::uint64_t rip, const CodeBytes& code,
                                      int first_byte);

/// The byte at `address` in the file of a private mapping, if the bytes after it in the file match those in
/// memory; else a negative number.
int byte_of_file(Mappings& mappings, std::uint64_t address, std::span<const std::uint8_t> code);

/// Whether a debugger traces this thread.
bool is_traced();

}  // namespace eum::rt::native

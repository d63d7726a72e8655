#pragma once
// A debugger's breakpoint on an instruction of ours. Before it passes a signal on, a debugger puts one where
// the instruction stands that raised it: the handler cannot read what the processor executed. It must not
// know signals.
#include <cstdint>
#include <span>

#include "runtime/user_msr/native/mappings.hpp"
#include "runtime/user_msr/native/trapped.hpp"

namespace eum::rt::native {

inline constexpr std::uint8_t breakpoint_byte = 0xcc;

/// What the rest of an instruction tells of it.
struct UnderBreakpoint {
  enum Kind : std::uint8_t {
    NotOurs,  ///< no first byte makes an access of it
    Access,
    Unknown,  ///< a read or a write, as its first byte is F2 or F3
  } kind = NotOurs;
  x86::Instruction instruction{};
  std::uint8_t length = 0;
};

/// `code`: the bytes at `rip`, a breakpoint first. `first_byte`: what stands there in the program's file, or
/// a negative number.
UnderBreakpoint look_under_breakpoint(SiteTable& sites, std::uint64_t rip, const CodeBytes& code,
                                      int first_byte);

/// What the file of a private mapping has at `address`, if it has what stands in memory behind it too; else a
/// negative number.
int byte_of_file(Mappings& mappings, std::uint64_t address, std::span<const std::uint8_t> code);

/// Whether a debugger traces this thread.
bool is_traced();

}  // namespace eum::rt::native

#pragma once
// What stands where a thread trapped, classified while another thread may be patching the very bytes. It must
// not know signals, registers or how an access is done.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "frontend/x86/instruction.hpp"
#include "runtime/user_msr/native/site_table.hpp"

namespace eum::rt::native {

/// As many bytes as an instruction can have, or as can be read.
struct CodeBytes {
  std::array<std::uint8_t, x86::max_length> bytes{};
  std::size_t count = 0;

  std::span<const std::uint8_t> span() const { return {bytes.data(), count}; }
};

struct Trapped {
  enum Kind : std::uint8_t {
    NotOurs,  ///< the program's own SIGILL
    Retry,    ///< patched by another thread since: to be executed again
    Access,   ///< an access to do
  } kind = NotOurs;
  x86::Instruction instruction{};
  std::uint8_t length = 0;  ///< from RIP
  std::uint8_t segment_prefixes = 0;
  bool is_whole = false;  ///< the bytes were read from the program, not remembered
};

/// Classifies bytes that were read once. Right only if they stood there together.
Trapped classify_trap(SiteTable& sites, std::uint64_t rip, std::span<const std::uint8_t> code);

/// Reads and classifies until both saw the same bytes; `code` holds them then. A thread that patches changes
/// a site in steps, and a read may have bytes from before and after one: no instruction that ever stood
/// there, or another one than did. `read(address, std::span<std::uint8_t>)` returns how many bytes there
/// were; it may read them in any order. Two equal reads of which the site's first byte is the program's are
/// of the program's instruction: a patch changes that byte first, so none had begun when the later read
/// began.
template <class Read>
Trapped classify_stable(SiteTable& sites, std::uint64_t rip, CodeBytes& code, Read read) {
  for (;;) {
    code.count = read(rip, std::span(code.bytes));
    Trapped trapped = classify_trap(sites, rip, code.span());
    bool is_remembered = trapped.kind == Trapped::Access && !trapped.is_whole;
    if (trapped.kind == Trapped::Retry || is_remembered) return trapped;
    CodeBytes now;
    now.count = read(rip, std::span(now.bytes));
    if (std::ranges::equal(code.span(), now.span())) return trapped;
  }
}

}  // namespace eum::rt::native

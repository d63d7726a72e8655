#pragma once
// The code at which a thread trapped, classified while another thread may be rewriting the same bytes. It
// must not know signals, registers or how an access is done.
#include <array>
#include <atomic>
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

/// Odd while sites are being rewritten, and never the same value twice: bytes read between two equal times
/// were in memory together, except those of sites in state Patching. One thread at a time rewrites.
class RewriteClock {
 public:
  void begin() { time_.fetch_add(1); }
  void end() { time_.fetch_add(1); }
  std::uint64_t now() const { return time_.load(); }
  static bool is_rewriting(std::uint64_t time) { return time % 2 != 0; }

 private:
  std::atomic<std::uint64_t> time_{0};
};

/// Legacy prefixes except LOCK, and REX: prefixes that can precede a site.
constexpr bool is_prefix(std::uint8_t byte) {
  switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf2:
    case 0xf3:
      return true;
    default:
      return (byte & 0xf0) == 0x40;
  }
}

struct Trapped {
  enum Kind : std::uint8_t {
    NotOurs,  ///< a SIGILL of the program itself
    Retry,    ///< patched by another thread in the meantime: execute again
    Access,   ///< an access to be done
  } kind = NotOurs;
  x86::Instruction instruction{};
  std::uint8_t length = 0;    ///< counted from RIP
  std::uint8_t prefixes = 0;  ///< bytes from RIP to the site: redundant prefixes
  bool is_whole = false;      ///< the bytes were read from memory instead of taken from the site's entry
};

/// Classifies bytes that were read once. Correct only if they were in memory together. `rewriting`: the
/// clock's state before they were read; a site in state Patching may then have any bytes.
Trapped classify_trap(SiteTable& sites, std::uint64_t rip, std::span<const std::uint8_t> code,
                      bool rewriting);

/// Reads and classifies until no site was rewritten in the meantime; `code` then holds the bytes.
/// `read(address, std::span<std::uint8_t>)` returns the number of bytes read, in any order. A site that is
/// being rewritten is classified by its entry, to avoid waiting for a thread that may not run.
template <class Read, class Clock>
Trapped classify_stable(SiteTable& sites, const Clock& clock, std::uint64_t rip, CodeBytes& code, Read read) {
  for (;;) {
    std::uint64_t before = clock.now();
    code.count = read(rip, std::span(code.bytes));
    Trapped trapped = classify_trap(sites, rip, code.span(), RewriteClock::is_rewriting(before));
    bool is_remembered = trapped.kind == Trapped::Access && !trapped.is_whole;
    if (trapped.kind == Trapped::Retry || is_remembered || clock.now() == before) return trapped;
  }
}

}  // namespace eum::rt::native

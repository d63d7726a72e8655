// Classifies the bytes at a trap once: a jump of ours, the trap byte, or an instruction.
#include "runtime/user_msr/native/trapped.hpp"

#include "frontend/x86/decoder.hpp"
#include "runtime/user_msr/native/patcher.hpp"

namespace eum::rt::native {
namespace {

constexpr bool is_segment_prefix(std::uint8_t byte) {
  return byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x64 || byte == 0x65;
}

}  // namespace

Trapped classify_trap(SiteTable& sites, std::uint64_t rip, std::span<const std::uint8_t> code) {
  Trapped trapped;
  std::size_t prefixes = 0;
  while (prefixes < code.size() && is_segment_prefix(code[prefixes])) ++prefixes;
  trapped.segment_prefixes = static_cast<std::uint8_t>(prefixes);
  std::span<const std::uint8_t> core = code.subspan(prefixes);
  Site* site = sites.find(rip + prefixes);
  if (site && is_patched(*site, core)) {
    trapped.kind = Trapped::Retry;
  } else if (site && !core.empty() && core[0] == trap_byte && site->state == SiteState::Patching) {
    trapped.kind = Trapped::Access;
    trapped.instruction = site->instruction;
    trapped.length = static_cast<std::uint8_t>(prefixes + site->length);
  } else if (x86::Decoding d = x86::decode(code, x86::Mode::Bits64);
             d.verdict == x86::Verdict::Instruction && d.instruction.is_user()) {
    trapped.kind = Trapped::Access;
    trapped.instruction = d.instruction;
    trapped.length = d.length;
    trapped.is_whole = true;
  }
  return trapped;
}

}  // namespace eum::rt::native

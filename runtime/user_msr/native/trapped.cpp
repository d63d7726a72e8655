// Classifies the bytes at a trap once: a jump of the runner, a site that is being rewritten, or an
// instruction.
#include "runtime/user_msr/native/trapped.hpp"

#include "frontend/x86/decoder.hpp"
#include "runtime/user_msr/native/patcher.hpp"

namespace eum::rt::native {
namespace {

/// Number of redundant prefix bytes: without them it is the same instruction. A jump past some of them (for
/// example past a LOCK that the program finds unnecessary) enters the instruction too, so it is patched after
/// all of them.
std::uint8_t count_redundant_prefixes(std::span<const std::uint8_t> code, const x86::Decoding& whole) {
  for (std::uint8_t skipped = whole.length; skipped-- > 1;) {
    x86::Decoding rest = x86::decode_without_apx(code.subspan(skipped));
    if (rest.verdict == x86::Verdict::Instruction && rest.instruction == whole.instruction &&
        rest.length == whole.length - skipped)
      return skipped;
  }
  return 0;
}

}  // namespace

Trapped classify_trap(SiteTable& sites, std::uint64_t rip, std::span<const std::uint8_t> code,
                      bool rewriting) {
  Trapped trapped;
  for (std::size_t prefixes = 0; prefixes < code.size(); ++prefixes) {
    std::span<const std::uint8_t> rest = code.subspan(prefixes);
    if (sites.find(rip + prefixes, [&](const Site& site) { return is_patched(site, rest); })) {
      trapped.kind = Trapped::Retry;
      return trapped;
    }
    const Site* rewritten = sites.find(rip + prefixes, [&](const Site& site) {
      return site.state == SiteState::Patching && (rewriting || rest[0] == trap_byte);
    });
    if (rewritten) {
      trapped.kind = Trapped::Access;
      trapped.instruction = rewritten->instruction;
      trapped.length = static_cast<std::uint8_t>(prefixes + rewritten->length);
      trapped.prefixes = static_cast<std::uint8_t>(prefixes);
      return trapped;
    }
    if (!is_prefix(rest[0])) break;
  }
  x86::Decoding d = x86::decode_without_apx(code);
  if (d.verdict != x86::Verdict::Instruction || !d.instruction.is_user()) return trapped;
  trapped.kind = Trapped::Access;
  trapped.instruction = d.instruction;
  trapped.length = d.length;
  trapped.prefixes = count_redundant_prefixes(code, d);
  trapped.is_whole = true;
  return trapped;
}

}  // namespace eum::rt::native

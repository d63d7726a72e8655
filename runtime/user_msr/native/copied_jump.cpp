// Finding copies of jumps.
#include "runtime/user_msr/native/copied_jump.hpp"

#include <algorithm>

#include "frontend/x86/decoder.hpp"
#include "runtime/user_msr/native/patcher.hpp"

namespace eum::rt::native {
namespace {

/// The instruction as it was copied: what the jump replaced, and what the program may have changed behind it.
x86::Decoding decode_copy(const Site& site, std::span<std::uint8_t> code) {
  std::ranges::copy(replaced_bytes(site), code.begin());
  return x86::decode(code, x86::Mode::Bits64);
}

}  // namespace

CopiedJump find_copied_jump(RunnerState& state, std::uint64_t target) {
  CopiedJump found;
  state.lock.lock();
  state.code.begin();
  state.sites.each([&](const Site& site) {
    std::uint64_t address = target - (site.stub - site.address);
    if (found.address != 0 || site.stub == 0 || address == site.address) return;
    std::array<std::uint8_t, x86::max_length> code{};
    std::span<std::uint8_t> there(code.data(), site.length);
    if (!state.code.read(address, there)) return;
    if (is_patched(site, there)) {
      x86::Decoding d = decode_copy(site, there);
      if (d.verdict != x86::Verdict::Instruction || d.length != site.length) return;
      found = {address, replace_copied_jump(state, address, there, d.instruction), d.instruction, d.length};
    } else if (state.sites.find(address, [&](const Site& known) {
                 return std::ranges::equal(known.bytes(), there) || is_patched(known, there);
               })) {
      found.address = address;  // another thread came before
      found.is_replaced = true;
    }
  });
  state.lock.unlock();
  return found;
}

}  // namespace eum::rt::native

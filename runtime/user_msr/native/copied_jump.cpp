// Finds copies of jumps.
#include "runtime/user_msr/native/copied_jump.hpp"

#include <algorithm>
#include <cstring>

#include "frontend/x86/decoder.hpp"
#include "runtime/user_msr/native/patcher.hpp"
#include "runtime/user_msr/native/protection_keys.hpp"

namespace eum::rt::native {
namespace {

constexpr std::uint64_t largest_range = 1 << 20;

/// Replaces code that the program itself can write in one 8-byte access, so that no thread sees a part of it.
/// False if that would cross a cache line, or if the bytes are no longer `before`.
bool replace_at_once(std::uint64_t address, std::span<const std::uint8_t> before,
                     std::span<const std::uint8_t> after) {
  constexpr std::uint64_t line = 64;
  if (address % line > line - sizeof(std::uint64_t)) return false;
  auto* at = reinterpret_cast<std::uint64_t*>(address);
  std::uint64_t old;
  __builtin_memcpy(&old, at, sizeof old);
  if (std::memcmp(&old, before.data(), before.size()) != 0) return false;
  std::uint64_t fresh = old;
  __builtin_memcpy(&fresh, after.data(), after.size());
  asm volatile("lock cmpxchg %2, %1" : "+a"(old), "+m"(*at) : "r"(fresh) : "memory", "cc");
  return std::memcmp(&old, before.data(), before.size()) == 0;
}

/// Puts the program's bytes in place of the copied jump, if that is safe. `code` is the instruction.
bool replace(RunnerState& state, std::uint64_t address, std::span<const std::uint8_t> jump,
             std::span<const std::uint8_t> code, const x86::Instruction& instruction) {
  Mapping mapping;
  if (state.mappings.find(address, mapping) && mapping.writable && mapping.readable &&
      address + sizeof(std::uint64_t) <= mapping.end) {
    AllKeysAllowed allowed(state.cpu.has_protection_keys);
    return replace_at_once(address, jump, code.first(jump_bytes));
  }
  return replace_copied_jump(state, address, code, instruction);
}

/// Decodes a copy of the site's jump, whose bytes are `code`; false if it is not one. `code` becomes the
/// instruction: what the jump replaced, and the bytes after it, which the program may have changed.
bool decode_copy(const Site& site, std::span<std::uint8_t> code, x86::Decoding& decoding) {
  if (!is_patched(site, code)) return false;
  std::ranges::copy(replaced_bytes(site), code.begin());
  decoding = x86::decode_without_apx(code);
  return decoding.verdict == x86::Verdict::Instruction && decoding.length == site.length;
}

/// Whether the target of a jump is code.
bool leads_to_code(RunnerState& state, std::uint64_t target) {
  Mapping mapping;
  return state.mappings.find(target, mapping) && mapping.executable;
}

/// Replaces the copies in `code`, which was read from `start`. A copy cut off by the end is left.
void replace_in(RunnerState& state, std::uint64_t start, std::span<std::uint8_t> code) {
  for (std::size_t i = 0; i + jump_bytes <= code.size(); ++i) {
    const void* found = std::memchr(&code[i], jump_opcode, code.size() - jump_bytes + 1 - i);
    if (!found) return;
    i = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - code.data());
    std::int32_t displacement;
    __builtin_memcpy(&displacement, &code[i + 1], sizeof displacement);
    std::uint64_t distance = jump_bytes + static_cast<std::uint64_t>(std::int64_t{displacement});
    state.sites.each_with_jump(distance, [&](const Site& site) {
      if (i + site.length > code.size()) return;
      std::array<std::uint8_t, x86::max_length> copy;
      std::copy_n(&code[i], site.length, copy.begin());
      x86::Decoding decoding;
      if (decode_copy(site, {copy.data(), site.length}, decoding) &&
          !leads_to_code(state, start + i + distance))
        state.code.write(start + i, {copy.data(), jump_bytes});
    });
  }
}

}  // namespace

CopiedJump find_copied_jump(RunnerState& state, std::uint64_t target) {
  CopiedJump found;
  state.lock.lock();
  state.code.begin();
  state.sites.each([&](const Site& site) {
    std::uint64_t address = target - (site.stub - site.address);
    if (found.address != 0 || site.stub == 0 || address == site.address) return;
    std::array<std::uint8_t, x86::max_length> code{}, jump{};
    std::span<std::uint8_t> there(code.data(), site.length);
    if (!state.code.read(address, there)) return;
    jump = code;
    x86::Decoding d;
    if (decode_copy(site, there, d)) {
      bool is_replaced = replace(state, address, std::span(jump).first(jump_bytes), there, d.instruction);
      found = {address, is_replaced, d.instruction, d.length};
    } else if (state.sites.find(address, [&](const Site& known) {
                 return std::ranges::equal(known.bytes(), there) || is_patched(known, there);
               })) {
      found.address = address;  // another thread restored it first
      found.is_replaced = true;
    } else if (std::ranges::equal(replaced_bytes(site), there.first(jump_bytes))) {
      found.address = address;  // another thread replaced it in memory that is never patched
      found.is_replaced = true;
    }
  });
  state.lock.unlock();
  return found;
}

void replace_copied_jumps(RunnerState& state, std::uint64_t start, std::uint64_t end) {
  if (!state.sites.has_jumps() || end - start > largest_range) return;
  state.code.begin();
  // A copy cut off at the end of one part is in the next.
  constexpr std::size_t step = RunnerState::scratch_bytes - x86::max_length;
  for (std::uint64_t at = start; at < end; at += step)
    replace_in(state, at, std::span(state.scratch).first(state.code.read_some(at, state.scratch)));
}

}  // namespace eum::rt::native

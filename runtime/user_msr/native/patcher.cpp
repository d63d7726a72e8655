// Patching. The site's first byte becomes the trap byte, then the bytes behind it change, then the first byte
// becomes the jump's; between the steps all cores are serialized. A thread thus fetches the old instruction,
// the trap byte or the whole jump, wherever lines and pages end, and the first two lead it to the SIGILL
// handler.
#include "runtime/user_msr/native/patcher.hpp"

#include <algorithm>
#include <bit>

namespace eum::rt::native {
namespace {

constexpr std::uint32_t max_patches = 256;  // of a site whose code comes and goes

class TryLock {
 public:
  explicit TryLock(std::atomic<bool>& lock)
      : lock_(lock), taken_(!lock.exchange(true, std::memory_order_acquire)) {}
  ~TryLock() {
    if (taken_) lock_.store(false, std::memory_order_release);
  }
  TryLock(const TryLock&) = delete;
  TryLock& operator=(const TryLock&) = delete;
  bool taken() const { return taken_; }

 private:
  std::atomic<bool>& lock_;
  bool taken_;
};

/// Code that only this process executes and nobody is writing: private, executable, not writable. A writable
/// page may be a JIT's, which may rewrite the site while we do.
bool is_patchable_range(RunnerState& state, std::uint64_t address, std::size_t bytes) {
  Mapping mapping;
  for (std::uint64_t at = address; at < address + bytes; at = mapping.end)
    if (!state.code.find_mapping(at, mapping) || !mapping.executable || mapping.writable || mapping.shared)
      return false;
  return true;
}

InlineCase inline_case(RunnerState& state, std::uint32_t msr, bool is_read) {
  InlineCase none{.msr = msr, .access = InlineAccess::None, .operand = 0};
  if (msr >= x86::user_msr_limit) return none;
  MsrSlot* slot = state.msrs.find_user(msr);
  const std::uint8_t* bitmap = state.bitmap.data();
  if (!slot || !bitmap_allows(bitmap, msr, is_read ? x86::Access::Read : x86::Access::Write)) return none;
  auto storage = reinterpret_cast<std::uintptr_t>(&slot->value);
  bool program_writes = slot->writable && bitmap_allows(bitmap, msr, x86::Access::Write);
  if (is_read) {
    if (!slot->readable) return none;
    switch (slot->source) {
      case MsrSource::Value:
        return program_writes
                   ? InlineCase{msr, InlineAccess::Load, storage}
                   : InlineCase{msr, InlineAccess::Constant, slot->value.load(std::memory_order_relaxed)};
      case MsrSource::Counter:
        return {msr, InlineAccess::Increment, storage};
      case MsrSource::Tsc:
        return {msr, InlineAccess::Tsc, 0};
      case MsrSource::File:
      case MsrSource::Handler:
        return none;
    }
  }
  bool plain = slot->source == MsrSource::Value || slot->source == MsrSource::Counter;
  if (!plain || !slot->writable || slot->reserved != 0) return none;
  return {msr, InlineAccess::Store, storage};
}

/// What the stub serves inline: the register just accessed first, then others while there is room.
std::size_t collect_cases(RunnerState& state, const x86::Instruction& instruction, std::uint32_t msr,
                          std::array<InlineCase, max_inline_cases>& cases) {
  if (state.trace.is_open()) return 0;
  std::size_t count = 0;
  auto add = [&](std::uint32_t address) {
    InlineCase c = inline_case(state, address, instruction.is_read());
    if (c.access != InlineAccess::None) cases[count++] = c;
  };
  add(msr);
  if (instruction.is_immediate()) return count;
  for (std::uint32_t i = 0; i < state.msrs.size() && count < cases.size(); ++i)
    if (state.msrs.slot(i).address != msr) add(state.msrs.slot(i).address);
  return count;
}

bool write_stub(RunnerState& state, Site& site, std::uint32_t msr) {
  std::array<InlineCase, max_inline_cases> cases;
  StubRequest request;
  request.instruction = site.instruction;
  request.resume = site.address + site.length;
  request.cases = {cases.data(), collect_cases(state, site.instruction, msr, cases)};
  request.slow_path = &slow_path;
  request.site = &site;
  // Its length does not depend on where it stands.
  std::size_t length = emit_stub(request).length;
  if (length > max_stub_bytes) return false;
  request.address = state.arenas.allocate(site.address, length);
  if (request.address == 0) return false;
  Stub stub = emit_stub(request);
  if (!state.code.write(request.address, {stub.bytes.data(), stub.length})) return false;
  site.stub = request.address;
  return true;
}

std::array<std::uint8_t, jump_bytes> jump_to_stub(const Site& site) {
  std::uint64_t from = site.address + jump_bytes;
  auto displacement = static_cast<std::uint32_t>(site.stub - from);
  std::array<std::uint8_t, jump_bytes> jump{jump_opcode};
  for (unsigned i = 0; i < 4; ++i) jump[1 + i] = static_cast<std::uint8_t>(displacement >> (8 * i));
  return jump;
}

/// Whether the bytes at `address`, which is mapped, are these.
bool still_stands(std::uint64_t address, std::span<const std::uint8_t> code) {
  std::array<std::uint8_t, x86::max_length> now{};
  return read_code(address, {now.data(), code.size()}) == code.size() &&
         std::equal(code.begin(), code.end(), now.begin());
}

/// The three steps. On failure the site may stay at the trap byte, which is slow and right.
bool rewrite(CodeMemory& memory, std::uint64_t address, std::span<const std::uint8_t> code) {
  return memory.write(address, {&trap_byte, 1}) && serialize_cores() &&
         memory.write(address + 1, code.subspan(1)) && serialize_cores() &&
         memory.write(address, code.first(1));
}

}  // namespace

bool is_patched(const Site& site, std::span<const std::uint8_t> code) {
  if (site.stub == 0 || code.size() < jump_bytes) return false;
  std::array<std::uint8_t, jump_bytes> jump = jump_to_stub(site);
  return std::equal(jump.begin(), jump.end(), code.begin());
}

void patch_site(RunnerState& state, std::uint64_t address, std::span<const std::uint8_t> code,
                std::uint8_t length, const x86::Instruction& instruction, std::uint32_t msr) {
  TryLock lock(state.lock);
  if (!lock.taken()) return;
  Site* site = state.sites.find(address);
  // Other code may stand there than at first; threads may still be in the stub of the old.
  if (!site || site->length != length ||
      !std::equal(code.begin(), code.begin() + length, site->original.begin())) {
    site = state.sites.add(address, [&](Site& fresh) {
      fresh.length = length;
      fresh.instruction = instruction;
      std::copy_n(code.begin(), length, fresh.original.begin());
    });
    if (!site) return;
  }
  // What protections forbid now they may allow later: tried again ever more rarely.
  if (site->state == SiteState::TrapOnly || !std::has_single_bit(++site->traps)) return;
  if (site->patches == max_patches || !can_emit(instruction)) {
    site->state = SiteState::TrapOnly;
    return;
  }
  if (!is_patchable_range(state, address, length)) return;
  state.code.begin_writes();
  if (site->stub == 0 && !write_stub(state, *site, msr)) return;
  // The bytes were looked at before the lock was taken.
  if (!still_stands(address, code.first(length))) return;
  site->state = SiteState::Patching;
  if (!rewrite(state.code, address, jump_to_stub(*site))) return;
  site->state = SiteState::Patched;
  site->traps = 0;
  ++site->patches;
}

void unpatch_all(RunnerState& state) {
  state.code.begin_writes();
  state.sites.each([&](Site& site) {
    if (site.stub == 0) return;
    // It may have been unmapped since, or be something else.
    if (!is_patchable_range(state, site.address, site.length)) return;
    std::array<std::uint8_t, jump_bytes> now{};
    if (read_code(site.address, now) != jump_bytes) return;
    if (is_patched(site, now) || (site.state == SiteState::Patching && now[0] == trap_byte))
      rewrite(state.code, site.address, {site.original.data(), jump_bytes});
  });
}

}  // namespace eum::rt::native

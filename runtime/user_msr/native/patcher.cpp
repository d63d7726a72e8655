// Patching. The first byte of the site is replaced by the trap byte, then the following bytes are changed,
// then the first byte gets its final value; between the steps all cores are serialized. A thread thus fetches
// the old instruction, the trap byte or the whole new instruction, even across cache lines and pages, and
// anything but the jump leads it to the SIGILL handler.
#include "runtime/user_msr/native/patcher.hpp"

#include <algorithm>
#include <bit>

namespace eum::rt::native {
namespace {

class TryLock {
 public:
  explicit TryLock(PatchLock& lock) : lock_(lock), taken_(lock.try_lock()) {}
  ~TryLock() {
    if (taken_) lock_.unlock();
  }
  TryLock(const TryLock&) = delete;
  TryLock& operator=(const TryLock&) = delete;
  bool taken() const { return taken_; }

 private:
  PatchLock& lock_;
  bool taken_;
};

/// Whether to try patching at this trap of a site. Protections may change, so patching is retried, ever more
/// rarely down to every 64th trap: then inspecting the mapping costs almost nothing.
constexpr std::uint32_t rarest_attempt = 64;
constexpr bool is_attempt(std::uint32_t traps) {
  return std::has_single_bit(traps) || traps % rarest_attempt == 0;
}

enum class Protection : std::uint8_t { Patchable, Writable, Unknown };

/// Patchable code is executed only by this process and written by nobody: private, executable, not writable.
/// A writable page may belong to a JIT, which may rewrite the site at the same time.
Protection protection_of(RunnerState& state, std::uint64_t address, std::size_t bytes) {
  Mapping mapping;
  for (std::uint64_t at = address; at < address + bytes; at = mapping.end) {
    if (!state.mappings.find(at, mapping)) return Protection::Unknown;
    if (!mapping.executable || mapping.writable || mapping.shared) return Protection::Writable;
  }
  return Protection::Patchable;
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

/// The cases that the stub serves inline: the register just accessed first, then others while there is room.
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

bool is_jump_for(RunnerState& state, const Site& site, std::uint64_t distance) {
  bool is_good = true;
  state.sites.each_with_jump(distance, [&](const Site& other) {
    is_good &= std::ranges::equal(replaced_bytes(site), replaced_bytes(other));
  });
  return is_good;
}

/// Fills unused code memory with trap bytes, so that a copied jump that leads there is detected.
void fill(RunnerState& state, std::uint64_t start, std::size_t size) {
  state.scratch.fill(trap_byte);
  for (std::size_t done = 0; done < size; done += state.scratch.size())
    state.code.write(start + done,
                     std::span(state.scratch).first(std::min(size - done, state.scratch.size())));
}

bool write_stub(RunnerState& state, Site& site, std::uint32_t msr) {
  std::array<InlineCase, max_inline_cases> cases;
  StubRequest request;
  request.instruction = site.instruction;
  request.resume = site.address + site.length;
  request.cases = {cases.data(), collect_cases(state, site.instruction, msr, cases)};
  request.slow_path = &slow_path;
  request.site = &site;
  Stub& stub = state.stub;
  // The length does not depend on the address.
  emit_stub(request, stub);
  if (stub.length > max_stub_bytes) return false;
  // A copy of the jump is identified by its displacement (copied_jump.hpp): two jumps that replace different
  // bytes must not have the same.
  do {
    request.address = state.arenas.allocate(
        site.address, stub.length, [&](std::uint64_t start, std::size_t size) { fill(state, start, size); });
    if (request.address == 0) return false;
  } while (!is_jump_for(state, site, request.address - site.address));
  emit_stub(request, stub);
  if (!state.code.write(request.address, {stub.bytes.data(), stub.length})) return false;
  state.arenas.describe(request.address, stub, request.resume);
  state.sites.set_stub(site, request.address);
  return true;
}

std::array<std::uint8_t, jump_bytes> jump_to_stub(const Site& site) {
  std::uint64_t from = site.address + jump_bytes;
  auto displacement = static_cast<std::uint32_t>(site.stub - from);
  std::array<std::uint8_t, jump_bytes> jump{jump_opcode};
  for (unsigned i = 0; i < 4; ++i) jump[1 + i] = static_cast<std::uint8_t>(displacement >> (8 * i));
  return jump;
}

/// Whether the bytes at `address`, which must be mapped, are these.
bool still_stands(RunnerState& state, std::uint64_t address, std::span<const std::uint8_t> code) {
  std::array<std::uint8_t, x86::max_length> now{};
  return read_code(state.cpu, address, {now.data(), code.size()}) == code.size() &&
         std::equal(code.begin(), code.end(), now.begin());
}

/// Marks a site for the next rewrite.
void mark(RunnerState& state, Site& site) {
  site.rewrite = state.rewrites + 1;
  site.state = SiteState::Patching;
}

/// Performs the three steps on all marked sites of the range; `to` gives their new bytes. On failure they may
/// keep the trap byte, which is slow but correct.
template <class To>
bool rewrite(RunnerState& state, std::uint64_t start, std::uint64_t end, To to, SiteState after) {
  bool good = true;
  std::uint64_t number = ++state.rewrites;
  auto each_site = [&](auto visit) {
    state.sites.each_in(start, end, [&](Site& site) {
      if (site.rewrite == number) visit(site);
    });
  };
  auto each = [&](auto write) {
    each_site([&](Site& site) { good &= write(site, std::span<const std::uint8_t>(to(site))); });
  };
  state.clock.begin();
  each([&](Site& site, auto) { return state.code.write(site.address, {&trap_byte, 1}); });
  good = good && serialize_cores();
  if (good) each([&](Site& site, auto code) { return state.code.write(site.address + 1, code.subspan(1)); });
  good = good && serialize_cores();
  if (good) each([&](Site& site, auto code) { return state.code.write(site.address, code.first(1)); });
  state.clock.end();
  if (good)
    each_site([&](Site& site) {
      site.traps = 0;
      site.state = after;
    });
  return good;
}

/// Whether there is the jump, or the trap byte of a rewrite that failed. Memory decides, not the last
/// rewrite: a program may move its code away and back.
bool stands_patched(RunnerState& state, const Site& site) {
  if (site.stub == 0) return false;
  std::array<std::uint8_t, jump_bytes> now{};
  if (!state.code.read(site.address, now)) return false;
  if (is_patched(site, now)) return true;
  if (site.state != SiteState::Patching || now[0] != trap_byte) return false;
  std::array<std::uint8_t, jump_bytes> jump = jump_to_stub(site);
  return std::equal(now.begin() + 1, now.end(), jump.begin() + 1) ||
         std::equal(now.begin() + 1, now.end(), site.original.begin() + 1);
}

/// The entry of the instruction at `address`, added if necessary; null if the table is full.
Site* find_or_add(RunnerState& state, std::uint64_t address, std::span<const std::uint8_t> code,
                  const x86::Instruction& instruction) {
  // If different code is placed there, threads may still be in the stub of the old code, so that entry is
  // kept; if the old code comes back, its stub still exists.
  Site* site = state.sites.find(address, [&](const Site& s) { return std::ranges::equal(s.bytes(), code); });
  if (site) return site;
  return state.sites.add(address, [&](Site& fresh) {
    fresh.length = static_cast<std::uint8_t>(code.size());
    fresh.instruction = instruction;
    std::ranges::copy(code, fresh.original.begin());
  });
}

/// Whether a jump at the site behaves as intended whatever prefixes precede it.
bool can_jump_from(RunnerState& state, const Site& site) {
  if (!state.cpu.truncates_jumps_after_66) return true;
  for (std::uint64_t at = site.address - 1; at >= site.address - x86::max_length; --at) {
    std::uint8_t byte = 0;
    if (!state.code.read(at, {&byte, 1}) || !is_prefix(byte)) return true;
    if (byte == 0x66) return false;
  }
  return true;
}

}  // namespace

std::span<const std::uint8_t> replaced_bytes(const Site& site) { return site.bytes().first(jump_bytes); }

bool is_patched(const Site& site, std::span<const std::uint8_t> code) {
  if (site.stub == 0 || code.size() < jump_bytes) return false;
  std::array<std::uint8_t, jump_bytes> jump = jump_to_stub(site);
  return std::equal(jump.begin(), jump.end(), code.begin());
}

void restore_copy(SiteTable& sites, std::uint64_t address, std::span<std::uint8_t> copy) {
  // The site at `address` itself must be left as it is for classify_trap().
  sites.each_in(address + 1, address + copy.size(), [&](const Site& site) {
    if (site.stub == 0 || site.address <= address) return;
    std::span<std::uint8_t> part = copy.subspan(static_cast<std::size_t>(site.address - address));
    part = part.first(std::min(part.size(), jump_bytes));
    std::array<std::uint8_t, jump_bytes> jump = jump_to_stub(site);
    if (std::equal(part.begin(), part.end(), jump.begin()))
      std::copy_n(site.original.begin(), part.size(), part.begin());
  });
}

void patch_site(RunnerState& state, std::uint64_t address, std::span<const std::uint8_t> code,
                const x86::Instruction& instruction, std::uint32_t msr) {
  TryLock lock(state.lock);
  if (!lock.taken() || state.changes != 0 || !state.can_patch) return;
  Site* site = find_or_add(state, address, code, instruction);
  static_assert(SiteTable::capacity == 32768, "the notice says so");
  if (!site) return state.notices.say(Notice::SitesFull, address);
  if (site->state == SiteState::TrapOnly || !is_attempt(++site->traps)) return;
  state.code.begin();
  if (!can_emit(instruction) || !can_jump_from(state, *site)) {
    site->state = SiteState::TrapOnly;
    return;
  }
  Protection protection = protection_of(state, address, code.size());
  if (protection != Protection::Patchable) {
    if (site->traps == rarest_attempt)
      state.notices.say(protection == Protection::Writable ? Notice::WritableCode : Notice::NoMaps, address);
    return;
  }
  if (site->stub == 0 && !write_stub(state, *site, msr)) return;
  // The bytes were read before the lock was taken.
  if (!still_stands(state, address, code)) return;
  mark(state, *site);
  rewrite(
      state, address, address + 1, [](const Site& s) { return jump_to_stub(s); }, SiteState::Patched);
}

bool restore_sites(RunnerState& state, std::uint64_t start, std::uint64_t end) {
  bool any = false;
  state.code.begin();
  state.sites.each_in(start, end, [&](Site& site) {
    if (!stands_patched(state, site)) return;
    mark(state, site);
    any = true;
  });
  return !any || rewrite(state, start, end, replaced_bytes, SiteState::Known);
}

bool replace_copied_jump(RunnerState& state, std::uint64_t address, std::span<const std::uint8_t> code,
                         const x86::Instruction& instruction) {
  if (state.changes != 0) return false;
  Site* site = find_or_add(state, address, code, instruction);
  if (!site || protection_of(state, address, code.size()) != Protection::Patchable) return false;
  mark(state, *site);
  return rewrite(state, address, address + 1, replaced_bytes, SiteState::Known);
}

void finish_rewrites(RunnerState& state) {
  if (!RewriteClock::is_rewriting(state.clock.now())) return;
  state.code.begin();
  state.sites.each([&](Site& site) {
    if (site.state == SiteState::Patching && state.code.write(site.address, replaced_bytes(site)))
      site.state = SiteState::Known;
  });
  state.clock.end();
}

}  // namespace eum::rt::native

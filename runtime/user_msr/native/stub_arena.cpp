// Placement of arenas.
#include "runtime/user_msr/native/stub_arena.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>

#include "runtime/user_msr/raw_syscall.hpp"

namespace eum::rt::native {
namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t page_of(std::uint64_t address) { return address & ~(page_bytes - 1); }

std::uint64_t address_of(const ArenaLayout* arena) { return reinterpret_cast<std::uintptr_t>(arena); }

// The jumps to the stub and back must both reach, with a margin for their own lengths.
constexpr std::uint64_t reach = (std::uint64_t{1} << 31) - 2 * ArenaLayout::code_bytes;
constexpr bool is_near(std::uint64_t arena, std::uint64_t site) {
  return (arena > site ? arena - site : site - arena) < reach;
}

/// Maps an arena at this address; null if there is no room.
ArenaLayout* map_at(std::uint64_t address) {
  long got = raw_syscall(SYS_mmap, static_cast<long>(address), sizeof(ArenaLayout), PROT_READ | PROT_EXEC,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (got < 0 && got > -4096) return nullptr;
  // A kernel that treats the address as a hint maps elsewhere. Some systems refuse to make writable memory
  // executable, but allow memory that is no longer executable to become writable.
  constexpr std::size_t tables = offsetof(ArenaLayout, depths);
  if (got == static_cast<long>(address) &&
      raw_syscall(SYS_mprotect, got + static_cast<long>(tables), sizeof(ArenaLayout) - tables,
                  PROT_READ | PROT_WRITE) == 0)
    return reinterpret_cast<ArenaLayout*>(got);
  raw_syscall(SYS_munmap, got, sizeof(ArenaLayout));
  return nullptr;
}

}  // namespace

ArenaLayout* StubArenas::map_near(std::uint64_t site) const {
  // Far from the code, so that neither the heap after a program nor a library's neighbours are in the way,
  // and so that a jump copied elsewhere does not lead to code (see copied_jump.hpp). Arenas have different
  // distances from their code: otherwise a copied jump to one arena's stub could lead into another.
  constexpr std::uint64_t step = 29 << 20, steps = reach / step, first = 1536 / 29;
  for (std::uint64_t i = 0; i < steps; ++i) {
    std::uint64_t distance = ((first + 2 * steps - i - count_ % steps) % steps + 1) * step;
    for (bool below : {true, false}) {
      std::uint64_t hint = page_of(below ? site - distance : site + distance);
      if (hint < (1 << 20) || hint >= (std::uint64_t{1} << 47) - sizeof(ArenaLayout)) continue;
      if (!is_near(hint, site)) continue;
      if (ArenaLayout* arena = map_at(hint)) return arena;
    }
  }
  return nullptr;
}

std::uint64_t StubArenas::allocate_from_old(std::uint64_t site, std::size_t bytes) {
  bytes = (bytes + ArenaLayout::unit - 1) & ~(ArenaLayout::unit - 1);
  for (std::size_t i = 0; i < count_; ++i) {
    Arena& arena = arenas_[i];
    if (!is_near(address_of(arena.memory), site) || arena.used + bytes > ArenaLayout::code_bytes) continue;
    arena.used += bytes;
    return address_of(arena.memory) + arena.used - bytes;
  }
  return 0;
}

ArenaLayout* StubArenas::add_arena(std::uint64_t site) {
  ArenaLayout* memory = count_ == max_arenas ? nullptr : map_near(site);
  if (!memory) return nullptr;
  describe_arena(*memory);
  arenas_[count_] = {memory, 0};
  __atomic_store_n(&count_, count_ + 1, __ATOMIC_RELEASE);
  return memory;
}

void StubArenas::describe(std::uint64_t address, const Stub& stub, std::uint64_t return_address) {
  ArenaLayout& arena = *find(address);
  std::size_t at = address - address_of(&arena);
  std::copy_n(stub.depths.begin(), stub.length, arena.depths.begin() + static_cast<std::ptrdiff_t>(at));
  for (std::size_t i = 0; i < stub.length; i += ArenaLayout::unit)
    arena.return_addresses[(at + i) / ArenaLayout::unit] = return_address;
}

ArenaLayout* StubArenas::find(std::uint64_t address) const {
  std::size_t count = __atomic_load_n(&count_, __ATOMIC_ACQUIRE);
  for (std::size_t i = 0; i < count; ++i)
    if (address - address_of(arenas_[i].memory) < ArenaLayout::code_bytes) return arenas_[i].memory;
  return nullptr;
}

void StubArenas::release() {
  std::size_t count = count_;
  __atomic_store_n(&count_, std::size_t{0}, __ATOMIC_RELEASE);
  for (std::size_t i = 0; i < count; ++i) {
    forget_arena(*arenas_[i].memory);
    raw_syscall(SYS_munmap, static_cast<long>(address_of(arenas_[i].memory)), sizeof(ArenaLayout));
  }
}

}  // namespace eum::rt::native

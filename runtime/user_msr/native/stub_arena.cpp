// Where arenas lie.
#include "runtime/user_msr/native/stub_arena.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "runtime/user_msr/raw_syscall.hpp"

namespace eum::rt::native {
namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t page_of(std::uint64_t address) { return address & ~(page_bytes - 1); }

}  // namespace

std::uint64_t StubArenas::allocate(std::uint64_t site, std::size_t bytes) {
  // Both the jump to the stub and the one back must reach with a margin for their own length.
  constexpr std::uint64_t reach = (std::uint64_t{1} << 31) - 2 * arena_bytes;
  bytes = (bytes + 15) & ~std::size_t{15};
  auto near = [&](std::uint64_t start) { return (start > site ? start - site : site - start) < reach; };
  for (std::size_t i = 0; i < count_; ++i) {
    Arena& arena = arenas_[i];
    if (!near(arena.start) || arena.used + bytes > arena_bytes) continue;
    arena.used += bytes;
    return arena.start + arena.used - bytes;
  }
  if (count_ == max_arenas || bytes > arena_bytes) return 0;
  // Far from the code, so that neither the heap behind a program nor a library's neighbours are in the way,
  // and that a jump that was copied to another place ends in no code (see copied_jump.hpp).
  constexpr std::uint64_t step = 29 << 20, steps = reach / step, first = 1536 / 29;
  for (std::uint64_t i = 0; i < steps; ++i) {
    // No two as far from their code: what leads from a copy of one's to its stub would lead into the other.
    std::uint64_t distance = ((first + 2 * steps - i - count_ % steps) % steps + 1) * step;
    for (int side = 0; side < 2; ++side) {
      std::uint64_t hint = page_of(side == 0 ? site - distance : site + distance);
      if (hint < (1 << 20) || hint >= (std::uint64_t{1} << 47) - arena_bytes || !near(hint)) continue;
      long got = raw_syscall(SYS_mmap, static_cast<long>(hint), arena_bytes, PROT_READ | PROT_EXEC,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (got < 0 && got > -4096) continue;
      auto start = static_cast<std::uint64_t>(got);
      if (!near(start)) {  // a kernel that takes the address as a hint
        raw_syscall(SYS_munmap, got, arena_bytes);
        continue;
      }
      arenas_[count_] = {start, bytes};
      __atomic_store_n(&count_, count_ + 1, __ATOMIC_RELEASE);
      return start;
    }
  }
  return 0;
}

bool StubArenas::contains(std::uint64_t address) const {
  std::size_t count = __atomic_load_n(&count_, __ATOMIC_ACQUIRE);
  for (std::size_t i = 0; i < count; ++i)
    if (address - arenas_[i].start < arena_bytes) return true;
  return false;
}

void StubArenas::release() {
  for (std::size_t i = 0; i < count_; ++i)
    raw_syscall(SYS_munmap, static_cast<long>(arenas_[i].start), arena_bytes);
  __atomic_store_n(&count_, std::size_t{0}, __ATOMIC_RELEASE);
}

}  // namespace eum::rt::native

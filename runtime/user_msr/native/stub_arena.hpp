#pragma once
// Memory for stubs near the code that jumps to them. Raw system calls only: it is allocated in a signal
// handler. It must not know what stubs do.
#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/user_msr/native/stub.hpp"
#include "runtime/user_msr/native/unwind_info.hpp"

namespace eum::rt::native {

/// Memory for stubs, readable and executable, within reach of a 32-bit displacement from the code that jumps
/// to it.
class StubArenas {
 public:
  static constexpr std::size_t max_arenas = 256;

  /// Allocates `bytes` bytes near `site`; 0 if there is no room. `fill(address, size)` fills the unused part
  /// of a new arena. The caller locks.
  template <class Fill>
  std::uint64_t allocate(std::uint64_t site, std::size_t bytes, Fill fill) {
    std::uint64_t address = allocate_from_old(site, bytes);
    if (address != 0) return address;
    ArenaLayout* fresh = add_arena(site);
    if (!fresh) return 0;
    fill(reinterpret_cast<std::uintptr_t>(&fresh->code), sizeof fresh->code);
    return allocate_from_old(site, bytes);
  }
  /// Stores the unwind information of a stub at `address`, which is allocated. Must be called before it is
  /// executed.
  void describe(std::uint64_t address, const Stub& stub, std::uint64_t return_address);
  /// The arena whose code contains `address`, or null. Safe without a lock.
  ArenaLayout* find(std::uint64_t address) const;
  /// Unmaps everything: no thread may execute a stub any more.
  void release();

 private:
  struct Arena {
    ArenaLayout* memory = nullptr;
    std::size_t used = 0;
  };
  std::uint64_t allocate_from_old(std::uint64_t site, std::size_t bytes);
  ArenaLayout* add_arena(std::uint64_t site);
  ArenaLayout* map_near(std::uint64_t site) const;
  std::array<Arena, max_arenas> arenas_{};
  // Read without a lock by find(); grows only after the arena's entry is complete.
  std::size_t count_ = 0;
};

}  // namespace eum::rt::native

#pragma once
// Room for stubs near the code that jumps to them. Raw system calls only: it is made in a signal handler. It
// must not know what stubs do.
#include <array>
#include <cstddef>
#include <cstdint>

namespace eum::rt::native {

/// Memory for stubs, readable and executable, within reach of a 32-bit displacement of the code that jumps to
/// it.
class StubArenas {
 public:
  static constexpr std::size_t arena_bytes = 64 * 1024;
  static constexpr std::size_t max_arenas = 256;

  /// `bytes` bytes near `site`; 0 where there is no room. The caller locks.
  std::uint64_t allocate(std::uint64_t site, std::size_t bytes);
  bool contains(std::uint64_t address) const;
  /// Unmaps everything: no thread may execute a stub any more.
  void release();

 private:
  struct Arena {
    std::uint64_t start = 0;
    std::size_t used = 0;
  };
  std::array<Arena, max_arenas> arenas_{};
  // Read without a lock by contains(); grows only after the arena's entry is complete.
  std::size_t count_ = 0;
};

}  // namespace eum::rt::native

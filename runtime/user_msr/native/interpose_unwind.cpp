// The function by which libgcc's unwinder finds the unwind information of an address: this version also finds
// that of stubs.
#include <cstdint>

#include "runtime/user_msr/native/next.hpp"
#include "runtime/user_msr/native/runner.hpp"

using namespace eum::rt::native;

extern "C" int _dl_find_object(void* address, dl_find_object* found) noexcept {
  RunnerState* state = runner();
  ArenaLayout* arena = state ? state->arenas.find(reinterpret_cast<std::uintptr_t>(address)) : nullptr;
  if (!arena) {
    auto* next = next__dl_find_object.get();
    return next ? next(address, found) : -1;
  }
  *found = {};
  found->dlfo_map_start = arena;
  found->dlfo_map_end = arena + 1;
  found->dlfo_eh_frame = eh_frame_header(*arena);
  return 0;
}

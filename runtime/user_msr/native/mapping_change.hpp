#pragma once
// Held around a system call by which the program changes its own memory: the program's bytes are put back
// first, and no site is patched until the call is over. It must not know which call it is.
#include <cstdint>

namespace eum::rt::native {

struct RunnerState;

class MappingChange {
 public:
  MappingChange();
  ~MappingChange();
  MappingChange(const MappingChange&) = delete;
  MappingChange& operator=(const MappingChange&) = delete;

  /// Must be called before the memory becomes writable or is removed. False, after a line on standard error,
  /// if bytes of the runner are still there.
  bool restore(std::uint64_t start, std::uint64_t length);
  /// Must be called before the memory becomes executable: restores the program's bytes in copies of patched
  /// code.
  void replace_copies(std::uint64_t start, std::uint64_t length);
  /// Must be called when the memory may be patched again.
  void let_patch(std::uint64_t start, std::uint64_t length);

 private:
  RunnerState* state_;
};

/// Puts the program's bytes back everywhere, and stops patching.
void stop_patching();

/// For the child after a fork: discards changes begun by threads that do not exist there.
void forget_changes_of_other_threads();

}  // namespace eum::rt::native

#pragma once
// Held around a system call by which the program changes its own memory: the program's bytes are put back
// before, and no site is patched until it is over. It must not know which call it is.
#include <cstdint>

namespace eum::rt::native {

struct RunnerState;

class MappingChange {
 public:
  MappingChange();
  ~MappingChange();
  MappingChange(const MappingChange&) = delete;
  MappingChange& operator=(const MappingChange&) = delete;

  /// To be called before the memory can be written or goes away. False, after a line on standard error, if
  /// bytes of the runner are still there.
  bool restore(std::uint64_t start, std::uint64_t length);
  /// To be called before the memory can be executed: copies of patched code in it become the program's.
  void replace_copies(std::uint64_t start, std::uint64_t length);
  /// To be called when the memory may be patched again.
  void let_patch(std::uint64_t start, std::uint64_t length);

 private:
  RunnerState* state_;
};

/// Puts the program's bytes back everywhere, and patches nothing from now on.
void stop_patching();

/// After a fork, in the child: changes that other threads had begun are nobody's.
void forget_changes_of_other_threads();

}  // namespace eum::rt::native

#pragma once
// Detects programs that the runner cannot follow, because the dynamic loader loads no libraries into them.
// Safe in a child of vfork. It must not know how programs are started.
#include <cstdint>

namespace eum::rt::native {

struct UnreachableChild {
  enum Why : std::uint8_t { No, Static, SetUserId } why = No;
  std::uint64_t offset = 0;  ///< in the file, of the first URDMSR or UWRMSR
};

/// Whether the program at `path`, or the interpreter in its first line, cannot be reached and contains an
/// instruction that needs the runner. Unreadable files are left to the kernel.
UnreachableChild look_at_child(const char* path);

}  // namespace eum::rt::native

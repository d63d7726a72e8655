#pragma once
// What the runner cannot follow into: a program that the dynamic loader does not load libraries into. Safe in
// a child of vfork. It must not know how programs are started.
#include <cstdint>

namespace eum::rt::native {

struct UnreachableChild {
  enum Why : std::uint8_t { No, Static, SetUserId } why = No;
  std::uint64_t offset = 0;  ///< in the file, of its first URDMSR or UWRMSR
};

/// Whether the program at `path`, or the interpreter that its first line names, is out of reach and has an
/// instruction that needs the runner. What cannot be read is left to the kernel.
UnreachableChild look_at_child(const char* path);

}  // namespace eum::rt::native

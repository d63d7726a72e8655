#pragma once
// One line of text per access, written by one system call; see slow_path.cpp for what it may call.
#include <atomic>
#include <cstdint>

#include "frontend/x86/instruction.hpp"

namespace eum::rt::native {

/// The file of a trace. Lines of different threads are not interleaved: the file is opened for appending.
class Trace {
 public:
  /// `path` must outlive the trace; "-" is standard error, an empty path means no trace. False if it cannot
  /// be written.
  bool open(const char* path);
  void close();
  bool is_open() const { return path_ != nullptr; }

  /// "1234 0x401136 urdmsr rax, rcx: 0x10 TSC_COPY = 0x3"; for a write "<- 0x3"; for a fault "#GP(0)".
  void line(std::uint64_t address, const x86::Instruction& instruction, std::uint32_t msr, const char* name,
            bool allowed, std::uint64_t value);

 private:
  bool is_ours(long file) const;
  const char* path_ = nullptr;
  std::atomic<long> file_{-1};
  std::uint64_t device_ = 0, inode_ = 0;
};

}  // namespace eum::rt::native

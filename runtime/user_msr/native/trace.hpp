#pragma once
// One line of text for each access, written by one system call; see slow_path.cpp for what may call it.
#include <atomic>
#include <cstdint>

#include "frontend/x86/instruction.hpp"

namespace eum::rt::native {

/// The file of a trace. Lines of several threads do not mix: the file is opened for appending.
class Trace {
 public:
  /// `path` must outlive the trace; "-" is standard error, empty none. False if it cannot be written.
  bool open(const char* path);
  void close();
  bool is_open() const { return path_ != nullptr; }

  /// "1234 0x401136 urdmsr rax, rcx: 0x10 TSC_COPY = 0x3"; of a write "<- 0x3"; of a fault "#GP(0)".
  void line(std::uint64_t address, const x86::Instruction& instruction, std::uint32_t msr, const char* name,
            bool allowed, std::uint64_t value);

 private:
  bool is_ours(long file) const;
  const char* path_ = nullptr;
  std::atomic<long> file_{-1};
  std::uint64_t device_ = 0, inode_ = 0;
};

}  // namespace eum::rt::native

#pragma once
// The mappings of this process, by raw system calls, because signal handlers use it. It must not know what
// the mappings are used for.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace eum::rt::native {

struct Mapping {
  std::uint64_t start = 0, end = 0;
  bool readable = false, writable = false, executable = false, shared = false;
};

/// A file in /proc that stays open, since opening it costs more than the rest of a patch. The program may
/// close it, reuse its number for another file, or fork: each use checks for that first.
class ProcFile {
 public:
  ProcFile(const char* path, int flags) : path_(path), flags_(flags) {}
  /// A descriptor for this process's file, or a negative number.
  long get();
  void close();

 private:
  bool is_ours() const;
  const char* path_;
  int flags_;
  long file_ = -1;
  long process_ = 0;
  std::uint64_t device_ = 0, inode_ = 0;
};

/// Not synchronised: the caller locks.
class Mappings {
 public:
  /// The mapping that contains `address`. False if there is none, or /proc is not available.
  bool find(std::uint64_t address, Mapping& mapping);
  /// The file of that mapping, and the offset of `address` in it; null if it has no file. Valid until the
  /// next call.
  const char* find_file(std::uint64_t address, std::uint64_t& offset);
  void close() { maps_.close(); }

 private:
  template <class Visit>
  bool each_line(long file, Visit visit);
  std::array<char, 4096> text_{};               // in a signal handler the stack may be small
  ProcFile maps_{"/proc/thread-self/maps", 0};  // O_RDONLY
};

}  // namespace eum::rt::native

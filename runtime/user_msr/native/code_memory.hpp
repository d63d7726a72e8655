#pragma once
// The process's own code as memory: what is mapped where, writing it, making other threads see it, and room
// for stubs near it. Raw system calls only: all of it runs in a signal handler. It must not know
// instructions.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace eum::rt::native {

struct Mapping {
  std::uint64_t start = 0, end = 0;
  bool readable = false, writable = false, executable = false, shared = false;
};

enum class WriteMethod : std::uint8_t {
  ProcMem,   ///< through /proc/thread-self/mem, which leaves protections alone
  Mprotect,  ///< makes the pages writable for a moment; they were readable, executable and private
};

/// What of the processor matters here. Looked at once, before anything may make CPUID fault.
struct HostCpu {
  bool has_protection_keys;       ///< memory may be executable and yet not readable
  bool truncates_jumps_after_66;  ///< 66 before a near jump makes it one of 16 bits: AMD's do so
};
HostCpu look_at_cpu();

/// A file of /proc that stays open, since opening one costs more than all the rest of a patch. The program
/// may close it, take its number for another file, or fork: each use checks for that first.
class ProcFile {
 public:
  ProcFile(const char* path, int flags) : path_(path), flags_(flags) {}
  /// A descriptor of this process's file, or a negative number.
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

/// The process's own code. One user at a time: the caller locks.
class CodeMemory {
 public:
  explicit CodeMemory(WriteMethod method) : method_(method) {}
  /// The mapping that holds `address`. False where there is none, or /proc is not there.
  bool find_mapping(std::uint64_t address, Mapping& mapping);
  /// To be called before a series of reads and writes.
  void begin() { file_ = method_ == WriteMethod::ProcMem ? mem_.get() : -1; }
  /// Reads code that need not be mapped. False if it is not.
  bool read(std::uint64_t address, std::span<std::uint8_t> to) const;
  /// Writes code of private mappings. False if nothing was written. One byte is written at once; more have no
  /// order.
  bool write(std::uint64_t address, std::span<const std::uint8_t> bytes);
  void close();

 private:
  static bool write_mprotect(std::uint64_t address, std::span<const std::uint8_t> bytes);
  WriteMethod method_;
  long file_ = -1;
  std::array<char, 4096> text_;                 // of maps; the stack may be a small one for signals
  ProcFile mem_{"/proc/thread-self/mem", 2};    // O_RDWR
  ProcFile maps_{"/proc/thread-self/maps", 0};  // O_RDONLY
};

/// Copies code from `address`, where an instruction was just fetched, without faulting on what lies behind
/// it. Returns how many bytes there were.
std::size_t read_code(const HostCpu& cpu, std::uint64_t address, std::span<std::uint8_t> to);

/// Registers the process for serialize_cores. False: the kernel lacks it.
bool prepare_serialize_cores();
/// On return every other thread of the process executes only what was written before (membarrier, SYNC_CORE).
bool serialize_cores();

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

#pragma once
// The process's own code as memory: reading it, writing it, making other threads see it. Raw system calls
// only: all of it runs in a signal handler. It must not know instructions.
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/user_msr/native/mappings.hpp"

namespace eum::rt::native {

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

/// The process's own code. One user at a time: the caller locks.
class CodeMemory {
 public:
  explicit CodeMemory(WriteMethod method) : method_(method) {}
  /// To be called before a series of reads and writes.
  void begin() { file_ = method_ == WriteMethod::ProcMem ? mem_.get() : -1; }
  /// Reads code that need not be mapped. False if it is not.
  bool read(std::uint64_t address, std::span<std::uint8_t> to) const;
  /// The same of as much as is mapped; how many bytes that were.
  std::size_t read_some(std::uint64_t address, std::span<std::uint8_t> to) const;
  /// Writes code of private mappings. False if nothing was written. One byte is written at once; more have no
  /// order.
  bool write(std::uint64_t address, std::span<const std::uint8_t> bytes);
  void close();

 private:
  static bool write_mprotect(std::uint64_t address, std::span<const std::uint8_t> bytes);
  WriteMethod method_;
  long file_ = -1;
  std::array<char, 4096> text_;               // of maps; the stack may be a small one for signals
  ProcFile mem_{"/proc/thread-self/mem", 2};  // O_RDWR
};

/// Copies code from `address`, where an instruction was just fetched, without faulting on what lies behind
/// it. Returns how many bytes there were.
std::size_t read_code(const HostCpu& cpu, std::uint64_t address, std::span<std::uint8_t> to);

/// The same without system calls: behind the first page only as much as an instruction of ours needs.
std::size_t read_code_without_calls(std::uint64_t address, std::span<std::uint8_t> to);

/// Registers the process for serialize_cores. False: the kernel lacks it.
bool prepare_serialize_cores();
/// On return every other thread of the process executes only what was written before (membarrier, SYNC_CORE).
bool serialize_cores();

}  // namespace eum::rt::native

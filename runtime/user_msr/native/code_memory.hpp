#pragma once
// The process's own code as memory: reads it, writes it, and makes other threads see changes. Raw system
// calls only: all of it runs in a signal handler. It must not know instructions.
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/user_msr/native/mappings.hpp"

namespace eum::rt::native {

enum class WriteMethod : std::uint8_t {
  ProcMem,   ///< through /proc/thread-self/mem, without changing protections
  Mprotect,  ///< makes the pages, which are private, writable temporarily; then they are readable and
             ///< executable
};

/// Relevant properties of the processor. Determined once, before anything may make CPUID fault.
struct HostCpu {
  bool has_protection_keys;       ///< memory may be executable but not readable
  bool truncates_jumps_after_66;  ///< 66 before a near jump makes it a 16-bit jump, as on AMD processors
};
HostCpu look_at_cpu();

/// The process's own code. Not synchronised: the caller locks.
class CodeMemory {
 public:
  explicit CodeMemory(WriteMethod method) : method_(method) {}
  /// Must be called before a series of reads and writes.
  void begin() { file_ = method_ == WriteMethod::ProcMem ? mem_.get() : -1; }
  /// Reads code that may be unmapped; false if it is.
  bool read(std::uint64_t address, std::span<std::uint8_t> to) const;
  /// Reads as much as is mapped; returns the number of bytes.
  std::size_t read_some(std::uint64_t address, std::span<std::uint8_t> to) const;
  /// Writes code in private mappings. False if nothing was written. A single byte is written atomically;
  /// several are written in no particular order.
  bool write(std::uint64_t address, std::span<const std::uint8_t> bytes);
  void close();

 private:
  static bool write_mprotect(std::uint64_t address, std::span<const std::uint8_t> bytes);
  WriteMethod method_;
  long file_ = -1;
  std::array<char, 4096> text_;               // for maps; in a signal handler the stack may be small
  ProcFile mem_{"/proc/thread-self/mem", 2};  // O_RDWR
};

/// Copies code from `address`, where an instruction was just fetched, without faulting on what follows it.
/// Returns the number of bytes copied.
std::size_t read_code(const HostCpu& cpu, std::uint64_t address, std::span<std::uint8_t> to);

/// The same without system calls: beyond the first page only as much as a user MSR instruction needs.
std::size_t read_code_without_calls(const HostCpu& cpu, std::uint64_t address, std::span<std::uint8_t> to);

/// Registers the process for serialize_cores(). False: the kernel does not support it.
bool prepare_serialize_cores();
/// Afterwards every other thread of the process executes only code written before the call (membarrier,
/// SYNC_CORE).
bool serialize_cores();

}  // namespace eum::rt::native

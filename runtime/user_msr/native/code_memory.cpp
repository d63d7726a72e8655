// Reads and writes code and serializes cores, by raw system calls.
#include "runtime/user_msr/native/code_memory.hpp"

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>

#include "frontend/x86/decoder.hpp"
#include "runtime/user_msr/native/protection_keys.hpp"
#include "runtime/user_msr/raw_syscall.hpp"

namespace eum::rt::native {
namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr long eperm = -1, efault = -14;
constexpr long mask_bytes = 8;  // of the kernel's signal masks

constexpr std::uint64_t page_of(std::uint64_t address) { return address & ~(page_bytes - 1); }

struct CpuidRegisters {
  std::uint32_t a, b, c, d;
};
CpuidRegisters cpuid(std::uint32_t leaf) {
  CpuidRegisters r{leaf, 0, 0, 0};
  asm volatile("cpuid" : "+a"(r.a), "=b"(r.b), "+c"(r.c), "=d"(r.d));
  return r;
}

/// Returns the number of bytes copied, or -errno.
long copy_checked(std::uint64_t address, std::span<std::uint8_t> to) {
  if (to.empty()) return 0;
  iovec local{to.data(), to.size()};
  iovec remote{reinterpret_cast<void*>(address), to.size()};
  return raw_syscall(SYS_process_vm_readv, raw_syscall(SYS_getpid), to_long(&local), 1, to_long(&remote), 1,
                     0);
}

/// Whether the `mask_bytes` there can be loaded. copy_checked() goes by what the mapping was asked to allow:
/// it refuses executable memory that is not readable, although processors without protection keys load it.
/// This call loads a mask from there and fails afterwards, as there is no such way to apply it.
bool can_be_loaded(std::uint64_t address) {
  constexpr long no_way = -1;
  return raw_syscall(SYS_rt_sigprocmask, no_way, static_cast<long>(address), 0, mask_bytes) != efault;
}

/// Loads to the end of the page: what was fetched there can be loaded. Returns the number of bytes loaded.
std::size_t load_to_end_of_page(std::uint64_t address, std::span<std::uint8_t> to) {
  std::size_t loaded = 0;
  for (; loaded < to.size() && (loaded == 0 || (address + loaded) % page_bytes != 0); ++loaded)
    to[loaded] = *reinterpret_cast<volatile const std::uint8_t*>(address + loaded);
  return loaded;
}

/// Continues beyond that as far as a user MSR instruction extends: those bytes were fetched with it.
std::size_t load_needed(std::uint64_t address, std::span<std::uint8_t> to, std::size_t loaded) {
  while (loaded < to.size() && x86::decode_without_apx(to.first(loaded)).verdict == x86::Verdict::Truncated) {
    to[loaded] = *reinterpret_cast<volatile const std::uint8_t*>(address + loaded);
    ++loaded;
  }
  return loaded;
}

}  // namespace

HostCpu look_at_cpu() {
  CpuidRegisters vendor = cpuid(0);
  bool is_intel = vendor.b == 0x756e6547 && vendor.d == 0x49656e69 && vendor.c == 0x6c65746e;  // GenuineIntel
  bool has_keys = vendor.a >= 7 && (cpuid(7).c >> 4 & 1) != 0;                                 // OSPKE
  return {.has_protection_keys = has_keys, .truncates_jumps_after_66 = !is_intel};
}

std::size_t CodeMemory::read_some(std::uint64_t address, std::span<std::uint8_t> to) const {
  long got = copy_checked(address, to);
  // Execute-only memory, or a system that refuses the other call.
  if (got <= 0 && file_ >= 0)
    got = raw_syscall(SYS_pread64, file_, to_long(to.data()), static_cast<long>(to.size()),
                      static_cast<long>(address));
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

bool CodeMemory::read(std::uint64_t address, std::span<std::uint8_t> to) const {
  return read_some(address, to) == to.size();
}

bool CodeMemory::write(std::uint64_t address, std::span<const std::uint8_t> bytes) {
  if (file_ >= 0) {
    long written = raw_syscall(SYS_pwrite64, file_, to_long(bytes.data()), static_cast<long>(bytes.size()),
                               static_cast<long>(address));
    if (written == static_cast<long>(bytes.size())) return true;
    if (written > 0) return false;
  }
  return write_mprotect(address, bytes);
}

void CodeMemory::close() { mem_.close(); }

std::size_t read_code(const HostCpu& cpu, std::uint64_t address, std::span<std::uint8_t> to) {
  AllKeysAllowed allowed(cpu.has_protection_keys);
  std::size_t loaded = load_to_end_of_page(address, to);
  long got = copy_checked(address + loaded, to.subspan(loaded));
  if (got >= 0) return loaded + static_cast<std::size_t>(got);
  return got == efault && !can_be_loaded(address + loaded) ? loaded : load_needed(address, to, loaded);
}

std::size_t read_code_without_calls(const HostCpu& cpu, std::uint64_t address, std::span<std::uint8_t> to) {
  AllKeysAllowed allowed(cpu.has_protection_keys);
  return load_needed(address, to, load_to_end_of_page(address, to));
}

bool CodeMemory::write_mprotect(std::uint64_t address, std::span<const std::uint8_t> bytes) {
  std::uint64_t start = page_of(address), end = page_of(address + bytes.size() - 1) + page_bytes;
  long length = static_cast<long>(end - start);
  if (raw_syscall(SYS_mprotect, static_cast<long>(start), length, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return false;
  auto* to = reinterpret_cast<volatile std::uint8_t*>(address);
  for (std::uint8_t byte : bytes) *to++ = byte;
  raw_syscall(SYS_mprotect, static_cast<long>(start), length, PROT_READ | PROT_EXEC);
  return true;
}

bool prepare_serialize_cores() {
  return raw_syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0) == 0;
}

bool serialize_cores() {
  long status = raw_syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0);
  // A process created by exec or an unusual clone is not registered yet.
  if (status == eperm && prepare_serialize_cores())
    status = raw_syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0);
  return status == 0;
}

}  // namespace eum::rt::native

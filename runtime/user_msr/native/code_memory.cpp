// Mappings, code writes, core serialization and stub memory by raw system calls.
#include "runtime/user_msr/native/code_memory.hpp"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/user_msr/raw_syscall.hpp"

namespace eum::rt::native {
namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr long eperm = -1;

constexpr std::uint64_t page_of(std::uint64_t address) { return address & ~(page_bytes - 1); }

/// PROCMAP_QUERY of Linux 6.11 (include/uapi/linux/fs.h): one mapping without the text of all.
struct ProcmapQuery {
  std::uint64_t size, query_flags, query_addr;
  std::uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
  std::uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
  std::uint64_t vma_name_addr, build_id_addr;
};
static_assert(sizeof(ProcmapQuery) == 104);
constexpr long procmap_query = 0xc0686611;  // _IOWR('f', 17, 104 bytes)

/// Reads a hexadecimal number at text[i] and moves past it and the character behind.
std::uint64_t take_hex(const char* text, std::size_t length, std::size_t& i) {
  std::uint64_t value = 0;
  for (; i < length; ++i) {
    char c = text[i];
    if (c >= '0' && c <= '9')
      value = value * 16 + static_cast<unsigned>(c - '0');
    else if (c >= 'a' && c <= 'f')
      value = value * 16 + static_cast<unsigned>(c - 'a' + 10);
    else
      break;
  }
  ++i;
  return value;
}

/// "start-end rwxp ...": the mapping, if it holds the address.
bool parse_line(const char* text, std::size_t length, std::uint64_t address, Mapping& mapping) {
  std::size_t i = 0;
  std::uint64_t start = take_hex(text, length, i), end = take_hex(text, length, i);
  if (i + 4 > length || address < start || address >= end) return false;
  mapping = {start, end, text[i] == 'r', text[i + 1] == 'w', text[i + 2] == 'x', text[i + 3] == 's'};
  return true;
}

/// Scans the text of /proc/thread-self/maps. Lines are longer than the buffer only behind what is parsed.
bool scan_maps(long file, std::uint64_t address, Mapping& mapping, std::span<char> buffer) {
  std::size_t held = 0;
  bool skipping = false;  // the rest of a line that did not fit
  for (;;) {
    long got = raw_syscall(SYS_read, file, to_long(&buffer[held]), static_cast<long>(buffer.size() - held));
    if (got <= 0) return false;
    held += static_cast<std::size_t>(got);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < held; ++i) {
      if (buffer[i] != '\n') continue;
      if (!skipping && parse_line(&buffer[begin], i - begin, address, mapping)) return true;
      skipping = false;
      begin = i + 1;
    }
    if (begin == 0 && held == buffer.size()) {
      if (!skipping && parse_line(buffer.data(), held, address, mapping)) return true;
      skipping = true;
      held = 0;
      continue;
    }
    for (std::size_t i = begin; i < held; ++i) buffer[i - begin] = buffer[i];
    held -= begin;
  }
}

struct CpuidRegisters {
  std::uint32_t a, b, c, d;
};
CpuidRegisters cpuid(std::uint32_t leaf) {
  CpuidRegisters r{leaf, 0, 0, 0};
  asm volatile("cpuid" : "+a"(r.a), "=b"(r.b), "+c"(r.c), "=d"(r.d));
  return r;
}

std::size_t copy_checked(std::uint64_t address, std::span<std::uint8_t> to) {
  if (to.empty()) return 0;
  iovec local{to.data(), to.size()};
  iovec remote{reinterpret_cast<void*>(address), to.size()};
  long got =
      raw_syscall(SYS_process_vm_readv, raw_syscall(SYS_getpid), to_long(&local), 1, to_long(&remote), 1, 0);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

}  // namespace

HostCpu look_at_cpu() {
  CpuidRegisters vendor = cpuid(0);
  bool is_intel = vendor.b == 0x756e6547 && vendor.d == 0x49656e69 && vendor.c == 0x6c65746e;  // GenuineIntel
  bool has_keys = vendor.a >= 7 && (cpuid(7).c >> 4 & 1) != 0;                                 // OSPKE
  return {.has_protection_keys = has_keys, .truncates_jumps_after_66 = !is_intel};
}

bool ProcFile::is_ours() const {
  struct stat status;
  return file_ >= 0 && process_ == raw_syscall(SYS_getpid) &&
         raw_syscall(SYS_fstat, file_, to_long(&status)) == 0 && status.st_dev == device_ &&
         status.st_ino == inode_;
}

long ProcFile::get() {
  if (is_ours()) return file_;
  constexpr long lowest_file = 300;  // out of the way of programs that count their descriptors
  long file = raw_syscall(SYS_open, to_long(path_), flags_ | O_CLOEXEC);
  if (file < 0) return file;
  long high = raw_syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, lowest_file);
  if (high >= 0) {
    raw_syscall(SYS_close, file);
    file = high;
  }
  struct stat status;
  if (raw_syscall(SYS_fstat, file, to_long(&status)) != 0) {
    raw_syscall(SYS_close, file);
    return -1;
  }
  file_ = file;
  process_ = raw_syscall(SYS_getpid);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  return file;
}

void ProcFile::close() {
  if (is_ours()) raw_syscall(SYS_close, file_);
  file_ = -1;
}

bool CodeMemory::find_mapping(std::uint64_t address, Mapping& mapping) {
  long file = maps_.get();
  if (file < 0) return false;
  ProcmapQuery query{};
  query.size = sizeof query;
  query.query_addr = address;
  if (raw_syscall(SYS_ioctl, file, procmap_query, to_long(&query)) == 0) {
    mapping = {query.vma_start,
               query.vma_end,
               (query.vma_flags & 1) != 0,
               (query.vma_flags & 2) != 0,
               (query.vma_flags & 4) != 0,
               (query.vma_flags & 8) != 0};
    return true;
  }
  raw_syscall(SYS_lseek, file, 0, SEEK_SET);
  return scan_maps(file, address, mapping, text_);
}

bool CodeMemory::read(std::uint64_t address, std::span<std::uint8_t> to) const {
  if (copy_checked(address, to) == to.size()) return true;
  // What can be executed only, or a system that refuses the other call.
  return file_ >= 0 && raw_syscall(SYS_pread64, file_, to_long(to.data()), static_cast<long>(to.size()),
                                   static_cast<long>(address)) == static_cast<long>(to.size());
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

void CodeMemory::close() {
  mem_.close();
  maps_.close();
}

std::size_t read_code(const HostCpu& cpu, std::uint64_t address, std::span<std::uint8_t> to) {
  if (cpu.has_protection_keys) {
    std::size_t first = std::min<std::size_t>(to.size(), page_bytes - (address & (page_bytes - 1)));
    std::size_t got = copy_checked(address, to.first(first));
    return got < first ? got : got + copy_checked(address + got, to.subspan(got));
  }
  // What was fetched can be loaded, to the end of its page.
  std::size_t loaded = 0;
  for (; loaded < to.size() && (loaded == 0 || (address + loaded) % page_bytes != 0); ++loaded)
    to[loaded] = *reinterpret_cast<volatile const std::uint8_t*>(address + loaded);
  return loaded + copy_checked(address + loaded, to.subspan(loaded));
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
  // A process that came from exec or an unusual clone is not registered yet.
  if (status == eperm && prepare_serialize_cores())
    status = raw_syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0);
  return status == 0;
}

std::uint64_t StubArenas::allocate(std::uint64_t site, std::size_t bytes) {
  // Both the jump to the stub and the one back must reach with a margin for their own length.
  constexpr std::uint64_t reach = (std::uint64_t{1} << 31) - 2 * arena_bytes;
  bytes = (bytes + 15) & ~std::size_t{15};
  auto near = [&](std::uint64_t start) { return (start > site ? start - site : site - start) < reach; };
  for (std::size_t i = 0; i < count_; ++i) {
    Arena& arena = arenas_[i];
    if (!near(arena.start) || arena.used + bytes > arena_bytes) continue;
    arena.used += bytes;
    return arena.start + arena.used - bytes;
  }
  if (count_ == max_arenas || bytes > arena_bytes) return 0;
  // Far from the code, so that neither the heap behind a program nor a library's neighbours are in the way,
  // and that a jump that was copied to another place ends in no code (see copied_jump.hpp).
  constexpr std::uint64_t step = 29 << 20, steps = reach / step, first = 1536 / 29;
  for (std::uint64_t i = 0; i < steps; ++i) {
    // No two as far from their code: what leads from a copy of one's to its stub would lead into the other.
    std::uint64_t distance = ((first + 2 * steps - i - count_ % steps) % steps + 1) * step;
    for (int side = 0; side < 2; ++side) {
      std::uint64_t hint = page_of(side == 0 ? site - distance : site + distance);
      if (hint < (1 << 20) || hint >= (std::uint64_t{1} << 47) - arena_bytes || !near(hint)) continue;
      long got = raw_syscall(SYS_mmap, static_cast<long>(hint), arena_bytes, PROT_READ | PROT_EXEC,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (got < 0 && got > -4096) continue;
      auto start = static_cast<std::uint64_t>(got);
      if (!near(start)) {  // a kernel that takes the address as a hint
        raw_syscall(SYS_munmap, got, arena_bytes);
        continue;
      }
      arenas_[count_] = {start, bytes};
      __atomic_store_n(&count_, count_ + 1, __ATOMIC_RELEASE);
      return start;
    }
  }
  return 0;
}

bool StubArenas::contains(std::uint64_t address) const {
  std::size_t count = __atomic_load_n(&count_, __ATOMIC_ACQUIRE);
  for (std::size_t i = 0; i < count; ++i)
    if (address - arenas_[i].start < arena_bytes) return true;
  return false;
}

void StubArenas::release() {
  for (std::size_t i = 0; i < count_; ++i)
    raw_syscall(SYS_munmap, static_cast<long>(arenas_[i].start), arena_bytes);
  __atomic_store_n(&count_, std::size_t{0}, __ATOMIC_RELEASE);
}

}  // namespace eum::rt::native

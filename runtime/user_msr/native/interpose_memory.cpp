// libc's functions that change the program's memory, as seen by the program under the runner: patched code
// gets the program's bytes back before it becomes writable, is moved or is removed.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <string_view>

#include "runtime/user_msr/native/interpose_syscall.hpp"
#include "runtime/user_msr/native/mapping_change.hpp"
#include "runtime/user_msr/native/next.hpp"

namespace {

using namespace eum::rt::native;

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t whole_pages(std::uint64_t length) {
  return length > UINT64_MAX - page_bytes ? UINT64_MAX : (length + page_bytes - 1) & ~(page_bytes - 1);
}

constexpr bool is_code_only(int protection) { return (protection & (PROT_EXEC | PROT_WRITE)) == PROT_EXEC; }

/// Changes protections by `call`.
template <class Call>
int protect(void* start, std::size_t length, int protection, Call call) {
  MappingChange change;
  // Code is typically readable but not executable before it is copied.
  if (!is_code_only(protection) && !change.restore(address_of(start), whole_pages(length))) {
    errno = ENOMEM;
    return -1;
  }
  if (protection & PROT_EXEC) change.replace_copies(address_of(start), whole_pages(length));
  int status = call();
  if (status == 0 && is_code_only(protection)) change.let_patch(address_of(start), whole_pages(length));
  return status;
}

template <class Call>
void* map(void* start, std::size_t length, int protection, int flags, Call call) {
  if ((flags & MAP_FIXED) == 0) return call();  // cannot replace existing mappings
  MappingChange change;
  change.restore(address_of(start), whole_pages(length));
  void* mapped = call();
  if (mapped != MAP_FAILED && is_code_only(protection))
    change.let_patch(address_of(start), whole_pages(length));
  return mapped;
}

template <class Call>
void* remap(void* start, std::size_t length, std::size_t new_length, int flags, void* to, Call call) {
  MappingChange change;
  bool good = change.restore(address_of(start), whole_pages(length));
  if (flags & MREMAP_FIXED) good &= change.restore(address_of(to), whole_pages(new_length));
  if (good) return call();
  errno = ENOMEM;
  return MAP_FAILED;
}

template <class Call>
int unmap(void* start, std::size_t length, Call call) {
  MappingChange change;
  change.restore(address_of(start), whole_pages(length));
  return call();
}

constexpr int dontneed_locked = 24, guard_install = 102;  // from kernels newer than the headers

template <class Call>
int advise(void* start, std::size_t length, int advice, Call call) {
  bool drops = advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE ||
               advice == dontneed_locked || advice == guard_install;
  if (!drops) return call();
  MappingChange change;
  change.restore(address_of(start), whole_pages(length));
  return call();
}

template <class Call>
ssize_t write_process(pid_t process, const iovec* remote, unsigned long count, Call call) {
  if (process != getpid()) return call();
  MappingChange change;
  for (unsigned long i = 0; i < count; ++i) change.restore(address_of(remote[i].iov_base), remote[i].iov_len);
  return call();
}

/// "/proc/self/mem", or another name for it.
bool is_own_memory(const char* path) {
  std::string_view text = path ? path : "";
  constexpr std::string_view start = "/proc/", end = "/mem";
  if (!text.starts_with(start) || !text.ends_with(end)) return false;
  text.remove_prefix(start.size());
  text.remove_suffix(end.size());
  if (text.starts_with("self") || text.starts_with("thread-self")) return true;
  long process = 0;
  for (char c : text.substr(0, text.find('/'))) {
    if (c < '0' || c > '9' || process > INT32_MAX) return false;
    process = process * 10 + (c - '0');
  }
  return process == getpid();
}

void before_open(const char* path, bool writes) {
  if (writes && is_own_memory(path)) stop_patching();
}
bool opens_to_write(int flags) { return (flags & O_ACCMODE) != O_RDONLY; }

}  // namespace

namespace eum::rt::native {

long change_memory(long number, const SyscallArguments& a, SyscallForward forward) {
  auto pointer = [](long value) { return reinterpret_cast<void*>(value); };
  auto size = [](long value) { return static_cast<std::size_t>(value); };
  auto call = [&] { return forward(number, a); };
  auto call_int = [&] { return static_cast<int>(call()); };
  auto call_pointer = [&] { return pointer(call()); };
  switch (number) {
    case SYS_mprotect:
    case SYS_pkey_mprotect:
      return protect(pointer(a[0]), size(a[1]), static_cast<int>(a[2]), call_int);
    case SYS_mmap:
      return static_cast<long>(address_of(
          map(pointer(a[0]), size(a[1]), static_cast<int>(a[2]), static_cast<int>(a[3]), call_pointer)));
    case SYS_munmap:
      return unmap(pointer(a[0]), size(a[1]), call_int);
    case SYS_mremap:
      return static_cast<long>(address_of(
          remap(pointer(a[0]), size(a[1]), size(a[2]), static_cast<int>(a[3]), pointer(a[4]), call_pointer)));
    case SYS_madvise:
      return advise(pointer(a[0]), size(a[1]), static_cast<int>(a[2]), call_int);
    case SYS_process_vm_writev:
      return write_process(static_cast<pid_t>(a[0]), static_cast<const iovec*>(pointer(a[3])),
                           static_cast<unsigned long>(a[4]), call);
    case SYS_open:
      before_open(static_cast<const char*>(pointer(a[0])), opens_to_write(static_cast<int>(a[1])));
      return call();
    case SYS_openat:
      before_open(static_cast<const char*>(pointer(a[1])), opens_to_write(static_cast<int>(a[2])));
      return call();
    default:
      return call();
  }
}

}  // namespace eum::rt::native

extern "C" {

int mprotect(void* start, std::size_t length, int protection) noexcept {
  return protect(start, length, protection, [&] { return next_mprotect.get()(start, length, protection); });
}
int pkey_mprotect(void* start, std::size_t length, int protection, int key) noexcept {
  return protect(start, length, protection,
                 [&] { return next_pkey_mprotect.get()(start, length, protection, key); });
}
void* mmap(void* start, std::size_t length, int protection, int flags, int file, off_t offset) noexcept {
  return map(start, length, protection, flags,
             [&] { return next_mmap.get()(start, length, protection, flags, file, offset); });
}
void* mmap64(void* start, std::size_t length, int protection, int flags, int file, off64_t offset) noexcept {
  return map(start, length, protection, flags,
             [&] { return next_mmap64.get()(start, length, protection, flags, file, offset); });
}
int munmap(void* start, std::size_t length) noexcept {
  return unmap(start, length, [&] { return next_munmap.get()(start, length); });
}
void* mremap(void* start, std::size_t length, std::size_t new_length, int flags, ...) noexcept {
  std::va_list rest;
  va_start(rest, flags);
  void* to = flags & MREMAP_FIXED ? va_arg(rest, void*) : nullptr;
  va_end(rest);
  return remap(start, length, new_length, flags, to,
               [&] { return next_mremap.get()(start, length, new_length, flags, to); });
}
int madvise(void* start, std::size_t length, int advice) noexcept {
  return advise(start, length, advice, [&] { return next_madvise.get()(start, length, advice); });
}
ssize_t process_vm_writev(pid_t process, const iovec* local, unsigned long local_count, const iovec* remote,
                          unsigned long remote_count, unsigned long flags) noexcept {
  return write_process(process, remote, remote_count, [&] {
    return next_process_vm_writev.get()(process, local, local_count, remote, remote_count, flags);
  });
}

int open(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);  // arbitrary if no file is created
  va_end(rest);
  before_open(path, opens_to_write(flags));
  return next_open.get()(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);  // arbitrary if no file is created
  va_end(rest);
  before_open(path, opens_to_write(flags));
  return next_open64.get()(path, flags, mode);
}
int __open_2(const char* path, int flags) {
  before_open(path, opens_to_write(flags));
  return next___open_2.get()(path, flags);
}
int __open64_2(const char* path, int flags) {
  before_open(path, opens_to_write(flags));
  return next___open64_2.get()(path, flags);
}
int openat(int folder, const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);  // arbitrary if no file is created
  va_end(rest);
  before_open(path, opens_to_write(flags));
  return next_openat.get()(folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);  // arbitrary if no file is created
  va_end(rest);
  before_open(path, opens_to_write(flags));
  return next_openat64.get()(folder, path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) {
  before_open(path, std::strpbrk(mode, "wa+") != nullptr);
  return next_fopen.get()(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  before_open(path, std::strpbrk(mode, "wa+") != nullptr);
  return next_fopen64.get()(path, mode);
}

}  // extern "C"

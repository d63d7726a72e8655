// Reads /proc/thread-self/maps, by a query if the kernel supports it, else as text.
#include "runtime/user_msr/native/mappings.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/user_msr/raw_syscall.hpp"

namespace eum::rt::native {
namespace {

/// PROCMAP_QUERY of Linux 6.11 (include/uapi/linux/fs.h): queries one mapping without reading the text.
struct ProcmapQuery {
  std::uint64_t size, query_flags, query_addr;
  std::uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
  std::uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
  std::uint64_t vma_name_addr, build_id_addr;
};
static_assert(sizeof(ProcmapQuery) == 104);
constexpr long procmap_query = 0xc0686611;  // _IOWR('f', 17, 104 bytes)

/// Reads a hexadecimal number at text[i] and moves past it and the character after it.
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

/// Parses "start-end rwxp ..." into the mapping, if that contains the address; `i` is then the position after
/// it.
bool parse_line(const char* text, std::size_t length, std::uint64_t address, Mapping& mapping,
                std::size_t& i) {
  std::uint64_t start = take_hex(text, length, i), end = take_hex(text, length, i);
  if (i + 5 > length || address < start || address >= end) return false;
  mapping = {start, end, text[i] == 'r', text[i + 1] == 'w', text[i + 2] == 'x', text[i + 3] == 's'};
  i += 5;
  return true;
}

}  // namespace

bool ProcFile::is_ours() const {
  struct stat status;
  return file_ >= 0 && process_ == raw_syscall(SYS_getpid) &&
         raw_syscall(SYS_fstat, file_, to_long(&status)) == 0 && status.st_dev == device_ &&
         status.st_ino == inode_;
}

long ProcFile::get() {
  if (is_ours()) return file_;
  constexpr long lowest_file = 300;  // high, as programs may count on low descriptor numbers
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

/// Calls visit(text, length) with each line of the maps until it returns true. Lines longer than the buffer
/// are cut.
template <class Visit>
bool Mappings::each_line(long file, Visit visit) {
  raw_syscall(SYS_lseek, file, 0, SEEK_SET);
  std::size_t held = 0;
  bool skipping = false;  // the rest of a line that did not fit
  for (;;) {
    long got = raw_syscall(SYS_read, file, to_long(&text_[held]), static_cast<long>(text_.size() - held));
    if (got <= 0) return false;
    held += static_cast<std::size_t>(got);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < held; ++i) {
      if (text_[i] != '\n') continue;
      if (!skipping && visit(&text_[begin], i - begin)) return true;
      skipping = false;
      begin = i + 1;
    }
    if (begin == 0 && held == text_.size()) {
      if (!skipping && visit(text_.data(), held - 1)) return true;
      skipping = true;
      held = 0;
      continue;
    }
    for (std::size_t i = begin; i < held; ++i) text_[i - begin] = text_[i];
    held -= begin;
  }
}

bool Mappings::find(std::uint64_t address, Mapping& mapping) {
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
  return each_line(file, [&](const char* text, std::size_t length) {
    std::size_t i = 0;
    return parse_line(text, length, address, mapping, i);
  });
}

const char* Mappings::find_file(std::uint64_t address, std::uint64_t& offset) {
  long file = maps_.get();
  const char* path = nullptr;
  if (file < 0) return path;
  each_line(file, [&](char* text, std::size_t length) {
    Mapping mapping;
    std::size_t i = 0;
    if (!parse_line(text, length, address, mapping, i)) return false;
    offset = take_hex(text, length, i) + (address - mapping.start);
    while (i < length && text[i] != '/') ++i;
    if (i == length || text[length] != '\n' || mapping.shared) return true;  // no private file, or path cut
    text[length] = '\0';
    path = text + i;
    return true;
  });
  return path;
}

}  // namespace eum::rt::native

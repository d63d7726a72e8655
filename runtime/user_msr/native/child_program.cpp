// Reads the headers and the code of an ELF file without libc.
#include "runtime/user_msr/native/child_program.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <array>
#include <cstring>
#include <span>

#include "frontend/x86/decoder.hpp"
#include "runtime/user_msr/raw_syscall.hpp"

namespace eum::rt::native {
namespace {

class File {
 public:
  explicit File(const char* path) : file_(raw_syscall(SYS_open, to_long(path), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (file_ >= 0) raw_syscall(SYS_close, file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::size_t read(void* to, std::size_t size, std::uint64_t offset) const {
    long got =
        raw_syscall(SYS_pread64, file_, to_long(to), static_cast<long>(size), static_cast<long>(offset));
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  /// Whether starting it changes user or group, which makes the loader ignore LD_PRELOAD.
  bool changes_user() const {
    struct stat status;
    if (raw_syscall(SYS_fstat, file_, to_long(&status)) != 0) return false;
    return ((status.st_mode & S_ISUID) != 0 && status.st_uid != raw_syscall(SYS_getuid)) ||
           ((status.st_mode & S_ISGID) != 0 && status.st_gid != raw_syscall(SYS_getgid));
  }

 private:
  long file_;
};

/// Offset in `code` of the first instruction that needs the runner; its size if there is none. Searches for
/// the opcode, which every form contains.
std::size_t find_access(std::span<const std::uint8_t> code) {
  constexpr std::size_t opcode_at = 3, longest_before = 4;  // F2 0F 38 F8, C4 .. .. F8; with REX one more
  for (std::size_t i = opcode_at; i < code.size(); ++i) {
    const void* found = std::memchr(&code[i], 0xf8, code.size() - i);
    if (!found) break;
    i = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - code.data());
    for (std::size_t before = opcode_at; before <= longest_before && before <= i; ++before) {
      std::uint8_t first = code[i - before];
      if (first != 0xf2 && first != 0xf3 && first != 0xc4) continue;
      x86::Decoding d = x86::decode_without_apx(code.subspan(i - before));
      if (d.verdict == x86::Verdict::Instruction && d.instruction.is_user()) return i - before;
    }
  }
  return code.size();
}

/// The same for a part of a file, as an offset in the file; 0 if there is none.
std::uint64_t find_access(const File& file, std::uint64_t start, std::uint64_t size) {
  std::array<std::uint8_t, 16384> buffer;
  for (std::uint64_t done = 0; done < size;) {
    std::size_t got = file.read(buffer.data(), buffer.size(), start + done);
    if (got == 0) break;
    std::size_t at = find_access({buffer.data(), got});
    if (at < got) return start + done + at;
    if (got < buffer.size()) break;
    done += got - x86::max_length;  // an instruction may cross the end of the buffer
  }
  return 0;
}

UnreachableChild look_at_elf(const File& file, const Elf64_Ehdr& header) {
  bool is_dynamic = false;
  std::uint64_t offset = 0;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (file.read(&segment, sizeof segment, header.e_phoff + std::uint64_t{i} * header.e_phentsize) !=
        sizeof segment)
      break;
    is_dynamic |= segment.p_type == PT_INTERP;
  }
  bool changes_user = file.changes_user();
  if (is_dynamic && !changes_user) return {};
  for (unsigned i = 0; i < header.e_phnum && offset == 0; ++i) {
    Elf64_Phdr segment;
    if (file.read(&segment, sizeof segment, header.e_phoff + std::uint64_t{i} * header.e_phentsize) !=
        sizeof segment)
      break;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X))
      offset = find_access(file, segment.p_offset, segment.p_filesz);
  }
  if (offset == 0) return {};
  return {changes_user ? UnreachableChild::SetUserId : UnreachableChild::Static, offset};
}

UnreachableChild look_at(const char* path, int depth) {
  constexpr int deepest = 4;  // nesting of scripts whose interpreters are scripts, as in the kernel
  File file(path);
  union {
    Elf64_Ehdr elf;
    char text[256];
  } head;
  std::size_t got = file.read(&head, sizeof head, 0);
  if (got >= sizeof head.elf && std::memcmp(head.elf.e_ident, ELFMAG, SELFMAG) == 0)
    // The instructions exist only in 64-bit mode.
    return head.elf.e_ident[EI_CLASS] == ELFCLASS64 && head.elf.e_machine == EM_X86_64
               ? look_at_elf(file, head.elf)
               : UnreachableChild{};
  if (got < 3 || head.text[0] != '#' || head.text[1] != '!' || depth == deepest) return {};
  std::size_t begin = 2;
  while (begin < got && (head.text[begin] == ' ' || head.text[begin] == '\t')) ++begin;
  std::size_t end = begin;
  while (end < got && head.text[end] > ' ') ++end;
  if (end == got || end == begin) return {};
  head.text[end] = '\0';
  return look_at(&head.text[begin], depth + 1);
}

}  // namespace

UnreachableChild look_at_child(const char* path) { return look_at(path, 0); }

}  // namespace eum::rt::native

// Formats and writes trace lines. Compiled for general registers only, without libc: slow paths of stubs call
// it.
#include "runtime/user_msr/native/trace.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "runtime/user_msr/native/line.hpp"
#include "runtime/user_msr/raw_syscall.hpp"

namespace eum::rt::native {
namespace {

constexpr long lowest_file = 300;  // high, as programs may count on low descriptor numbers

long open_path(const char* path) {
  long file = raw_syscall(SYS_open, to_long(path), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return file;
  long high = raw_syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, lowest_file);
  if (high < 0) return file;
  raw_syscall(SYS_close, file);
  return high;
}

}  // namespace

bool Trace::open(const char* path) {
  if (path[0] == '\0') return true;
  bool is_stderr = path[0] == '-' && path[1] == '\0';
  long file = is_stderr ? 2 : open_path(path);
  struct stat status;
  if (file < 0 || raw_syscall(SYS_fstat, file, to_long(&status)) != 0) return false;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  file_ = file;
  path_ = path;
  return true;
}

void Trace::close() {
  long file = file_.exchange(-1);
  if (file > 2 && is_ours(file)) raw_syscall(SYS_close, file);
  path_ = nullptr;
}

/// False if a program that closes all descriptors has opened another file under this number.
bool Trace::is_ours(long file) const {
  struct stat status;
  return raw_syscall(SYS_fstat, file, to_long(&status)) == 0 && status.st_dev == device_ &&
         status.st_ino == inode_;
}

void Trace::line(std::uint64_t address, const x86::Instruction& instruction, std::uint32_t msr,
                 const char* name, bool allowed, std::uint64_t value) {
  const x86::FormInfo& form = x86::info(instruction.form);
  Line line;
  line.decimal(static_cast<std::uint64_t>(raw_syscall(SYS_gettid)));
  line.character(' ');
  line.hex(address);
  line.character(' ');
  line.view(form.mnemonic);
  line.character(' ');
  for (bool destination : {true, false}) {
    if (destination == instruction.is_read())
      line.view(x86::gpr_names[instruction.data]);
    else if (instruction.is_immediate())
      line.hex(instruction.msr);
    else
      line.view(x86::gpr_names[instruction.index]);
    if (destination) line.string(", ");
  }
  line.string(": ");
  line.hex(msr);
  if (name) {
    line.character(' ');
    line.string(name);
  }
  if (allowed) {
    line.string(instruction.is_read() ? " = " : " <- ");
    line.hex(value);
  } else {
    line.string(" #GP(0)");
  }
  line.end();

  long file = file_.load(std::memory_order_relaxed);
  if (!is_ours(file)) {
    if (file == 2) return;
    file = open_path(path_);
    if (file < 0) return;
    file_ = file;
  }
  raw_syscall(SYS_write, file, to_long(line.text), line.length);
}

}  // namespace eum::rt::native

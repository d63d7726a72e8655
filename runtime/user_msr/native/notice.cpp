// Writes notices.
#include "runtime/user_msr/native/notice.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/user_msr/native/line.hpp"
#include "runtime/user_msr/raw_syscall.hpp"

namespace eum::rt::native {
namespace {

constexpr const char* texts[] = {
#define NOTICE(name, text) text,
#include "runtime/user_msr/native/notice.def"
#undef NOTICE
};

bool look_at_stderr(struct stat& status) {
  return raw_syscall(SYS_fstat, STDERR_FILENO, to_long(&status)) == 0;
}

}  // namespace

void Notices::open() {
  struct stat status;
  is_open_ = look_at_stderr(status);
  if (!is_open_) return;
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

void Notices::say(Notice notice, std::uint64_t address) {
  auto number = static_cast<std::size_t>(notice);
  struct stat status;
  if (!is_open_ || said_[number].exchange(true) || !look_at_stderr(status)) return;
  if (status.st_dev != device_ || status.st_ino != inode_) return;
  Line line;
  line.string("eumulate msr: ");
  for (const char* c = texts[number]; *c != '\0'; ++c) {
    if (*c == '%')
      line.hex(address);
    else
      line.character(*c);
  }
  line.end();
  raw_syscall(SYS_write, STDERR_FILENO, to_long(line.text), line.length);
}

}  // namespace eum::rt::native

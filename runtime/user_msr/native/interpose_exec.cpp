// Starts other programs: the runner goes with them if the dynamic loader can load it, even into an empty
// environment; a program that needs the runner but cannot load it is not started, and one line says why.
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include "runtime/user_msr/native/child_environment.hpp"
#include "runtime/user_msr/native/child_program.hpp"
#include "runtime/user_msr/native/interpose_syscall.hpp"
#include "runtime/user_msr/native/line.hpp"
#include "runtime/user_msr/native/next.hpp"
#include "runtime/user_msr/native/runner.hpp"
#include "runtime/user_msr/raw_syscall.hpp"

namespace {

using namespace eum::rt::native;

// Created at startup and never destroyed: programs start others while they exit.
ChildEnvironment* child_environment = nullptr;

bool follows() { return runner() && child_environment && child_environment->is_known(); }

/// Whether the program must not be started; if so, prints the reason.
bool refuse(const char* path) {
  UnreachableChild child = look_at_child(path);
  if (child.why == UnreachableChild::No) return false;
  Line line;
  line.string("eumulate msr: ");
  line.string(path);
  line.string(": not started: it ");
  line.string(child.why == UnreachableChild::Static ? "is statically linked" : "changes its user");
  line.string(", so the runner cannot follow, and has a URDMSR or UWRMSR at ");
  line.hex(child.offset);
  line.end();
  eum::rt::raw_syscall(SYS_write, STDERR_FILENO, eum::rt::to_long(line.text), line.length);
  return true;
}

/// call(environment) for a program that may be started, else `refused`.
template <class Result, class Call>
Result start(const char* path, char* const* environment, Result refused, Call call) {
  if (!follows()) return call(environment);
  if (path && refuse(path)) {
    errno = EPERM;
    return refused;
  }
  std::size_t pointers = ChildEnvironment::count(environment) + ChildEnvironment::more;
  auto** room = static_cast<char**>(__builtin_alloca(pointers * sizeof(char*)));
  auto* text = static_cast<char*>(__builtin_alloca(child_environment->text_bytes(environment)));
  return call(child_environment->build(environment, room, text));
}

/// The path at which posix_spawnp and execvp find a program, for look_at_child; false if they find none.
class Found {
 public:
  explicit Found(const char* name) {
    if (!follows() || !name) return;
    if (std::strchr(name, '/')) {
      path_ = name;
      return;
    }
    const char* folders = std::getenv("PATH");
    if (!folders) folders = "/bin:/usr/bin";
    std::size_t length = std::strlen(name);
    while (true) {
      std::size_t folder = std::strcspn(folders, ":");
      if (folder + length + 2 <= sizeof text_) {
        std::memcpy(text_, folders, folder);
        text_[folder] = '/';
        std::memcpy(text_ + folder + 1, name, length + 1);
        const char* candidate = folder == 0 ? text_ + 1 : text_;
        if (access(candidate, X_OK) == 0) {
          path_ = candidate;
          return;
        }
      }
      if (folders[folder] == '\0') return;
      folders += folder + 1;
    }
  }
  const char* path() const { return path_; }

 private:
  const char* path_ = nullptr;
  char text_[4096];
};

/// "/proc/self/fd/7/path", to inspect a program given relative to a descriptor.
class AtDescriptor {
 public:
  AtDescriptor(int file, const char* path) {
    if (path && (file == AT_FDCWD || path[0] == '/')) {
      path_ = path;
      return;
    }
    Line line;
    line.string("/proc/self/fd/");
    line.decimal(static_cast<std::uint64_t>(file));
    if (path && *path) {
      line.character('/');
      line.string(path);
    }
    std::memcpy(text_, line.text, line.length);
    text_[line.length] = '\0';
  }
  const char* path() const { return path_; }

 private:
  char text_[sizeof(Line::text) + 1];
  const char* path_ = text_;
};

/// Number of arguments of execl and similar functions, including the null pointer.
std::size_t count_arguments(const char* first, std::va_list* rest) {
  if (!first) return 1;
  std::size_t count = 2;
  while (va_arg(*rest, char*)) ++count;
  return count;
}
void collect_arguments(const char* first, std::va_list* rest, char** to) {
  *to = const_cast<char*>(first);
  while (*to) *++to = va_arg(*rest, char*);
}

char* const* environment_of_process() { return environ; }

}  // namespace

namespace eum::rt::native {

void remember_environment() {
  child_environment = new ChildEnvironment;
  child_environment->remember();
}

long change_program(long number, const SyscallArguments& a, SyscallForward forward) {
  auto text = [](long value) { return reinterpret_cast<const char*>(value); };
  auto list = [](long value) { return reinterpret_cast<char* const*>(value); };
  auto value = [](const void* pointer) {
    return static_cast<long>(reinterpret_cast<std::intptr_t>(pointer));
  };
  if (number == SYS_execve)
    return start(text(a[0]), list(a[2]), -1l, [&](char* const* env) {
      return forward(number, {a[0], a[1], value(env)});
    });
  return start(AtDescriptor(static_cast<int>(a[0]), text(a[1])).path(), list(a[3]), -1l,
               [&](char* const* env) {
                 return forward(number, {a[0], a[1], a[2], value(env), a[4]});
               });
}

}  // namespace eum::rt::native

extern "C" {

int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
  return start(path, environment, -1,
               [&](char* const* env) { return next_execve.get()(path, arguments, env); });
}
int execv(const char* path, char* const* arguments) noexcept {
  return execve(path, arguments, environment_of_process());
}
int execvpe(const char* file, char* const* arguments, char* const* environment) noexcept {
  return start(Found(file).path(), environment, -1,
               [&](char* const* env) { return next_execvpe.get()(file, arguments, env); });
}
int execvp(const char* file, char* const* arguments) noexcept {
  return execvpe(file, arguments, environment_of_process());
}
int execveat(int folder, const char* path, char* const* arguments, char* const* environment,
             int flags) noexcept {
  return start(AtDescriptor(folder, path).path(), environment, -1,
               [&](char* const* env) { return next_execveat.get()(folder, path, arguments, env, flags); });
}
int fexecve(int file, char* const* arguments, char* const* environment) noexcept {
  return start(AtDescriptor(file, nullptr).path(), environment, -1,
               [&](char* const* env) { return next_fexecve.get()(file, arguments, env); });
}

int execl(const char* path, const char* first, ...) noexcept {
  std::va_list rest;
  va_start(rest, first);
  auto** arguments = static_cast<char**>(__builtin_alloca(count_arguments(first, &rest) * sizeof(char*)));
  va_end(rest);
  va_start(rest, first);
  collect_arguments(first, &rest, arguments);
  va_end(rest);
  return execv(path, arguments);
}
int execlp(const char* file, const char* first, ...) noexcept {
  std::va_list rest;
  va_start(rest, first);
  auto** arguments = static_cast<char**>(__builtin_alloca(count_arguments(first, &rest) * sizeof(char*)));
  va_end(rest);
  va_start(rest, first);
  collect_arguments(first, &rest, arguments);
  va_end(rest);
  return execvp(file, arguments);
}
int execle(const char* path, const char* first, ...) noexcept {
  std::va_list rest;
  va_start(rest, first);
  auto** arguments = static_cast<char**>(__builtin_alloca(count_arguments(first, &rest) * sizeof(char*)));
  va_end(rest);
  va_start(rest, first);
  collect_arguments(first, &rest, arguments);
  char* const* environment = va_arg(rest, char* const*);
  va_end(rest);
  return execve(path, arguments, environment);
}

int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  return start(path, environment, EPERM, [&](char* const* env) {
    return next_posix_spawn.get()(process, path, actions, attributes, arguments, env);
  });
}
int posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  return start(Found(file).path(), environment, EPERM, [&](char* const* env) {
    return next_posix_spawnp.get()(process, file, actions, attributes, arguments, env);
  });
}

}  // extern "C"

/* children STATIC_WITH_ACCESS STATIC_WITHOUT: the runner goes with every program that this one starts,
 * whatever environment it gets; a program that it cannot reach and that has accesses is not started, and it
 * is said. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "user_msr.h"

enum { constant_msr = 0x10, not_started = 77 };
#define CONSTANT 0x123456789abcdef0ull

extern char** environ;
static char self[4096];
static char* const child_arguments[] = {"children", "child", NULL};
static char* const nothing[] = {NULL};
static char* const other_preload[] = {"LD_PRELOAD=/no/such/library.so", "A=1", NULL};

static void by_execve(const char* path) { execve(path, child_arguments, nothing); }
static void by_execve_with_a_preload(const char* path) { execve(path, child_arguments, other_preload); }
static void by_execve_without(const char* path) { execve(path, child_arguments, NULL); }
static void by_execv(const char* path) {
  clearenv();
  execv(path, child_arguments);
}
static void by_execvp(const char* path) {
  clearenv();
  execvp(path, child_arguments);
}
static void by_execvp_in_path(const char* path) {
  char folder[4096];
  snprintf(folder, sizeof folder, "/no/such/folder:%.*s", (int)(strrchr(path, '/') - path), path);
  setenv("PATH", folder, 1);
  unsetenv("LD_PRELOAD");
  execvp(strrchr(path, '/') + 1, child_arguments);
}
static void by_execvpe(const char* path) { execvpe(path, child_arguments, nothing); }
static void by_execl(const char* path) {
  clearenv();
  execl(path, "children", "child", (char*)NULL);
}
static void by_execlp(const char* path) {
  clearenv();
  execlp(path, "children", "child", (char*)NULL);
}
static void by_execle(const char* path) { execle(path, "children", "child", (char*)NULL, nothing); }
static void by_execveat(const char* path) { execveat(AT_FDCWD, path, child_arguments, nothing, 0); }
static void by_execveat_at(const char* path) {
  execveat(open("/", O_PATH), path + 1, child_arguments, nothing, 0);
}
static void by_fexecve(const char* path) { fexecve(open(path, O_RDONLY), child_arguments, nothing); }
static void by_number(const char* path) { syscall(SYS_execve, path, child_arguments, nothing); }
static void by_number_at(const char* path) {
  syscall(SYS_execveat, open(path, O_RDONLY), "", child_arguments, nothing, AT_EMPTY_PATH);
}
static int end_of(int error, const pid_t* child) {
  int status = 1;
  if (error) errno = error;
  if (error) return not_started;
  return waitpid(*child, &status, 0) == *child && WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
static void by_spawn(const char* path) {
  pid_t child;
  int result = end_of(posix_spawn(&child, path, NULL, NULL, child_arguments, nothing), &child);
  if (result != not_started) _exit(result);
}
static void by_spawnp(const char* path) {
  pid_t child;
  int result = end_of(posix_spawnp(&child, path, NULL, NULL, child_arguments, nothing), &child);
  if (result != not_started) _exit(result);
}
static void by_env(const char* path) { execlp("env", "env", "-i", path, "child", (char*)NULL); }
static void by_vfork(const char* path) {
  pid_t child = vfork();
  if (child == 0) {
    execve(path, child_arguments, nothing);
    _exit(not_started);
  }
  int result = end_of(0, &child);
  errno = EPERM;
  if (result != not_started) _exit(result);
}

/* What becomes of a program that is started so: its exit status, or not_started, with what was said. */
static int result_of(void (*way)(const char*), const char* path, char* said, size_t size) {
  int ends[2], status = 1;
  CHECK(pipe(ends) == 0);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    close(ends[0]);
    close(ends[1]);
    way(path);
    _exit(errno == EPERM ? not_started : 66);
  }
  close(ends[1]);
  size_t length = 0;
  ssize_t got;
  while ((got = read(ends[0], said + length, size - 1 - length)) > 0) length += (size_t)got;
  said[length] = '\0';
  close(ends[0]);
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
  return WEXITSTATUS(status);
}
static int lines(const char* text) {
  int count = 0;
  while ((text = strchr(text, '\n'))) ++count, ++text;
  return count;
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "child") == 0) return READ_MSR_IMM(constant_msr) != CONSTANT;
  if (argc < 3 || readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 2;
  static void (*const ways[])(const char*) = {by_execve,
                                              by_execve_with_a_preload,
                                              by_execve_without,
                                              by_execv,
                                              by_execvp,
                                              by_execvp_in_path,
                                              by_execvpe,
                                              by_execl,
                                              by_execlp,
                                              by_execle,
                                              by_execveat,
                                              by_execveat_at,
                                              by_fexecve,
                                              by_number,
                                              by_number_at,
                                              by_spawn,
                                              by_spawnp,
                                              by_vfork,
                                              by_env};
  char said[4096];
  int count = sizeof ways / sizeof *ways;
  for (int i = 0; i < count; ++i) {
    int result = result_of(ways[i], self, said, sizeof said);
    CHECK(result == 0);
    if (result) printf("way %d: %d %s\n", i, result, said);
    result = result_of(ways[i], argv[2], said, sizeof said);
    CHECK(result == 0 && said[0] == '\0');
    if (ways[i] == by_env) continue; /* env says it in its own words, too */
    result = result_of(ways[i], argv[1], said, sizeof said);
    CHECK(result == not_started && lines(said) == 1 &&
          strstr(said, ": not started: it is statically linked"));
    if (result != not_started) printf("way %d: %d %s\n", i, result, said);
  }
  /* A script whose interpreter is such a program. */
  char script[] = "/tmp/eumulate_script_XXXXXX";
  int file = mkstemp(script);
  dprintf(file, "#! %s\n", argv[1]);
  fchmod(file, 0755);
  close(file);
  CHECK(result_of(by_execve, script, said, sizeof said) == not_started && lines(said) == 1);
  unlink(script);
  return FINISH();
}

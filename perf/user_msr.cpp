// The cost of an access under the runner: the first execution of a site, the patched site by source, the trap
// path, and, for comparison, a system call that returns as much. Prints one table; --check fails if the
// limits of the design are exceeded.
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/user_msr/native/variables.hpp"
#include "tests/user_msr/programs/user_msr.h"

extern "C" {
int eum_msr_attach(const char* path);
void eum_msr_detach(void);
}

namespace {

constexpr double first_limit_ns = 20000, constant_limit_ns = 15;

enum : unsigned {
  constant_msr = 0x10,
  counter_msr = 0x11,
  tsc_msr = 0x12,
  value_msr = 0x13,
  file_msr = 0x14
};

double now_ns() {
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                 std::chrono::steady_clock::now().time_since_epoch())
                                 .count());
}

void skip_ud2(int, siginfo_t*, void* context) {
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] += 2;
}

struct Cost {
  double median, best;  // nanoseconds per access
};

Cost summarize(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return {samples[samples.size() / 2], samples.front()};
}

/// Times batches of `count` calls of `access`.
template <class Access>
Cost time_access(int count, Access access) {
  std::vector<double> samples;
  for (int batch = 0; batch < 41; ++batch) {
    double begin = now_ns();
    for (int i = 0; i < count; ++i) access();
    samples.push_back((now_ns() - begin) / count);
  }
  return summarize(std::move(samples));
}

/// Calls many functions once that each hold a site of their own: trap, decode, translate, patch.
Cost time_first_executions() {
  constexpr std::size_t sites = 2000, stride = 32;
  void* memory = mmap(nullptr, sites * stride, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  auto* code = static_cast<std::uint8_t*>(memory);
  constexpr std::uint8_t function[] = {0xc4, 0xe7, 0x7b, 0xf8, 0xc0, constant_msr, 0, 0, 0, 0xc3};
  for (std::size_t i = 0; i < sites; ++i) std::memcpy(code + i * stride, function, sizeof function);
  mprotect(memory, sites * stride, PROT_READ | PROT_EXEC);
  std::vector<double> samples;
  for (std::size_t i = 0; i < sites; ++i) {
    auto call = reinterpret_cast<std::uint64_t (*)()>(code + i * stride);
    double begin = now_ns();
    call();
    samples.push_back(now_ns() - begin);
  }
  munmap(memory, sites * stride);
  return summarize(std::move(samples));
}

void row(std::string_view what, const Cost& cost, std::string_view note = "") {
  fmt::print("{:44} {:10.1f} {:10.1f}  {}\n", what, cost.median, cost.best, note);
}

bool attach_with(const std::string& config, const char* patch) {
  if (patch)
    setenv(eum::rt::native::patch_variable, patch, 1);
  else
    unsetenv(eum::rt::native::patch_variable);
  return eum_msr_attach(config.c_str()) == 0;
}

std::string write_configuration(const std::string& folder) {
  std::ofstream(folder + "/value") << "42\n";
  std::ofstream toml(folder + "/msrs.toml");
  toml << "[[msr]]\naddress = 0x10\nread = true\nwrite = false\nvalue = 3\n"
          "[[msr]]\naddress = 0x11\nread = true\nwrite = false\nsource = \"counter\"\n"
          "[[msr]]\naddress = 0x12\nread = true\nwrite = false\nsource = \"tsc\"\n"
          "[[msr]]\naddress = 0x13\nread = true\nwrite = true\nvalue = 5\n"
          "[[msr]]\naddress = 0x14\nread = true\nwrite = true\nsource = \"file:value\"\n";
  return folder + "/msrs.toml";
}

}  // namespace

int main(int argc, char** argv) {
  bool check = false;
  CLI::App app("What an access to a user MSR costs under the runner, in nanoseconds.");
  app.add_flag("--check", check, "End with 1 where a limit is missed");
  CLI11_PARSE(app, argc, argv);
  char name[] = "/tmp/eumulate_perf_XXXXXX";
  const char* folder = mkdtemp(name);
  if (!folder) return 2;
  std::string config = write_configuration(folder);

  fmt::print("{:44} {:>10} {:>10}\n", "nanoseconds an access", "median", "best");
  struct sigaction action = {}, before = {};
  action.sa_sigaction = skip_ud2;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, &before);
  Cost bare = time_access(2000, [] { asm volatile("ud2"); });
  sigaction(SIGILL, &before, nullptr);
  if (!attach_with(config, eum::rt::native::patch_off)) return 2;
  Cost trap = time_access(2000, [] { READ_MSR_IMM(constant_msr); });
  eum_msr_detach();
  if (!attach_with(config, nullptr)) return 2;
  Cost first = time_first_executions();
  Cost immediate = time_access(1000000, [] { READ_MSR_IMM(constant_msr); });
  Cost indirect = time_access(1000000, [] { read_msr(constant_msr); });
  row("first execution: trap, translate, patch", first, "limit 20000");
  row("patched, constant, immediate form", immediate, "limit 15");
  row("patched, constant, register form", indirect, "limit 15");
  row("patched, read of a value", time_access(1000000, [] { READ_MSR_IMM(value_msr); }));
  row("patched, write of a value", time_access(1000000, [] { WRITE_MSR_IMM(value_msr, 7); }));
  row("patched, counter", time_access(1000000, [] { READ_MSR_IMM(counter_msr); }));
  row("patched, time stamp counter", time_access(1000000, [] { READ_MSR_IMM(tsc_msr); }));
  row("patched, file", time_access(2000, [] { READ_MSR_IMM(file_msr); }));
  row("trap path, constant", trap);
  row("bare SIGILL: UD2 and a handler that skips it", bare, "what the host takes for a trap");
  row("system call (getppid)", time_access(20000, [] { syscall(SYS_getppid); }));
  eum_msr_detach();
  unlink(config.c_str());
  unlink((std::string(folder) + "/value").c_str());
  rmdir(folder);

  bool good = first.median <= first_limit_ns && immediate.median <= constant_limit_ns &&
              indirect.median <= constant_limit_ns;
  if (check && !good) fmt::print("a limit is missed\n");
  return check && !good ? 1 : 0;
}

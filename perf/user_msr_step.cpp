// The cost of eum_msr_step for an embedder: repetitions of one instruction, by form, source and location of
// the bitmap. Prints one table, in nanoseconds.
#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/include/eumulate/eumulate_msr.h"

namespace {

constexpr std::uint64_t bitmap_address = 0xffff800000042000;
constexpr std::uint8_t read_register[] = {0xf2, 0x0f, 0x38, 0xf8, 0xc8};  // urdmsr rax, rcx
constexpr std::uint8_t read_immediate[] = {0xc4, 0xe7, 0x7b, 0xf8, 0xc0, 0x10, 0, 0, 0};
constexpr std::uint8_t write_immediate[] = {0xc4, 0xe7, 0x7a, 0xf8, 0xc0, 0x10, 0, 0, 0};
constexpr std::uint8_t read_callback[] = {0xc4, 0xe7, 0x7b, 0xf8, 0xc0, 0x11, 0, 0, 0};
constexpr std::uint8_t foreign[] = {0x90};

alignas(4096) std::uint8_t page[4096];

void add(eum_msr_machine* machine, std::uint32_t address, eum_msr_read_callback read) {
  eum_msr_register description{};
  description.struct_size = sizeof description;
  description.address = address;
  description.read = read;
  if (eum_msr_add(machine, &description) != EUM_MSR_OK) std::abort();
}

struct Cost {
  double median, best;  // nanoseconds per step
};

double cpu_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Aborts if a step does not end as `kind` says.
Cost time_step(eum_msr_machine* machine, std::span<const std::uint8_t> code, std::uint32_t kind) {
  constexpr int count = 10000;
  std::vector<double> samples;
  for (int batch = 0; batch < 201; ++batch) {
    const double begin = cpu_ns();
    for (int i = 0; i < count; ++i) {
      eum_msr_outcome outcome;
      if (eum_msr_step(machine, code.data(), code.size(), &outcome) != EUM_MSR_OK || outcome.kind != kind)
        std::abort();
    }
    samples.push_back((cpu_ns() - begin) / count);
  }
  std::sort(samples.begin(), samples.end());
  return {samples[samples.size() / 2], samples.front()};
}

void row(std::string_view what, Cost cost) {
  fmt::print("{:44} {:8.1f} {:8.1f}\n", what, cost.median, cost.best);
}

}  // namespace

int main() {
  eum_msr_machine* machine = nullptr;
  if (eum_msr_create(nullptr, &machine) != EUM_MSR_OK) return 2;
  std::fill(std::begin(page), std::end(page), std::uint8_t{0xff});
  if (eum_msr_map(machine, bitmap_address, page, sizeof page, EUM_MSR_PAGE_PRESENT) != EUM_MSR_OK) return 2;
  if (eum_msr_set_control(machine, bitmap_address | 1) != EUM_MSR_OK) return 2;
  add(machine, 0x10, nullptr);
  add(machine, 0x11, [](void*, std::uint32_t, std::uint64_t* value) {
    *value = 1;
    return 1;
  });
  fmt::print("{:44} {:>8} {:>8}\n", "nanoseconds a step", "median", "best");
  eum_msr_set_gpr(machine, 1, 0x10);
  row("read of a value, register form", time_step(machine, read_register, EUM_MSR_DONE));
  row("read of a value, immediate form", time_step(machine, read_immediate, EUM_MSR_DONE));
  row("write of a value, immediate form", time_step(machine, write_immediate, EUM_MSR_DONE));
  row("read by a callback", time_step(machine, read_callback, EUM_MSR_DONE));
  row("another instruction", time_step(machine, foreign, EUM_MSR_NOT_OURS));
  eum_msr_set_gpr(machine, 1, 0x4000);
  row("#GP(0)", time_step(machine, read_register, EUM_MSR_EXCEPTION));
  eum_msr_set_guest(machine, 1, nullptr);
  eum_msr_set_gpr(machine, 1, 0x10);
  row("VM exit", time_step(machine, read_register, EUM_MSR_VM_EXIT));
  eum_msr_destroy(machine);
  return 0;
}

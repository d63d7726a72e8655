// Fuzzes load_program with any bytes. Seeds: tests/fuzz/corpus/loader.
//   cmake --preset fuzz && ninja -C build/fuzz fuzz_loader
//   build/fuzz/tests/fuzz_loader -max_len=65536 -rss_limit_mb=512 SCRATCH tests/fuzz/corpus/loader
#include <cstdint>
#include <cstdlib>
#include <span>

#include "runtime/loader/loader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto program = eum::rt::load_program(std::as_bytes(std::span(data, size)));
  if (!program) {
    if (program.error().message.empty()) std::abort();
    return 0;
  }
  for (const eum::rt::Kernel& kernel : program->kernels) {
    for (const eum::rt::Patch& patch : kernel.implicit) {
      if (patch.offset + patch.size > kernel.cross_thread_bytes) std::abort();
    }
    for (const eum::rt::Argument& argument : kernel.arguments) {
      for (const eum::rt::Patch& patch : argument.patches) {
        if (patch.offset + patch.size > kernel.cross_thread_bytes) std::abort();
      }
    }
    if (eum::rt::describe_arguments(kernel).empty() != kernel.arguments.empty()) std::abort();
  }
  return 0;
}

// Fuzzes load_program with any bytes, and the uses of a loaded program: its payload and its relocations.
// Seeds: tests/fuzz/corpus/loader.
//   cmake --preset fuzz && ninja -C build/fuzz fuzz_loader
//   build/fuzz/tests/fuzz_loader -max_len=65536 -rss_limit_mb=1024 SCRATCH tests/fuzz/corpus/loader
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "runtime/dispatch/thread_payload.hpp"
#include "runtime/loader/loader.hpp"
#include "runtime/payload.hpp"
#include "runtime/relocate.hpp"

namespace {

using namespace eum;

// An argument of the kind that the kernel takes.
rt::ArgumentValue value_for(const rt::Argument& argument, std::span<std::byte> memory) {
  const mem::Surface surface = mem::buffer_surface(memory.data(), memory.size(), 0x10000);
  switch (argument.kind) {
    case rt::ArgumentKind::Unused:
      return {};
    case rt::ArgumentKind::Value:
      return std::vector<std::byte>(argument.size, std::byte{1});
    case rt::ArgumentKind::Pointer:
      return rt::BufferValue{surface};
    case rt::ArgumentKind::LocalPointer:
      return rt::LocalValue{64};
    case rt::ArgumentKind::Image: {
      rt::ImageValue image{surface};
      if (const auto type = rt::image_types[argument.image_type].takes) {
        image.surface.image.type = rt::info(*type).surface;
        image.surface.image.array = rt::info(*type).array;
      }
      image.surface.image.format = 0;  // R32G32B32A32_FLOAT
      return image;
    }
    case rt::ArgumentKind::Sampler:
      return rt::SamplerValue{};
  }
  std::abort();
}

void use(const rt::Kernel& kernel) {
  static std::array<std::byte, 256> memory;
  std::vector<rt::ArgumentValue> arguments;
  for (const rt::Argument& a : kernel.arguments) arguments.push_back(value_for(a, memory));
  rt::ImplicitBuffers buffers;
  buffers.constants = buffers.globals = buffers.private_memory = buffers.printf_buffer =
      mem::buffer_surface(memory.data(), memory.size(), 0x20000);
  rt::NdRange range;
  range.dims = 2;
  range.global = {33, 5, 1};
  range.allow_remainder = true;
  const auto payload = rt::build_payload(kernel, arguments, range, buffers);
  if (!payload) {
    if (payload.error().message.empty()) std::abort();
    return;
  }
  rt::ThreadCode code;
  code.simd = kernel.simd_size;
  for (const rt::Walk& walk : payload->walks) {
    rt::WalkerCommand command = rt::walker_command(*payload, walk);
    command.code = &code;
    const rt::ThreadPayload start(command);
    code.cr0_offset = static_cast<std::uint32_t>(start.bytes());
    code.sr0_offset = code.cr0_offset + 32;
    std::vector<std::byte> registers(start.bytes() + 64);
    start.write(registers.data(), walk.threads_per_group - 1);
    const auto r0 = start.header(walk.first_group, 0, walk.threads_per_group - 1);
    std::memcpy(registers.data(), r0.data(), sizeof r0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto program = rt::load_program(std::as_bytes(std::span(data, size)));
  if (!program) {
    if (program.error().message.empty()) std::abort();
    return 0;
  }
  rt::SegmentAddresses addresses;
  for (auto& address : addresses.address) address = 0x123456789000;
  for (const rt::Kernel& kernel : program->kernels) {
    if (rt::describe_arguments(kernel).empty() != kernel.arguments.empty()) std::abort();
    if (!rt::relocated_code(kernel, addresses)) std::abort();
    use(kernel);
  }
  for (const rt::SegmentData& segment : program->segments) {
    if (!rt::relocated_bytes(segment, addresses)) std::abort();
  }
  return 0;
}

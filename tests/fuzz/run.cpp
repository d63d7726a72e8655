// Fuzzes `eumulate run` as a whole: any bytes are loaded, and each kernel is translated and run on both
// engines with arguments of the kinds that it takes. Nothing may crash or hang, whatever the guest does;
// where both engines run to the end, they must leave the same bytes. Seeds: tests/kernels/bin.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "runtime/image/image.hpp"
#include "runtime/launch.hpp"
#include "runtime/loader/loader.hpp"

namespace {

using namespace eum;

constexpr std::uint64_t buffer_bytes = 4096;

struct Outcome {
  bool complete = false;
  std::vector<std::vector<std::byte>> buffers;
};

Outcome run(const rt::Program& program, const rt::Kernel& kernel, jit::EngineKind engine) {
  Outcome result;
  const auto device = rt::Device::create({.engine = engine, .workers = 1, .budget = 2000});
  if (!device) std::abort();
  const auto module = rt::Module::create(**device, program);
  if (!module) return result;
  const auto found = (*module)->find(kernel.name);
  if (!found) std::abort();
  std::vector<rt::ArgumentValue> arguments;
  std::vector<rt::Buffer> buffers;
  for (const rt::Argument& a : (*found)->arguments) {
    switch (a.kind) {
      case rt::ArgumentKind::Unused:
        arguments.emplace_back();
        break;
      case rt::ArgumentKind::Value:
        arguments.emplace_back(std::vector<std::byte>(a.size, std::byte{1}));
        break;
      case rt::ArgumentKind::Pointer: {
        const auto buffer = (*device)->allocate(buffer_bytes, "argument");
        if (!buffer) std::abort();
        for (std::uint64_t i = 0; i < buffer_bytes; ++i) buffer->host[i] = static_cast<std::byte>(i * 7);
        buffers.push_back(*buffer);
        arguments.emplace_back(rt::BufferValue{buffer->surface()});
        break;
      }
      case rt::ArgumentKind::LocalPointer:
        arguments.emplace_back(rt::LocalValue{256});
        break;
      case rt::ArgumentKind::Image: {
        rt::ImageDescription description;
        description.type = rt::image_types[a.image_type].takes.value_or(rt::ImageType::image2d);
        description.width = 16;
        description.data_type = rt::ChannelType::float_;
        const auto image = rt::make_image(**device, description, "image");
        if (!image) std::abort();
        arguments.emplace_back(image->value());
        break;
      }
      case rt::ArgumentKind::Sampler:
        arguments.emplace_back(rt::SamplerValue{});
        break;
    }
  }
  rt::NdRange range;
  range.dims = 2;
  range.global = {24, 2, 1};
  range.allow_remainder = true;
  auto launch = rt::Launch::prepare(**module, **found, arguments, range);
  if (!launch) {
    if (launch.error().message.empty()) std::abort();
    return result;
  }
  const auto report = launch->run();
  if (!report || report->fault) return result;
  result.complete = true;
  for (const rt::Buffer& buffer : buffers) {
    const auto bytes = buffer.bytes();
    result.buffers.emplace_back(bytes.begin(), bytes.end());
  }
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto program = rt::load_program(std::as_bytes(std::span(data, size)));
  if (!program) return 0;
  for (const rt::Kernel& kernel : program->kernels) {
    const Outcome avx2 = run(*program, kernel, jit::EngineKind::avx2);
    const Outcome reference = run(*program, kernel, jit::EngineKind::reference);
    if (!avx2.complete || !reference.complete || avx2.buffers == reference.buffers) continue;
    std::fprintf(stderr, "kernel %s: the engines differ\n", kernel.name.c_str());
    std::abort();
  }
  return 0;
}

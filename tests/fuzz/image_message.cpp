// Any bytes as the states of a surface and a sampler, a message and its lanes' operands: the scalar
// definition ends with results or a fault and stays inside the surface, and a kernel gives the same results.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "memory/image/kernels/kernel_cache.hpp"
#include "memory/image/layout.hpp"
#include "memory/surface.hpp"

namespace {

using namespace eum::mem;
using namespace eum::mem::image;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "image_message: %s\n", what);
  std::abort();
}

/// Takes values from the remaining bytes, then zeros.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  template <class T>
  T take() {
    T value{};
    const std::size_t n = std::min(left_, sizeof value);
    std::memcpy(&value, data_, n);
    data_ += n;
    left_ -= n;
    return value;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

constexpr std::size_t most_bytes = 1 << 18;
constexpr unsigned lanes = 16;
using Data = std::array<std::uint32_t, 12 * lanes>;

/// Compares the kernel with the definition for one kind of access.
template <class Call, class Run>
void compare(Surface& surface, const Data& data, const Kernel<Call>* kernel, const Run& run) {
  const std::vector<std::byte> before(surface.base, surface.base + surface.size);
  Data expected = data;
  const ImageFault fault = run(expected, nullptr);
  require(fault.kind != ImageFault::Kind::Unsupported || fault.reason[0] != 0, "no reason");
  if (kernel == nullptr || kernel->surface_bytes() > surface.size) return;
  require(!fault, "a fault of what has a kernel");
  const std::vector<std::byte> after(surface.base, surface.base + surface.size);
  std::copy(before.begin(), before.end(), surface.base);
  Data got = data;
  (void)run(got, kernel);
  require(got == expected, "a kernel with other results");
  require(std::equal(after.begin(), after.end(), surface.base), "a kernel that writes something else");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  Bytes input(bytes, size);
  const auto state = decode_surface_state(input.take<std::array<std::byte, surface_state_bytes>>());
  const auto sampler = decode_sampler_state(input.take<std::array<std::byte, sampler_state_bytes>>(),
                                            input.take<std::array<std::byte, border_color_bytes>>());
  if (!state || !sampler) return 0;
  const std::size_t needed = std::min<std::uint64_t>(surface_bytes(*state), most_bytes);
  const bool cut = input.take<std::uint8_t>() == 1;  // the surface ends before its texels do
  std::vector<std::byte> memory(cut ? needed / 2 : needed);
  std::uint32_t value = input.take<std::uint32_t>();
  for (std::byte& b : memory) b = static_cast<std::byte>((value = value * 1664525 + 1013904223) >> 24);
  Surface surface = buffer_surface(memory.data(), memory.size(), 0x1000);
  surface.image = *state;

  SampleMessage message;
  message.op = static_cast<SampleOp>(input.take<std::uint8_t>() % sample_op_table.size());
  message.lanes = lanes;
  message.parameters = input.take<std::uint8_t>() % 12;
  message.results = input.take<std::uint8_t>() % 6;
  message.half = (input.take<std::uint8_t>() & 1) != 0;
  TypedMessage typed;
  typed.kind = static_cast<TypedMessage::Kind>(input.take<std::uint8_t>() % 4);
  typed.lanes = lanes;
  typed.coordinates = input.take<std::uint8_t>() % 5;
  typed.components = input.take<std::uint8_t>() & 15;
  typed.atomic = static_cast<AtomicOp>(input.take<std::uint8_t>() % atomic_table.size());
  typed.returns = (input.take<std::uint8_t>() & 1) != 0;
  const SampleControl control{input.take<std::uint32_t>()};
  const auto mask = input.take<std::uint32_t>();
  const auto data = input.take<Data>();

  KernelCache cache;
  compare(surface, data, cache.find(message, *state, *sampler, control),
          [&](Data& to, const SampleKernel* kernel) {
            const SampleCall call{&surface, &*sampler, control, mask, to.data(), nullptr};
            if (kernel == nullptr) return sample(message, call);
            kernel->run(call);
            return ImageFault{};
          });
  compare(surface, data, cache.find(typed, *state), [&](Data& to, const TypedKernel* kernel) {
    const TypedCall call{&surface, mask, to.data(), nullptr};
    if (kernel == nullptr) return typed_access(typed, call);
    kernel->run(call);
    return ImageFault{};
  });
  return 0;
}

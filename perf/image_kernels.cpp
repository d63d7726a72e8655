// The cost of image messages on one core, measured by Google Benchmark: kernels of memory/image and, for
// comparison, the scalar definition. Counters are samples and texels per second.
#include <benchmark/benchmark.h>

#include <bit>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "memory/image/format.hpp"
#include "memory/image/kernels/kernel_cache.hpp"
#include "memory/image/layout.hpp"
#include "memory/surface.hpp"

using namespace eum::mem;
using namespace eum::mem::image;

namespace {

constexpr unsigned lanes = 16;

std::uint32_t bits(float f) { return std::bit_cast<std::uint32_t>(f); }

struct Image {
  SurfaceState state;
  std::vector<std::byte> memory;
  Surface surface;

  Image(const char* format, TileMode tiling, std::uint32_t width, std::uint32_t height) {
    state.type = SurfaceType::SURFTYPE_2D;
    state.format = find_format(format)->code;
    state.tiling = tiling;
    state.width = width;
    state.height = height;
    state.depth = state.view_extent = 1;
    choose_layout(state);
    memory.resize(surface_bytes(state));
    std::mt19937 random(1);
    for (std::size_t at = 0; at + 4 <= memory.size(); at += 4) {
      std::uint32_t value = static_cast<std::uint32_t>(random());
      // From 0 to 1: processing a denormal would cost more than its message.
      if (find_format(format)->kind == ChannelKind::FLOAT)
        value = bits(static_cast<float>(value >> 8) / (1 << 24));
      std::memcpy(memory.data() + at, &value, sizeof value);
    }
    surface = buffer_surface(memory.data(), memory.size(), 0);
    surface.image = state;
  }
};

constexpr std::uint32_t side = 512;

/// Each message samples 16 points of a slightly rotated grid that covers the image.
void sample_image(benchmark::State& run, const char* format, TileMode tiling, MapFilter filter,
                  AddressControl address, bool normalized, bool by_kernel) {
  const Image image(format, tiling, side, side);
  SamplerState sampler;
  sampler.min_filter = sampler.mag_filter = filter;
  sampler.address.fill(address);
  sampler.non_normalized = !normalized;
  const SampleMessage message{SampleOp::sample_lz, lanes, 2, 4, false};
  KernelCache cache;
  const SampleKernel* kernel = cache.find(message, image.state, sampler, {});
  if (kernel == nullptr) throw std::runtime_error("no kernel");
  std::uint32_t data[4 * lanes];
  std::uint32_t x = 0, y = 0;
  for (auto _ : run) {
    const float scale = normalized ? 1.0f / side : 1;
    for (unsigned i = 0; i < lanes; ++i) {
      data[i] = bits((static_cast<float>(x + i) * 0.98f + static_cast<float>(y) * 0.02f + 0.37f) * scale);
      data[lanes + i] = bits((static_cast<float>(y) * 0.98f + 0.41f) * scale);
    }
    const SampleCall call{&image.surface, &sampler, {}, ~0u, data, nullptr};
    if (by_kernel)
      kernel->run(call);
    else if (sample(message, call))
      throw std::runtime_error("a fault");
    benchmark::DoNotOptimize(data);
    x = (x + lanes) % side;
    y = (y + (x == 0)) % side;
  }
  run.counters["samples"] =
      benchmark::Counter(static_cast<double>(run.iterations()) * lanes, benchmark::Counter::kIsRate);
}

void typed_image(benchmark::State& run, const char* format, TileMode tiling, TypedMessage::Kind kind,
                 bool by_kernel) {
  const Image image(format, tiling, side, side);
  TypedMessage message;
  message.kind = kind;
  message.lanes = lanes;
  message.coordinates = 2;
  KernelCache cache;
  const TypedKernel* kernel = cache.find(message, image.state);
  if (kernel == nullptr) throw std::runtime_error("no kernel");
  std::uint32_t data[6 * lanes];
  for (std::uint32_t& value : data) value = bits(0.5f);
  std::uint32_t x = 0, y = 0;
  for (auto _ : run) {
    for (unsigned i = 0; i < lanes; ++i) {
      data[i] = x + i;
      data[lanes + i] = y;
    }
    const TypedCall call{&image.surface, ~0u, data, nullptr};
    if (by_kernel)
      kernel->run(call);
    else if (typed_access(message, call))
      throw std::runtime_error("a fault");
    benchmark::DoNotOptimize(data);
    x = (x + lanes) % side;
    y = (y + (x == 0)) % side;
  }
  run.counters["texels"] =
      benchmark::Counter(static_cast<double>(run.iterations()) * lanes, benchmark::Counter::kIsRate);
}

using Kind = TypedMessage::Kind;
constexpr TileMode linear = TileMode::LINEAR, y_tiles = TileMode::YMAJOR;
constexpr MapFilter nearest = MapFilter::NEAREST, bilinear = MapFilter::LINEAR;
constexpr AddressControl clamp = AddressControl::CLAMP, wrap = AddressControl::WRAP;

#define SAMPLE(name, ...) BENCHMARK_CAPTURE(sample_image, name, __VA_ARGS__)
#define TYPED(name, ...) BENCHMARK_CAPTURE(typed_image, name, __VA_ARGS__)
SAMPLE(bilinear_rgba8, "R8G8B8A8_UNORM", linear, bilinear, clamp, true, true);
SAMPLE(bilinear_rgba8_definition, "R8G8B8A8_UNORM", linear, bilinear, clamp, true, false);
SAMPLE(bilinear_rgba8_ytile, "R8G8B8A8_UNORM", y_tiles, bilinear, clamp, true, true);
SAMPLE(bilinear_rgba8_wrap, "R8G8B8A8_UNORM", linear, bilinear, wrap, true, true);
SAMPLE(bilinear_rgba8_border, "R8G8B8A8_UNORM", linear, bilinear, AddressControl::CLAMP_BORDER, true, true);
SAMPLE(bilinear_rgba32f, "R32G32B32A32_FLOAT", linear, bilinear, clamp, true, true);
SAMPLE(bilinear_r32f, "R32_FLOAT", linear, bilinear, clamp, true, true);
SAMPLE(nearest_rgba8, "R8G8B8A8_UNORM", linear, nearest, clamp, false, true);
SAMPLE(nearest_rgba8_definition, "R8G8B8A8_UNORM", linear, nearest, clamp, false, false);
SAMPLE(nearest_rgba8_ytile, "R8G8B8A8_UNORM", y_tiles, nearest, clamp, false, true);
SAMPLE(nearest_rgba32f, "R32G32B32A32_FLOAT", linear, nearest, clamp, false, true);
SAMPLE(nearest_r32f, "R32_FLOAT", linear, nearest, clamp, false, true);
SAMPLE(nearest_r8, "R8_UNORM", linear, nearest, clamp, false, true);
TYPED(read_rgba8, "R8G8B8A8_UINT", linear, Kind::Read, true);
TYPED(write_rgba8, "R8G8B8A8_UNORM", linear, Kind::Write, true);
TYPED(write_rgba8_definition, "R8G8B8A8_UNORM", linear, Kind::Write, false);
TYPED(write_rgba8_ytile, "R8G8B8A8_UNORM", y_tiles, Kind::Write, true);
TYPED(write_rgba32f, "R32G32B32A32_FLOAT", linear, Kind::Write, true);
#undef SAMPLE
#undef TYPED

/// The one-time cost of making a kernel.
void make_kernel(benchmark::State& run) {
  const Image image("R8G8B8A8_UNORM", y_tiles, side, side);
  SamplerState sampler;
  sampler.min_filter = sampler.mag_filter = bilinear;
  for (auto _ : run) {
    KernelCache cache;
    benchmark::DoNotOptimize(cache.find({SampleOp::sample_lz, lanes, 2, 4, false}, image.state, sampler, {}));
  }
}
BENCHMARK(make_kernel);

/// A bilinear message at its site in a program, including the comparison of states.
void run_at_site(benchmark::State& run) {
  const Image image("R8G8B8A8_UNORM", linear, side, side);
  SamplerState sampler;
  sampler.min_filter = sampler.mag_filter = bilinear;
  KernelCache cache;
  KernelSite site;
  std::uint32_t data[4 * lanes];
  for (auto _ : run) {
    for (unsigned i = 0; i < 2 * lanes; ++i) data[i] = bits(static_cast<float>(i) / 40);
    const SampleCall call{&image.surface, &sampler, {}, ~0u, data, nullptr};
    if (cache.run({SampleOp::sample_lz, lanes, 2, 4, false}, call, site)) throw std::runtime_error("a fault");
    benchmark::DoNotOptimize(data);
  }
  run.counters["samples"] =
      benchmark::Counter(static_cast<double>(run.iterations()) * lanes, benchmark::Counter::kIsRate);
}
BENCHMARK(run_at_site);

/// The cost of finding a kernel in the cache.
void find_kernel(benchmark::State& run) {
  const Image image("R8G8B8A8_UNORM", y_tiles, side, side);
  SamplerState sampler;
  KernelCache cache;
  for (auto _ : run)
    benchmark::DoNotOptimize(cache.find({SampleOp::sample_lz, lanes, 2, 4, false}, image.state, sampler, {}));
}
BENCHMARK(find_kernel);

}  // namespace

BENCHMARK_MAIN();

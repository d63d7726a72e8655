// The cost of a launch apart from the kernel, and of guest memory: buffers by number and size, accesses by
// address. Uses Google Benchmark; the kernel is saxpy over one group.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <random>

#include "runtime/dispatch/dispatch.hpp"
#include "runtime/launch.hpp"
#include "runtime/loader/loader.hpp"
#include "tests/kernels/corpus.hpp"

using namespace eum;

namespace {

Result<rt::Program> saxpy() {
  for (const kernels::KernelFile& file : kernels::kernel_files()) {
    if (file.stem != std::string_view("saxpy")) continue;
    const std::string path = kernels::binary_path(file, kernels::Container::Zebin);
    std::ifstream stream(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    return rt::load_program(std::as_bytes(std::span(bytes)));
  }
  return error("the corpus has no saxpy");
}

/// A device with one worker, saxpy and its buffers.
struct World {
  std::unique_ptr<rt::Device> device;
  std::unique_ptr<rt::Module> module;
  std::vector<rt::ArgumentValue> arguments;
  rt::NdRange range;

  static World make() {
    World w;
    w.device = *rt::Device::create({.workers = 1});
    w.module = *rt::Module::create(*w.device, *saxpy());
    const auto x = *w.device->allocate(128, "x"), y = *w.device->allocate(128, "y");
    w.arguments = {rt::by_value(2.0f), rt::BufferValue{x.surface()}, rt::BufferValue{y.surface()},
                   rt::by_value(32)};
    w.range.global = {32, 1, 1};
    return w;
  }
  rt::Launch launch() const {
    return *rt::Launch::prepare(*module, module->program().kernels[0], arguments, range);
  }
};

void prepare(benchmark::State& state) {
  const World world = World::make();
  for (auto _ : state) benchmark::DoNotOptimize(world.launch());
}

void run(benchmark::State& state) {
  const World world = World::make();
  auto launch = world.launch();
  for (auto _ : state) benchmark::DoNotOptimize(launch.run());
}

/// A dispatch that executes about 100 guest instructions in each step.
void step(benchmark::State& state) {
  World world = World::make();
  world.range.global = {1u << 20, 1, 1};
  auto launch = world.launch();
  const auto walks = *launch.commands();
  std::unique_ptr<rt::Dispatch> dispatch;
  for (auto _ : state) {
    if (!dispatch) dispatch = *rt::Dispatch::create(world.device->workers(), walks[0]);
    if (*(*dispatch).step(100) == rt::Dispatch::Progress::Done) dispatch.reset();
  }
}

/// `count` buffers are made and released; the counter is the time for one buffer.
void buffers(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    const auto device = *rt::Device::create({.workers = 1});
    std::vector<rt::Buffer> made;
    for (std::size_t i = 0; i < count; ++i) made.push_back(*device->allocate(64, "b"));
    for (const rt::Buffer& buffer : made) device->release(buffer);
  }
  state.counters["each"] =
      benchmark::Counter(static_cast<double>(count),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// AddressSpace::find of random addresses among `count` regions.
void find(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const auto device = *rt::Device::create({.workers = 1});
  std::vector<std::uint64_t> addresses;
  for (std::size_t i = 0; i < count; ++i) addresses.push_back((*device->allocate(64, "b")).address);
  std::mt19937_64 random(1);
  for (std::uint64_t& address : addresses) std::swap(address, addresses[random() % count]);
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(device->memory().find(addresses[next]));
    if (++next == count) next = 0;
  }
}

/// A buffer whose size in MiB is the argument, of which one byte is touched.
void large_buffer(benchmark::State& state) {
  const auto device = *rt::Device::create({.workers = 1});
  for (auto _ : state) {
    const auto buffer = *device->allocate(static_cast<std::uint64_t>(state.range(0)) << 20, "b");
    buffer.host[0] = std::byte{1};
    device->release(buffer);
  }
}

}  // namespace

BENCHMARK(prepare);
BENCHMARK(run);
BENCHMARK(step);
BENCHMARK(buffers)->Arg(1000)->Arg(8000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(find)->Arg(3)->Arg(100)->Arg(8000)->Arg(200'000);
BENCHMARK(large_buffer)->Arg(1)->Arg(1024)->Unit(benchmark::kMicrosecond);
BENCHMARK_MAIN();

// What translation costs: decoding, lowering and host code for each kernel of the corpus, as Google Benchmark
// sees it. The counter "each" is the time of the step for one GEN instruction.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <fstream>
#include <iterator>
#include <memory_resource>

#include "frontend/gen/instruction.hpp"
#include "frontend/gen/lower/lower.hpp"
#include "runtime/loader/loader.hpp"
#include "runtime/translation.hpp"
#include "tests/kernels/corpus.hpp"

using namespace eum;

namespace {

struct CorpusKernel {
  std::string name;  // file.kernel
  rt::Kernel kernel;

  rt::KernelCode code() const { return {kernel.name, kernel.code, gen::Family::Gen9, kernel.simd_size}; }
};

Result<std::vector<CorpusKernel>> load_corpus() {
  std::vector<CorpusKernel> loaded;
  for (const kernels::KernelFile& file : kernels::kernel_files()) {
    const std::string path = kernels::binary_path(file, kernels::Container::PatchTokens);
    std::ifstream stream(path, std::ios::binary);
    if (!stream) return error("{}: cannot be opened", path);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    auto program = rt::load_program(std::as_bytes(std::span(bytes)));
    if (!program) return error("{}: {}", path, program.error().message);
    for (rt::Kernel& kernel : program->kernels)
      loaded.push_back({fmt::format("{}.{}", file.stem, kernel.name), std::move(kernel)});
  }
  return loaded;
}

/// Reports `instructions` an iteration, and the time for one of them.
void count(benchmark::State& state, std::size_t instructions) {
  state.counters["instr"] = static_cast<double>(instructions);
  state.counters["each"] =
      benchmark::Counter(static_cast<double>(instructions),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void decode(benchmark::State& state, const CorpusKernel& corpus_kernel) {
  const rt::KernelCode code = corpus_kernel.code();
  std::size_t instructions = 0;
  for (auto _ : state) {
    instructions = 0;
    for (std::uint32_t ip = 0; ip < code.bytes.size(); ++instructions) {
      const auto instruction = gen::decode(code.bytes, ip, code.family);
      if (!instruction) return state.SkipWithError(instruction.error().message.c_str());
      ip += instruction->length;
    }
  }
  count(state, instructions);
}

void lower(benchmark::State& state, const CorpusKernel& corpus_kernel) {
  const rt::KernelCode code = corpus_kernel.code();
  std::size_t instructions = 0;
  for (auto _ : state) {
    std::pmr::monotonic_buffer_resource memory;
    const auto function =
        gen::lower_kernel(code.bytes, code.family, code.simd, std::string(code.name), &memory);
    if (!function) return state.SkipWithError(function.error().message.c_str());
    instructions = 0;
    for (const ir::Block& block : function->blocks) instructions += block.guest_instructions;
  }
  count(state, instructions);
}

/// Every kernel given, from bits to host code.
void translate(benchmark::State& state, jit::Engine& engine, std::span<const CorpusKernel> chosen) {
  std::size_t instructions = 0;
  for (auto _ : state) {
    instructions = 0;
    for (const CorpusKernel& corpus_kernel : chosen) {
      const auto translated = rt::translate(corpus_kernel.code(), engine);
      if (!translated) return state.SkipWithError(translated.error().message.c_str());
      instructions += translated->instructions;
    }
  }
  count(state, instructions);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const auto corpus = load_corpus();
  const auto engine = jit::make_avx2_engine();
  if (!corpus || !engine) {
    fmt::print(stderr, "perf_translation: {}\n", !corpus ? corpus.error().message : engine.error().message);
    return 1;
  }
  const auto named = [](std::string_view step, std::string_view name, auto&& function) {
    benchmark::RegisterBenchmark(fmt::format("{}/{}", step, name).c_str(), function)
        ->Unit(benchmark::kMicrosecond);
  };
  named("translate", "corpus", [&](benchmark::State& state) { translate(state, **engine, *corpus); });
  for (const CorpusKernel& kernel : *corpus) {
    named("decode", kernel.name, [&](benchmark::State& state) { decode(state, kernel); });
    named("lower", kernel.name, [&](benchmark::State& state) { lower(state, kernel); });
    named("translate", kernel.name,
          [&](benchmark::State& state) { translate(state, **engine, std::span(&kernel, 1)); });
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

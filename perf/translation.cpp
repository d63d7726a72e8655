// The cost of each step from machine code to host code, measured by Google Benchmark: decoding, lowering
// (including decoding), each pass, emission (compilation without the passes) and everything together, for
// each kernel of the corpus, for all of them, and for functions of up to 60,000 instructions. The counter
// "each" is the time of the step per GEN instruction; "code" and "metadata" are the bytes kept per GEN
// instruction.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <ctime>
#include <fstream>
#include <iterator>
#include <memory_resource>

#include "frontend/gen/instruction.hpp"
#include "frontend/gen/lower/lower.hpp"
#include "jit/analysis/liveness.hpp"
#include "jit/passes/passes.hpp"
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

/// The kernel with the code before its end of thread repeated until it has at least `instructions`
/// instructions: a function of arbitrary size with the messages, branches and loops of a real one.
Result<CorpusKernel> grown(const CorpusKernel& small, std::size_t instructions) {
  const rt::KernelCode code = small.code();
  std::uint32_t end = 0;
  std::size_t body = 0;
  for (;; ++body) {
    const auto instruction = gen::decode(code.bytes, end, code.family);
    if (!instruction) return instruction.error();
    if (instruction->send.eot) break;
    end += instruction->length;
  }
  CorpusKernel large{fmt::format("large.{}", instructions), small.kernel};
  std::vector<std::byte>& bytes = large.kernel.code;
  bytes.clear();
  const auto add = [&](auto part) { bytes.insert(bytes.end(), part.begin(), part.end()); };
  for (std::size_t have = 0; have < instructions; have += body) add(code.bytes.first(end));
  add(code.bytes.subspan(end));
  return large;
}

/// Reports the number of instructions per iteration, and the time per instruction.
void count(benchmark::State& state, std::size_t instructions) {
  state.counters["instr"] = static_cast<double>(instructions);
  state.counters["each"] =
      benchmark::Counter(static_cast<double>(instructions),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

using Chosen = std::span<const CorpusKernel>;

/// CPU time of this thread in seconds, which excludes other load.
double thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::size_t guest_instructions(const ir::Function& function) {
  std::size_t instructions = 0;
  for (const ir::Block& block : function.blocks) instructions += block.guest_instructions;
  return instructions;
}

Result<ir::Function> lowered(const CorpusKernel& corpus_kernel, std::pmr::memory_resource* memory) {
  const rt::KernelCode code = corpus_kernel.code();
  return gen::lower_kernel(code.bytes, code.family, code.simd, std::string(code.name), memory);
}

void decode(benchmark::State& state, Chosen chosen) {
  std::size_t instructions = 0;
  for (auto _ : state) {
    instructions = 0;
    for (const CorpusKernel& corpus_kernel : chosen) {
      const rt::KernelCode code = corpus_kernel.code();
      for (std::uint32_t ip = 0; ip < code.bytes.size(); ++instructions) {
        const auto instruction = gen::decode(code.bytes, ip, code.family);
        if (!instruction) return state.SkipWithError(instruction.error().message.c_str());
        ip += instruction->length;
      }
    }
  }
  count(state, instructions);
}

void lower(benchmark::State& state, Chosen chosen) {
  std::size_t instructions = 0;
  for (auto _ : state) {
    instructions = 0;
    for (const CorpusKernel& corpus_kernel : chosen) {
      std::pmr::monotonic_buffer_resource memory;
      const auto function = lowered(corpus_kernel, &memory);
      if (!function) return state.SkipWithError(function.error().message.c_str());
      instructions += guest_instructions(*function);
    }
  }
  count(state, instructions);
}

/// Times `step` on functions after the first `passes_before` passes.
template <class Step>
void step_of(benchmark::State& state, Chosen chosen, std::size_t passes_before, Step&& step) {
  std::size_t instructions = 0;
  for (auto _ : state) {
    instructions = 0;
    double seconds = 0;
    for (const CorpusKernel& corpus_kernel : chosen) {
      std::pmr::monotonic_buffer_resource memory;
      auto function = lowered(corpus_kernel, &memory);
      if (!function) return state.SkipWithError(function.error().message.c_str());
      instructions += guest_instructions(*function);
      jit::mark_safepoints(*function, jit::Safepoints::BackEdges);
      for (const jit::Pass& pass : jit::pipeline().first(passes_before)) pass.run(*function);
      const double start = thread_time();
      step(*function);
      seconds += thread_time() - start;
    }
    state.SetIterationTime(seconds);
  }
  count(state, instructions);
}

/// Times compilation, minus the time of the passes on another copy of the same function.
void emit(benchmark::State& state, jit::Engine& engine, Chosen chosen) {
  std::size_t instructions = 0;
  for (auto _ : state) {
    instructions = 0;
    double seconds = 0;
    for (const CorpusKernel& corpus_kernel : chosen) {
      std::pmr::monotonic_buffer_resource memory;
      auto function = lowered(corpus_kernel, &memory), copy = lowered(corpus_kernel, &memory);
      if (!function || !copy) return state.SkipWithError("does not lower");
      instructions += guest_instructions(*function);
      double start = thread_time();
      jit::mark_safepoints(*copy, jit::Safepoints::BackEdges);
      for (const jit::Pass& pass : jit::pipeline()) pass.run(*copy);
      seconds -= thread_time() - start;
      start = thread_time();
      const auto executable = engine.compile(*function, rt::run_only);
      seconds += thread_time() - start;
      if (!executable) return state.SkipWithError(executable.error().message.c_str());
    }
    state.SetIterationTime(std::max(seconds, 1e-9));
  }
  count(state, instructions);
}

/// Translates all given kernels, from machine code to host code; reports the bytes kept per GEN instruction.
void translate(benchmark::State& state, jit::Engine& engine, Chosen chosen) {
  std::size_t instructions = 0, code = 0, metadata = 0;
  for (auto _ : state) {
    instructions = code = metadata = 0;
    for (const CorpusKernel& corpus_kernel : chosen) {
      const auto translated = rt::translate(corpus_kernel.code(), engine);
      if (!translated) return state.SkipWithError(translated.error().message.c_str());
      instructions += translated->instructions;
      code += translated->executable->code_bytes();
      metadata += translated->executable->metadata_bytes();
    }
  }
  count(state, instructions);
  state.counters["code"] = static_cast<double>(code) / static_cast<double>(instructions);
  state.counters["metadata"] = static_cast<double>(metadata) / static_cast<double>(instructions);
}

void add_benchmarks(jit::Engine& engine, std::string_view name, Chosen chosen) {
  const auto add = [&](std::string_view step, auto&& function) {
    return benchmark::RegisterBenchmark(fmt::format("{}/{}", step, name).c_str(), function)
        ->Unit(benchmark::kMicrosecond);
  };
  using benchmark::State;
  add("decode", [chosen](State& state) { decode(state, chosen); });
  add("lower", [chosen](State& state) { lower(state, chosen); });
  const std::size_t passes = jit::pipeline().size();
  for (std::size_t i = 0; i < passes; ++i) {
    const jit::Pass& pass = jit::pipeline()[i];
    add(pass.name, [=](State& state) { step_of(state, chosen, i, pass.run); })->UseManualTime();
  }
  add("liveness", [=](State& state) {
    step_of(state, chosen, passes, [](ir::Function& function) {
      benchmark::DoNotOptimize(jit::Liveness(function, 32, rt::run_only.exact_registers));
    });
  })->UseManualTime();
  add("emit", [&engine, chosen](State& state) { emit(state, engine, chosen); })->UseManualTime();
  add("translate", [&engine, chosen](State& state) { translate(state, engine, chosen); });
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
  add_benchmarks(**engine, "corpus", *corpus);
  const auto pattern = std::ranges::find(*corpus, "stencil3d.stencil3d", &CorpusKernel::name);
  if (pattern == corpus->end()) return 1;
  std::vector<CorpusKernel> large;
  for (const unsigned instructions : {1'000u, 6'000u, 60'000u}) {
    auto kernel = grown(*pattern, instructions);
    if (!kernel) {
      fmt::print(stderr, "perf_translation: {}\n", kernel.error().message);
      return 1;
    }
    large.push_back(*std::move(kernel));
  }
  for (const CorpusKernel& kernel : large) add_benchmarks(**engine, kernel.name, std::span(&kernel, 1));
  for (const CorpusKernel& kernel : *corpus) add_benchmarks(**engine, kernel.name, std::span(&kernel, 1));
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

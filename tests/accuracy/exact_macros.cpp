// Proves that the vendor compiler's code for 1/x, sqrt(x) and a/b under
// -cl-fp32-correctly-rounded-divide-sqrt (tests/kernels/src/exact.cl) is correctly rounded: on Broxton and
// Broadwell math.invm and math.rsqtm with their madm, on Ice Lake math.inv, math.rsqt and mad. Results are
// verified by products of numbers of at most 25 bits, which are exact in double, so nothing here divides.
//   exact_macros [--full] [--device NAME] [--engine NAME] [--threads N]
// With --full, all floats as operands of 1/x and sqrt(x) and 10^9 pairs for a/b; otherwise a part of both, as
// a test.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/launch.hpp"
#include "runtime/loader/loader.hpp"
#include "tests/kernels/corpus.hpp"

using namespace eum;

namespace {

constexpr std::uint64_t items = 1 << 18;  // per launch

/// The midpoint between |q| and the next float above or below; exact.
double middle(float q, bool above) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(q) & 0x7fffffff;
  const auto number = [](std::uint32_t b) {
    return b == 0x7f800000 ? 0x1p128 : static_cast<double>(std::bit_cast<float>(b));
  };
  return (number(bits) + number(above ? bits + 1 : bits - 1)) / 2;
}

/// Whether q is the float nearest to a value that is only known by comparison: `at` says of a midpoint
/// whether it is below the value (< 0), equal to it or above it.
template <class Place>
bool is_nearest(float q, Place at) {
  const bool even = (std::bit_cast<std::uint32_t>(q) & 1) == 0;
  const std::uint32_t size = std::bit_cast<std::uint32_t>(q) & 0x7fffffff;
  if (size > 0x7f800000) return false;
  if (size != 0) {
    const int below = at(middle(q, false));
    if (below > 0 || (below == 0 && !even)) return false;
  }
  if (size == 0x7f800000) return true;
  const int above = at(middle(q, true));
  return above > 0 || (above == 0 && even);
}

int compare(double a, double b) { return a < b ? -1 : a > b ? 1 : 0; }

bool divides(float a, float b, float q) {
  if (std::isnan(a) || std::isnan(b) || (std::isinf(a) && std::isinf(b)) || (a == 0 && b == 0))
    return std::isnan(q);
  if (std::signbit(q) != (std::signbit(a) != std::signbit(b))) return false;
  if (std::isinf(a) || b == 0) return std::isinf(q);
  if (std::isinf(b) || a == 0) return q == 0;
  const double dividend = std::fabs(static_cast<double>(a)), divisor = std::fabs(static_cast<double>(b));
  return is_nearest(q, [&](double m) { return compare(m * divisor, dividend); });
}

bool is_reciprocal(float a, float, float q) { return divides(1, a, q); }

bool is_root(float a, float, float q) {
  if (std::isnan(a) || a < 0) return std::isnan(q);
  if (a == 0 || std::isinf(a)) return q == a && std::signbit(q) == std::signbit(a);
  return !std::signbit(q) && is_nearest(q, [&](double m) { return compare(m * m, static_cast<double>(a)); });
}

struct Operation {
  const char* kernel;
  unsigned operands;
  bool (*correct)(float a, float b, float result);
};
constexpr Operation operations[] = {
    {"divide", 2, divides}, {"reciprocal", 1, is_reciprocal}, {"root", 1, is_root}};

/// Checks the check: a neighbour of the correct result must be rejected.
bool refuses_neighbour(const Operation& operation, float a, float b, float result) {
  return !std::isfinite(result) || !operation.correct(a, b, std::nextafter(result, INFINITY));
}

/// All floats, each once in 2^32; successive ones are far apart, so that any part of them is a fair sample.
void all_floats(std::uint64_t block, std::span<float> a) {
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] = std::bit_cast<float>(static_cast<std::uint32_t>((block * items + i) * 0x9e3779b1));
}

/// Pairs whose quotients' exponents are spread evenly over all results, including denormals and overflows; a
/// quarter of the quotients are as close to a midpoint between floats as possible, and some pairs have random
/// bits.
void pairs(std::uint64_t block, std::span<float> a, std::span<float> b) {
  std::mt19937_64 random(block);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint64_t bits = random(), more = random();
    if (i % 16 == 0) {
      a[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      b[i] = std::bit_cast<float>(static_cast<std::uint32_t>(more));
      continue;
    }
    const int quotient = static_cast<int>(more % 282) - 152;  // -152 to 129
    const int least = std::max(-149, -149 - quotient), most = std::min(127, 127 - quotient);
    const int divisor = least + static_cast<int>((more >> 16) % static_cast<unsigned>(most - least + 1));
    const double significand = static_cast<double>((bits & 0x7fffff) | 0x800000);
    b[i] = static_cast<float>(std::ldexp(significand, divisor - 23));
    if (i % 4 == 1) {
      const double middle = static_cast<double>((bits >> 24 & 0xffffff) | 0x1000001);  // 25 bits, odd
      a[i] = static_cast<float>(middle * std::ldexp(static_cast<double>(b[i]), quotient - 24));
    } else {
      a[i] = static_cast<float>(
          std::ldexp(static_cast<double>((bits >> 24 & 0x7fffff) | 0x800000), divisor + quotient - 23));
    }
    if ((bits >> 62 & 1) != 0) a[i] = -a[i];
    if ((bits >> 63 & 1) != 0) b[i] = -b[i];
  }
}

struct Tally {
  std::uint64_t results = 0, wrong = 0;
  std::string first;  ///< the first error
};

struct Task {
  const Operation& operation;
  std::string binary;
  jit::EngineKind engine;
  std::uint64_t blocks = 0, of = 0;  ///< number of blocks, spread over `of`
};

Result<Tally> run(const Task& task, std::uint64_t begin, std::uint64_t step) {
  auto device = rt::Device::create({.engine = task.engine, .workers = 1});
  if (!device) return device.error();
  std::ifstream stream(task.binary, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  auto program = rt::load_program(std::as_bytes(std::span(bytes)));
  if (!program) return error("{}: {}", task.binary, program.error().message);
  auto module = rt::Module::create(**device, std::move(*program));
  if (!module) return module.error();
  auto kernel = (*module)->find(task.operation.kernel);
  if (!kernel) return kernel.error();
  std::vector<std::span<float>> buffers;
  std::vector<rt::ArgumentValue> arguments;
  for (unsigned i = 0; i <= task.operation.operands; ++i) {
    auto buffer = (*device)->allocate(items * sizeof(float), "floats");
    if (!buffer) return buffer.error();
    buffers.emplace_back(reinterpret_cast<float*>(buffer->host), items);
    auto argument = rt::buffer_at((*device)->memory(), buffer->address);
    if (!argument) return argument.error();
    arguments.push_back(std::move(*argument));
  }
  auto launch = rt::Launch::prepare(**module, **kernel, arguments, {.dims = 1, .global = {items, 1, 1}});
  if (!launch) return launch.error();
  const std::span<float> a = buffers[0], b = buffers[task.operation.operands - 1], out = buffers.back();
  Tally tally;
  for (std::uint64_t i = begin; i < task.blocks; i += step) {
    const std::uint64_t block = i * (task.of / task.blocks);
    if (task.operation.operands == 1)
      all_floats(block, a);
    else
      pairs(block, a, b);
    auto report = launch->run();
    if (!report) return report.error();
    if (report->fault) return error("{}: {}", task.operation.kernel, report->fault->message);
    for (std::size_t k = 0; k < items; ++k) {
      const bool sees = k % 64 != 0 || refuses_neighbour(task.operation, a[k], b[k], out[k]);
      if (sees && task.operation.correct(a[k], b[k], out[k])) continue;
      if (++tally.wrong == 1)
        tally.first = fmt::format("{}({:a}, {:a}) gives {:a}", task.operation.kernel, a[k], b[k], out[k]);
    }
    tally.results += items;
  }
  return tally;
}

/// Prints a row; returns false if a result is wrong.
bool prove(const Task& task, const std::string& device, unsigned threads) {
  std::vector<Result<Tally>> results(threads, Tally{});
  std::vector<std::thread> running;
  for (unsigned t = 0; t < threads; ++t) running.emplace_back([&, t] { results[t] = run(task, t, threads); });
  for (std::thread& thread : running) thread.join();
  Tally all;
  for (const Result<Tally>& result : results) {
    if (!result) return fmt::print("FAILED: {}\n", result.error().message), false;
    all.results += result->results;
    all.wrong += result->wrong;
    if (all.first.empty()) all.first = result->first;
  }
  fmt::print("| {} | {} | {} | {} |\n", task.operation.kernel, device, all.results, all.wrong);
  if (all.wrong != 0) fmt::print("WRONG: {}\n", all.first);
  std::fflush(stdout);
  return all.wrong == 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool full = false;
  std::string only, engine_name = "avx2";
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  CLI::App app{"Quotients and roots that must be correctly rounded"};
  app.add_flag("--full", full, "all floats, 10^9 pairs");
  app.add_option("--device", only, "only the binary for this device");
  app.add_option("--engine", engine_name);
  app.add_option("--threads", threads)->check(CLI::Range(1, 256));
  CLI11_PARSE(app, argc, argv);
  const auto engine = std::ranges::find(jit::engines(), engine_name, &jit::EngineInfo::name);
  if (engine == jit::engines().end()) return fmt::print("no engine {}\n", engine_name), 1;

  const kernels::KernelFile* file = kernels::find_kernel_file("exact");
  std::vector<std::pair<std::string, std::string>> binaries{
      {"bxt", kernels::binary_path(*file, kernels::Container::PatchTokens)}};
  for (const kernels::KernelDevice& device : kernels::kernel_devices())
    binaries.emplace_back(device.name, kernels::binary_path(*file, kernels::binaries_for(device)));
  fmt::print("| function | device | results | not correctly rounded |\n|---|---|---|---|\n");
  bool good = true, any = false;
  for (const auto& [device, binary] : binaries)
    for (const Operation& operation : operations) {
      if (!only.empty() && only != device) continue;
      any = true;
      const std::uint64_t of = operation.operands == 1 ? (1ull << 32) / items : 1'000'000'000 / items + 1;
      good &= prove({operation, binary, engine->kind, full ? of : 8, of}, device, threads);
    }
  if (!any) fmt::print("no binary for {}\n", only);
  return good && any ? 0 : 1;
}

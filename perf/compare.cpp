// Times the corpus' speed kernels on PoCL and on Eumulate, in turns, and prints a markdown table.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <string>

#include "perf/comparison.hpp"
#include "perf/eumulate_contender.hpp"
#include "perf/pocl_contender.hpp"

using namespace eum;
using namespace eum::perf;

namespace {

struct CommandLine {
  ComparisonOptions options;
  bool noise = false;
  std::vector<std::string> parts;
};

bool chosen(const kernels::KernelCase& kernel_case, const CommandLine& line) {
  if (line.parts.empty()) return true;
  for (const std::string& part : line.parts)
    if (kernel_case.name.find(part) != std::string::npos) return true;
  return false;
}

Result<void> run(const CommandLine& line) {
  Result<std::unique_ptr<Contender>> a = make_pocl_contender();
  Result<std::unique_ptr<Contender>> b = line.noise ? make_pocl_contender() : make_eumulate_contender();
  if (!a) return a.error();
  if (!b) return b.error();
  std::vector<ComparisonRow> rows;
  for (const kernels::KernelCase& kernel_case : kernels::perf_cases()) {
    if (!chosen(kernel_case, line)) continue;
    Result<ComparisonRow> row = compare_speed(**a, **b, kernel_case, line.options);
    if (!row) return row.error();
    rows.push_back(std::move(*row));
  }
  fmt::print("{}", markdown(**a, **b, rows));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line;
  CLI::App app("Times the speed kernels on PoCL and on Eumulate, in turns, and prints a markdown table.");
  app.add_option("--samples", line.options.samples, "Samples of each contender, taken in turns")
      ->check(CLI::Range(1u, 1u << 16))
      ->capture_default_str();
  app.add_flag("--noise", line.noise, "PoCL against PoCL: how much of a ratio is noise on this machine");
  app.add_option("CASE", line.parts, "Parts of the names of the cases to time; all without");
  CLI11_PARSE(app, argc, argv);
  const Result<void> done = run(line);
  if (!done) fmt::print(stderr, "pocl_compare: {}\n", done.error().message);
  return done ? 0 : 1;
}

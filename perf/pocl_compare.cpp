// Times the corpus' eight speed kernels on PoCL and on Eumulate, in turns, and prints a markdown table.
// Usage: pocl_compare [--samples N] [--noise] [PART-OF-CASE-NAME...] With --noise the other contender is a
// second PoCL: the table then shows how much of a ratio is noise on this machine.
#include <fmt/core.h>

#include <charconv>
#include <string_view>

#include "perf/comparison.hpp"
#include "perf/eumulate_contender.hpp"
#include "perf/pocl_contender.hpp"

using namespace eum;
using namespace eum::perf;

namespace {

struct CommandLine {
  ComparisonOptions options;
  bool noise = false;
  std::vector<std::string_view> parts;
};

Result<CommandLine> parse(std::span<char*> words) {
  CommandLine line;
  for (size_t i = 0; i < words.size(); i++) {
    const std::string_view word = words[i];
    if (word == "--noise") {
      line.noise = true;
      continue;
    }
    if (word != "--samples") {
      line.parts.push_back(word);
      continue;
    }
    const std::string_view number = i + 1 < words.size() ? words[++i] : "";
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), line.options.samples);
    if (parsed.ec != std::errc() || parsed.ptr != number.data() + number.size() || line.options.samples == 0)
      return error("--samples: expected a number from 1, found '{}'", number);
  }
  return line;
}

bool chosen(const kernels::KernelCase& kernel_case, const CommandLine& line) {
  if (line.parts.empty()) return true;
  for (std::string_view part : line.parts)
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
  const Result<CommandLine> line = parse(std::span(argv + 1, static_cast<size_t>(argc - 1)));
  const Result<void> done = line ? run(*line) : Result<void>(line.error());
  if (!done) fmt::print(stderr, "pocl_compare: {}\n", done.error().message);
  return done ? 0 : 1;
}

// perf_compare: `measure` times the kernels of perf/kernels on PoCL, Eumulate and native loops, in turns, and
// writes a record; `report` prints tables and writes a page for records, and compares with an older one.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "perf/contenders/contenders.hpp"
#include "perf/measure.hpp"
#include "perf/report.hpp"

using namespace eum;
using namespace eum::perf;

namespace {

struct CommandLine {
  MeasureOptions measure;
  unsigned workers = 1;
  bool quick = false;
  std::vector<std::string> parts, without;
  std::string json, html, baseline;
  std::vector<std::string> records;
};

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const auto colon = line.find(": "); colon != line.npos) return line.substr(colon + 2);
  return "unknown processor";
}

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return error("{}: cannot be opened", path);
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

Result<void> write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) return error("{}: cannot be written", path);
  return {};
}

Result<Record> read_record(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return text.error();
  auto record = record_from_json(*text);
  if (!record) return error("{}: {}", path, record.error().message);
  return record;
}

/// Whether the name contains one of `parts`, or there are none.
bool chosen(const std::string& name, const std::vector<std::string>& parts) {
  if (parts.empty()) return true;
  return std::any_of(parts.begin(), parts.end(), [&](auto& part) { return name.find(part) != name.npos; });
}

Result<std::vector<std::unique_ptr<Contender>>> make_contenders(const CommandLine& line) {
  std::vector<std::unique_ptr<Contender>> contenders;
  const auto wanted = [&](std::string_view name) {
    return std::find(line.without.begin(), line.without.end(), name) == line.without.end();
  };
  if (wanted("pocl")) {
    auto pocl = make_pocl(line.workers);
    if (!pocl) return pocl.error();
    contenders.push_back(std::move(*pocl));
  }
  if (wanted("eumulate")) {
    auto eumulate = make_eumulate(line.workers);
    if (!eumulate) return eumulate.error();
    contenders.push_back(std::move(*eumulate));
  }
  if (wanted("avx512")) {
    auto eumulate = make_eumulate(line.workers, true);
    if (eumulate)
      contenders.push_back(std::move(*eumulate));
    else
      fmt::print(stderr, "left out: {}\n", eumulate.error().message);
  }
  if (wanted("native")) contenders.push_back(make_native(line.workers));
  return contenders;
}

/// Returns the number of rows in which a contender failed.
Result<int> run_measure(CommandLine& line) {
  if (line.workers == 0) line.workers = std::max(1u, std::thread::hardware_concurrency());
  const auto contenders = make_contenders(line);
  if (!contenders) return contenders.error();
  Record record{processor(), line.workers, {}};
  int failed = 0;
  for (const PerfKernel& row : perf_kernels()) {
    if (!chosen(row.name, line.parts)) continue;
    const kernels::KernelCase kernel_case = row.kernel_case(line.quick);
    const KernelRecord& kernel =
        record.kernels.emplace_back(measure(row, kernel_case, *contenders, line.measure));
    fmt::print(stderr, "{}", kernel.name);
    bool good = true;
    for (const ContenderRecord& contender : kernel.contenders) {
      if (contender.timed())
        fmt::print(stderr, "  {} {:.3f} ms", contender.name, cli::median(record.times(contender)) * 1e3);
      if (!contender.failure.empty())
        fmt::print(stderr, "  {} FAILED: {}", contender.name, contender.failure);
      good = good && contender.failure.empty();
    }
    fmt::print(stderr, "\n");
    failed += !good;
  }
  if (record.kernels.empty()) return error("no kernel's name holds what was asked for");
  if (!line.json.empty())
    if (auto written = write_text(line.json, to_json(record)); !written) return written.error();
  fmt::print("{}", markdown(record));
  return failed;
}

/// Returns the number of kernels that are worse than in the baseline.
Result<int> run_report(const CommandLine& line) {
  std::vector<Record> records;
  for (const std::string& path : line.records) {
    auto record = read_record(path);
    if (!record) return record.error();
    records.push_back(std::move(*record));
    fmt::print("{}\n", markdown(records.back()));
  }
  if (!line.html.empty())
    if (auto written = write_text(line.html, html(records)); !written) return written.error();
  if (line.baseline.empty()) return 0;
  const auto baseline = read_record(line.baseline);
  if (!baseline) return baseline.error();
  int worse = 0, compared = 0;
  for (const Record& record : records) {
    if (record.workers != baseline->workers) continue;
    compared++;
    for (const std::string& text : regressions(*baseline, record)) {
      fmt::print("worse than {}: {}\n", line.baseline, text);
      worse++;
    }
  }
  if (compared == 0)
    return error("{}: expected a record of as many workers as one of those given, found {}", line.baseline,
                 baseline->workers);
  return worse;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line;
  CLI::App app("Compares Eumulate with PoCL and with native loops.");
  app.require_subcommand(1);
  CLI::App* measure_command =
      app.add_subcommand("measure", "time the kernels; ends with 1 if a result is wrong");
  measure_command->add_option("part", line.parts, "kernels whose names hold one of these (default: all)");
  measure_command
      ->add_option("--workers", line.workers, "threads of each contender, 0: one for each processor")
      ->capture_default_str();
  measure_command->add_option("--samples", line.measure.samples, "samples of each contender, taken in turns")
      ->check(CLI::Range(1u, 1u << 16))
      ->capture_default_str();
  measure_command->add_option("--seconds", line.measure.sample_seconds, "that launches of a sample fill")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str();
  measure_command->add_option("--without", line.without, "contenders to leave out")
      ->check(CLI::IsMember({"pocl", "eumulate", "avx512", "native"}))
      ->allow_extra_args(false);
  measure_command->add_flag("--quick", line.quick, "the corpus' small sizes: the times mean nothing");
  measure_command->add_option("--json", line.json, "write the record to this file");
  CLI::App* report_command = app.add_subcommand("report", "tables and a page of records");
  report_command->add_option("record", line.records, "files that measure wrote")->required();
  report_command->add_option("--html", line.html, "write a page with bars to this file");
  report_command->add_option("--baseline", line.baseline,
                             "end with 1 if a kernel is worse than in this record, beyond noise");
  CLI11_PARSE(app, argc, argv);

  const Result<int> count = *measure_command ? run_measure(line) : run_report(line);
  if (!count) {
    fmt::print(stderr, "perf_compare: {}\n", count.error().message);
    return 2;
  }
  return *count == 0 ? 0 : 1;
}

// perf_micro: the cost of single operations for a guest thread, as the difference between many repetitions
// and none, on Eumulate and, for as many work items, on PoCL.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "perf/contenders/contenders.hpp"
#include "perf/kernels/micro.hpp"
#include "perf/measure.hpp"
#include "tests/kernels/case_runner.hpp"
#include "tests/kernels/work_kernels.hpp"

using namespace eum;
using namespace eum::perf;

namespace {

struct CommandLine {
  MeasureOptions measure;
  bool quick = false, pocl = true;
  std::vector<std::string> parts;
  std::string json;
};

/// Nanoseconds of CPU time; empty if the contender does not take part.
struct Cost {
  std::optional<double> thread, unit;
};

struct Row {
  const MicroRow* micro;
  unsigned channels;
  Cost eumulate, pocl;  // PoCL's: for as many work items as a guest thread has channels
};

double least(const KernelRecord& record, std::string_view contender) {
  return cli::smallest(record.find(contender)->cpu) * 1e9;
}

Result<unsigned> channels_of(const kernels::KernelCase& kernel_case) {
  auto device = rt::Device::create({.workers = 1, .exclusive_memory = true});
  if (!device) return device.error();
  auto loaded = kernels::LoadedCase::create(**device, kernel_case, kernels::Container::PatchTokens);
  if (!loaded) return loaded.error();
  const auto report = (*loaded)->run();
  if (!report) return report.error();
  return static_cast<unsigned>(kernel_case.global[0] / report->counts.threads);
}

Result<Row> measure_row(const MicroRow& micro, std::span<const std::unique_ptr<Contender>> contenders,
                        const CommandLine& line) {
  const std::string kernel(micro.kernel);
  const unsigned items = line.quick ? 512 : micro.items, repetitions = line.quick ? 2 : micro.repetitions;
  const PerfKernel row{kernel, {}, {}};
  const kernels::KernelCase none = kernels::work::micro(kernel, items, 0);
  const Result<unsigned> channels = channels_of(none);
  if (!channels) return channels.error();
  const KernelRecord without = measure(row, none, contenders, line.measure);
  KernelRecord with;
  if (micro.repetitions != 0)
    with = measure(row, kernels::work::micro(kernel, items, repetitions), contenders, line.measure);
  for (const KernelRecord* record : {&without, static_cast<const KernelRecord*>(&with)})
    for (const ContenderRecord& contender : record->contenders)
      if (!contender.failure.empty()) return error("{}: {}", contender.name, contender.failure);
  const auto cost = [&](std::string_view contender) {
    const ContenderRecord* record = without.find(contender);
    if (record == nullptr || !record->timed()) return Cost{};
    const double threads = static_cast<double>(items) / *channels;
    Cost result{least(without, contender) / threads, std::nullopt};
    if (micro.repetitions != 0)
      result.unit = (least(with, contender) - least(without, contender)) / threads / repetitions;
    return result;
  };
  return Row{&micro, *channels, cost(kEumulate), cost(kPocl)};
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.1f}", *value) : ""; }

nlohmann::json to_json(const Row& row) {
  nlohmann::json result = {
      {"kernel", row.micro->kernel}, {"unit", row.micro->unit}, {"channels", row.channels}};
  for (const auto& [name, value] :
       {std::pair{"thread_ns", row.eumulate.thread}, std::pair{"unit_ns", row.eumulate.unit},
        std::pair{"pocl_thread_ns", row.pocl.thread}, std::pair{"pocl_unit_ns", row.pocl.unit}})
    if (value) result[name] = *value;
  return result;
}

Result<void> run(const CommandLine& line) {
  std::vector<std::unique_ptr<Contender>> contenders;
  auto eumulate = make_eumulate(1);
  if (!eumulate) return eumulate.error();
  contenders.push_back(std::move(*eumulate));
  if (line.pocl) {
    auto pocl = make_pocl(1);
    if (!pocl) return pocl.error();
    contenders.push_back(std::move(*pocl));
  }
  fmt::print(
      "| kernel | channels | unit | ns a thread | ns a unit | PoCL, ns a thread's items | PoCL, ns a unit |\n"
      "|---|---|---|---|---|---|---|\n");
  nlohmann::json rows = nlohmann::json::array();
  for (const MicroRow& micro : micro_rows()) {
    const bool wanted = std::any_of(line.parts.begin(), line.parts.end(), [&](const std::string& part) {
      return micro.kernel.find(part) != micro.kernel.npos;
    });
    if (!line.parts.empty() && !wanted) continue;
    const Result<Row> row = measure_row(micro, contenders, line);
    if (!row) return row.error();
    fmt::print("| {} | {} | {} | {} | {} | {} | {} |\n", micro.kernel, row->channels, micro.unit,
               number(row->eumulate.thread), number(row->eumulate.unit), number(row->pocl.thread),
               number(row->pocl.unit));
    rows.push_back(to_json(*row));
  }
  if (rows.empty()) return error("no kernel's name holds what was asked for");
  if (line.json.empty()) return {};
  std::ofstream file(line.json);
  file << rows.dump(1) << std::endl;
  if (!file) return error("{}: cannot be written", line.json);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line;
  line.measure.sample_seconds = 0.01;
  CLI::App app("What single things cost: nanoseconds of CPU time for a guest thread, one worker.");
  app.add_option("part", line.parts, "kernels whose names hold one of these (default: all)");
  app.add_option("--samples", line.measure.samples, "samples of each, of which the least counts")
      ->check(CLI::Range(1u, 1u << 16))
      ->capture_default_str();
  app.add_option("--seconds", line.measure.sample_seconds, "that launches of a sample fill")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str();
  app.add_flag("!--without-pocl", line.pocl, "Eumulate alone");
  app.add_flag("--quick", line.quick, "few work items: the times mean nothing");
  app.add_option("--json", line.json, "write the figures to this file");
  CLI11_PARSE(app, argc, argv);
  if (const Result<void> done = run(line); !done) {
    fmt::print(stderr, "perf_micro: {}\n", done.error().message);
    return 1;
  }
  return 0;
}

// The kernel runs once on each engine and buffers are compared; then samples are taken alternately, each of
// as many launches as fill a given time.
#include "runtime/cli/bench/bench_command.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cli/bench/clock.hpp"
#include "runtime/cli/bench/statistics.hpp"
#include "runtime/cli/disable.hpp"
#include "runtime/cli/engine_option.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/cli/run/session.hpp"

namespace eum::cli {
namespace {

using nlohmann::json;

struct BenchOptions {
  RunOptions run;
  unsigned samples = 9;
  double seconds = 0.05;
};

/// The kernel on one engine.
struct Contestant {
  RunOptions options;  // the session refers to it
  std::unique_ptr<Session> session;
  double first = 0;  // seconds of wall-clock time
  std::uint64_t launches = 1;
  std::vector<double> wall, cpu;  // seconds per launch, one value per sample

  Step& step() { return session->steps()[0]; }
};

Result<Instant> launch(Contestant& contestant, std::uint64_t times) {
  const Instant start = Instant::now();
  for (std::uint64_t i = 0; i < times; ++i) {
    auto report = contestant.step().launch->run();
    if (!report) return report.error();
    contestant.step().report = std::move(*report);
    if (contestant.step().report.fault) return Error{contestant.step().report.fault->message};
  }
  return (Instant::now() - start) / static_cast<double>(times);
}

/// Whether the engines left the same contents in every buffer.
bool agree(const Contestant& a, const Contestant& b) {
  const auto bytes = [](const RunBuffer& buffer) {
    return (buffer.image ? buffer.image->memory : buffer.buffer).bytes();
  };
  const auto &left = a.session->buffers(), &right = b.session->buffers();
  for (std::size_t i = 0; i < left.size(); ++i)
    if (!std::ranges::equal(bytes(*left[i]), bytes(*right[i]))) return false;
  return true;
}

json times_json(const std::vector<double>& seconds) {
  const Interval interval = median_interval(seconds);
  return {{"least", smallest(seconds)},
          {"median", median(seconds)},
          {"interval", {interval.low, interval.high}},
          {"confidence", interval.confidence},
          {"samples", seconds}};
}

json to_json(Contestant& contestant) {
  const Step& step = contestant.step();
  const rt::TranslatedKernel& translated = step.launch->translated();
  const double least = smallest(contestant.wall);
  const auto& counts = step.report.counts;
  return {{"engine", contestant.session->device().engine().name()},
          {"workers", contestant.session->device().workers().count()},
          {"translated_instructions", translated.instructions},
          {"translation_seconds", translated.seconds()},
          {"code_bytes", translated.executable->code_bytes()},
          {"first_seconds", contestant.first},
          {"launches_a_sample", contestant.launches},
          {"wall_seconds", times_json(contestant.wall)},
          {"cpu_seconds", times_json(contestant.cpu)},
          {"seconds_a_guest_thread", least / static_cast<double>(counts.threads)},
          {"guest_instructions_per_second", static_cast<double>(counts.instructions) / least}};
}

void print_times(std::string_view clock, const std::vector<double>& seconds) {
  const Interval interval = median_interval(seconds);
  print("  {}  median {:.4f} ms ({:.0f} % sure: {:.4f} to {:.4f}), least {:.4f} ms\n", clock,
        median(seconds) * 1e3, interval.confidence * 100, interval.low * 1e3, interval.high * 1e3,
        smallest(seconds) * 1e3);
}

void print_text(std::vector<Contestant>& contestants, bool same) {
  const Step& step = contestants[0].step();
  const rt::Size3& local = step.launch->payload().local_size;
  const rt::WalkerCounts& counts = step.report.counts;
  print("{}: SIMD{}, local size {},{},{}, {} groups, {} threads, {} guest instructions\n",
        visible(step.kernel->name), step.kernel->simd_size, local[0], local[1], local[2], counts.groups,
        counts.threads, counts.instructions);
  for (Contestant& c : contestants) {
    const rt::TranslatedKernel& translated = c.step().launch->translated();
    const unsigned workers = c.session->device().workers().count();
    const double least = smallest(c.wall);
    print("{}, {} worker{}: translated {} instructions in {:.3f} ms, first launch {:.3f} ms\n",
          c.session->device().engine().name(), workers, workers == 1 ? "" : "s", translated.instructions,
          translated.seconds() * 1e3, c.first * 1e3);
    print_times("wall", c.wall);
    print_times("CPU ", c.cpu);
    print("  {} samples of {} launches; at best {:.2f} ns a guest thread, {:.1f} M guest instructions/s\n",
          c.wall.size(), c.launches, least * 1e9 / static_cast<double>(counts.threads),
          static_cast<double>(counts.instructions) / least * 1e-6);
  }
  if (contestants.size() == 2)
    print("CPU time of {} over {}: {:.2f}; buffers after the first launch are {}\n",
          contestants[1].session->device().engine().name(), contestants[0].session->device().engine().name(),
          median(contestants[1].cpu) / median(contestants[0].cpu), same ? "the same" : "not the same");
}

std::optional<Failure> prepare(Contestant& contestant) {
  contestant.session = std::make_unique<Session>(contestant.options);
  if (auto failed = contestant.session->prepare()) return failed;
  const Result<Instant> first = launch(contestant, 1);
  if (!first) return Failure{ExitCode::GuestFault, first.error()};
  contestant.first = first->wall;
  return std::nullopt;
}

int execute(const BenchOptions& options) {
  const std::string engines = options.run.engine == "both" ? "avx2,reference" : options.run.engine;
  const std::size_t comma = engines.find(',');
  std::vector<Contestant> contestants(comma == std::string::npos ? 1 : 2);
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    contestants[i].options = options.run;
    contestants[i].options.engine = i == 0 ? engines.substr(0, comma) : engines.substr(comma + 1);
    if (const auto failed = prepare(contestants[i])) return fail(failed->code, failed->error);
  }
  const bool same = contestants.size() == 1 || agree(contestants[0], contestants[1]);
  for (Contestant& contestant : contestants) {
    const Result<Instant> second = launch(contestant, 1);
    if (!second) return fail(ExitCode::GuestFault, second.error());
    contestant.launches =
        static_cast<std::uint64_t>(std::clamp(std::ceil(options.seconds / second->wall), 1.0, 1e6));
  }
  for (unsigned sample = 0; sample < options.samples; ++sample)
    for (Contestant& contestant : contestants) {
      const Result<Instant> took = launch(contestant, contestant.launches);
      if (!took) return fail(ExitCode::GuestFault, took.error());
      contestant.wall.push_back(took->wall);
      contestant.cpu.push_back(took->cpu);
    }
  if (!options.run.as_json) {
    print_text(contestants, same);
    return number(ExitCode::Ok);
  }
  const Step& step = contestants[0].step();
  json report = {{"kernel", step.kernel->name},
                 {"simd", step.kernel->simd_size},
                 {"global", step.range.global},
                 {"local", step.launch->payload().local_size},
                 {"groups", step.report.counts.groups},
                 {"threads", step.report.counts.threads},
                 {"guest_instructions", step.report.counts.instructions},
                 {"engines", json::array()}};
  for (Contestant& contestant : contestants) report["engines"].push_back(to_json(contestant));
  if (contestants.size() == 2) report["engines_agree"] = same;
  print("{}\n", report.dump(2, ' ', true, json::error_handler_t::replace));
  return number(ExitCode::Ok);
}

}  // namespace

void add_bench_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BenchOptions>();
  options->run.kernels.resize(1);
  KernelOptions& kernel = options->run.kernels[0];
  CLI::App* command = app.add_subcommand("bench", "measure what launches of a kernel cost");
  add_program_options(*command, options->run.program);
  command->add_option("--kernel", kernel.kernel, "name of the kernel")->required();
  command->add_option("--global", kernel.global, "work items: X, X,Y or X,Y,Z")->required();
  command->add_option("--local", kernel.local, "work items of a group (default: chosen)");
  command->add_option("--offset", kernel.offset, "global id of the first work item (default: 0)");
  command->add_option("--arg", kernel.arguments, argument_help())->allow_extra_args(false);
  add_engine_option(*command, options->run.engine, ", two of them with a comma, or both: avx2,reference");
  command->add_option("--threads", options->run.threads, "host threads (default: one for each processor)")
      ->check(CLI::Range(1u, rt::max_thread_slots));
  command->add_option("--samples", options->samples, "samples of each engine, taken in turns")
      ->check(CLI::Range(1u, 1u << 16))
      ->capture_default_str();
  command->add_option("--seconds", options->seconds, "that the launches of a sample fill")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  add_disable_option(*command, options->run.disabled);
  command->add_flag("--json", options->run.as_json, "report as JSON");
  command->footer(
      "Buffers keep what they hold from launch to launch. perf/compare.sh compares with other ways to run "
      "kernels.\n\n"
      "Example:\n"
      "  eumulate bench saxpy_Gen9lp.bin --kernel saxpy --global 1048576 --threads 1 --arg f32:2.5 \\\n"
      "    --arg iota:f32:1048576 --arg zeros:4194304 --arg i32:1048576\n");
  command->callback([options, &exit_code] { exit_code = execute(*options); });
}

}  // namespace eum::cli

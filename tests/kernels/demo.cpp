// eumulate_demo: runs every kernel of the corpus on the emulator and prints what it did and whether the
// results are right.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <string>

#include "tests/kernels/case_runner.hpp"

using namespace eum;
using namespace eum::kernels;

namespace {

struct CommandLine {
  rt::DeviceOptions device;
  Container container = Container::PatchTokens;
  std::vector<std::string> parts;
};

bool chosen(const KernelCase& kernel_case, const CommandLine& line) {
  if (line.parts.empty()) return true;
  for (const std::string& part : line.parts)
    if (kernel_case.name.find(part) != std::string::npos) return true;
  return false;
}

std::string rate_text(double per_second) {
  if (per_second >= 1e9) return fmt::format("{:.2f} G", per_second / 1e9);
  return fmt::format("{:.1f} M", per_second / 1e6);
}

/// The row of one case; the reason where it could not be run or is wrong.
Result<void> run_case(rt::Device& device, const KernelCase& c, Container container) {
  auto loaded = LoadedCase::create(device, c, container);
  if (!loaded) return loaded.error();
  const auto report = (*loaded)->run();
  if (!report) return report.error();
  const std::string difference = (*loaded)->verify();
  const rt::TranslatedKernel& t = (*loaded)->translated();
  fmt::print("{:<34} {:>4} {:>8} {:>12} {:>9.3f} {:>9.3f} {:>9}   {}\n", c.name, t.code.simd,
             report->counts.threads, report->counts.instructions, t.seconds() * 1e3, report->seconds * 1e3,
             rate_text(static_cast<double>(report->counts.instructions) / report->seconds),
             difference.empty() ? "yes" : "NO");
  if (!difference.empty()) return error("{}", difference);
  return {};
}

Result<int> run(const CommandLine& line) {
  auto device = rt::Device::create(line.device);
  if (!device) return device.error();
  fmt::print("{:<34} {:>4} {:>8} {:>12} {:>9} {:>9} {:>9}   {}\n", "kernel", "SIMD", "threads", "guest",
             "translate", "run", "guest", "verified");
  fmt::print("{:<34} {:>4} {:>8} {:>12} {:>9} {:>9} {:>9}\n", "", "", "", "instr.", "ms", "ms", "instr./s");
  size_t verified = 0;
  std::vector<std::string> failures;
  for (const KernelCase& c : corpus()) {
    if (!chosen(c, line)) continue;
    if (line.container == Container::Zebin && !find_kernel_file(c.file)->zebin_reason.empty()) continue;
    const auto done = run_case(**device, c, line.container);
    if (done)
      ++verified;
    else
      failures.push_back(done.error().message);
  }
  for (const std::string& failure : failures) fmt::print("{}\n", failure);
  fmt::print("{} of {} cases verified on engine {}, {} worker{}\n", verified, verified + failures.size(),
             (*device)->engine().name(), (*device)->workers().count(),
             (*device)->workers().count() == 1 ? "" : "s");
  return failures.empty() && verified != 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line;
  std::string engine = "avx2";
  bool zebin = false;
  CLI::App app("Runs every kernel of the corpus on the emulator; exit code 0 only if all results are right.");
  app.add_option("--engine", engine, "What runs the kernels")
      ->check(CLI::IsMember({"avx2", "reference"}))
      ->capture_default_str();
  app.add_option("--threads", line.device.workers,
                 "Host threads that run guest threads; all processors without")
      ->check(CLI::Range(1u, rt::max_thread_slots));
  app.add_flag("--zebin", zebin, "Takes the zebin binaries; the patch token ones without");
  app.add_option("CASE", line.parts, "Parts of the names of the cases to run; all without");
  CLI11_PARSE(app, argc, argv);
  line.device.engine = *jit::parse_engine(engine);
  if (zebin) line.container = Container::Zebin;
  const Result<int> code = run(line);
  if (!code) fmt::print(stderr, "eumulate_demo: {}\n", code.error().message);
  return code ? *code : 1;
}

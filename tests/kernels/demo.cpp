// eumulate_demo: runs every kernel of the corpus on the emulator and prints what it did and whether the
// results are right. Usage: eumulate_demo [--engine avx2|reference] [--threads N] [--zebin] [PART-OF-NAME...]
// Exit code 0 only if every case was verified.
#include <fmt/core.h>

#include <charconv>
#include <span>
#include <string_view>

#include "tests/kernels/case_runner.hpp"

using namespace eum;
using namespace eum::kernels;

namespace {

struct CommandLine {
  rt::DeviceOptions device;
  Container container = Container::PatchTokens;
  std::vector<std::string_view> parts;
};

Result<CommandLine> parse(std::span<char*> words) {
  CommandLine line;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const auto value = [&] {
      return i + 1 < words.size() ? std::string_view(words[++i]) : std::string_view();
    };
    if (word == "--zebin") {
      line.container = Container::Zebin;
    } else if (word == "--engine") {
      const std::string_view name = value();
      const auto engine = rt::parse_engine(name);
      if (!engine) return error("--engine: expected avx2 or reference, found '{}'", name);
      line.device.engine = *engine;
    } else if (word == "--threads") {
      const std::string_view number = value();
      const auto parsed = std::from_chars(number.data(), number.data() + number.size(), line.device.workers);
      if (parsed.ec != std::errc() || parsed.ptr != number.data() + number.size() || line.device.workers == 0)
        return error("--threads: expected a number from 1, found '{}'", number);
    } else if (word.starts_with("--")) {
      return error("expected --engine, --threads, --zebin or parts of case names, found '{}'", word);
    } else {
      line.parts.push_back(word);
    }
  }
  return line;
}

bool chosen(const KernelCase& kernel_case, const CommandLine& line) {
  if (line.parts.empty()) return true;
  for (std::string_view part : line.parts)
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
             (*device)->engine().name(), (*device)->dispatcher().workers(),
             (*device)->dispatcher().workers() == 1 ? "" : "s");
  return failures.empty() && verified != 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto line = parse(std::span(argv + 1, static_cast<size_t>(argc - 1)));
  const Result<int> code = line ? run(*line) : Result<int>(line.error());
  if (!code) fmt::print(stderr, "eumulate_demo: {}\n", code.error().message);
  return code ? *code : 1;
}

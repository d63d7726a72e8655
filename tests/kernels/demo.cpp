// eumulate_demo: runs every kernel of the corpus on the emulator and prints what it did and whether the
// results are correct.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/png/image_picture.hpp"
#include "tests/kernels/case_runner.hpp"

using namespace eum;
using namespace eum::kernels;

namespace {

/// A bar chart of counts, in three colours: the demo's picture of a histogram.
png::Picture bars(std::span<const std::uint32_t> counts) {
  constexpr std::uint32_t bar = 6, height = 120;
  png::Picture picture{static_cast<std::uint32_t>(counts.size()) * bar, height, 3, 8, {}};
  picture.texels.assign(picture.row_bytes() * height, std::byte{0x20});
  const std::uint32_t most = std::max(1u, *std::max_element(counts.begin(), counts.end()));
  for (std::uint32_t x = 0; x < picture.width; ++x) {
    const auto length = static_cast<std::uint32_t>(counts[x / bar] * std::uint64_t{height} / most);
    const std::size_t color = x / bar / (counts.size() / 3);
    for (std::uint32_t y = height - length; y < height; ++y)
      picture.texels[y * picture.row_bytes() + x * 3 + color] = std::byte{0xe0};
  }
  return picture;
}

Result<void> write_picture(const std::filesystem::path& path, const Result<png::Picture>& picture) {
  if (!picture) return error("{}: {}", path.string(), picture.error().message);
  const auto file = png::write(*picture);
  if (!file) return error("{}: {}", path.string(), file.error().message);
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(file->data()), static_cast<std::streamsize>(file->size()));
  stream.close();
  if (!stream) return error("{}: cannot be written", path.string());
  return {};
}

/// Writes the pictures that the picture kernels read and wrote to `folder`.
Result<void> write_pictures(const KernelCase& c, const LoadedCase& loaded,
                            const std::filesystem::path& folder) {
  if (c.file != "image_filter" && c.kernel != "levels") return {};
  const std::vector<Bytes> contents = loaded.buffers();
  for (size_t i = 0; i < c.args.size(); ++i) {
    const Buffer* memory = memory_of(c.args[i]);
    if (memory == nullptr || (memory->role == Role::In && c.kernel != "gaussian_blur")) continue;
    const auto path = folder / ((memory->role == Role::In ? "original" : c.kernel) + ".png");
    if (const rt::Image* image = loaded.image(i)) {
      if (auto done = write_picture(path, png::picture_of(image->description, contents[i])); !done)
        return done;
    } else {
      std::vector<std::uint32_t> counts(48);
      std::memcpy(counts.data(), contents[i].data(), counts.size() * sizeof counts[0]);
      if (auto done = write_picture(path, bars(counts)); !done) return done;
    }
  }
  return {};
}

struct CommandLine {
  rt::DeviceOptions device;
  Container container = Container::PatchTokens;
  std::vector<std::string> parts;
  std::string pictures;  // folder to write them to
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

/// Prints the row of one case; an error is the reason why it could not be run or is wrong.
Result<void> run_case(rt::Device& device, const KernelCase& c, const CommandLine& line) {
  auto loaded = LoadedCase::create(device, c, line.container);
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
  if (!line.pictures.empty()) return write_pictures(c, **loaded, line.pictures);
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
    const auto done = run_case(**device, c, line);
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
  app.add_option("--pictures", line.pictures,
                 "Folder for PNG files of the pictures that kernels read and wrote; made if it is not there");
  app.add_option("CASE", line.parts, "Parts of the names of the cases to run; all without");
  CLI11_PARSE(app, argc, argv);
  line.device.engine = *jit::parse_engine(engine);
  if (zebin) line.container = Container::Zebin;
  if (!line.pictures.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(line.pictures, failed);
    if (failed) {
      fmt::print(stderr, "eumulate_demo: {}: {}\n", line.pictures, failed.message());
      return 1;
    }
  }
  const Result<int> code = run(line);
  if (!code) fmt::print(stderr, "eumulate_demo: {}\n", code.error().message);
  return code ? *code : 1;
}

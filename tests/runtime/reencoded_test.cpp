// Corpus kernels compiled for Gen8, in the encoding of Gen7 and Gen7.5: correct on every engine. Kernels that
// cannot be encoded for these families are counted by what is missing.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <map>
#include <span>

#include "runtime/loader/loader.hpp"
#include "tests/kernels/case_runner.hpp"
#include "tests/runtime/host_engines.hpp"
#include "tests/runtime/reencode.hpp"

using namespace eum;
using namespace eum::kernels;

namespace {

constexpr std::uint64_t budget = 40'000'000;  // guest instructions per thread

Result<rt::Program> load(const KernelCase& c, const DeviceBinaries& binaries) {
  std::ifstream stream(binary_path(*find_kernel_file(c.file), binaries), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  return rt::load_program(std::as_bytes(std::span(bytes)));
}

/// The case's kernel alone, in the encoding of `family`.
Result<rt::Program> in_words_of(gen::Family family, rt::Program program, const KernelCase& c) {
  std::erase_if(program.kernels, [&](const rt::Kernel& kernel) { return kernel.name != c.kernel; });
  if (program.kernels.size() != 1) return error("no kernel {}", c.kernel);
  rt::Kernel& kernel = program.kernels.front();
  auto reencoded = test::reencode(kernel.code, family);
  if (!reencoded) return reencoded.error();
  for (rt::Relocation& relocation : kernel.relocations) {
    const auto at = std::prev(reencoded->offsets.upper_bound(static_cast<std::uint32_t>(relocation.offset)));
    relocation.offset = at->second + (relocation.offset - at->first);
  }
  kernel.code = std::move(reencoded->code);
  program.family = family;
  return program;
}

/// The number of kernels on Gen7 and on Gen7.5 that reencode() refuses with an error that begins with
/// `reason`; with an empty reason, the number that run.
struct Share {
  std::string_view reason;
  std::array<unsigned, 2> kernels;
};
constexpr Share shares[] = {
    {"", {143, 144}},
    {"quadwords", {112, 112}},
    {"no goto", {9, 9}},
    {"hf", {6, 6}},
    {"df", {4, 3}},
    {"no csel", {2, 2}},
    {"no madm", {3, 3}},
    {"no smov", {1, 1}},
    {"a complemented source", {4, 4}},
    {"a product within another", {1, 1}},
    {"an immediate of math", {1, 1}},
};

}  // namespace

TEST_CASE("kernels compiled for Gen8 give the same bytes in words of Gen7 and Gen7.5", "[corpus]") {
  const KernelDevice* broadwell = nullptr;
  for (const KernelDevice& device : kernel_devices())
    if (device.family == "Gen8") broadwell = &device;
  REQUIRE(broadwell != nullptr);
  const DeviceBinaries binaries = binaries_for(*broadwell);
  std::vector<std::unique_ptr<rt::Device>> devices;
  for (const jit::EngineInfo& engine : test::host_engines()) {
    auto device = rt::Device::create({.engine = engine.kind, .workers = 1, .budget = budget});
    REQUIRE(device);
    devices.push_back(std::move(*device));
  }
  constexpr gen::Family families[] = {gen::Family::Gen7, gen::Family::Gen7_5};
  const std::vector<KernelCase> cases = corpus();
  for (std::size_t f = 0; f < std::size(families); ++f) {
    std::map<std::string, std::string> kernels;  // why it cannot be encoded, or empty
    for (const KernelCase& c : cases) {
      if (!reason_against(*find_kernel_file(c.file), *broadwell).empty()) continue;
      INFO(gen::info(families[f]).name << " " << c.name);
      auto loaded_program = load(c, binaries);
      REQUIRE(loaded_program);
      const auto program = in_words_of(families[f], std::move(*loaded_program), c);
      kernels[c.file + "/" + c.kernel] = program ? "" : program.error().message;
      if (!program) continue;
      for (const std::unique_ptr<rt::Device>& device : devices) {
        auto loaded = LoadedCase::create(*device, c, *program, false);
        if (!loaded) {
          FAIL_CHECK(loaded.error().message);
          continue;
        }
        const auto report = (*loaded)->run();
        CHECK((report ? "" : report.error().message) == "");
        CHECK((*loaded)->verify() == "");
      }
    }
    INFO(gen::info(families[f]).name);
    std::map<std::string_view, unsigned> found, expected;
    for (const auto& [name, reason] : kernels) ++found[std::string_view(reason).substr(0, reason.find(':'))];
    for (const Share& share : shares) expected[share.reason] = share.kernels[f];
    std::string text;
    for (const auto& [reason, count] : found) text += fmt::format("{}: {}\n", reason, count);
    INFO(text);
    CHECK(found == expected);
  }
}

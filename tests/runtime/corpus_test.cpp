// Every case of the kernel corpus: correct on both engines, with the same bytes whatever the engine, the
// container and the number of workers.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <variant>

#include "runtime/loader/loader.hpp"
#include "tests/kernels/case_runner.hpp"
#include "tests/optimisations.hpp"
#include "tests/runtime/host_engines.hpp"

using namespace eum;
using namespace eum::kernels;

namespace {

/// The form in which a case's code is loaded.
using Form = std::variant<Container, VisaDevice, DeviceBinaries>;

struct Setting {
  jit::EngineKind engine;
  unsigned workers;
  Form form;
};

std::string text(const Setting& s) {
  struct Text {
    std::string_view operator()(Container c) const {
      return c == Container::Zebin ? "zebin" : "patch tokens";
    }
    std::string_view operator()(VisaDevice d) const {
      return d == VisaDevice::Bxt ? "vISA text for bxt" : "vISA text for pvc";
    }
    std::string_view operator()(const DeviceBinaries& binaries) const { return binaries.device.name; }
  };
  const std::string_view form = std::visit(Text{}, s.form);
  return fmt::format("{}, {} worker(s), {}", jit::info(s.engine).name, s.workers, form);
}

/// Whether the file has code in that form.
bool has(const KernelFile& file, const Form& form) {
  if (const auto* container = std::get_if<Container>(&form))
    return *container != Container::Zebin || file.zebin_reason.empty();
  if (const auto* binaries = std::get_if<DeviceBinaries>(&form))
    return reason_against(file, binaries->device).empty();
  return std::get<VisaDevice>(form) != VisaDevice::Pvc || file.pvc_reason.empty();
}

/// Guest instructions that a thread may execute; no case comes close.
constexpr std::uint64_t budget = 10'000'000;

/// Runs each case under each setting; compares with the expected buffers and with the first setting.
void check_all(const std::vector<KernelCase>& cases, std::initializer_list<Setting> settings) {
  std::vector<std::unique_ptr<rt::Device>> devices;
  for (const Setting& s : settings) {
    auto device = rt::Device::create({.engine = s.engine,
                                      .workers = s.workers,
                                      .budget = budget,
                                      .optimisations = test::reduced_by_environment().left});
    if (!device) FAIL(device.error().message);
    devices.push_back(std::move(*device));
  }
  std::size_t run = 0, expected_runs = 0;
  for (const KernelCase& c : cases) {
    const std::vector<Bytes> expected = expected_buffers(c);
    std::vector<Bytes> first;
    for (std::size_t i = 0; i < settings.size(); ++i) {
      const Setting& s = settings.begin()[i];
      if (!has(*find_kernel_file(c.file), s.form)) continue;
      ++expected_runs;
      INFO(c.name << ": " << text(s));
      auto loaded =
          std::visit([&](const auto& form) { return LoadedCase::create(*devices[i], c, form); }, s.form);
      if (!loaded) {
        FAIL_CHECK(loaded.error().message);
        continue;
      }
      const auto report = (*loaded)->run();
      if (!report) {
        FAIL_CHECK(report.error().message);
        continue;
      }
      ++run;
      const std::vector<Bytes> got = (*loaded)->buffers();
      for (std::size_t argument = 0; argument < got.size(); ++argument)
        if (c.check(argument)) CHECK(compare(c, argument, got[argument], expected) == "");
      if (first.empty()) first = got;
      if (c.order_free) CHECK(got == first);
    }
  }
  CHECK(run == expected_runs);
}

}  // namespace

namespace {

/// Every `step`th case from `first` on.
std::vector<KernelCase> some_of(const std::vector<KernelCase>& cases, std::size_t step,
                                std::size_t first = 0) {
  std::vector<KernelCase> some;
  for (std::size_t i = first; i < cases.size(); i += step) some.push_back(cases[i]);
  return some;
}

}  // namespace

TEST_CASE("each kernel gives the same bytes on both engines, at 1 and at 2 workers", "[corpus]") {
  using enum jit::EngineKind;
  constexpr auto container = Container::PatchTokens;
  check_all(
      corpus(),
      {{avx2, 1, container}, {avx2, 2, container}, {reference, 1, container}, {reference, 2, container}});
}

namespace {

/// Checks every `step`th case of the image matrix.
void check_image_matrix(std::size_t step) {
  const std::vector<KernelCase> cases = image_matrix();
  CHECK(cases.size() > 2500);
  check_all(some_of(cases, step), {{jit::EngineKind::avx2, 1, Container::Zebin}});
}

}  // namespace

TEST_CASE("image formats are read and written in each dimension, with each sampler", "[corpus]") {
  check_image_matrix(13 * EUMULATE_STEP);
}

// test_runtime "[matrix]": takes a minute and a half.
TEST_CASE("each image format is read and written in each dimension, with each sampler", "[.matrix]") {
  check_image_matrix(1);
}

TEST_CASE("each kernel gives the same bytes from its vISA text for bxt", "[corpus]") {
  using enum jit::EngineKind;
  check_all(some_of(corpus(), EUMULATE_STEP), {{avx2, 1, VisaDevice::Bxt}, {reference, 1, VisaDevice::Bxt}});
}

TEST_CASE("each kernel gives the same bytes from its vISA text for pvc", "[corpus]") {
  using enum jit::EngineKind;
  check_all(some_of(corpus(), EUMULATE_STEP, EUMULATE_STEP / 2),
            {{avx2, 1, VisaDevice::Pvc}, {reference, 1, VisaDevice::Pvc}});
}

TEST_CASE("each kernel gives the same bytes from both containers", "[corpus]") {
  using enum jit::EngineKind;
  check_all(some_of(corpus(), EUMULATE_STEP, EUMULATE_STEP / 3),
            {{avx2, 1, Container::PatchTokens}, {avx2, 1, Container::Zebin}, {avx2, 2, Container::Zebin}});
}

namespace {

void check_device(const DeviceBinaries& binaries) {
  using enum jit::EngineKind;
  for (const KernelFile& file : kernel_files()) {
    if (!reason_against(file, binaries.device).empty()) continue;
    std::ifstream stream(binary_path(file, binaries), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    const auto program = rt::load_program(std::as_bytes(std::span(bytes)));
    INFO(file.stem << " for " << binaries.device.name);
    CHECK((program ? gen::info(program->family).name : program.error().message) == binaries.device.family);
  }
  check_all(some_of(corpus(), EUMULATE_STEP), {{avx2, 1, binaries}, {reference, 1, binaries}});
}

}  // namespace

TEST_CASE("each kernel gives the same bytes from the binaries for other devices", "[corpus]") {
  for (const KernelDevice& device : kernel_devices()) check_device(binaries_for(device));
}

// tests/kernels/devices.sh compiles them.
TEST_CASE("each kernel gives the same bytes from binaries that are not kept", "[.device]") {
  const char *name = std::getenv("EUMULATE_DEVICE"), *family = std::getenv("EUMULATE_DEVICE_FAMILY"),
             *directory = std::getenv("EUMULATE_DEVICE_BINARIES");
  REQUIRE(name != nullptr);
  REQUIRE(family != nullptr);
  REQUIRE(directory != nullptr);
  check_device({{name, family}, directory});
}

TEST_CASE("each kernel gives the same bytes with AVX-512VL, from the binary and from vISA text", "[corpus]") {
  using enum jit::EngineKind;
  if (const auto engine = jit::info(avx512).make(); !engine) {
    WARN("not run: " << engine.error().message);
    return;
  }
  check_all(some_of(corpus(), EUMULATE_STEP),
            {{avx2, 1, Container::PatchTokens}, {avx512, 1, Container::PatchTokens}});
  check_all(some_of(corpus(), EUMULATE_STEP), {{avx2, 1, VisaDevice::Pvc}, {avx512, 1, VisaDevice::Pvc}});
}

TEST_CASE("each kernel is right whatever is disabled", "[corpus]") {
  const std::vector<test::Reduced> reduced = test::every_reduced();
  const std::vector<KernelCase> cases = some_of(corpus(), EUMULATE_STEP);
  for (const jit::EngineInfo& engine : test::host_engines()) {
    if (engine.kind == jit::EngineKind::reference) continue;
    std::vector<std::unique_ptr<rt::Device>> devices;
    for (const test::Reduced& setting : reduced) {
      auto device = rt::Device::create(
          {.engine = engine.kind, .workers = 1, .budget = budget, .optimisations = setting.left});
      if (!device) FAIL(device.error().message);
      devices.push_back(std::move(*device));
    }
    for (std::size_t number = 0; number < cases.size(); ++number) {
      const KernelCase& c = cases[number];
      // Without all optimisations, and without one of them.
      for (const std::size_t i : {std::size_t{0}, test::in_turn(number, reduced.size())}) {
        INFO(c.name << ": " << engine.name << " " << reduced[i].name);
        auto loaded = LoadedCase::create(*devices[i], c, Container::PatchTokens);
        if (!loaded) {
          FAIL_CHECK(loaded.error().message);
          continue;
        }
        const auto report = (*loaded)->run();
        CHECK((report ? "" : report.error().message) == "");
        CHECK((*loaded)->verify() == "");
      }
    }
  }
}

TEST_CASE("a launch can be run again", "[corpus]") {
  auto device = rt::Device::create({.engine = jit::EngineKind::avx2, .workers = 1});
  REQUIRE(device);
  for (const KernelCase& c : corpus()) {
    if (c.file != "reduce" && c.file != "private_sort" && c.file != "generic_pointer") continue;
    INFO(c.name);
    auto loaded = LoadedCase::create(**device, c, Container::PatchTokens);
    REQUIRE(loaded);
    for (int i = 0; i < 3; ++i) {
      (*loaded)->reset();
      REQUIRE((*loaded)->run());
      CHECK((*loaded)->verify() == "");
    }
  }
}

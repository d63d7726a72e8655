// Runs every lowering case of cases/*.gen on the engines and compares registers, flags, masks and surfaces.
#include <fmt/format.h>
#include <algorithm>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "frontend/gen/lower/lower.hpp"
#include "frontend/ir/verifier.hpp"
#include "jit/engine.hpp"
#include "tests/frontend/eu/case_thread.hpp"

namespace eum::test {
namespace {

constexpr unsigned char untouched = 0xa5;

bool is_nan_bits(gen::Type type, std::uint64_t bits) {
  if (type == gen::Type::df) return (bits << 1) > 0xffe0000000000000u;
  if (type == gen::Type::f) return (bits & 0x7fffffff) > 0x7f800000;
  return (bits & 0x7fff) > 0x7c00;
}

void check(const Contents& expected, CaseThread& thread, const std::vector<std::byte>& initial_file) {
  unsigned bytes = gen::size_of(expected.type);
  for (std::size_t i = 0; i < expected.elements.size(); ++i) {
    const Contents::Element& element = expected.elements[i];
    std::uint64_t found = 0, wanted = element.bits;
    std::memcpy(&found, thread.place(expected) + i * bytes, bytes);
    if (element.keep) {
      REQUIRE(expected.place == Contents::Place::File);
      wanted = 0;
      std::memcpy(&wanted, initial_file.data() + expected.offset + i * bytes, bytes);
    }
    INFO(expected.text << " element " << i << ": expected 0x" << std::hex << wanted << ", found 0x" << found);
    bool same = found == wanted || (element.any_nan && is_nan_bits(expected.type, found));
    CHECK(same);
  }
}

void run_case(const Case& c, jit::Engine& engine) {
  const eu::Target target = gen::target(c.family);
  eu::LowerOptions options;
  options.system_routine = c.system_routine;
  for (const Contents& contents : c.before)
    if (contents.place == Contents::Place::File &&
        contents.offset == target.offset(eu::StateRegister::Control))
      options.modes = static_cast<std::uint32_t>(contents.elements[0].bits);
  Result<ir::Function> function =
      gen::lower_kernel(c.code, c.family, c.simd, c.name, std::pmr::get_default_resource(), options);
  if (!function) {
    FAIL_CHECK(function.error().message);
    return;
  }
  if (Result<void> good = ir::verify(*function); !good) {
    FAIL_CHECK(good.error().message);
    return;
  }
  std::vector<std::string> texts = function->strings;
  Result<std::unique_ptr<jit::Executable>> executable = engine.compile(*function, {});
  if (!executable) {
    FAIL_CHECK(executable.error().message);
    return;
  }
  CaseThread thread((*executable)->layout());
  std::memset(thread.file(), untouched, target.grf_file_bytes());
  thread.masks()[0] = c.simd == 32 ? ~0u : (1u << c.simd) - 1;
  for (const Contents& contents : c.before) thread.set(contents);
  for (const ImageShape& image : c.images) thread.set_image(image);
  if (c.linear_filter) thread.set_linear_filter();
  std::vector<std::byte> initial(thread.file(), thread.file() + target.file_bytes());

  jit::Status status = (*executable)->run(thread.state());
  if (c.fault == "budget") {
    CHECK(status == jit::Status::Paused);
    return;
  }
  if (!c.fault.empty()) {
    REQUIRE(status == jit::Status::Faulted);
    const jit::Fault& fault = thread.state().fault;
    if (fault.kind == jit::FaultKind::BadRegister) {
      CHECK(fmt::format("register address {:#x}", fault.address) == c.fault);
    } else if (fault.kind == jit::FaultKind::BadJump) {
      CHECK(fmt::format("jump to {:#x}", fault.address) == c.fault);
    } else if (fault.kind == jit::FaultKind::Image) {
      CHECK_THAT(fault.reason, Catch::Contains(c.fault));
    } else {
      REQUIRE(jit::has_text(fault.kind));
      CHECK_THAT(texts.at(fault.address), Catch::Contains(c.fault));
    }
    for (const Contents& contents : c.after) check(contents, thread, initial);
    return;
  }
  if (status == jit::Status::Faulted && thread.state().fault.kind == jit::FaultKind::Unsupported) {
    FAIL_CHECK(texts.at(thread.state().fault.address));
    return;
  }
  CHECK(status == jit::Status::Exited);
  CHECK_FALSE(c.after.empty());
  for (const Contents& contents : c.after) check(contents, thread, initial);
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("instructions mean what the manual says") {
  Result<std::unique_ptr<jit::Engine>> avx2 = jit::make_avx2_engine();
  if (!avx2) FAIL(avx2.error().message);
  std::unique_ptr<jit::Engine> reference = jit::make_reference_engine();
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(EUMULATE_SOURCE_DIR "/tests/frontend/eu/cases"))
    if (entry.path().extension() == ".gen") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  REQUIRE_FALSE(files.empty());
  for (const std::filesystem::path& file : files) {
    Result<std::vector<Case>> cases = parse_cases(read_text(file));
    if (!cases) FAIL(file.filename().string() << " " << cases.error().message);
    REQUIRE_FALSE(cases->empty());
    for (const Case& c : *cases) {
      INFO(file.filename().string() << ":" << c.line << " " << c.name);
      REQUIRE_FALSE(c.code.empty());
      run_case(c, **avx2);
      INFO("on the reference engine");
      run_case(c, *reference);
    }
  }
}

}  // namespace eum::test

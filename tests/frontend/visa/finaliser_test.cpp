// The vendor's finaliser (GenX_IR) is the oracle for lowering: its GEN code for Broxton and the vISA engine
// compute the same bytes. Uses data/*.visaasm with the .dat that the finaliser made of each (make_data.sh),
// or another folder of such pairs in EUMULATE_VISA_DATA.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "frontend/gen/lower/lower.hpp"
#include "frontend/ir/verifier.hpp"
#include "frontend/visa/lower/lower.hpp"
#include "frontend/visa/parser.hpp"
#include "tests/frontend/visa/machine.hpp"

namespace eum::visa::test {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> pairs() {
  const char* other = std::getenv("EUMULATE_VISA_DATA");
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(other != nullptr ? other : EUMULATE_SOURCE_DIR "/tests/frontend/visa/data"))
    if (entry.path().extension() == ".visaasm" &&
        fs::exists(fs::path(entry.path()).replace_extension(".dat")))
      found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

/// Noise as inputs, except for ids that count up and a pointer, which are recognised by their names.
Start start_of(const Kernel& kernel, std::uint64_t seed) {
  Start start;
  start.seed = seed;
  start.payload = noise(4096, seed + 3);
  const auto put = [&](std::uint32_t offset, auto value) {
    std::memcpy(start.payload.data() + offset, &value, sizeof value);
  };
  for (const Input& input : kernel.inputs) {
    const Variable& variable = kernel.variables[input.variable];
    if (variable.name == "VIDX")
      for (std::uint32_t i = 0; i < variable.elements; ++i)
        put(input.offset + 2 * i, static_cast<std::uint16_t>(i));
    if (variable.name == "PTR") put(input.offset, Machine::region + 512);
  }
  const std::uint32_t masks[] = {~0u, 0x5555, 0x1, 0xf0f0, 0x8000};
  start.channels = masks[seed % std::size(masks)];
  return start;
}

}  // namespace

TEST_CASE("visa: text and the finaliser's GEN of it leave the same memory") {
  const std::vector<fs::path> files = pairs();
  REQUIRE_FALSE(files.empty());
  for (const fs::path& path : files) {
    INFO(path);
    const Result<Module> module = parse(read(path));
    if (!module) FAIL(module.error().message);
    const Kernel& kernel = module->kernels.front();
    const Result<unsigned> simd = simd_size(kernel);
    REQUIRE(simd);
    Result<ir::Function> text = lower_kernel(*module, 0, kernel.name, {register_bytes(kernel), {}, {}});
    if (!text) FAIL(text.error().message);
    const std::string words = read(fs::path(path).replace_extension(".dat"));
    Result<ir::Function> gen =
        gen::lower_kernel(std::as_bytes(std::span(words)), gen::Family::Gen9, *simd, kernel.name);
    REQUIRE(gen);
    for (const Result<ir::Function>* function : {&text, &gen})
      if (const Result<void> sound = ir::verify(**function); !sound) FAIL(sound.error().message);
    Machine machine;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      INFO("seed " << seed);
      const Start start = start_of(kernel, seed);
      const Machine::Outcome expected = machine.run(*gen, *engines().front(), start);
      CHECK(expected.fault.empty());
      for (jit::Engine* engine : engines())
        CHECK(difference(expected, machine.run(*text, *engine, start)) == "");
    }
  }
}

}  // namespace eum::visa::test

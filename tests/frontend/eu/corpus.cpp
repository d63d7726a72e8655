// Lowers every kernel of tests/kernels/bin: the result is well formed, has no trap, and takes little time.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory_resource>
#include <optional>
#include <string>
#include <vector>

#include "frontend/gen/lower/lower.hpp"
#include "frontend/ir/parser.hpp"
#include "frontend/ir/printer.hpp"
#include "frontend/ir/verifier.hpp"
#include "jit/passes/passes.hpp"

namespace eum::test {
namespace {

struct Kernel {
  std::string name;
  std::vector<std::byte> code;
};

template <class T>
T field(const std::vector<char>& file, std::size_t offset) {
  T value{};
  REQUIRE(offset + sizeof value <= file.size());
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

/// The sections `.text.NAME` of a zebin ELF64 file.
std::vector<Kernel> kernels_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::vector<char> file{std::istreambuf_iterator<char>(stream), {}};
  auto table = field<std::uint64_t>(file, 0x28);
  auto count = field<std::uint16_t>(file, 0x3c), names = field<std::uint16_t>(file, 0x3e);
  auto section = [&](std::size_t index, std::size_t member) {
    return field<std::uint64_t>(file, table + 64 * index + member);
  };
  std::vector<Kernel> kernels;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t name_at = section(names, 24) + field<std::uint32_t>(file, table + 64 * i);
    REQUIRE(name_at < file.size());
    std::string name(file.data() + name_at);
    if (!name.starts_with(".text.")) continue;
    std::size_t start = section(i, 24), size = section(i, 32);
    REQUIRE(start + size <= file.size());
    auto* bytes = reinterpret_cast<const std::byte*>(file.data()) + start;
    kernels.push_back({path.filename().string() + name, {bytes, bytes + size}});
  }
  return kernels;
}

std::vector<Kernel> corpus() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(EUMULATE_SOURCE_DIR "/tests/kernels/bin"))
    if (entry.path().string().ends_with(".zebin.bin")) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Kernel> kernels;
  for (const auto& path : files)
    for (Kernel& kernel : kernels_of(path)) kernels.push_back(std::move(kernel));
  return kernels;
}

}  // namespace

TEST_CASE("every kernel of the corpus lowers to well-formed micro-ops without a trap") {
  std::vector<Kernel> kernels = corpus();
  REQUIRE(kernels.size() > 100);
  for (const Kernel& kernel : kernels)
    for (unsigned simd : {8u, 16u, 32u}) {
      INFO(kernel.name << " SIMD" << simd);
      Result<ir::Function> function = gen::lower_kernel(kernel.code, gen::Family::Gen9, simd, kernel.name);
      REQUIRE(function);
      for (const std::string& text : function->strings) FAIL_CHECK(text);
      Result<void> good = ir::verify(*function);
      if (!good) FAIL_CHECK(good.error().message);
    }
}

TEST_CASE("every pass leaves every kernel of the corpus well formed, and its text reads back") {
  for (const Kernel& kernel : corpus()) {
    INFO(kernel.name);
    Result<ir::Function> function = gen::lower_kernel(kernel.code, gen::Family::Gen9, 16, kernel.name);
    REQUIRE(function);
    const auto done = jit::run_pipeline(*function, {.verify = true});
    if (!done) FAIL_CHECK(done.error().message);
    // Passes leave gaps in the numbering of values, which parsing closes.
    const auto parsed = ir::parse(ir::print(*function));
    if (!parsed) FAIL(parsed.error().message);
    const std::string text = ir::print(*parsed);
    const auto again = ir::parse(text);
    if (!again) FAIL(again.error().message);
    CHECK(ir::print(*again) == text);
  }
}

TEST_CASE("lowering takes its memory from the given resource") {
  struct Counting : std::pmr::memory_resource {
    std::size_t bytes = 0;
    void* do_allocate(std::size_t size, std::size_t alignment) override {
      bytes += size;
      return std::pmr::new_delete_resource()->allocate(size, alignment);
    }
    void do_deallocate(void* p, std::size_t size, std::size_t alignment) override {
      std::pmr::new_delete_resource()->deallocate(p, size, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
  } counting;
  std::pmr::memory_resource* before = std::pmr::set_default_resource(std::pmr::null_memory_resource());
  std::vector<Kernel> kernels = corpus();
  for (const Kernel& kernel : kernels)
    CHECK(gen::lower_kernel(kernel.code, gen::Family::Gen9, 16, kernel.name, &counting));
  std::pmr::set_default_resource(before);
  CHECK(counting.bytes > 0);
}

TEST_CASE("wrong requests and hostile code are named") {
  std::vector<std::byte> code(16);
  auto lowered = [&](std::size_t bytes, unsigned simd) {
    return gen::lower_kernel(std::span(code).first(bytes), gen::Family::Gen9, simd, "k");
  };
  CHECK_THAT(lowered(16, 7).error().message, Catch::Contains("SIMD width"));
  CHECK_THAT(lowered(0, 8).error().message, Catch::Contains("at least one instruction"));
  // The function is well formed whatever the bytes.
  std::uint32_t state = 12345;
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> noise(static_cast<std::size_t>(16 * (1 + round % 40) + round % 16));
    for (std::byte& b : noise) {
      state = state * 1664525 + 1013904223;
      b = static_cast<std::byte>(state >> 24);
    }
    INFO("round " << round);
    Result<ir::Function> function =
        gen::lower_kernel(noise, round % 2 ? gen::Family::Gen8 : gen::Family::Gen9, 8u << round % 3, "noise");
    if (noise.size() < 8) continue;
    REQUIRE(function);
    Result<void> good = ir::verify(*function);
    if (!good) FAIL_CHECK(good.error().message);
  }
}

TEST_CASE("real code with flipped bits stays well formed") {
  std::vector<Kernel> kernels = corpus();
  std::uint32_t state = 777;
  auto random = [&] { return state = state * 1664525 + 1013904223, state >> 8; };
  for (Kernel& kernel : kernels) {
    if (kernel.code.size() > 8192) continue;
    for (int round = 0; round < 20; ++round) {
      std::vector<std::byte> code = kernel.code;
      for (int flips = 0; flips < 20; ++flips) {
        std::byte& b = code[random() % code.size()];
        b ^= static_cast<std::byte>(1u << random() % 8);
      }
      INFO(kernel.name << " round " << round);
      Result<ir::Function> function = gen::lower_kernel(code, gen::Family::Gen9, 16, kernel.name);
      REQUIRE(function);
      Result<void> good = ir::verify(*function);
      if (!good) FAIL_CHECK(good.error().message);
    }
  }
}

TEST_CASE("lowering is quick", "[.perf]") {
  std::vector<Kernel> kernels = corpus();
  std::vector<std::byte> arena(64 << 20);
  for (int round = 0; round < 3; ++round) {
    std::size_t instructions = 0;
    std::clock_t start = std::clock();
    for (const Kernel& kernel : kernels) {
      std::pmr::monotonic_buffer_resource memory(arena.data(), arena.size());
      Result<ir::Function> function =
          gen::lower_kernel(kernel.code, gen::Family::Gen9, 32, kernel.name, &memory);
      REQUIRE(function);
      for (const ir::Block& block : function->blocks) instructions += block.guest_instructions;
    }
    double ns = static_cast<double>(std::clock() - start) * 1e9 / CLOCKS_PER_SEC;
    WARN(ns / static_cast<double>(instructions) << " ns an instruction, " << instructions << " instructions");
  }
}

}  // namespace eum::test

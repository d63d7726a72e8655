// Code is translated once, again after it has changed, and evicted when the cache grows too large.
#include "runtime/code_cache.hpp"

#include <catch2/catch.hpp>
#include <cstring>

#include "binaries.hpp"
#include "runtime/loader/loader.hpp"

using namespace eum;
using namespace eum::rt;

namespace {

/// Kernel code of a binary of the corpus.
struct Code {
  explicit Code(const std::string& name) {
    auto loaded = load_program(binaries::corpus(name));
    if (!loaded) FAIL(loaded.error().message);
    const Kernel& kernel = loaded->kernels[0];
    bytes.assign(kernel.code.begin(), kernel.code.end());
    simd = kernel.simd_size;
  }
  KernelCode code() const { return {"kernel", bytes, gen::Family::Gen9, simd}; }
  std::vector<std::byte> bytes;
  unsigned simd = 8;
};

std::shared_ptr<const TranslatedKernel> got(CodeCache& cache, const mem::AddressSpace* space,
                                            std::uint64_t address, const Code& code, jit::Engine& engine,
                                            const jit::CompileOptions& options = run_only) {
  auto translated = cache.get(space, address, code.code(), engine, options);
  if (!translated) FAIL(translated.error().message);
  return *translated;
}

}  // namespace

TEST_CASE("the same code in the same place is translated once") {
  auto engine = jit::make_avx2_engine();
  REQUIRE(engine);
  CodeCache cache;
  const Code saxpy("saxpy.patch"), reduce("reduce.patch");
  mem::AddressSpace one, other;
  const auto first = got(cache, nullptr, 0, saxpy, **engine);
  CHECK(got(cache, nullptr, 0, Code("saxpy.patch"), **engine) == first);
  CHECK(got(cache, nullptr, 0, reduce, **engine) != first);
  CHECK(got(cache, nullptr, 0, saxpy, **engine) == first);
  const auto placed = got(cache, &one, 0x1000, saxpy, **engine);
  CHECK(placed != first);
  CHECK(got(cache, &one, 0x2000, saxpy, **engine) != placed);
  CHECK(got(cache, &other, 0x1000, saxpy, **engine) != placed);
  CHECK(got(cache, &one, 0x1000, saxpy, **engine, {.exact_registers = true}) != placed);
  jit::CompileOptions without_rows = run_only;
  without_rows.optimisations.disable(jit::Optimisation::rows);
  CHECK(got(cache, &one, 0x1000, saxpy, **engine, without_rows) != placed);
  CHECK(got(cache, &one, 0x1000, saxpy, **engine) == placed);
}

TEST_CASE("other code at an address replaces what was there") {
  auto engine = jit::make_avx2_engine();
  REQUIRE(engine);
  CodeCache cache;
  mem::AddressSpace space;
  Code code("saxpy.patch");
  const auto before = got(cache, &space, 0x1000, code, **engine);
  code.bytes = Code("reduce.patch").bytes;
  const auto after = got(cache, &space, 0x1000, code, **engine);
  CHECK(after != before);
  CHECK(cache.size() == 1);
  CHECK(before->executable->code_bytes() > 0);  // holders of the old translation keep it
}

TEST_CASE("translations that nobody holds make room, the oldest first") {
  auto engine = jit::make_avx2_engine();
  REQUIRE(engine);
  const Code code("saxpy.patch");
  CodeCache measure;
  const std::size_t one = got(measure, nullptr, 0, code, **engine)->executable->code_bytes();
  CodeCache cache(3 * one);
  mem::AddressSpace space;
  const auto held = got(cache, &space, 0x1000, code, **engine);
  for (std::uint64_t i = 2; i <= 10; ++i) got(cache, &space, i * 0x1000, code, **engine);
  CHECK(cache.size() == 3);
  CHECK(cache.code_bytes() == 3 * one);
  CHECK(got(cache, &space, 0x1000, code, **engine) == held);
}

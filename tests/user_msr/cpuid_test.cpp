// CPUID with USER_MSR, for processors that have and lack the required leaves, and the instruction's
// encodings.
#include <catch2/catch.hpp>
#include <vector>

#include "runtime/user_msr/native/cpuid.hpp"

using namespace eum::rt::native;

namespace {

/// A processor with this highest subleaf of leaf 7.
struct Host {
  std::uint32_t highest_subleaf;
  CpuidResult operator()(std::uint32_t leaf, std::uint32_t subleaf) const {
    if (leaf == 7 && subleaf == 0) return {highest_subleaf, 0x10, 0x20, 0x30};
    // Beyond the highest subleaf a processor returns some other data.
    return {leaf * 16 + subleaf, 2, 3, 0x40};
  }
};

}  // namespace

TEST_CASE("CPUID leaf 7 shows USER_MSR, and that there is a subleaf for it; all else is the processor's") {
  for (std::uint32_t highest : {0u, 1u, 2u}) {
    Host host{highest};
    CHECK(cpuid_with_user_msr(7, 0, host) == CpuidResult{highest == 0 ? 1 : highest, 0x10, 0x20, 0x30});
    CpuidResult one = cpuid_with_user_msr(7, 1, host);
    CHECK(one == (highest == 0 ? CpuidResult{0, 0, 0, 0x8000} : CpuidResult{0x71, 2, 3, 0x8040}));
    for (std::uint32_t leaf : {0u, 1u, 6u, 7u, 8u, 0xdu, 0x80000007u})
      for (std::uint32_t subleaf : {0u, 1u, 2u, 0xffffffffu})
        if (leaf != 7 || subleaf > 1) CHECK(cpuid_with_user_msr(leaf, subleaf, host) == host(leaf, subleaf));
  }
}

TEST_CASE("CPUID is found behind any prefixes but LOCK, and under a breakpoint") {
  struct Row {
    std::vector<std::uint8_t> code;
    std::size_t length;
  };
  const Row rows[] = {{{0x0f, 0xa2}, 2},       {{0x0f, 0xa2, 0x90}, 2},
                      {{0x48, 0x0f, 0xa2}, 3}, {{0x66, 0xf3, 0x2e, 0x4f, 0x0f, 0xa2}, 6},
                      {{0xcc, 0xa2}, 2},       {{0xf0, 0x0f, 0xa2}, 0},
                      {{0x66, 0xcc, 0xa2}, 0}, {{0x0f}, 0},
                      {{0x0f, 0xa3}, 0},       {{0xa2, 0x0f}, 0},
                      {{0x66, 0x66}, 0},       {{}, 0}};
  for (const Row& row : rows) CHECK(cpuid_length(row.code) == row.length);
}

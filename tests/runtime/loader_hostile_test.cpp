// Damaged binaries: whatever the bytes, the loader returns a program that keeps its promises, or a one-line
// error.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>

#include "binaries.hpp"
#include "runtime/loader/loader.hpp"
#include "runtime/loader/ze_info.hpp"

using namespace eum::rt;

namespace {

// The properties that users of a Kernel rely on without checking.
bool keeps_promises(const Program& program) {
  for (const Kernel& k : program.kernels) {
    if (k.name.empty() || k.code.empty()) return false;
    if (k.simd_size != 8 && k.simd_size != 16 && k.simd_size != 32) return false;
    if (32 + k.per_thread_bytes + k.cross_thread_bytes > k.grf_count * 32) return false;
    std::vector<Patch> patches = k.implicit;
    for (const Argument& a : k.arguments) {
      patches.insert(patches.end(), a.patches.begin(), a.patches.end());
      if (a.sampler && *a.sampler >= k.samplers.size()) return false;
      if (a.image_type >= image_types.size()) return false;
    }
    for (const Patch& p : patches) {
      if (p.offset + std::uint64_t{p.size} > k.cross_thread_bytes) return false;
    }
    for (const Relocation& r : k.relocations) {
      if (r.offset + 4 > k.code.size()) return false;
    }
  }
  return true;
}

struct Tally {
  std::size_t loaded = 0, refused = 0;
};

void try_load(std::span<const std::byte> bytes, Tally& tally) {
  const auto program = load_program(bytes);
  if (program) {
    ++tally.loaded;
    if (!keeps_promises(*program)) FAIL_CHECK("a loaded program breaks a promise");
  } else {
    ++tally.refused;
    const std::string& message = program.error().message;
    if (message.empty() || message.size() > 500 || message.find('\n') != std::string::npos) {
      FAIL_CHECK("no clear error: " << message);
    }
  }
}

std::vector<std::vector<std::byte>> seeds() {
  return {binaries::own("arguments.patch"), binaries::own("arguments.zebin"),
          binaries::corpus("globals.patch"), binaries::corpus("globals.zebin")};
}

}  // namespace

TEST_CASE("truncated binaries are refused") {
  for (const auto& whole : seeds()) {
    Tally tally;
    for (std::size_t size = 0; size < whole.size(); size += 16) try_load(std::span(whole).first(size), tally);
    CHECK(tally.refused >= whole.size() / 16 * 9 / 10);
  }
  // Bare patch tokens end with the last token, so every truncation is detected.
  const auto elf = binaries::own("layouts.patch");
  const std::string_view text(reinterpret_cast<const char*>(elf.data()), elf.size());
  const std::size_t begin = text.find("CTNI"), end = text.find("\0.shstrtab", begin, 10);
  REQUIRE(begin != std::string_view::npos);
  const std::span<const std::byte> bare =
      std::span(elf).subspan(begin, std::min(end, elf.size()) - begin - 64);
  Tally tally;
  for (std::size_t size = 0; size < bare.size(); size += 4) try_load(bare.first(size), tally);
  CHECK(tally.loaded == 0);
}

TEST_CASE("flipped bits never break a promise") {
  std::mt19937 random(20240607);
  for (const auto& whole : seeds()) {
    Tally tally;
    for (int round = 0; round < 2000; ++round) {
      auto damaged = whole;
      const int flips = 1 + static_cast<int>(random() % 4);
      for (int f = 0; f < flips; ++f) {
        damaged[random() % damaged.size()] ^= static_cast<std::byte>(1u << (random() % 8));
      }
      try_load(damaged, tally);
    }
    CHECK(tally.loaded + tally.refused == 2000);
    CHECK(tally.refused > 100);
  }
}

TEST_CASE("extreme numbers in every field are refused or harmless") {
  for (const char* name : {"globals.patch", "saxpy.patch", "globals.zebin"}) {
    const auto whole = binaries::corpus(name);
    Tally tally;
    for (std::size_t at = 0; at + 4 <= whole.size(); at += 4) {
      for (std::uint32_t value : {0xffffffffu, 0x7fffffffu, 0x80000000u, 0u}) {
        auto damaged = whole;
        std::memcpy(&damaged[at], &value, 4);
        try_load(damaged, tally);
      }
    }
    CHECK(tally.refused > 0);
    CHECK(tally.loaded > 0);
  }
}

TEST_CASE("hostile metadata is refused without using its numbers") {
  const auto good = binaries::corpus("saxpy.zebin");
  const std::string text(reinterpret_cast<const char*>(good.data()), good.size());
  const auto with = [&](std::string_view from, std::string_view to) {
    REQUIRE(from.size() == to.size());
    std::string changed = text;
    const std::size_t at = changed.find(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    const auto program = load_program(std::as_bytes(std::span(changed)));
    return program ? std::string("loaded") : program.error().message;
  };
  using Catch::Contains;
  CHECK_THAT(with("simd_size:       32", "simd_size:       64"),
             Contains("simd_size is 64, expected 8, 16 or 32"));
  CHECK_THAT(with("grf_count:       128", "grf_count:       999"), Contains("register count is 999"));
  CHECK_THAT(with("offset:          52", "offset:          -9"), Contains("offset should be a number"));
  CHECK_THAT(with("offset:          52", "offset:  2147483648"),
             Contains("offset should be a number from 0 to 2147483647, found '2147483648'"));
  CHECK_THAT(with("offset:          52\n        size:            4",
                  "offset:    99999999\n        size:            4"),
             Contains("payload"));
  CHECK_THAT(with("arg_index:       1", "arg_index: 9999999"), Contains("argument 9999999"));
  CHECK_THAT(with("bti_value:       0", "bti_value:     250"), Contains("reserved binding table index 250"));
  CHECK_THAT(with("bti_value:       0", "bti_value:  999999"), Contains("bti_value is 999999"));
  CHECK_THAT(with("kernels:", "kernels?"), Contains("ze_info"));
  CHECK_THAT(with(".text.saxpy", ".text.other"), Contains("no section .text.saxpy"));
  CHECK_THAT(with("version:         '1.20'", "version:         '9.20'"),
             Contains("version 9.20, expected 1.x"));
  CHECK_THAT(with("addrmode:        stateful", "addrmode:        nonsense"),
             Contains("addrmode is nonsense"));
}

TEST_CASE("metadata that nest too deep are told from others that are damaged") {
  const auto deep = read_ze_info(std::string(100000, '['), Registers{});
  REQUIRE_FALSE(deep);
  CHECK_THAT(deep.error().message, Catch::Contains("lists and keys in each other deeper than"));
}

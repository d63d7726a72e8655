// Which host code belongs to which guest instruction: the map that profiles use.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <set>

#include "frontend/gen/instruction.hpp"
#include "runtime/loader/loader.hpp"
#include "runtime/translation.hpp"
#include "tests/kernels/corpus.hpp"

using namespace eum;

TEST_CASE("the host map has every instruction, in ascending order, where it is asked for", "[runtime]") {
  const auto engine = jit::make_avx2_engine();
  REQUIRE(engine);
  for (const char* stem : {"saxpy", "loops", "private_sort", "atomics"}) {
    INFO(stem);
    std::ifstream stream(
        kernels::binary_path(*kernels::find_kernel_file(stem), kernels::Container::PatchTokens),
        std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    const auto program = rt::load_program(std::as_bytes(std::span(bytes)));
    REQUIRE(program);
    const rt::Kernel& kernel = program->kernels[0];
    const rt::KernelCode code{kernel.name, kernel.code, gen::Family::Gen9, kernel.simd_size};

    const auto plain = rt::translate(code, **engine);
    REQUIRE(plain);
    CHECK(plain->executable->host_map().places.empty());

    const auto listed = rt::translate(code, **engine, {.listing = true, .exact_registers = false});
    REQUIRE(listed);
    const jit::HostMap map = listed->executable->host_map();
    CHECK(map.bytes == plain->executable->code_bytes());
    std::set<std::uint32_t> begins;
    for (std::uint32_t ip = 0; ip < code.bytes.size();) {
      begins.insert(ip);
      ip += gen::decode(code.bytes, ip, code.family)->length;
    }
    std::uint32_t before = 0;
    std::size_t known = 0, of_none = 0;
    std::set<std::uint32_t> seen;
    for (const jit::HostPlace& place : map.places) {
      CHECK(before <= place.offset);
      CHECK(place.offset <= map.bytes);
      before = place.offset;
      if (place.guest_ip == jit::HostPlace::no_ip) {
        ++of_none;
        continue;
      }
      ++known;
      seen.insert(place.guest_ip);
      CHECK(begins.contains(place.guest_ip));
    }
    CHECK(of_none >= 1);  // the code that enters and leaves
    CHECK(known >= begins.size() / 2);
    // Instructions that need no code have no place; loads, stores and branches do.
    CHECK(seen.size() * 2 > begins.size());
  }
}

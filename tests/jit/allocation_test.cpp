// Allocation failure: whichever allocation of a translation fails, the engine returns an error and frees what
// it had allocated. The program's operator new fails on request; sanitizers bring their own.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>

#include "tests/jit/text_cases.hpp"
#include "tests/jit/world.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define EUMULATE_OWN_NEW 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define EUMULATE_OWN_NEW 0
#endif
#endif
#ifndef EUMULATE_OWN_NEW
#define EUMULATE_OWN_NEW 1
#endif

#if EUMULATE_OWN_NEW

namespace {
thread_local long allocations_left = -1;  // below 0: none fails
}

void* operator new(std::size_t bytes) {
  if (allocations_left-- == 0) throw std::bad_alloc();  // only this one: the error's text is allocated
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;

TEST_CASE("host: whichever allocation fails, compile() returns an error") {
  const ir::Function function = function_of_text(
      "b0: ip 0 count 1\n  %a = reg_read.f32x8 r1<1;1,0>\n  %b = exp2.f32x8 %a\n  reg_write.f32x8 r2<1;1,0>, "
      "%b\n"
      "  %p = reg_read.u32x8 r3<1;1,0>\n  %c = load.u32x8 slm[%p]\n  reg_write.u32x8 r4<1;1,0>, %c\n"
      "  %f = flag_read.mx8 f0.0\n  branch_any.mx8 %f, b0, b1\nb1: ip 0x10 count 1\n"
      "  %i = reg_read.u32x1 r5<1;1,0>\n  jump_ip.u32x1 %i\n");
  for (const auto& engine : other_engines()) {
    long failing = 0;
    for (bool done = false; !done; ++failing) {
      ir::Function own = copy(function);
      allocations_left = failing;
      auto executable = engine->compile(own, {});
      allocations_left = -1;
      done = static_cast<bool>(executable);
      if (!done) REQUIRE(executable.error().message == "k: the host has no memory for it");
      REQUIRE(failing < 100000);
    }
    CHECK(failing > 50);  // at least this many allocations were tried
  }
}

#endif

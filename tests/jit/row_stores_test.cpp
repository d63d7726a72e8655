// Stores that advance along rows in a loop leave what the reference engine's leave, wherever the rows are and
// end, whichever channels go on, and wherever the thread has to pause: memory is compared at each pause.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "memory/surface.hpp"
#include "tests/jit/batch_threads.hpp"

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

/// r2, r3: where each channel's row in surface 1 begins; r4: counters of the inner and the outer loop; r8,
/// r9: how many turns each channel takes. `body` computes %v, and may do more; `leaves`: channels leave one
/// by one.
struct Loop {
  std::string_view name, body;
  bool leaves = false, is_row_store = true;
};

std::string text_of(const Loop& loop, unsigned turns) {
  return fmt::format(R"(kernel @k simd 16 family gen9 file 512 slot 32 masks 1
b0: ip 0x0 count 1
  %k = constant.s32x1 0
  reg_write.s32x1 r4.2<1;1,0>, %k
  %all = mask_get.mx16 mask0
  flag_write.mx16 f0.0, %all
  jump b1
b1: ip 0x10 count 1 safepoint
  %first = constant.s32x1 0
  reg_write.s32x1 r4<1;1,0>, %first
  %back = flag_read.mx16 f0.0
  mask_set.mx16 mask0, %back
  jump b2
b2: ip 0x20 count 3 safepoint
  %e = mask_get.mx16 mask0
  %i = reg_read.s32x1 r4<1;1,0>
  %ii = splat.s32x16 %i
  %iu = bitcast.u32.s32x16 %ii
  %a = reg_read.u32x16 r2<1;1,0> ? %e
{body}  store.u32x16 surface1[%a], %v ? %e @0x30
  %four = constant.u32x16 4
  %a1 = add.u32x16 %a, %four
  reg_write.u32x16 r2<1;1,0>, %a1 ? %e
  %one = constant.s32x1 1
  %i1 = add.s32x1 %i, %one
  reg_write.s32x1 r4<1;1,0>, %i1
{end}b3: ip 0x30 count 2
  %k0 = reg_read.s32x1 r4.2<1;1,0>
  %ones = constant.s32x1 1
  %k1 = add.s32x1 %k0, %ones
  reg_write.s32x1 r4.2<1;1,0>, %k1
  %outer = constant.s32x1 3
  %more = cmp_lt.s32x1 %k1, %outer
  branch_any.mx1 %more, b1, b4
b4: ip 0x40 count 1
  exit
)",
                     fmt::arg("body", loop.body),
                     fmt::arg("end", loop.leaves ? R"(  %last = reg_read.s32x16 r8<1;1,0>
  %goes = cmp_lt.s32x16 %ii, %last
  %go = and.mx16 %e, %goes
  mask_set.mx16 mask0, %go
  branch_any.mx16 %go, b2, b3
)"
                                                 : fmt::format(R"(  %n = constant.s32x1 {}
  %again = cmp_lt.s32x1 %i1, %n
  branch_any.mx1 %again, b2, b3
)",
                                                               turns)));
}

constexpr Loop loops[] = {
    {"numbers", "  %f = constant.u32x16 31\n  %v = mad.u32x16 %a, %f, %iu\n"},
    {"channels leave", "  %f = constant.u32x16 31\n  %v = mad.u32x16 %a, %f, %iu\n", true},
    {"sums along other rows", R"(  %x = load.u32x16 surface2[%a] ? %e
  %s = reg_read.u32x16 r5<1;1,0> ? %e
  %v = add.u32x16 %s, %x
  reg_write.u32x16 r5<1;1,0>, %v ? %e
)"},
    {"a row behind the other", R"(  %v = add.u32x16 %a, %iu
  %far = constant.u32x16 0x10000
  %b = add.u32x16 %a, %far
  store.u32x16 surface1[%b], %iu ? %e @0x28
)"},
    {"each row twice", R"(  %v = add.u32x16 %a, %iu
  %next = constant.u32x16 4
  %b = add.u32x16 %a, %next
  store.u32x16 surface1[%b], %iu ? %e @0x28
)"},
    {"two surfaces", "  %v = add.u32x16 %a, %iu\n  store.u32x16 surface2[%a], %iu ? %e @0x28\n"},
    {"what it stores is read", R"(  %x = load.u32x16 surface1[%a] ? %e
  %v = add.u32x16 %x, %iu
)",
     false, false},
    {"another step", R"(  %v = add.u32x16 %a, %iu
  %twice = add.u32x16 %a, %iu
  store.u32x16 surface2[%twice], %iu ? %e @0x28
)",
     false, false},
};

struct Rows {
  std::uint32_t apart;
  std::uint32_t missing;                                  ///< bytes that memory ends before the last row does
  enum class Second { Apart, Same, Overlapping } second;  ///< surface 2
  std::int64_t budget;
};

/// From a row to the one behind it.
constexpr std::uint32_t far = 0x10000, most_bytes = far + 15 * 4096 + 12 * 51 + 64;

CompileOptions options() { return {.exact_registers = false}; }

class Run {
 public:
  Run(Engine& engine, const Loop& loop, unsigned turns)
      : turns_(turns), threads_(engine, text_of(loop, turns), 1, options()) {}

  /// Memory at each pause and at the end.
  std::vector<std::vector<std::byte>> left_by(const Rows& rows) {
    const std::uint32_t span = 15 * std::min(rows.apart, 0 - rows.apart),
                        bytes = far + span + 3 * 4 * turns_ + 64 - rows.missing;
    for (std::uint32_t i = 0; i < bytes; ++i) {
      memory_.data()[i] = static_cast<std::byte>(i * 37 + i / 256);
      other_.data()[i] = static_cast<std::byte>(i * 11 + i / 256);
    }
    std::vector<mem::Surface> surfaces(mem::binding_table_size);
    surfaces[1] = mem::buffer_surface(memory_.data(), bytes, 0);
    surfaces[2] = rows.second == Rows::Second::Apart  ? mem::buffer_surface(other_.data(), bytes, 0)
                  : rows.second == Rows::Second::Same ? surfaces[1]
                                                      : mem::buffer_surface(memory_.data() + 8, bytes - 8, 0);
    threads_.set_memory(surfaces.data(), nullptr);
    std::array<std::uint32_t, 16> begins{}, takes{}, sums{};
    for (std::uint32_t lane = 0; lane < 16; ++lane) {
      begins[lane] = rows.apart > 0x80000000u ? (15 - lane) * (0 - rows.apart) : lane * rows.apart;
      takes[lane] = turns_ - (turns_ > 3 && lane % 5 == 2 ? lane % 3 : 0);
    }
    threads_.set_bytes(0, 64, std::as_bytes(std::span(begins)));
    threads_.set_bytes(0, 160, std::as_bytes(std::span(sums)));
    threads_.set_bytes(0, 256, std::as_bytes(std::span(takes)));
    std::vector<std::vector<std::byte>> left;
    ThreadBatch batch = threads_.batch(true);
    for (;;) {
      batch.granted = rows.budget;
      batch.left = std::int64_t{1} << 40;
      const Status status = threads_.run(batch);
      left.emplace_back(memory_.data(), memory_.data() + bytes);
      left.back().insert(left.back().end(), other_.data(), other_.data() + bytes);
      if (status != Status::Paused) return left;
      threads_.state(0).budget = rows.budget;
      batch.groups = nullptr;
    }
  }

 private:
  unsigned turns_;
  Threads threads_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(most_bytes), other_ = memory_;
};

}  // namespace

TEST_CASE("stores along rows, in bounds and beyond, all channels and some, with pauses") {
  const auto reference = make_reference_engine();
  SiteSample sample(EUMULATE_STEP);
  for (const Loop& loop : loops)
    for (const unsigned turns : {1u, 2u, 15u, 17u, 33u, 51u}) {
      Run expected(*reference, loop, turns);
      std::vector<std::unique_ptr<Run>> others;
      for (const auto& engine : other_engines())
        others.push_back(std::make_unique<Run>(*engine, loop, turns));
      for (const std::uint32_t apart : {1024u, 4096u, 0u - 1024u, 1020u, 0u})
        for (const std::uint32_t missing : {0u, far + 64 + 20})
          for (const auto second : {Rows::Second::Apart, Rows::Second::Same, Rows::Second::Overlapping})
            for (const std::int64_t budget : {std::int64_t{1} << 30, std::int64_t{13}}) {
              if (!sample.takes_next() || missing > far + 64 + 12 * turns) continue;
              if (second != Rows::Second::Apart && loop.body.find("surface2") == std::string_view::npos)
                continue;
              const Rows rows{apart, missing, second, budget};
              const auto left = expected.left_by(rows);
              for (std::size_t i = 0; i < others.size(); ++i) {
                INFO(loop.name << " on " << other_engines()[i]->name() << ", " << turns << " turns, rows "
                               << static_cast<std::int32_t>(apart) << " apart, " << missing
                               << " bytes missing, second surface " << static_cast<int>(second) << ", budget "
                               << budget);
                REQUIRE(others[i]->left_by(rows) == left);
              }
            }
    }
}

TEST_CASE("loops collect elements of rows where nothing reads them meanwhile") {
  for (const Loop& loop : loops)
    on_whole_engines([&](Engine& engine) {
      INFO(loop.name << " on " << engine.name());
      CompileOptions with = options(), without = options();
      without.optimisations.disable(Optimisation::row_stores);
      std::size_t bytes[2];
      for (const bool on : {true, false}) {
        ir::Function function = function_of_text(text_of(loop, 9));
        const auto code = engine.compile(function, on ? with : without);
        REQUIRE(code);
        bytes[on ? 1 : 0] = (*code)->code_bytes();
      }
      CHECK((bytes[0] != bytes[1]) == loop.is_row_store);
    });
}

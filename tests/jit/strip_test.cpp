// Strips: threads of a group that run in one loop, whose accesses have been checked for all of them at once,
// leave what threads leave that run one by one. Memory ends at pages that must not be touched.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "memory/address_space.hpp"
#include "memory/surface.hpp"
#include "tests/jit/batch_threads.hpp"

using namespace eum;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

/// r1 and r2 hold the local ids of 16 channels in x and y, r3 the items of a group, two limits and a pitch in
/// bytes, r4 an address; r0.1 is the group's id. r5 becomes the global id in x.
constexpr std::string_view begins = R"(kernel @k simd 16 family gen9 file 512 slot 32 masks 3
b0: ip 0x0 count 5
  %mode = constant.u32x1 0x4c0
  fpmode_set.u32x1 %mode
  %g = reg_read.u32x1 r0.1<1;1,0>
  %items = reg_read.u32x1 r3<1;1,0>
  %first = mul.u32x1 %g, %items
  %base = splat.u32x16 %first
  %lid = reg_read.u16x16 r1<1;1,0>
  %wide = convert.u32.u16x16 %lid
  %i = add.u32x16 %base, %wide
  %y = reg_read.u16x16 r2<1;1,0>
  %row = convert.u32.u16x16 %y
  %n = reg_read.u32x1 r3.1<1;1,0>
  %limit = splat.u32x16 %n
  %h = reg_read.u32x1 r3.2<1;1,0>
  %high = splat.u32x16 %h
  %two = constant.u32x16 2
  %four = constant.u32x16 4
)";
/// What b0 ends with: the channels of %c go to b1, the others wait in b2.
constexpr std::string_view guards = R"(
  reg_write.u32x16 r5<1;1,0>, %i
  reg_write.u32x16 r7<1;1,0>, %row
  %m = mask_get.mx16 mask0
  %go = and.mx16 %m, %c
  %stay = andn.mx16 %c, %m
  %parked = mask_get.mx16 mask1
  %sum = or.mx16 %parked, %stay
  mask_set.mx16 mask1, %sum
  mask_set.mx16 mask0, %go
  branch_any.mx16 %go, b1, b2
b1: ip 0x10 count 3
  %on = mask_get.mx16 mask0
  %j = reg_read.u32x16 r5<1;1,0> ? %on
  %k = reg_read.u32x16 r7<1;1,0> ? %on
  %four = constant.u32x16 4
  %at = mul.u32x16 %j, %four
)";
constexpr std::string_view joins = R"(
  jump b2
b2: ip 0x20 count 2
  %o = mask_get.mx16 mask0
  %p = mask_get.mx16 mask1
  %all = or.mx16 %o, %p
  mask_set.mx16 mask0, %all
  %none = constant.mx16 0
  mask_set.mx16 mask1, %none
  exit
)";
std::string guarded(std::string_view condition, std::string_view body) {
  return fmt::format("{}{}{}{}{}", begins, condition, guards, body, joins);
}

constexpr IdSteps along_x{.by_line = {16, 0, 0}}, along_y{.by_line = {0, 1, 0}};

struct Case {
  std::string_view name;
  std::string text;
  IdSteps steps = along_x;
  bool is_strip = true;
};

const std::string_view adds = R"(
  %a = load.u32x16 surface0[%at] ? %on
  %b = load.u32x16 surface1[%at] ? %on
  %s = add.u32x16 %a, %b
  store.u32x16 surface2[%at], %s ? %on
)";

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({"elements of several sizes", fmt::format("{}{}", begins, R"(
  %at = mul.u32x16 %i, %four
  %half = mul.u32x16 %i, %two
  %a = load.u32x16 surface0[%at]
  %b = load.u8x16 surface1[%i]
  %c = convert.u32.u8x16 %b
  %s = add.u32x16 %a, %c
  %w = convert.u16.u32x16 %s
  store.u16x16 surface2[%half], %w
  exit
)")});
  all.push_back({"a limit", guarded("  %c = cmp_lt.u32x16 %i, %limit\n", adds)});
  all.push_back({"a limit that is signed, and included", guarded(R"(
  %si = bitcast.s32.u32x16 %i
  %sl = bitcast.s32.u32x16 %limit
  %c = cmp_ge.s32x16 %sl, %si
)",
                                                                 adds)});
  all.push_back({"what lies beyond a limit", guarded("  %c = cmp_gt.u32x16 %i, %limit\n", adds)});
  all.push_back({"all but one", guarded("  %c = cmp_ne.u32x16 %i, %limit\n", adds)});
  all.push_back({"neighbours, and the same element for all", guarded("  %c = cmp_lt.u32x16 %i, %limit\n", R"(
  %minus = constant.u32x16 0xfffffffc
  %before = add.u32x16 %at, %minus
  %after = add.u32x16 %at, %four
  %zero = constant.u32x16 0
  %a = load.u32x16 surface0[%before] ? %on
  %b = load.u32x16 surface0[%after] ? %on
  %d = load.u32x16 surface1[%zero] ? %on
  %e = add.u32x16 %a, %b
  %s = add.u32x16 %d, %e
  store.u32x16 surface2[%at], %s ? %on
)")});
  all.push_back({"rows",
                 guarded(R"(
  %cx = cmp_lt.u32x16 %i, %limit
  %cy = cmp_lt.u32x16 %row, %high
  %c = and.mx16 %cx, %cy
)",
                         R"(
  %pitch = reg_read.u32x1 r3.3<1;1,0>
  %pitches = splat.u32x16 %pitch
  %line = mul.u32x16 %k, %pitches
  %xy = add.u32x16 %line, %at
  %a = load.u32x16 surface0[%xy] ? %on
  %s = add.u32x16 %a, %j
  store.u32x16 surface2[%xy], %s ? %on
)"),
                 along_y});
  all.push_back({"distances from a pointer", guarded("  %c = cmp_lt.u32x16 %i, %limit\n", R"(
  %si = bitcast.s32.u32x16 %j
  %w = convert.s64.s32x16 %si
  %shift = constant.s64x16 2
  %far = shl.s64x16 %w, %shift
  %p = reg_read.s64x1 r4<1;1,0>
  %ps = splat.s64x16 %p
  %q = add.s64x16 %far, %ps
  %u = bitcast.u64.s64x16 %q
  %a = load.u32x16 a64[%u] ? %on
  %s = add.u32x16 %a, %j
  store.u32x16 surface2[%at], %s ? %on
)")});
  all.push_back({"arbitrary addresses beside known ones", guarded("  %c = cmp_lt.u32x16 %i, %limit\n", R"(
  %a = load.u32x16 surface0[%at] ? %on
  %low = constant.u32x16 0x1fc
  %place = and.u32x16 %a, %low
  %b = load.u32x16 surface1[%place] ? %on
  store.u32x16 surface2[%at], %b ? %on
)")});
  all.push_back({"payload that threads overwrite, and registers that they read back",
                 guarded("  %c = cmp_lt.u32x16 %i, %limit\n", R"(
  %a = load.u32x16 surface0[%at] ? %on
  %h = reg_read.u32x1 r3.2<1;1,0>
  %hs = splat.u32x16 %h
  %b = add.u32x16 %a, %hs
  reg_write.u32x16 r3<1;1,0>, %b
  %bytes = reg_read.u16x16 r3<2;1,0>
  %t = convert.u32.u16x16 %bytes
  store.u32x16 surface2[%at], %t ? %on
)")});
  all.push_back({"edges, in short bodies under a mask", fmt::format("{}{}", begins, R"(
  %zero = constant.u32x16 0
  %at = mul.u32x16 %i, %four
  %here = load.u32x16 surface0[%at]
  %m = mask_get.mx16 mask0
  %left = cmp_gt.u32x16 %wide, %zero
  %go = and.mx16 %m, %left
  %stay = andn.mx16 %left, %m
  mask_set.mx16 mask2, %stay
  mask_set.mx16 mask0, %go
  spend.mx16 3, %go
  %minus = constant.u32x16 0xfffffffc
  %before = add.u32x16 %at, %minus
  %l = load.u32x16 surface0[%before] ? %go
  reg_write.u32x16 r9<1;1,0>, %l ? %go
  spend.mx16 2, %stay
  mask_set.mx16 mask0, %stay
  reg_write.u32x16 r9<1;1,0>, %here ? %stay
  mask_set.mx16 mask0, %m
  %none = constant.mx16 0
  mask_set.mx16 mask2, %none
  %one = constant.u32x1 1
  %last = sub.u32x1 %items, %one
  %lasts = splat.u32x16 %last
  %right = cmp_lt.u32x16 %wide, %lasts
  %after = add.u32x16 %at, %four
  %r = load.u32x16 surface0[%after] ? %right
  %beside = select.u32x16 %right, %r, %here
  %v = reg_read.u32x16 r9<1;1,0>
  %s = add.u32x16 %v, %beside
  store.u32x16 surface2[%at], %s
  exit
)")});
  all.push_back(
      {"what only channels at an edge write, and only those beside it", fmt::format("{}{}", begins, R"(
  %zero = constant.u32x16 0
  %at = mul.u32x16 %i, %four
  %a = load.u32x16 surface0[%at]
  %edge = cmp_eq.u32x16 %wide, %zero
  %b = load.u32x16 surface1[%at] ? %edge
  %s = add.u32x16 %a, %b
  store.u32x16 surface2[%at], %s ? %edge
  %beside = not.mx16 %edge
  %far = cmp_ge.u32x16 %i, %limit
  %bits = or.mx16 %edge, %far
  store.u32x16 surface2[%at], %a ? %beside
  store.u32x16 surface2[%at], %i ? %bits
  exit
)")});
  all.push_back({"many windows, and a product of scalars that is continued", fmt::format("{}{}", begins, R"(
  %low, %rest = mach.u32x1 %g, %items, %n, %h
  %product = splat.u32x16 %low
  %at = mul.u32x16 %i, %four
  %apart = constant.u32x16 0x2000
  %far = add.u32x16 %at, %apart
  %a = load.u32x16 surface0[%at]
  %b = load.u32x16 surface0[%far]
  %c = load.u32x16 surface1[%at]
  %d = load.u32x16 surface1[%far]
  %ab = add.u32x16 %a, %b
  %cd = add.u32x16 %c, %d
  %abcd = add.u32x16 %ab, %cd
  %s = add.u32x16 %abcd, %product
  store.u32x16 surface2[%at], %s
  exit
)")});
  all.push_back({"rows of lanes that two accesses share", fmt::format("{}{}", begins, R"(
  %bytes = constant.u32x16 32
  %at = mul.u32x16 %i, %bytes
  %part = constant.u32x16 16
  %up = add.u32x16 %at, %part
  %e, %f, %p, %q = load.u32x16 surface0[%up] {0, 1, 2, 3}
  %a, %b, %c, %d = load.u32x16 surface0[%at] {0, 1, 2, 3}
  %a1 = add.u32x16 %a, %limit
  %b1 = add.u32x16 %b, %limit
  %c1 = add.u32x16 %c, %limit
  %d1 = add.u32x16 %d, %limit
  %e1 = add.u32x16 %e, %limit
  %f1 = add.u32x16 %f, %limit
  %p1 = add.u32x16 %p, %limit
  %q1 = add.u32x16 %q, %limit
  store.u32x16 surface2[%up] {0, 1, 2, 3}, %e1, %f1, %p1, %q1
  store.u32x16 surface2[%at] {0, 1, 2, 3}, %a1, %b1, %c1, %d1
  exit
)")});
  all.push_back({"no access of all lanes follows the ids", guarded("  %c = cmp_lt.u32x16 %i, %limit\n", R"(
  %mixed = xor.u32x16 %at, %j
  %mask = constant.u32x16 0x1fc
  %place = and.u32x16 %mixed, %mask
  %a = load.u32x16 surface0[%place] ? %on
  store.u32x16 surface2[%place], %a ? %on
)"),
                 along_x, false});
  return all;
}

/// The same where a row takes several threads.
std::vector<Case> in_lines() {
  std::vector<Case> all;
  for (const std::uint32_t line_threads : {2u, 3u})
    for (Case one : cases()) {
      one.steps = {.by_line = {0, 1, 0}, .in_line = {16, 0, 0}, .line_threads = line_threads};
      all.push_back(std::move(one));
    }
  return all;
}

struct Range {
  std::uint32_t threads, groups, limit, bytes;
  bool last_is_apart = false;  ///< the ids of each group's last thread are elsewhere
};

/// What the threads leave.
struct Left {
  Status status;
  std::uint32_t threads;
  std::int64_t allowance;
  std::size_t last;
  std::vector<std::byte> memory;
  bool operator==(const Left&) const = default;
};

class Device {
 public:
  explicit Device(std::uint32_t bytes) : surfaces_(mem::binding_table_size) {
    for (std::uint32_t s = 0; s < 3; ++s) {
      memory_.push_back(std::make_unique<GuardedBytes>(bytes, true));
      for (std::uint32_t i = 0; i < bytes; ++i)
        memory_.back()->data()[i] = static_cast<std::byte>(i * 37 + s * 11 + i / 256);
      surfaces_[s] = mem::buffer_surface(memory_.back()->data(), bytes, 0);
    }
    constexpr std::uint64_t page = 0x4000'0000;
    const auto host = reinterpret_cast<std::uintptr_t>(memory_[1]->data());
    address_ = page + host % 4096;
    REQUIRE(space_.map(address_, bytes, memory_[1]->data(), mem::Access::ReadWrite, "region"));
  }
  void give(Threads& threads) { threads.set_memory(surfaces_.data(), &space_); }
  std::uint64_t address() const { return address_; }
  std::vector<std::byte> written() const {
    return {memory_[2]->data(), memory_[2]->data() + memory_[2]->size()};
  }

 private:
  std::vector<std::unique_ptr<GuardedBytes>> memory_;
  std::vector<mem::Surface> surfaces_;
  mem::AddressSpace space_;
  std::uint64_t address_ = 0;
};

CompileOptions options_of(const Case& one) {
  CompileOptions options{.exact_registers = false, .group_dwords = 1u << 1};
  options.launch.ids = {32, 16, 16, 2, 32};
  options.launch.id_steps = one.steps;
  options.launch.own_images = true;
  return options;
}

/// Runs two batches, the second from registers that the first one has left; from thread `first` of a group
/// on.
Left left_by(const Compiled& compiled, const Case& one, const Range& range, std::uint32_t first) {
  Device device(range.bytes);
  Threads threads(compiled, range.threads);
  device.give(threads);
  threads.set_header(0);
  const std::uint32_t line_threads = one.steps.line_threads;
  for (std::uint32_t t = 0; t < range.threads; ++t) {
    std::array<std::uint16_t, 16> x{}, y{};
    const auto first_id = [&](std::size_t row) {
      return one.steps.by_line[row] * (t / line_threads) + one.steps.in_line[row] * (t % line_threads);
    };
    for (std::uint16_t lane = 0; lane < 16; ++lane) {
      x[lane] = static_cast<std::uint16_t>(first_id(0) + lane +
                                           (range.last_is_apart && t + 1 == range.threads ? 16 : 0));
      y[lane] = static_cast<std::uint16_t>(first_id(1));
    }
    threads.set_bytes(t, 32, std::as_bytes(std::span(x)));
    threads.set_bytes(t, 64, std::as_bytes(std::span(y)));
    const std::uint32_t items = one.steps.by_line[0] != 0 ? 16 * range.threads : 16 * line_threads;
    const std::uint32_t pitch = 64 * line_threads * range.groups;
    const std::array<std::uint32_t, 8> sizes{items, range.limit, range.threads / line_threads - 1, pitch};
    threads.set_bytes(t, 96, std::as_bytes(std::span(sizes)));
    const std::array<std::uint64_t, 4> pointer{device.address()};
    threads.set_bytes(t, 128, std::as_bytes(std::span(pointer)));
  }
  Left left{};
  for (unsigned round = 0; round < 2; ++round) {
    ThreadBatch batch = threads.batch(true, range.groups);
    batch.ids_go_on = range.threads - (range.last_is_apart ? 1 : 0);
    for (std::uint32_t g = 0; g < range.groups; ++g) threads.header(g) = {.bits = {0, g}};
    if (first != 0) {
      batch.state = &threads.state(first);
      batch.threads = range.threads - first;
    }
    left.status = threads.run(batch);
    left.threads = batch.threads;
    left.allowance = batch.left;
    left.last = static_cast<std::size_t>(reinterpret_cast<std::byte*>(batch.state) -
                                         reinterpret_cast<std::byte*>(&threads.state(0))) /
                threads.executable().layout().size;
  }
  left.memory = device.written();
  return left;
}

/// A case, translated once for all ranges.
class Check {
 public:
  explicit Check(const Case& one) : one_(one), reference_(*engine_, one.text, options_of(one)) {
    for (const auto& engine : other_engines()) others_.emplace_back(*engine, one.text, options_of(one));
  }
  void operator()(const Range& range, std::uint32_t first = 0) const {
    const Left expected = left_by(reference_, one_, range, first);
    for (std::size_t k = 0; k < others_.size(); ++k) {
      INFO(one_.name << " on " << other_engines()[k]->name() << ": " << range.threads << " threads from "
                     << first << ", " << range.groups << " groups, limit " << range.limit << ", "
                     << range.bytes << " bytes" << (range.last_is_apart ? ", last thread apart" : ""));
      const Left found = left_by(others_[k], one_, range, first);
      CHECK(found.status == expected.status);
      CHECK(found.threads == expected.threads);
      CHECK(found.allowance == expected.allowance);
      CHECK(found.last == expected.last);
      CHECK(found.memory == expected.memory);
    }
  }

 private:
  const Case& one_;
  std::unique_ptr<Engine> engine_ = make_reference_engine();
  Compiled reference_;
  std::vector<Compiled> others_;
};

}  // namespace

TEST_CASE("strips leave what threads leave that run one by one") {
  for (const Case& one : cases()) {
    const Check check(one);
    for (const std::uint32_t threads : {1u, 2u, 7u})
      for (const std::uint32_t groups : {1u, 3u, 17u}) {
        const std::uint32_t items = 16 * threads * groups;
        for (const std::uint32_t limit :
             {items, items - 3, items - 19, 16 * threads, 1u, 0u, ~0u, 0x7fffffffu, 0x80000000u})
          // Memory that ends in the last thread, or in the one before it.
          for (const std::uint32_t bytes :
               {4 * items + 64, 4 * items, 4 * items - 13, 4 * (items > 32 ? items - 18 : items)}) {
            check({threads, groups, limit, bytes});
            if (threads > 2) check({threads, groups, limit, bytes, true});
          }
      }
  }
}

TEST_CASE("a strip may begin with any thread of a group") {
  for (const Case& one : cases()) {
    const Check check(one);
    for (const std::uint32_t first : {1u, 3u, 4u})
      for (const bool last_is_apart : {false, true}) check({5, 1, 80, 320, last_is_apart}, first);
  }
}

TEST_CASE("strips of lines of several threads leave what threads leave that run one by one") {
  for (const Case& one : in_lines()) {
    const Check check(one);
    for (const std::uint32_t lines : {1u, 2u, 3u})
      for (const std::uint32_t groups : {1u, 17u}) {
        const std::uint32_t threads = lines * one.steps.line_threads, items = 16 * threads * groups;
        const std::uint32_t width = 16 * one.steps.line_threads * groups;
        for (const std::uint32_t limit : {items, width, width - 3, width - 19, 1u, 0u, ~0u, 0x80000000u})
          for (const std::uint32_t bytes : {4 * items + 64, 4 * items, 4 * items - 13, 4 * items - 72})
            for (const std::uint32_t first : {0u, 1u})
              if (first == 0 || groups == 1) check({threads, groups, limit, bytes}, first);
      }
  }
}

TEST_CASE("the engines make strips of what suits them") {
  std::vector<Case> all = cases();
  std::ranges::move(in_lines(), std::back_inserter(all));
  for (const Case& one : all)
    on_whole_engines([&](Engine& engine) {
      INFO(one.name << ", lines of " << one.steps.line_threads << ", on " << engine.name());
      CompileOptions options = options_of(one);
      options.listing = true;
      ir::Function function = function_of_text(one.text);
      const auto code = engine.compile(function, options);
      REQUIRE(code);
      const bool has_strip = (*code)->listing().find("; strip, head") != std::string::npos;
      CHECK(has_strip == one.is_strip);
    });
}

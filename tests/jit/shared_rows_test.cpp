// Rows of each lane that several accesses share, 16 bytes each. Where lanes and components are treated alike,
// engines may let each access do whole rows (SharedRows); memory, and reports of what lies beyond it, are
// those of the reference engine, whatever comes between the accesses.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "tests/jit/text_cases.hpp"
#include "tests/jit/two_places.hpp"
#include "tests/jit/world.hpp"

using namespace eum;
using namespace eum::ir;
using namespace eum::jit;
using namespace eum::jit::test;

namespace {

constexpr std::uint32_t all = World::surface_bytes;

/// A copy of rows that is computed with on the way.
struct Rows {
  unsigned parts = 2, bits = 32;            ///< accesses of a row, and bits of an element
  std::string_view memory = "surface3";     ///< loaded from
  bool is_spread = false;                   ///< loads take their addresses from registers
  std::vector<unsigned> loads{}, stores{};  ///< the order of the parts; empty: ascending
  std::string_view between_loads{}, between_stores{};
  std::string_view last_op = "add";  ///< of the last component
  unsigned last_stored = ~0u;        ///< the component that is stored as the last one
  /// What the last part is stored of, "y" as it is between the two ops, or "s", a number that all lanes get;
  /// there are stores of all parts of it and of what else is computed as well.
  std::string_view last_part = "z";

  unsigned components() const { return 128 / bits; }
  unsigned stride() const { return 16 * parts; }
};

std::string replaced(std::string_view text, unsigned lanes) {
  std::string own(text);
  for (std::size_t at; (at = own.find("xN")) != std::string::npos;)
    own.replace(at, 2, fmt::format("x{}", lanes));
  return own;
}

Function build(const Rows& rows, unsigned lanes) {
  const unsigned count = rows.components(), each = count * rows.parts, last = each - 1;
  std::string body;
  const auto order = [&](const std::vector<unsigned>& given, unsigned i) {
    return given.empty() ? i : given[i];
  };
  const auto address = [&](std::string_view name, std::string_view from, unsigned part) {
    body += fmt::format("  %{1}k{2} = constant.u32x{0} {3}\n  %{1}{2} = add.u32x{0} %{4}, %{1}k{2}\n", lanes,
                        name, part, 16 * part, from);
  };
  for (unsigned i = 0; i < rows.parts; ++i) {
    const unsigned part = order(rows.loads, i);
    if (part != 0) address("p", rows.is_spread ? "spread" : "p", part);
    std::string results, components;
    for (unsigned k = 0; k < count; ++k) {
      results += fmt::format("{}%x{}", k == 0 ? "" : ", ", part * count + k);
      components += fmt::format("{}{}", k == 0 ? "" : ", ", k);
    }
    const std::string from = part != 0 ? fmt::format("p{}", part) : rows.is_spread ? "spread" : "p";
    body += fmt::format("  {} = load.u{}x{} {}[%{}] {{{}}} ? %e\n", results, rows.bits, lanes, rows.memory,
                        from, components);
    if (i + 2 == rows.parts) body += replaced(rows.between_loads, lanes);
  }
  for (unsigned k = 0; k < each; ++k)
    body += fmt::format("  %y{0} = {3}.u{1}x{2} %x{0}, %s\n  %z{0} = xor.u{1}x{2} %y{0}, %x{0}\n", k,
                        rows.bits, lanes, k == last ? rows.last_op : "add");
  const auto store = [&](unsigned part, std::string_view to, const auto& name) {
    std::string data, components;
    for (unsigned k = 0; k < count; ++k) {
      data += ", %" + name(part * count + k);
      components += fmt::format("{}{}", k == 0 ? "" : ", ", k);
    }
    body += fmt::format("  store.u{}x{} surface3[%{}{}] {{{}}}{} ? %e\n", rows.bits, lanes, to,
                        part == 0 ? "" : fmt::format("{}", part), components, data);
  };
  for (unsigned part = 1; part < rows.parts; ++part) address("q", "q", part);
  if (rows.last_part != "z") {
    for (const char name : {'y', 'z'})
      for (unsigned part = 0; part < rows.parts; ++part) {
        const std::string_view to = name == 'y' ? "r" : "distance";
        if (part != 0) address(to, to, part);
        store(part, to, [&](unsigned k) { return fmt::format("{}{}", name, k); });
      }
  }
  for (unsigned i = 0; i < rows.parts; ++i) {
    const unsigned part = order(rows.stores, i);
    store(part, "q", [&](unsigned k) {
      if (k == last && rows.last_stored != ~0u) return fmt::format("z{}", rows.last_stored);
      if (part + 1 == rows.parts && rows.last_part == "s") return std::string("s");
      return fmt::format("{}{}", part + 1 == rows.parts ? rows.last_part : "z", k);
    });
    if (i + 2 == rows.parts) body += replaced(rows.between_stores, lanes);
  }
  return function_of_text(two_places(lanes, rows.stride()) + fmt::format(R"(
  %r = add.u32x{0} %q, %bases
  %spread = reg_read.u32x{0} r8<1;1,0>
  %e = mask_get.mx{0} mask0
  %sc = reg_read.u{1}x1 r5<1;1,0>
  %s = splat.u{1}x{0} %sc
{2}  exit
)",
                                                                         lanes, rows.bits, body));
}

using Report = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t, bool>;

/// What a run reports as outside, in the order of these.
std::vector<Report> reported(World& world, const Executable& executable) {
  std::vector<Report> seen;
  const BoundsObserver observer{&seen, [](void* context, const OutOfSurface& access) {
                                  static_cast<std::vector<Report>*>(context)->emplace_back(
                                      access.guest_ip, access.lane, access.bytes, access.offset,
                                      access.write);
                                }};
  world.observe(&observer);
  world.run(executable);
  world.observe(nullptr);
  std::ranges::sort(seen);
  return seen;
}

/// Each load and store gets an ip of its own.
void number_accesses(Function& function) {
  std::uint32_t ip = 0x100;
  for (Inst& inst : function.blocks[0].insts)
    if (inst.op == Op::load || inst.op == Op::store) inst.guest_ip = ip += 16;
}

void check(const Rows& rows) {
  for (const unsigned lanes : {8u, 16u}) {
    Function function = build(rows, lanes);
    number_accesses(function);
    CompileOptions options{.exact_registers = false};
    const auto reference = compiled(*make_reference_engine(), function, options);
    options.launch.ids = {id_place, lanes, lanes};
    options.launch.beyond_caches = rows.memory != "surface3";
    std::vector<std::unique_ptr<Executable>> others;
    for (const auto& engine : other_engines()) others.push_back(compiled(*engine, function, options));
    static World expected, found;
    static SiteSample sample(EUMULATE_STEP);
    const unsigned bytes = lanes * rows.stride();
    for (const std::uint32_t base : {0u, 32u, all - std::min(bytes, all), all - 100, all - 40, ~0u - 31})
      for (const std::uint32_t end : {0u, 8u, 64u, all - std::min(bytes, all), all - 72, all - 4, ~0u - 15})
        for (const std::uint32_t on : {0xffffu, 0x7f3fu}) {
          if (!sample.takes_next()) continue;
          const auto begin = [&](World& world) {
            world.reset(function, base + end);
            world.masks()[0] = on & lane_mask(lanes);
            world.put_ids(id_place, static_cast<std::uint16_t>(lanes));
            std::memcpy(world.file() + base_place, &base, sizeof base);
            std::memcpy(world.file() + end_place, &end, sizeof end);
            for (std::uint32_t lane = 0; lane < lanes; ++lane) {
              // In order, or backwards but for one.
              const std::uint32_t row = end == 64 ? lane : lane == 3 ? 7 : lanes - 1 - lane;
              const std::uint32_t address = base + row * rows.stride();
              std::memcpy(world.file() + address_place + 4 * lane, &address, sizeof address);
            }
          };
          INFO(lanes << " lanes, rows of " << rows.parts << " from " << rows.memory << ", base " << base
                     << ", end " << end << ", channels " << on);
          begin(expected);
          const std::vector<Report> reports = reported(expected, *reference);
          begin(expected);
          const FinalState left = expected.run(*reference);
          for (const auto& other : others) {
            begin(found);
            REQUIRE(difference(left, found.run(*other), false).empty());
            begin(found);
            REQUIRE(reported(found, *other) == reports);
          }
        }
  }
}

std::vector<Rows> shapes() {
  std::vector<Rows> all_shapes;
  for (const unsigned parts : {2u, 3u, 4u})
    for (const unsigned bits : {32u, 64u})
      for (const bool is_spread : {false, true})
        for (const std::string_view memory : {"surface3", "slm"})
          all_shapes.push_back({.parts = parts, .bits = bits, .memory = memory, .is_spread = is_spread});
  return all_shapes;
}

}  // namespace

TEST_CASE("rows of each lane that several accesses share, in bounds and beyond them") {
  for (const Rows& rows : shapes()) check(rows);
}

TEST_CASE("shared rows whose parts are accessed in another order") {
  for (Rows rows : shapes()) {
    if (rows.parts == 4) rows.loads = {2, 0, 3, 1}, rows.stores = {3, 1, 2, 0};
    if (rows.parts == 3) rows.loads = {1, 0, 2}, rows.stores = {2, 0, 1};
    if (rows.parts == 2) rows.loads = {1, 0}, rows.stores = {1, 0};
    check(rows);
  }
}

TEST_CASE("shared rows with other accesses of the same memory in between") {
  for (Rows rows : shapes()) {
    if (rows.bits == 64 || rows.memory == "slm") continue;
    // What a later load reads, and what a later store replaces, or an earlier one is replaced by.
    rows.between_loads = "  store.u32xN surface3[%q], %ids ? %e\n";
    check(rows);
    rows.between_loads = "  store.u32xN surface3[%p], %distance ? %e\n";
    check(rows);
    rows.between_loads = "";
    rows.between_stores = "  store.u32xN surface3[%q], %ids ? %e\n";
    check(rows);
    rows.between_stores = "  store.u32xN surface3[%p], %ids ? %e\n";
    check(rows);
    // One that faults: what comes before it has been stored.
    rows.between_stores = "  store.u32xN a32[%q], %ids ? %e\n";
    check(rows);
    rows.between_stores = "  %l = load.u32xN surface3[%q] ? %e\n  reg_write.u32xN r20<1;1,0>, %l ? %e\n";
    check(rows);
  }
}

TEST_CASE("rows that look shared but are not treated alike") {
  for (Rows rows : shapes()) {
    if (rows.memory == "slm") continue;
    rows.last_op = "sub";
    check(rows);
    rows.last_op = "add";
    rows.last_stored = 0;
    check(rows);
    rows.last_stored = ~0u;
    for (const std::string_view other : {"y", "s"}) {
      rows.last_part = other;
      check(rows);
    }
  }
}

// Lsc block2d: every element size and order, blocks of many shapes, inside a surface, across each of its
// edges and outside it, with rows that end within an element.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "tests/frontend/visa/lsc_bed.hpp"

using namespace lsc_bed;
using lsc_model::Block;

namespace {

struct Order {
  const char* text;
  bool transpose, transform;
};
constexpr Order orders[] = {
    {"nn", false, false}, {"nt", false, true}, {"tn", true, false}, {"tt", true, true}};

struct Shape {
  unsigned blocks, width, height;
};
constexpr Shape shapes[] = {{1, 1, 1},  {1, 3, 5},  {1, 4, 4},   {2, 4, 8},   {4, 8, 12}, {4, 16, 32},
                            {2, 5, 3},  {1, 8, 8},  {1, 16, 16}, {1, 12, 32}, {2, 8, 4},  {1, 64, 2},
                            {1, 32, 8}, {1, 4, 32}, {1, 20, 3},  {1, 2, 31},  {2, 2, 2},  {1, 8, 2}};

// The surface: bytes in a row, bytes between rows, rows.
constexpr unsigned row_bytes = 62, pitch = 96, rows = 20;
constexpr std::uint64_t base = high_base + 64;

/// Whether the instruction has such a block.
bool exists(unsigned size, const Order& order, const Shape& shape, bool store) {
  const unsigned most = size <= 2 ? 4 : size == 4 ? 2 : 1, together = std::max(1u, 4 / size);
  if (order.transpose && shape.width > std::min(32u, 64 / size)) return false;
  if (shape.blocks * shape.width * size > 64) return false;
  if (store) return shape.blocks == 1 && !order.transform;
  if (shape.blocks > (order.transpose && !order.transform ? 1 : most)) return false;
  if (order.transform && (size == 8 || (order.transpose ? shape.width : shape.height) % together != 0))
    return false;
  return true;
}

class Blocks {
 public:
  void check(unsigned size, const Order& order, const Shape& shape, bool store) {
    const unsigned grf = ++count_ % 2 == 0 ? 32 : 64;
    if (count_ % EUMULATE_STEP != 0) return;
    const std::string data =
        fmt::format("V:d{}.{}x{}x{}{}", 8 * size, shape.blocks, shape.width, shape.height, order.text);
    // Immediate offsets to x and y.
    const int dx = count_ % 3 == 0 ? 3 : 0, dy = count_ % 5 == 0 ? -2 : 0;
    const auto offset = [](int d) { return d == 0 ? std::string() : fmt::format("{:+#x}", d); };
    const std::string address = fmt::format("flat[Q.0,S.2,S.3,S.4,S.5{},S.6{}]", offset(dx), offset(dy));
    const std::string line = store ? "lsc_store_block2d.ugm (M1, 1) " + address + " " + data
                                   : "lsc_load_block2d.ugm (M1, 1) " + data + " " + address;
    const Bed::Kernel kernel = Bed::compile(kernel_text(line), grf);
    const int last = static_cast<int>(row_bytes / size), w = static_cast<int>(shape.width),
              h = static_cast<int>(shape.height);
    for (const int x : {0, 2, -1, -w, last - w + 1, last, 1 - last, -0x7ffffff0})
      for (const int y : {0, -1, static_cast<int>(rows) - h + 1, static_cast<int>(rows), 0x7ffffff0}) {
        // With one coordinate far outside, a few runs suffice.
        if (std::abs(x) > 1000 && y != 0) continue;
        for (const std::uint32_t mask : {1u, 0u}) {
          if (mask == 0 && (x != 0 || y != 0)) continue;
          run(kernel, size, order, shape, store, grf, x - dx, y - dy, dx, dy, mask, line);
        }
      }
  }
  unsigned count() const { return count_; }

 private:
  void run(const Bed::Kernel& kernel, unsigned size, const Order& order, const Shape& shape, bool store,
           unsigned grf, int x, int y, int dx, int dy, std::uint32_t mask, const std::string& line) {
    lsc_model::Machine before = bed_.machine(grf, count_);
    const std::uint32_t arguments[] = {row_bytes - 1, rows - 1, pitch - 1, static_cast<std::uint32_t>(x),
                                       static_cast<std::uint32_t>(y)};
    std::memcpy(before.registers.data() + scalars, &base, sizeof base);
    std::memcpy(before.registers.data() + scalars + 8, arguments, sizeof arguments);
    lsc_model::Machine after = before;
    Block block{
        store, size,          shape.blocks, shape.width, shape.height, order.transpose, order.transform,
        base,  row_bytes - 1, rows - 1,     pitch - 1,   x + dx,       y + dy,          values,
        grf};
    if (mask != 0) REQUIRE(lsc_model::execute(after, block));
    const std::string problem = bed_.difference(kernel, mask, before, after, true);
    if (!problem.empty())
      FAIL_CHECK(fmt::format("x {}, y {}, registers of {}: {}\n{}", x, y, grf, problem, line));
  }

  Bed bed_;
  unsigned count_ = 0;
};

}  // namespace

TEST_CASE("lsc: block2d of every size, order and shape at all edges of the surface") {
  Blocks blocks;
  for (const unsigned size : {1u, 2u, 4u, 8u})
    for (const Order& order : orders)
      for (const Shape& shape : shapes)
        for (const bool store : {false, true})
          if (exists(size, order, shape, store)) blocks.check(size, order, shape, store);
  CHECK(blocks.count() > 150);
}

TEST_CASE("lsc: block2d whose rows lie in no memory is a fault that leaves registers alone") {
  Bed bed;
  const std::string line = "lsc_load_block2d.ugm (M1, 1) V:d32.1x8x8nn flat[Q.0,S.2,S.3,S.4,S.5,S.6]";
  const Bed::Kernel kernel = Bed::compile(kernel_text(line), 64);
  lsc_model::Machine before = bed.machine(64, 1);
  const std::uint64_t end = high_base + area_bytes - 4 * pitch;
  const std::uint32_t arguments[] = {63, 7, pitch - 1, 0, 0};
  std::memcpy(before.registers.data() + scalars, &end, sizeof end);
  std::memcpy(before.registers.data() + scalars + 8, arguments, sizeof arguments);
  CHECK(bed.difference(kernel, 1, before, before, false).empty());
}

// Sub-group functions with a required size of 8, 16 and 32: subgroup8, subgroup16, subgroup32.
#include "tests/kernels/case_parts.hpp"

namespace eum::kernels {
namespace {

size_t subgroup_size(const KernelCase& c) {
  return std::stoul(c.file.substr(std::string_view("subgroup").size()));
}

void reference_reduce(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<int32_t>(buffers, 0), out = elements<int32_t>(buffers, 1);
  const size_t size = subgroup_size(c);
  for (size_t base = 0; base < c.global[0]; base += size) {
    const auto mine = in.subspan(base, size);
    int32_t total = 0;
    for (int32_t x : mine) total += x;
    const auto [low, high] = std::minmax_element(mine.begin(), mine.end());
    int32_t before = 0, most = std::numeric_limits<int32_t>::min();
    for (size_t lane = 0; lane < size; lane++) {
      const size_t id = base % c.local[0] / size;
      const int32_t votes = (*high > 900 ? 1 : 0) | (*low > -900 ? 2 : 0);
      const int32_t all[8] = {
          total,  *low, *high,   before + mine[lane],
          before, most, mine[3], votes | static_cast<int32_t>(lane << 8 | id << 16 | size << 24)};
      std::copy_n(all, 8, out.begin() + static_cast<std::ptrdiff_t>((base + lane) * 8));
      before += mine[lane];
      most = std::max(most, mine[lane]);
    }
  }
}

void reference_shuffle(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<uint32_t>(buffers, 0), lanes = elements<uint32_t>(buffers, 1),
             out = elements<uint32_t>(buffers, 2);
  const size_t size = subgroup_size(c);
  for (size_t base = 0; base < c.global[0]; base += size)
    for (size_t lane = 0; lane < size; lane++) {
      const auto x = [&](size_t k) { return in[base + k]; };
      const auto y = [&](size_t k) { return in[(base + k) ^ 1]; };
      const uint32_t all[5] = {x(lanes[base + lane]), x(lane ^ 5),
                               lane + 3 < size ? x(lane + 3) : y(lane + 3 - size),
                               lane >= 2 ? y(lane - 2) : x(lane + size - 2), x(6)};
      std::copy_n(all, 5, out.begin() + static_cast<std::ptrdiff_t>((base + lane) * 5));
    }
}

void reference_block(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<uint32_t>(buffers, 0), out = elements<uint32_t>(buffers, 1);
  const size_t size = subgroup_size(c);
  for (size_t base = 0; base < c.global[0] * size_t{4}; base += size * 4)
    for (size_t k = 0; k < size * 4; k++)
      out[base + k] = in[base + k] * 3 + in[base + k % size] + static_cast<uint32_t>(k / size);
}

}  // namespace

void add_subgroup_cases(std::vector<KernelCase>& cases) {
  for (uint32_t size : {8u, 16u, 32u}) {
    const std::string file = "subgroup" + std::to_string(size);
    const uint32_t items = 192, local = 64;
    const auto add = [&](const char* kernel, std::vector<Arg> args,
                         void (*reference)(const KernelCase&, std::vector<Bytes>&)) {
      cases.push_back({.name = file + "." + kernel,
                       .file = file,
                       .kernel = kernel,
                       .global = {items, 1, 1},
                       .local = {local, 1, 1},
                       .args = std::move(args),
                       .reference = reference});
    };
    add("subgroup_reduce",
        {input(random_integers<int32_t>(1201, items, -1000, 1000)), output<int32_t>(items * 8)},
        reference_reduce);
    add("subgroup_shuffle",
        {input(random_bits<uint32_t>(1202, items)),
         input(random_integers<uint32_t>(1203, items, 0, size - 1)), output<uint32_t>(items * 5)},
        reference_shuffle);
    if (size < 32)
      add("subgroup_block", {input(random_bits<uint32_t>(1204, items * 4)), output<uint32_t>(items * 4)},
          reference_block);
  }
}

}  // namespace eum::kernels

// Kernels whose groups cooperate through SLM and barriers: reduce, scan, transpose, bitonic, dot64, fence,
// bigslm; and one whose work items share nothing of it: own_local.
#include <algorithm>
#include <cmath>
#include <string>

#include "tests/kernels/case_parts.hpp"

namespace eum::kernels {
namespace {

void reference_reduce(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<int32_t>(buffers, 0), out = elements<int32_t>(buffers, 1);
  const auto n = value_of<uint32_t>(c, 3);
  std::vector<uint32_t> sums(c.global[0] / c.local[0]);
  for (size_t i = 0; i < n; i++) sums[i % c.global[0] / c.local[0]] += static_cast<uint32_t>(in[i]);
  for (size_t g = 0; g < sums.size(); g++) out[g] = static_cast<int32_t>(sums[g]);
}

constexpr size_t kScanBlock = 128;

void reference_scan_blocks(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<uint32_t>(buffers, 0), out = elements<uint32_t>(buffers, 1),
             sums = elements<uint32_t>(buffers, 2);
  const auto n = value_of<uint32_t>(c, 3);
  for (size_t block = 0; block < c.global[0] / kScanBlock; block++) {
    uint32_t sum = 0;
    for (size_t i = block * kScanBlock; i < (block + 1) * kScanBlock && i < n; i++) out[i] = sum += in[i];
    sums[block] = sum;
  }
}

void reference_scan_add(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto data = elements<uint32_t>(buffers, 0), sums = elements<uint32_t>(buffers, 1);
  const auto n = value_of<uint32_t>(c, 2);
  uint32_t before = 0;
  for (size_t i = 0; i < std::min(n, c.global[0]); i++) {
    if (i > 0 && i % kScanBlock == 0) before += sums[i / kScanBlock - 1];
    data[i] += before;
  }
}

void reference_transpose(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<float>(buffers, 0), out = elements<float>(buffers, 1);
  const auto width = static_cast<size_t>(value_of<int32_t>(c, 2));
  const auto height = static_cast<size_t>(value_of<int32_t>(c, 3));
  for (size_t y = 0; y < height; y++)
    for (size_t x = 0; x < width; x++) out[x * height + y] = in[y * width + x];
}

void reference_bitonic_step(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto keys = elements<uint32_t>(buffers, 0);
  const auto j = value_of<uint32_t>(c, 1), k = value_of<uint32_t>(c, 2);
  for (uint32_t i = 0; i < c.global[0]; i++) {
    if (i & j) continue;  // left to its partner, whose bit is clear
    const bool ascending = (i & k) == 0;
    if (ascending ? keys[i] > keys[i + j] : keys[i] <= keys[i + j]) std::swap(keys[i], keys[i + j]);
  }
}

void reference_bitonic_local(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<int32_t>(buffers, 0), out = elements<int32_t>(buffers, 1);
  for (size_t group = 0; group < c.global[0] / 128; group++) {
    const auto from = in.subspan(group * 256, 256), to = out.subspan(group * 256, 256);
    std::copy(from.begin(), from.end(), to.begin());
    std::sort(to.begin(), to.end());
  }
}

void reference_dot64(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<double>(buffers, 0), b = elements<double>(buffers, 1),
             out = elements<double>(buffers, 2);
  const auto n = value_of<uint32_t>(c, 4);
  std::vector<long double> sums(c.global[0] / c.local[0]);
  for (size_t i = 0; i < n; i++)
    sums[i % c.global[0] / c.local[0]] += static_cast<long double>(a[i]) * static_cast<long double>(b[i]);
  for (size_t g = 0; g < sums.size(); g++) out[g] = static_cast<double>(sums[g]);
}

void reference_fence(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto data = elements<uint32_t>(buffers, 0);
  const auto rounds = value_of<uint32_t>(c, 1);
  const size_t size = c.local[0];
  std::vector<uint32_t> next(size);
  for (size_t base = 0; base < c.global[0]; base += size)
    for (uint32_t r = 0; r < rounds; r++) {
      for (size_t l = 0; l < size; l++)
        next[l] = data[base + (l + 1) % size] * 2654435761u + static_cast<uint32_t>(l);
      std::copy(next.begin(), next.end(), data.begin() + static_cast<std::ptrdiff_t>(base));
    }
}

void reference_own_local(const KernelCase&, std::vector<Bytes>& buffers) {
  const auto in = elements<uint32_t>(buffers, 0), out = elements<uint32_t>(buffers, 1);
  for (size_t i = 0; i < in.size(); i++) {
    const uint32_t x = in[i];
    const auto part = [&](uint32_t k) { return (x * (2 * k + 1)) ^ k; };
    out[i] = part(x & 7) + part(x >> 3 & 7) * 31;
  }
}

void reference_bigslm(const KernelCase&, std::vector<Bytes>& buffers) {
  const auto in = elements<uint32_t>(buffers, 0), out = elements<uint32_t>(buffers, 1),
             digest = elements<uint32_t>(buffers, 2);
  for (uint32_t lid = 0; lid < 256; lid++) {
    uint32_t h = 0;
    for (uint32_t k = 0; k < 8; k++) {
      const uint32_t j = (lid * 37 + k * 211) & 2047;
      uint32_t v[4];
      for (uint32_t m = 0; m < 4; m++) v[m] = in[j * 4 + m] + j;
      v[1] ^= static_cast<uint8_t>(((j * 4 + 3) & 8191) * 7);
      v[2] += static_cast<uint16_t>(((j * 2 + 1) & 4095) * 40503u);
      h = h * 31 + v[0] + v[1] + v[2] + v[3];
      for (uint32_t m = 0; m < 4; m++) out[(lid * 8 + k) * 4 + m] = v[m];
    }
    digest[lid] = h;
  }
}

KernelCase reduce(const char* variant, uint32_t global, uint32_t local, uint32_t n) {
  return {.name = std::string("reduce.reduce.") + variant,
          .file = "reduce",
          .kernel = "reduce",
          .global = {global, 1, 1},
          .local = {local, 1, 1},
          .args = {input(random_bits<int32_t>(101, n)), output<int32_t>(global / local),
                   LocalMemory{local * 4}, scalar(n)},
          .reference = reference_reduce};
}

void add_scan(std::vector<KernelCase>& cases, const std::string& file) {
  const uint32_t n = 600, groups = 5;
  cases.push_back({.name = file + ".scan_blocks",
                   .file = file,
                   .kernel = "scan_blocks",
                   .global = {groups * kScanBlock, 1, 1},
                   .local = {kScanBlock, 1, 1},
                   .args = {input(random_bits<uint32_t>(111, n)), output<uint32_t>(n),
                            output<uint32_t>(groups), scalar(n)},
                   .reference = reference_scan_blocks});
  cases.push_back(
      {.name = file + ".scan_add",
       .file = file,
       .kernel = "scan_add",
       .global = {608, 1, 1},
       .args = {in_out(random_bits<uint32_t>(112, n)), input(random_bits<uint32_t>(113, groups)), scalar(n)},
       .reference = reference_scan_add});
}

KernelCase transpose(const char* variant, int32_t width, int32_t height) {
  const auto size = static_cast<size_t>(width * height);
  const auto tiles = [](int32_t length) { return static_cast<uint32_t>((length + 15) / 16 * 16); };
  return {.name = std::string("transpose.transpose.") + variant,
          .file = "transpose",
          .kernel = "transpose",
          .dimensions = 2,
          .global = {tiles(width), tiles(height), 1},
          .local = {16, 16, 1},
          .args = {input(random_floats(121, size, -1e6, 1e6)), output<float>(size), scalar(width),
                   scalar(height)},
          .reference = reference_transpose};
}

KernelCase bitonic_step(uint32_t j, uint32_t k) {
  return {.name = "bitonic.bitonic_step." + std::to_string(j) + "_" + std::to_string(k),
          .file = "bitonic",
          .kernel = "bitonic_step",
          .global = {512, 1, 1},
          .args = {in_out(random_bits<uint32_t>(131, 512)), scalar(j), scalar(k)},
          .reference = reference_bitonic_step};
}

KernelCase dot64(const char* variant, uint32_t global, uint32_t local, uint32_t n) {
  Random random(141);
  std::vector<double> a(n), b(n);
  for (double& value : a) value = random.real(0.5, 2);
  for (double& value : b) value = random.real(0.5, 2);
  return {.name = std::string("dot64.dot64.") + variant,
          .file = "dot64",
          .kernel = "dot64",
          .global = {global, 1, 1},
          .local = {local, 1, 1},
          .args = {input(a), input(b), output<double>(global / local), LocalMemory{local * 8}, scalar(n)},
          .tolerance = {.relative = 1e-14},
          .reference = reference_dot64};
}

KernelCase fence(uint32_t global, uint32_t local, uint32_t rounds) {
  return {.name = "fence.fence." + std::to_string(local),
          .file = "fence",
          .kernel = "fence",
          .global = {global, 1, 1},
          .local = {local, 1, 1},
          .args = {in_out(random_bits<uint32_t>(151, global)), scalar(rounds)},
          .reference = reference_fence};
}

KernelCase own_local(uint32_t global, uint32_t local) {
  return {.name = "own_local.own_local." + std::to_string(local),
          .file = "own_local",
          .kernel = "own_local",
          .global = {global, 1, 1},
          .local = {local, 1, 1},
          .args = {input(random_bits<uint32_t>(156, global)), output<uint32_t>(global)},
          .reference = reference_own_local};
}

void reference_group_tile(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<float>(buffers, 0), b = elements<float>(buffers, 1),
             out = elements<float>(buffers, 2);
  const auto n = static_cast<size_t>(value_of<int32_t>(c, 3));
  for (size_t row = 0; row < n; row++)
    for (size_t column = 0; column < n; column++) {
      float sum = 0;  // of multiples of 1/16 below 2^10: exact in any order
      for (size_t k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
      out[row * n + column] = sum;
    }
}

KernelCase group_tile(uint32_t n, uint32_t size) {
  return {.name = "small_groups.group_tile." + std::to_string(size),
          .file = "small_groups",
          .kernel = "group_tile",
          .dimensions = 2,
          .global = {n, n, 1},
          .local = {size, size, 1},
          .args = {input(random_steps(151, size_t{n} * n, -2, 2, 0.25)),
                   input(random_steps(152, size_t{n} * n, -2, 2, 0.25)), output<float>(size_t{n} * n),
                   scalar(static_cast<int32_t>(n))},
          .reference = reference_group_tile};
}

void reference_group_walk(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<uint32_t>(buffers, 0), out = elements<uint32_t>(buffers, 1);
  for (size_t group = 0; group < c.global[0]; group += c.local[0]) {
    uint32_t sum = 0;
    for (size_t l = 0; l < c.local[0]; l++) {
      uint32_t x = in[group + l], count = 0;
      for (; x > 1 && count < 60; count++) x = (x & 1) ? 3 * x + 1 : x >> 1;
      out[group + l] = x;
      sum += count * static_cast<uint32_t>(l + 1);
    }
    for (size_t l = 0; l < c.local[0]; l++) out[group + l] ^= sum;
  }
}

KernelCase group_walk(uint32_t size) {
  return {.name = "small_groups.group_walk." + std::to_string(size),
          .file = "small_groups",
          .kernel = "group_walk",
          .global = {size * 13, 1, 1},
          .local = {size, 1, 1},
          .args = {input(random_bits<uint32_t>(153, size_t{size} * 13)), output<uint32_t>(size_t{size} * 13)},
          .reference = reference_group_walk};
}

void reference_task(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<float>(buffers, 0), sums = elements<float>(buffers, 1);
  const auto sorted = elements<uint32_t>(buffers, 2);
  const auto n = static_cast<size_t>(value_of<int32_t>(c, 3));
  float sum = 0;
  for (size_t i = 0; i < n; i++) sums[i] = sum = std::fma(sum, 0.5f, in[i]);
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(n));
}

}  // namespace

void add_group_cases(std::vector<KernelCase>& cases) {
  for (uint32_t size : {1u, 2u, 3u, 4u, 8u}) cases.push_back(group_tile(24, size));
  for (uint32_t size : {1u, 3u, 8u, 12u, 16u, 32u}) cases.push_back(group_walk(size));
  cases.push_back({.name = "small_groups.task",
                   .file = "small_groups",
                   .kernel = "task",
                   .global = {1, 1, 1},
                   .local = {1, 1, 1},
                   .args = {input(random_steps(154, 150, -2, 2, 0.25)), output<float>(150),
                            in_out(random_bits<uint32_t>(155, 150)), scalar(int32_t{150})},
                   .reference = reference_task});
  cases.push_back(reduce("several_groups", 256, 64, 1000));
  cases.push_back(reduce("one_thread", 8, 8, 5));
  cases.push_back(reduce("wide", 512, 256, 4099));
  add_scan(cases, "scan");
  add_scan(cases, "scan_a64");
  cases.push_back(transpose("partial_tiles", 37, 50));
  cases.push_back(transpose("whole_tiles", 32, 16));
  cases.push_back(bitonic_step(1, 2));
  cases.push_back(bitonic_step(16, 64));
  cases.push_back(bitonic_step(256, 512));
  cases.push_back({.name = "bitonic.bitonic_local",
                   .file = "bitonic",
                   .kernel = "bitonic_local",
                   .global = {384, 1, 1},
                   .local = {128, 1, 1},
                   .args = {input(random_bits<int32_t>(132, 768)), output<int32_t>(768)},
                   .reference = reference_bitonic_local});
  cases.push_back(dot64("several_groups", 128, 32, 1000));
  cases.push_back(dot64("one_group", 64, 64, 61));
  cases.push_back(fence(96, 48, 5));
  cases.push_back(fence(66, 33, 4));
  cases.push_back(own_local(288, 96));
  cases.push_back(own_local(60, 15));
  cases.push_back({.name = "bigslm.bigslm",
                   .file = "bigslm",
                   .kernel = "bigslm",
                   .global = {256, 1, 1},
                   .local = {256, 1, 1},
                   .args = {input(random_bits<uint32_t>(161, 2048 * 4)), output<uint32_t>(2048 * 4),
                            output<uint32_t>(256)},
                   .reference = reference_bigslm});
}

}  // namespace eum::kernels

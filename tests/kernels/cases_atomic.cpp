// Atomics on global memory and SLM: histogram, atomics, compact.
#include "tests/kernels/case_parts.hpp"

namespace eum::kernels {
namespace {

void reference_histogram(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<uint8_t>(buffers, 0);
  const auto bins = elements<uint32_t>(buffers, 1);
  for (size_t i = 0; i < value_of<uint32_t>(c, 2); i++) bins[in[i]]++;
}

void reference_global(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<int32_t>(buffers, 0), s = elements<int32_t>(buffers, 1);
  const auto u = elements<uint32_t>(buffers, 2), ticket = elements<uint32_t>(buffers, 3);
  auto sum = static_cast<uint32_t>(s[0]), difference = static_cast<uint32_t>(s[1]);
  for (uint32_t i = 0; i < c.global[0]; i++) {
    const auto x = static_cast<uint32_t>(in[i]);
    sum += x;
    difference -= x;
    s[2]++;
    s[3]--;
    s[4] = std::min(s[4], in[i]);
    s[5] = std::max(s[5], in[i]);
    u[0] = std::min(u[0], x);
    u[1] = std::max(u[1], x);
    u[2] &= x | 0xffff;
    u[3] |= x & 0xf0f0f0;
    u[4] ^= x;
    u[5] *= 2 * i + 3;
    ticket[u[6]++] = 1;
  }
  s[0] = static_cast<int32_t>(sum);
  s[1] = static_cast<int32_t>(difference);
}

void reference_local(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<int32_t>(buffers, 0);
  const auto out = elements<int32_t>(buffers, 1);
  for (size_t group = 0; group < c.global[0] / c.local[0]; group++) {
    uint32_t sum = 0, all_or = 0, all_and = 0xffffffff, all_xor = 0;
    int32_t low = 0, high = 0;
    for (const int32_t value : in.subspan(group * c.local[0], c.local[0])) {
      const auto x = static_cast<uint32_t>(value);
      sum += x;
      low = std::min(low, value);
      high = std::max(high, value);
      all_or |= x;
      all_and &= x | 0xff00ff;
      all_xor ^= x;
    }
    // The last element: each value has either passed through the exchange once, or is still in it.
    const uint32_t all[9] = {sum,
                             0 - sum,
                             static_cast<uint32_t>(low),
                             static_cast<uint32_t>(high),
                             all_or,
                             all_and,
                             all_xor,
                             c.local[0],
                             sum};
    for (size_t k = 0; k < 9; k++) out[group * 9 + k] = static_cast<int32_t>(all[k]);
  }
}

void reference_float(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<float>(buffers, 0), sum = elements<float>(buffers, 1);
  for (size_t i = 0; i < c.global[0]; i++) sum[i % 4] += in[i];
}

void reference_bins(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<float>(buffers, 0), sums = elements<float>(buffers, 2);
  const auto bins = elements<uint32_t>(buffers, 1);
  for (uint32_t step = 0; step < value_of<uint32_t>(c, 3); step++)
    for (size_t i = 0; i < c.global[0]; i++) sums[bins[i] % 7] += in[i] * static_cast<float>(step);
}

void reference_all(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<float>(buffers, 0), sum = elements<float>(buffers, 1);
  for (size_t i = 0; i < c.global[0]; i++) {
    sum[0] += in[i];
    if (in[i] > 0) sum[1 + i % 4] += in[i];
  }
}

void reference_groups(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<float>(buffers, 0), out = elements<float>(buffers, 1);
  for (size_t k = 0; k < c.global[0] / c.local[0] * 4; k++) out[k] = static_cast<float>(k % 4);
  for (size_t i = 0; i < c.global[0]; i++) out[i / c.local[0] * 4 + i % c.local[0] % 3] += in[i];
}

void reference_tickets(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto next = elements<float>(buffers, 0), out = elements<float>(buffers, 1);
  for (size_t i = 0; i < c.global[0]; i++) out[i] = next[0]++;
}

void reference_compact(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<uint32_t>(buffers, 0), out = elements<uint32_t>(buffers, 3),
             count = elements<uint32_t>(buffers, 4);
  const auto n = value_of<uint32_t>(c, 1), threshold = value_of<uint32_t>(c, 2);
  for (size_t i = 0; i < n; i++)
    if (in[i] >= threshold) out[count[0]++] = in[i];
}

KernelCase histogram(const char* kernel, const char* variant, uint32_t global, uint32_t local, uint32_t n,
                     int64_t most) {
  return {.name = std::string("histogram.") + kernel + "." + variant,
          .file = "histogram",
          .kernel = kernel,
          .global = {global, 1, 1},
          .local = {local, local ? 1u : 0, local ? 1u : 0},
          .args = {input(random_integers<uint8_t>(1101, n, 0, most)),
                   in_out(random_integers<uint32_t>(1102, 256, 0, 1000)), scalar(n)},
          .reference = reference_histogram};
}

void add_atomics(std::vector<KernelCase>& cases, const std::string& file) {
  const uint32_t items = 150;
  cases.push_back({.name = file + ".atomics_global",
                   .file = file,
                   .kernel = "atomics_global",
                   .global = {items, 1, 1},
                   .args = {input(random_bits<int32_t>(1111, items)),
                            in_out(std::vector<int32_t>{5, -7, 100, -100, 1000, -1000}),
                            in_out(std::vector<uint32_t>{0xffffff, 1, 0xfffffff0, 1, 0x12345678, 1, 0}),
                            in_out(std::vector<uint32_t>(items, 0))},
                   .reference = reference_global});
  cases.push_back({.name = file + ".atomics_local",
                   .file = file,
                   .kernel = "atomics_local",
                   .global = {147, 1, 1},
                   .local = {49, 1, 1},
                   .args = {input(random_bits<int32_t>(1112, 147)), output<int32_t>(27)},
                   .reference = reference_local});
  cases.push_back({.name = file + ".atomics_float",
                   .file = file,
                   .kernel = "atomics_float",
                   .global = {130, 1, 1},
                   .args = {input(random_steps(1113, 130, -500, 500, 1)),
                            in_out(std::vector<float>{0.0f, 1.0f, -2.0f, 0.5f})},
                   .retries = true,
                   .reference = reference_float});
}

void add_float_sums(std::vector<KernelCase>& cases) {
  const auto add = [&](const char* kernel, uint32_t items, uint32_t local, std::vector<Arg> args,
                       auto reference) {
    cases.push_back({.name = std::string("float_sums.") + kernel,
                     .file = "float_sums",
                     .kernel = kernel,
                     .global = {items, 1, 1},
                     .local = {local, local ? 1u : 0, local ? 1u : 0},
                     .args = std::move(args),
                     .retries = true,
                     .reference = reference});
  };
  add("sums_of_bins", 150, 0,
      {input(random_steps(1131, 150, -50, 50, 1)), input(random_integers<uint32_t>(1132, 150, 0, 1000)),
       in_out(std::vector<float>{0, 1, -2, 3, 4, -5, 6}), scalar(3u)},
      reference_bins);
  add("sum_of_all", 149, 0,
      {input(random_steps(1133, 149, -50, 50, 1)), in_out(std::vector<float>{7, 1, -2, 3, 4})},
      reference_all);
  add("sums_of_groups", 147, 49, {input(random_steps(1134, 147, -50, 50, 1)), output<float>(12)},
      reference_groups);
  add("tickets", 90, 0, {in_out(std::vector<float>{5}), output<float>(90)}, reference_tickets);
  cases.back().order_free = false;
  std::get<Buffer>(cases.back().args[1]).any_order = true;
}

}  // namespace

void add_atomic_cases(std::vector<KernelCase>& cases) {
  cases.push_back(histogram("histogram_global", "spread", 512, 0, 500, 255));
  cases.push_back(histogram("histogram_global", "contended", 256, 64, 256, 3));
  cases.push_back(histogram("histogram_local", "spread", 192, 96, 1000, 255));
  cases.push_back(histogram("histogram_local", "contended", 64, 32, 999, 1));
  add_atomics(cases, "atomics");
  add_atomics(cases, "atomics_a64");
  add_float_sums(cases);
  KernelCase compact{.name = "compact.compact",
                     .file = "compact",
                     .kernel = "compact",
                     .global = {420, 1, 1},
                     .args = {input(random_integers<uint32_t>(1121, 411, 0, 1000)), scalar(411u),
                              scalar(400u), output<uint32_t>(411), in_out(std::vector<uint32_t>{0})},
                     .order_free = false,
                     .reference = reference_compact};
  std::get<Buffer>(compact.args[3]).any_order = true;
  cases.push_back(compact);
}

}  // namespace eum::kernels

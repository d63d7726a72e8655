// The kernels of micro.cl and micro_subgroup.cl, each of which repeats a single operation.
#include <cmath>

#include "tests/kernels/work_kernels.hpp"

namespace eum::kernels {
namespace {

/// The scheme of most kernels: out[i] from i and n; the arguments begin with `out` and `n`.
template <class T, auto value>
void reference_each(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto out = elements<T>(buffers, 0);
  for (uint32_t i = 0; i < c.global[0]; i++) out[i] = value(c, i);
}

uint32_t count(const KernelCase& c) { return value_of<uint32_t>(c, 1); }

uint32_t sum_below(uint32_t n) {
  uint32_t sum = 0;
  for (uint32_t k = 0; k < n; k++) sum += k;
  return sum;
}

void reference_empty(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto out = elements<uint32_t>(buffers, 0);
  if (count(c) == 12345) std::fill_n(out.begin(), c.global[0], 12345u);
}

void reference_copy_one(const KernelCase& c, std::vector<Bytes>& buffers) {
  std::copy_n(buffers[0].begin(), size_t{c.global[0]} * 4, buffers[1].begin());
}

void reference_slm_exchange(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto out = elements<uint32_t>(buffers, 0);
  std::array<uint32_t, 256> x, t;
  for (uint32_t i = 0; i < 256; i++) x[i] = i;
  for (uint32_t k = 0; k < count(c); k++) {
    for (size_t i = 0; i < 256; i++) t[i] = x[i] + k;
    for (size_t i = 0; i < 256; i++) x[i] += t[(i + 1) % 256];
  }
  for (size_t i = 0; i < c.global[0]; i++) out[i] = x[i % 256];
}

uint32_t slm_atomic_own(const KernelCase& c, uint32_t) {
  return sum_below(count(c));  // the value of the work item k places before is k
}
uint32_t slm_atomic_one(const KernelCase& c, uint32_t) { return 256 * sum_below(count(c)); }
uint32_t barriers(const KernelCase& c, uint32_t) { return count(c); }

void reference_global_atomic_one(const KernelCase& c, std::vector<Bytes>& buffers) {
  elements<uint32_t>(buffers, 0)[0] += c.global[0] * count(c);
}
void reference_global_atomic_own(const KernelCase& c, std::vector<Bytes>& buffers) {
  for (uint32_t& value : elements<uint32_t>(buffers, 0).first(c.global[0])) value += sum_below(count(c));
}

uint32_t next(uint32_t& h) { return h = h * 1664525u + 1013904223u; }

template <class T>
T term(const KernelCase& c, T value, uint32_t i) {
  if constexpr (std::is_same_v<T, uint32_t>)
    return c.kernel == "read_uniform" ? value ^ i : value;
  else
    return value;
}

/// Arguments in, out, n, mask: sums `in[first(i) + random]`, `lanes` elements at a time.
template <class T, class Sum, auto first, size_t lanes = 1>
void reference_read(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<T>(buffers, 0);
  const auto out = elements<Sum>(buffers, 1);
  const auto n = value_of<uint32_t>(c, 2), mask = value_of<uint32_t>(c, 3);
  for (uint32_t i = 0; i < c.global[0]; i++) {
    if (c.kernel == "read_masked" && i % 32 == 5) continue;
    uint32_t h = c.kernel == "read_random" ? i * 2654435761u : 77;
    std::array<Sum, lanes> sum{};
    for (uint32_t k = 0; k < n; k++) {
      const size_t at = (first(i) + (next(h) >> 8 & mask)) * lanes;
      for (size_t lane = 0; lane < lanes; lane++) sum[lane] += term(c, in[at + lane], i);
    }
    std::copy(sum.begin(), sum.end(), out.begin() + static_cast<std::ptrdiff_t>(i * lanes));
  }
}

uint32_t nowhere(uint32_t) { return 0; }
uint32_t in_row(uint32_t i) { return i % 256; }
uint32_t in_row_of_64(uint32_t i) { return i % 64; }
uint32_t by_four(uint32_t i) { return i % 64 * 4; }

void reference_write_random(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto out = elements<uint32_t>(buffers, 0);
  for (uint32_t i = 0; i < c.global[0]; i++) {
    uint32_t h = i * 2654435761u;
    for (uint32_t k = 0; k < count(c); k++) out[next(h) >> 8 & value_of<uint32_t>(c, 2)] = 1;
  }
}

void reference_write_consecutive(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto out = elements<uint32_t>(buffers, 0);
  for (uint32_t k = 0; k < count(c); k++)
    std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(k) * c.global[0], c.global[0], k);
}

double fma64(const KernelCase& c, uint32_t i) {
  double x = i;
  for (uint32_t k = 0; k < count(c); k++) x = std::fma(x, value_of<double>(c, 2), value_of<double>(c, 3));
  return x;
}
uint64_t mul64(const KernelCase& c, uint32_t i) {
  uint64_t x = i;
  for (uint32_t k = 0; k < count(c); k++)
    x = x * value_of<uint64_t>(c, 2) + (value_of<uint64_t>(c, 3) ^ x >> 7);
  return x;
}
uint32_t divergent(const KernelCase& c, uint32_t i) {
  uint32_t x = i;
  for (uint32_t k = 0; k < count(c); k++) x = x % 2 ? x * 3 + 1 : x / 2 ^ k;
  return x;
}
uint32_t div32(const KernelCase& c, uint32_t i) {
  uint32_t x = i;
  for (uint32_t k = 0; k < count(c); k++) x = (x + k * 977) / (value_of<uint32_t>(c, 2) + x % 8) + k;
  return x;
}
float mad32(const KernelCase& c, uint32_t i) {
  std::array<float, 4> x;
  for (uint32_t lane = 0; lane < 4; lane++) {
    x[lane] = static_cast<float>(i + lane);
    for (uint32_t k = 0; k < count(c); k++)
      x[lane] = std::fma(x[lane], value_of<float>(c, 2), value_of<float>(c, 3));
  }
  return x[0] + x[1] + x[2] + x[3];
}

void reference_block_copy(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<uint32_t>(buffers, 0), out = elements<uint32_t>(buffers, 1);
  const auto n = value_of<uint32_t>(c, 2);
  for (size_t at = 0; n > 0 && at < size_t{c.global[0]} * 8; at++) out[at] = in[at] * n;
}

void reference_sub_group_sum(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto out = elements<uint32_t>(buffers, 0);
  for (uint32_t first = 0; first < c.global[0]; first += 16) {
    uint32_t x = 16 * first + 120, value = first;  // sum over 16 channels; value of each afterwards
    for (uint32_t k = 0; k < count(c); k++) {
      value = x + k;
      x = 16 * value;
    }
    for (uint32_t lane = 0; lane < 16; lane++) out[first + lane] = count(c) == 0 ? first + lane : value;
  }
}

struct Micro {
  const char* kernel;
  void (*reference)(const KernelCase&, std::vector<Bytes>&);
  std::vector<Arg> (*args)(uint32_t items, uint32_t n);
};

constexpr uint32_t kMask = 4095;  // 16 KB of dwords, which fit in every first-level cache

template <class T>
std::vector<Arg> out_and_count(uint32_t items, uint32_t n) {
  return {output<T>(items), scalar(n)};
}
template <class T, class Sum, uint32_t lanes = 1>
std::vector<Arg> read_args(uint32_t items, uint32_t n) {
  std::vector<T> values(size_t{(kMask + 1) / lanes + 256} * lanes);
  for (size_t k = 0; k < values.size(); k++) values[k] = static_cast<T>(k * 7 % 251);
  return {input(values), output<Sum>(size_t{items} * lanes), scalar(n), scalar((kMask + 1) / lanes - 1)};
}

const std::vector<Micro>& micros() {
  static const std::vector<Micro> rows{
      {"empty", reference_empty, out_and_count<uint32_t>},
      {"store_one", reference_each<uint32_t, [](const KernelCase&, uint32_t) { return 7u; }>,
       [](uint32_t items, uint32_t) -> std::vector<Arg> { return {output<uint32_t>(items)}; }},
      {"copy_one", reference_copy_one,
       [](uint32_t items, uint32_t) -> std::vector<Arg> {
         return {input(random_bits<uint32_t>(1301, items)), output<uint32_t>(items)};
       }},
      {"barriers", reference_each<uint32_t, barriers>, out_and_count<uint32_t>},
      {"slm_exchange", reference_slm_exchange, out_and_count<uint32_t>},
      {"slm_atomic_own", reference_each<uint32_t, slm_atomic_own>, out_and_count<uint32_t>},
      {"slm_atomic_one", reference_each<uint32_t, slm_atomic_one>, out_and_count<uint32_t>},
      {"global_atomic_one", reference_global_atomic_one, out_and_count<uint32_t>},
      {"global_atomic_own", reference_global_atomic_own, out_and_count<uint32_t>},
      {"read_random", reference_read<uint32_t, uint32_t, nowhere>, read_args<uint32_t, uint32_t>},
      {"read_consecutive", reference_read<uint32_t, uint32_t, in_row>, read_args<uint32_t, uint32_t>},
      {"read_uniform", reference_read<uint32_t, uint32_t, nowhere>, read_args<uint32_t, uint32_t>},
      {"read_masked", reference_read<uint32_t, uint32_t, in_row>, read_args<uint32_t, uint32_t>},
      {"read_bytes", reference_read<uint8_t, uint32_t, in_row>, read_args<uint8_t, uint32_t>},
      {"read_stride4", reference_read<uint32_t, uint32_t, by_four>, read_args<uint32_t, uint32_t>},
      {"read_float4", reference_read<float, float, in_row_of_64, 4>, read_args<float, float, 4>},
      {"write_random", reference_write_random,
       [](uint32_t, uint32_t n) -> std::vector<Arg> {
         return {output<uint32_t>(kMask + 1), scalar(n), scalar(kMask)};
       }},
      {"write_consecutive", reference_write_consecutive,
       [](uint32_t items, uint32_t n) -> std::vector<Arg> {
         return {output<uint32_t>(size_t{items} * n), scalar(n)};
       }},
      {"fma64", reference_each<double, fma64>,
       [](uint32_t items, uint32_t n) -> std::vector<Arg> {
         return {output<double>(items), scalar(n), scalar(0.75), scalar(0.5)};
       }},
      {"mul64", reference_each<uint64_t, mul64>,
       [](uint32_t items, uint32_t n) -> std::vector<Arg> {
         return {output<uint64_t>(items), scalar(n), scalar(uint64_t{0x5851f42d4c957f2d}),
                 scalar(uint64_t{0x14057b7ef767814f})};
       }},
      {"divergent", reference_each<uint32_t, divergent>, out_and_count<uint32_t>},
      {"div32", reference_each<uint32_t, div32>,
       [](uint32_t items, uint32_t n) -> std::vector<Arg> {
         return {output<uint32_t>(items), scalar(n), scalar(3u)};
       }},
      {"mad32", reference_each<float, mad32>,
       [](uint32_t items, uint32_t n) -> std::vector<Arg> {
         return {output<float>(items), scalar(n), scalar(0.75f), scalar(0.5f)};
       }},
      {"block_copy", reference_block_copy,
       [](uint32_t items, uint32_t n) -> std::vector<Arg> {
         return {input(random_bits<uint32_t>(1311, size_t{items} * 8)), output<uint32_t>(size_t{items} * 8),
                 scalar(n)};
       }},
      {"sub_group_sum", reference_sub_group_sum, out_and_count<uint32_t>},
  };
  return rows;
}

}  // namespace

namespace work {

std::vector<std::string> micro_names() {
  std::vector<std::string> names;
  for (const Micro& row : micros()) names.emplace_back(row.kernel);
  return names;
}

KernelCase micro(const std::string& kernel, uint32_t items, uint32_t n) {
  const auto row =
      std::find_if(micros().begin(), micros().end(), [&](auto& r) { return r.kernel == kernel; });
  const std::string file = kernel == "block_copy" || kernel == "sub_group_sum" ? "micro_subgroup" : "micro";
  return {.name = file + "." + kernel,
          .file = file,
          .kernel = kernel,
          .global = {items, 1, 1},
          .local = {256, 1, 1},
          .args = row->args(items, n),
          .reference = row->reference};
}

}  // namespace work

void add_micro_cases(std::vector<KernelCase>& cases) {
  for (const std::string& name : work::micro_names())
    cases.push_back(work::micro(name, 512, name == "empty" ? 12345 : 5));
}

}  // namespace eum::kernels

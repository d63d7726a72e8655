// Kernels that dominate the run time of programs: sparse, fft, digest, gemm, stream. Builders for any size.
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>

#include "tests/kernels/work_kernels.hpp"

namespace eum::kernels {
namespace {

using namespace work;

void reference_spmv(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto row = elements<uint32_t>(buffers, 0), column = elements<uint32_t>(buffers, 1);
  const auto value = elements<float>(buffers, 2), x = elements<float>(buffers, 3),
             y = elements<float>(buffers, 4);
  for (size_t i = 0; i < c.global[0]; i++) {
    double sum = 0;
    for (uint32_t k = row[i]; k < row[i + 1]; k++)
      sum += static_cast<double>(value[k]) * static_cast<double>(x[column[k]]);
    y[i] = static_cast<float>(sum);
  }
}

void reference_bfs(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto row = elements<uint32_t>(buffers, 0), column = elements<uint32_t>(buffers, 1);
  const auto before = elements<int32_t>(buffers, 2), after = elements<int32_t>(buffers, 3);
  const auto depth = value_of<int32_t>(c, 4);
  for (size_t i = 0; i < c.global[0]; i++) {
    const auto neighbours = column.subspan(row[i], row[i + 1] - row[i]);
    const bool near = std::any_of(neighbours.begin(), neighbours.end(),
                                  [&](uint32_t other) { return before[other] == depth; });
    after[i] = before[i] < 0 && near ? depth + 1 : before[i];
  }
}

constexpr size_t kPoints = 512;

/// The discrete Fourier transform by recursive halving.
void transform(std::span<std::complex<double>> values) {
  const size_t n = values.size();
  if (n == 1) return;
  std::vector<std::complex<double>> even, odd;
  for (size_t k = 0; k < n; k += 2) {
    even.push_back(values[k]);
    odd.push_back(values[k + 1]);
  }
  transform(even);
  transform(odd);
  for (size_t k = 0; k < n / 2; k++) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    const std::complex<double> turned = std::polar(1.0, angle) * odd[k];
    values[k] = even[k] + turned;
    values[k + n / 2] = even[k] - turned;
  }
}

void reference_fft(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<float>(buffers, 0), out = elements<float>(buffers, 1);
  std::vector<std::complex<double>> values(kPoints);
  for (size_t base = 0; base < c.global[0] * 2; base += kPoints) {
    for (size_t k = 0; k < kPoints; k++)
      values[k] = {static_cast<double>(in[(base + k) * 2]), static_cast<double>(in[(base + k) * 2 + 1])};
    transform(values);
    for (size_t k = 0; k < kPoints; k++) {
      out[(base + k) * 2] = static_cast<float>(values[k].real());
      out[(base + k) * 2 + 1] = static_cast<float>(values[k].imag());
    }
  }
}

/// The first 32 bits of the fraction of a root, which are the constants of the standard.
uint32_t fraction_of(long double root) { return static_cast<uint32_t>((root - std::floor(root)) * 0x1p32L); }

void reference_sha256(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<uint32_t>(buffers, 0), out = elements<uint32_t>(buffers, 1);
  std::array<uint32_t, 64> constant;
  std::array<uint32_t, 8> start;
  for (unsigned count = 0, n = 2; count < 64; n++) {
    bool prime = true;
    for (unsigned d = 2; d * d <= n; d++) prime = prime && n % d != 0;
    if (!prime) continue;
    if (count < 8) start[count] = fraction_of(std::sqrt(static_cast<long double>(n)));
    constant[count++] = fraction_of(std::cbrt(static_cast<long double>(n)));
  }
  for (size_t i = 0; i < c.global[0]; i++) {
    std::array<uint32_t, 64> w;
    for (size_t k = 0; k < 64; k++) {
      if (k < 16) {
        w[k] = in[i * 16 + k];
        continue;
      }
      const uint32_t x = w[k - 15], y = w[k - 2];
      w[k] = w[k - 16] + (std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3) + w[k - 7] +
             (std::rotr(y, 17) ^ std::rotr(y, 19) ^ y >> 10);
    }
    std::array<uint32_t, 8> s = start;  // a to h
    for (size_t k = 0; k < 64; k++) {
      const uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]),
                     majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
      const uint32_t t = s[7] + (std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25)) + choice +
                         constant[k] + w[k];
      const uint32_t u = (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) + majority;
      s = {t + u, s[0], s[1], s[2], s[3] + t, s[4], s[5], s[6]};
    }
    for (size_t k = 0; k < 8; k++) out[i * 8 + k] = s[k] + start[k];
  }
}

void reference_chacha20(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<uint32_t>(buffers, 0), out = elements<uint32_t>(buffers, 1);
  const auto low = value_of<std::array<uint32_t, 4>>(c, 2), high = value_of<std::array<uint32_t, 4>>(c, 3);
  const auto counter = value_of<uint32_t>(c, 4), nonce = value_of<uint32_t>(c, 5);
  for (uint32_t i = 0; i < c.global[0]; i++) {
    const std::array<uint32_t, 16> start{0x61707865,  0x3320646e, 0x79622d32, 0x6b206574, low[0],  low[1],
                                         low[2],      low[3],     high[0],    high[1],    high[2], high[3],
                                         counter + i, nonce,      nonce + 1,  nonce + 2};
    std::array<uint32_t, 16> x = start;
    const auto quarter = [&x](size_t a, size_t b, size_t cc, size_t d) {
      x[d] = std::rotl(x[d] ^ (x[a] += x[b]), 16);
      x[b] = std::rotl(x[b] ^ (x[cc] += x[d]), 12);
      x[d] = std::rotl(x[d] ^ (x[a] += x[b]), 8);
      x[b] = std::rotl(x[b] ^ (x[cc] += x[d]), 7);
    };
    for (int round = 0; round < 10; round++) {
      for (size_t k = 0; k < 4; k++) quarter(k, 4 + k, 8 + k, 12 + k);
      for (size_t k = 0; k < 4; k++) quarter(k, 4 + (k + 1) % 4, 8 + (k + 2) % 4, 12 + (k + 3) % 4);
    }
    for (size_t k = 0; k < 16; k++) out[i * 16 + k] = in[i * 16 + k] ^ (x[k] + start[k]);
  }
}

void reference_crc32(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto data = elements<uint8_t>(buffers, 0);
  const auto out = elements<uint32_t>(buffers, 2);
  const size_t length = value_of<uint32_t>(c, 3);
  for (size_t i = 0; i < c.global[0]; i++) {
    uint32_t crc = 0xffffffff;
    for (const uint8_t byte : data.subspan(i * length, length)) {
      crc ^= byte;
      for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    out[i] = ~crc;
  }
}

void reference_gemm(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<float>(buffers, 0), b = elements<float>(buffers, 1),
             out = elements<float>(buffers, 2);
  const auto n = static_cast<size_t>(value_of<int32_t>(c, 3));
  std::vector<double> row(n);
  for (size_t i = 0; i < n; i++) {
    std::fill(row.begin(), row.end(), 0.0);
    for (size_t k = 0; k < n; k++)
      for (size_t j = 0; j < n; j++)
        row[j] += static_cast<double>(a[i * n + k]) * static_cast<double>(b[k * n + j]);
    for (size_t j = 0; j < n; j++) out[i * n + j] = static_cast<float>(row[j]);
  }
}

void reference_triad(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto b = elements<float>(buffers, 0), cc = elements<float>(buffers, 1),
             a = elements<float>(buffers, 2);
  const auto s = static_cast<double>(value_of<float>(c, 3));
  for (size_t i = 0; i < c.global[0]; i++)
    a[i] = static_cast<float>(static_cast<double>(b[i]) + s * static_cast<double>(cc[i]));
}

void reference_half_saxpy(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto x = elements<uint16_t>(buffers, 1), y = elements<uint16_t>(buffers, 2),
             out = elements<uint16_t>(buffers, 3);
  const auto a = static_cast<double>(value_of<float>(c, 0));
  for (size_t i = 0; i < c.global[0]; i++) out[i] = to_half(a * from_half(x[i]) + from_half(y[i]));
}

void reference_take(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto index = elements<uint32_t>(buffers, 0), in = elements<uint32_t>(buffers, 1),
             out = elements<uint32_t>(buffers, 2);
  for (size_t i = 0; i < c.global[0]; i++) out[i] = in[index[i]];
}

void reference_reduce_tree(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<uint32_t>(buffers, 0), out = elements<uint32_t>(buffers, 1);
  for (size_t group = 0; group < c.global[0] / 256; group++) {
    out[group] = 0;
    for (const uint32_t value : in.subspan(group * 256, 256)) out[group] += value;
  }
}

std::vector<uint16_t> random_halves(uint64_t seed, size_t count) {
  std::vector<uint16_t> halves;
  for (const float value : random_floats(seed, count, -10, 10))
    halves.push_back(to_half(static_cast<double>(value)));
  return halves;
}

}  // namespace

namespace work {

SparseMatrix sparse_matrix(uint64_t seed, uint32_t rows, uint32_t most) {
  Random random(seed);
  SparseMatrix matrix{{0}, {}};
  for (uint32_t i = 0; i < rows; i++) {
    for (int64_t k = random.integer(1, most); k > 0; k--)
      matrix.column.push_back(static_cast<uint32_t>(random.integer(0, rows - 1)));
    matrix.row.push_back(static_cast<uint32_t>(matrix.column.size()));
  }
  return matrix;
}

KernelCase spmv(uint32_t rows, uint32_t most) {
  const SparseMatrix matrix = sparse_matrix(1201, rows, most);
  return {.name = "sparse.spmv",
          .file = "sparse",
          .kernel = "spmv",
          .global = {rows, 1, 1},
          .args = {input(matrix.row), input(matrix.column),
                   input(random_floats(1202, matrix.column.size(), -1, 1)),
                   input(random_floats(1203, rows, -1, 1)), output<float>(rows)},
          .tolerance = {.absolute = 1e-6 * most},
          .reference = reference_spmv};
}

KernelCase bfs_step(uint32_t nodes, uint32_t most) {
  const SparseMatrix matrix = sparse_matrix(1211, nodes, most);
  return {
      .name = "sparse.bfs_step",
      .file = "sparse",
      .kernel = "bfs_step",
      .global = {nodes, 1, 1},
      .args = {input(matrix.row), input(matrix.column), input(random_integers<int32_t>(1212, nodes, -5, 4)),
               output<int32_t>(nodes), scalar(int32_t{4})},
      .reference = reference_bfs};
}

KernelCase fft(uint32_t transforms) {
  const size_t points = size_t{transforms} * kPoints;
  std::vector<float> turn;
  for (size_t k = 0; k < kPoints / 2; k++) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / kPoints;
    turn.push_back(static_cast<float>(std::cos(angle)));
    turn.push_back(static_cast<float>(std::sin(angle)));
  }
  return {.name = "fft.fft",
          .file = "fft",
          .kernel = "fft",
          .global = {static_cast<uint32_t>(points / 2), 1, 1},
          .local = {kPoints / 2, 1, 1},
          .args = {input(random_floats(1221, points * 2, -1, 1)), output<float>(points * 2), input(turn)},
          .tolerance = {.absolute = 2e-5},
          .reference = reference_fft};
}

KernelCase sha256(uint32_t items) {
  return {
      .name = "digest.sha256",
      .file = "digest",
      .kernel = "sha256",
      .global = {items, 1, 1},
      .args = {input(random_bits<uint32_t>(1231, size_t{items} * 16)), output<uint32_t>(size_t{items} * 8)},
      .reference = reference_sha256};
}

KernelCase chacha20(uint32_t items) {
  return {
      .name = "digest.chacha20",
      .file = "digest",
      .kernel = "chacha20",
      .global = {items, 1, 1},
      .args = {input(random_bits<uint32_t>(1241, size_t{items} * 16)), output<uint32_t>(size_t{items} * 16),
               scalar(std::array<uint32_t, 4>{0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c}),
               scalar(std::array<uint32_t, 4>{0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c}),
               scalar(0xfffffff0u), scalar(0x4a000000u)},
      .reference = reference_chacha20};
}

KernelCase crc32(uint32_t items, uint32_t length) {
  std::vector<uint32_t> table(256);
  for (uint32_t i = 0; i < 256; i++) {
    table[i] = i;
    for (int bit = 0; bit < 8; bit++) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
  }
  return {.name = "digest.crc32",
          .file = "digest",
          .kernel = "crc32",
          .global = {items, 1, 1},
          .args = {input(random_integers<uint8_t>(1251, size_t{items} * length, 0, 255)), input(table),
                   output<uint32_t>(items), scalar(length)},
          .reference = reference_crc32};
}

KernelCase gemm(const char* kernel, uint32_t n) {
  const size_t size = size_t{n} * n;
  KernelCase c{.name = std::string("gemm.") + kernel,
               .file = "gemm",
               .kernel = kernel,
               .dimensions = 2,
               .global = {n, n, 1},
               .local = {16, 16, 1},
               .args = {input(random_floats(1261, size, -1, 1)), input(random_floats(1262, size, -1, 1)),
                        output<float>(size), scalar(static_cast<int32_t>(n))},
               .tolerance = {.absolute = 2e-7 * n},
               .reference = reference_gemm};
  if (c.kernel == "gemm_registers") {
    c.global = {n / 4, n / 4, 1};
    c.local = {0, 0, 0};
  }
  return c;
}

KernelCase triad(uint32_t items) {
  return {.name = "stream.triad",
          .file = "stream",
          .kernel = "triad",
          .global = {items, 1, 1},
          .args = {input(random_floats(1271, items, -1, 1)), input(random_floats(1272, items, -1, 1)),
                   output<float>(items), scalar(3.0f)},
          .tolerance = {.ulp = 1, .absolute = 2e-6},
          .reference = reference_triad};
}

KernelCase half_saxpy(uint32_t items) {
  return {.name = "stream.half_saxpy",
          .file = "stream",
          .kernel = "half_saxpy",
          .global = {items, 1, 1},
          .args = {scalar(2.5f), input(random_halves(1281, items), Element::F16),
                   input(random_halves(1282, items), Element::F16), output<uint16_t>(items, Element::F16)},
          .tolerance = {.ulp = 1},
          .reference = reference_half_saxpy};
}

KernelCase take(uint32_t items, uint32_t places) {
  return {.name = "stream.take",
          .file = "stream",
          .kernel = "take",
          .global = {items, 1, 1},
          .args = {input(random_integers<uint32_t>(1291, items, 0, places - 1)),
                   input(random_bits<uint32_t>(1292, places)), output<uint32_t>(items)},
          .reference = reference_take};
}

KernelCase reduce_tree(uint32_t items) {
  return {.name = "stream.reduce_tree",
          .file = "stream",
          .kernel = "reduce_tree",
          .global = {items, 1, 1},
          .local = {256, 1, 1},
          .args = {input(random_bits<int32_t>(1295, items)), output<int32_t>(items / 256)},
          .reference = reference_reduce_tree};
}

}  // namespace work

void add_work_cases(std::vector<KernelCase>& cases) {
  cases.push_back(spmv(100, 20));
  cases.push_back(bfs_step(120, 6));
  cases.push_back(fft(2));
  cases.push_back(sha256(50));
  cases.push_back(chacha20(50));
  cases.push_back(crc32(40, 33));
  for (const char* kernel : {"gemm_naive", "gemm_tiled", "gemm_registers"}) cases.push_back(gemm(kernel, 48));
  cases.push_back(triad(300));
  cases.push_back(half_saxpy(300));
  cases.push_back(take(300, 77));
  cases.push_back(reduce_tree(768));
}

}  // namespace eum::kernels

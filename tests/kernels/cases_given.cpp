// The eight kernels of the performance measurements: arx, bs, hash, mandel, mandel2, nbody, saxpy, sgemm.
// They are small here; perf uses the same builders at sizes suitable for timing.
#include <bit>
#include <cmath>

#include "tests/kernels/given_kernels.hpp"

namespace eum::kernels {
namespace {

void reference_arx(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto out = elements<uint32_t>(buffers, 0);
  const auto k0 = value_of<uint32_t>(c, 1), k1 = value_of<uint32_t>(c, 2);
  const auto rounds = value_of<int32_t>(c, 3);
  const auto quarter = [](uint32_t* x, int a, int b, int cc, int d) {
    const auto step = [x](int to, int from, int turned, int by) {
      x[to] += x[from];
      x[turned] = std::rotl(x[turned] ^ x[to], by);
    };
    step(a, b, d, 16);
    step(cc, d, b, 12);
    step(a, b, d, 8);
    step(cc, d, b, 7);
  };
  for (uint32_t i = 0; i < c.global[0]; i++) {
    uint32_t x[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, k0, k1,       k0 ^ i, k1 + i,
                      k0 * 3,     k1 * 5,     k0 * 7,     k1 * 9,     i,  i ^ 0x55, 7,      9};
    for (int r = 0; r < rounds; r++)
      for (int pass = 0; pass < 2; pass++)
        for (int q = 0; q < 4; q++) {
          const auto row = [&](int n) { return n * 4 + (q + pass * n) % 4; };  // columns, then diagonals
          quarter(x, row(0), row(1), row(2), row(3));
        }
    uint32_t all = 0;
    for (uint32_t word : x) all ^= word;
    out[i] = all;
  }
}

double normal_distribution(double d) {
  const double k = 1 / (1 + 0.2316419 * std::fabs(d));
  const double tail =
      0.3989422804 * std::exp(-0.5 * d * d) *
      (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))));
  return d > 0 ? 1 - tail : tail;
}

void reference_bs(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto call = elements<float>(buffers, 0), put = elements<float>(buffers, 1);
  const auto price = elements<float>(buffers, 2), strike = elements<float>(buffers, 3),
             years = elements<float>(buffers, 4);
  const double rate = static_cast<double>(value_of<float>(c, 5)),
               spread = static_cast<double>(value_of<float>(c, 6));
  for (size_t i = 0; i < c.global[0]; i++) {
    const auto s = static_cast<double>(price[i]), x = static_cast<double>(strike[i]),
               t = static_cast<double>(years[i]);
    const double root = std::sqrt(t);
    const double d1 = (std::log(s / x) + (rate + 0.5 * spread * spread) * t) / (spread * root);
    const double c1 = normal_distribution(d1), c2 = normal_distribution(d1 - spread * root);
    const double discount = std::exp(-rate * t);
    call[i] = static_cast<float>(s * c1 - x * discount * c2);
    put[i] = static_cast<float>(x * discount * (1 - c2) - s * (1 - c1));
  }
}

void reference_hash(const KernelCase& c, std::vector<Bytes>& buffers) {
  constexpr uint32_t p1 = 2654435761u, p2 = 2246822519u, p3 = 3266489917u;
  const auto in = elements<uint32_t>(buffers, 0), out = elements<uint32_t>(buffers, 1);
  const auto seed = value_of<uint32_t>(c, 2);
  for (size_t i = 0; i < c.global[0]; i++) {
    uint32_t v[4] = {seed + p1 + p2, seed + p2, seed, seed - p1};
    for (size_t k = 0; k < 64; k++) v[k % 4] = std::rotl(v[k % 4] + in[(i & 1023) * 64 + k] * p2, 13) * p1;
    uint32_t h = std::rotl(v[0], 1) + std::rotl(v[1], 7) + std::rotl(v[2], 12) + std::rotl(v[3], 18) + 256;
    h = (h ^ h >> 15) * p2;
    h = (h ^ h >> 13) * p3;
    out[i] = h ^ h >> 16;
  }
}

/// Both kernels: the second argument is the width or, for mandel2, its logarithm.
void reference_mandel(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto out = elements<int32_t>(buffers, 0);
  const int width = c.kernel == "mandel2" ? 1 << value_of<int32_t>(c, 1) : value_of<int32_t>(c, 1);
  const auto x0 = value_of<float>(c, 2), y0 = value_of<float>(c, 3), dx = value_of<float>(c, 4),
             dy = value_of<float>(c, 5);
  const auto limit = value_of<int32_t>(c, 6);
  for (uint32_t i = 0; i < c.global[0]; i++) {
    const auto column = static_cast<float>(static_cast<int>(i) % width);
    const auto row = static_cast<float>(static_cast<int>(i) / width);
    const float cx = std::fma(column, dx, x0), cy = std::fma(row, dy, y0);
    float zx = 0, zy = 0;
    int steps = 0;
    for (; steps < limit && zx * zx + zy * zy <= 4; steps++) {
      const float next = std::fma(zx, zx, -(zy * zy)) + cx;
      zy = std::fma(2 * zx, zy, cy);
      zx = next;
    }
    out[i] = steps;
  }
}

void reference_nbody(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto p = elements<float>(buffers, 0), acc = elements<float>(buffers, 1);
  const auto bodies = static_cast<size_t>(value_of<int32_t>(c, 2));
  const auto softening = static_cast<double>(value_of<float>(c, 3));
  for (size_t i = 0; i < c.global[0]; i++) {
    double sum[3] = {};
    for (size_t j = 0; j < bodies; j++) {
      double d[3], square = softening;
      for (size_t k = 0; k < 3; k++) {
        d[k] = static_cast<double>(p[j * 4 + k]) - static_cast<double>(p[i * 4 + k]);
        square += d[k] * d[k];
      }
      const double scale = static_cast<double>(p[j * 4 + 3]) / (square * std::sqrt(square));
      for (size_t k = 0; k < 3; k++) sum[k] += d[k] * scale;
    }
    for (size_t k = 0; k < 3; k++) acc[i * 4 + k] = static_cast<float>(sum[k]);
    acc[i * 4 + 3] = 0;
  }
}

void reference_saxpy(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = value_of<float>(c, 0);
  const auto x = elements<float>(buffers, 1), y = elements<float>(buffers, 2);
  const auto n = static_cast<size_t>(value_of<int32_t>(c, 3));
  for (size_t i = 0; i < std::min<size_t>(n, c.global[0]); i++)
    y[i] = static_cast<float>(static_cast<double>(a) * static_cast<double>(x[i]) + static_cast<double>(y[i]));
}

void reference_sgemm(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto n = static_cast<size_t>(value_of<int32_t>(c, 0));
  const auto a = elements<float>(buffers, 1), b = elements<float>(buffers, 2),
             out = elements<float>(buffers, 3);
  std::vector<double> row(n);
  for (size_t i = 0; i < n; i++) {
    std::fill(row.begin(), row.end(), 0.0);
    for (size_t k = 0; k < n; k++)
      for (size_t j = 0; j < n; j++)
        row[j] += static_cast<double>(a[i * n + k]) * static_cast<double>(b[k * n + j]);
    for (size_t j = 0; j < n; j++) out[i * n + j] = static_cast<float>(row[j]);
  }
}

}  // namespace

namespace given {

KernelCase arx(uint32_t items, int32_t rounds) {
  return {.name = "arx.arx",
          .file = "arx",
          .kernel = "arx",
          .global = {items, 1, 1},
          .args = {output<uint32_t>(items), scalar(0x01020304u), scalar(0xdeadbeefu), scalar(rounds)},
          .reference = reference_arx};
}

KernelCase bs(const std::string& file, uint32_t items) {
  return {.name = file + ".bs",
          .file = file,
          .kernel = "bs",
          .global = {items, 1, 1},
          .args = {output<float>(items), output<float>(items), input(random_floats(11, items, 5, 30)),
                   input(random_floats(12, items, 1, 100)), input(random_floats(13, items, 0.25, 10)),
                   scalar(0.02f), scalar(0.30f)},
          .tolerance = {.absolute = 1e-3},
          .reference = reference_bs};
}

KernelCase hash(uint32_t items) {
  return {.name = "hash.hash",
          .file = "hash",
          .kernel = "hash",
          .global = {items, 1, 1},
          .args = {input(random_integers<uint32_t>(21, 1024 * 64, 0, 0xffffffff)), output<uint32_t>(items),
                   scalar(0x9747b28cu)},
          .reference = reference_hash};
}

KernelCase mandel(const char* kernel, uint32_t width, uint32_t height, float x0, float y0, float size,
                  int32_t limit, double share) {
  const bool by_logarithm = std::string_view(kernel) == "mandel2";
  const auto shape = static_cast<int32_t>(by_logarithm ? std::bit_width(width) - 1 : width);
  return {.name = std::string(kernel) + "." + kernel,
          .file = kernel,
          .kernel = kernel,
          .global = {width * height, 1, 1},
          .args = {output<int32_t>(size_t{width} * height), scalar(shape), scalar(x0), scalar(y0),
                   scalar(size / static_cast<float>(width)), scalar(size / static_cast<float>(height)),
                   scalar(limit)},
          .tolerance = {.share = share},
          .reference = reference_mandel};
}

KernelCase nbody(uint32_t bodies) {
  std::vector<float> p = random_floats(31, size_t{bodies} * 4, -1, 1);
  for (size_t i = 3; i < p.size(); i += 4) p[i] = std::fabs(p[i]) + 0.1f;
  return {.name = "nbody.nbody",
          .file = "nbody",
          .kernel = "nbody",
          .global = {bodies, 1, 1},
          .args = {input(p), output<float>(size_t{bodies} * 4), scalar(static_cast<int32_t>(bodies)),
                   scalar(0.01f)},
          .tolerance = {.absolute = 1e-5 * bodies, .relative = 1e-4},
          .reference = reference_nbody};
}

KernelCase saxpy(const std::string& file, uint32_t items, int32_t n) {
  return {.name = file + ".saxpy",
          .file = file,
          .kernel = "saxpy",
          .global = {items, 1, 1},
          .args = {scalar(2.5f), input(random_floats(41, items, -10, 10)),
                   in_out(random_floats(42, items, -10, 10)), scalar(n)},
          .tolerance = {.ulp = 1, .absolute = 2e-6},
          .reference = reference_saxpy};
}

KernelCase sgemm(uint32_t n) {
  const size_t size = size_t{n} * n;
  return {.name = "sgemm.sgemm",
          .file = "sgemm",
          .kernel = "sgemm",
          .dimensions = 2,
          .global = {n, n, 1},
          .local = {8, 8, 1},
          .args = {scalar(static_cast<int32_t>(n)), input(random_floats(51, size, -1, 1)),
                   input(random_floats(52, size, -1, 1)), output<float>(size)},
          .tolerance = {.absolute = 1e-7 * n},
          .reference = reference_sgemm};
}

}  // namespace given

void add_given_cases(std::vector<KernelCase>& cases) {
  using namespace given;
  cases.push_back(arx(1000, 5));
  cases.push_back(bs("bs", 777));
  cases.push_back(bs("bs_fast", 777));
  cases.push_back(hash(1500));
  cases.push_back(mandel("mandel", 37, 21, -1.926f, -1.104f, 2.572f, 100, 0));
  cases.push_back(mandel("mandel2", 32, 24, -1.835f, -1.315f, 2.449f, 100, 0));
  cases.push_back(nbody(200));
  cases.push_back(saxpy("saxpy", 1003, 1000));
  cases.push_back(saxpy("saxpy_a64", 1003, 1000));
  cases.push_back(sgemm(40));
}

}  // namespace eum::kernels

// Many accesses through many pointers, as surfaces and by 64-bit addresses: pointers, pointers_a64.
#include <cmath>

#include "tests/kernels/work_kernels.hpp"

namespace eum::kernels {
namespace {

constexpr size_t kPlanes = 9;

void reference_lattice(const KernelCase& c, std::vector<Bytes>& buffers) {
  constexpr int dx[kPlanes] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, dy[kPlanes] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  constexpr double part[kPlanes] = {0.25, 0.125, 0.125, 0.125, 0.125, 0.0625, 0.0625, 0.0625, 0.0625};
  const auto w = value_of<int32_t>(c, 2 * kPlanes);
  const double relax = static_cast<double>(value_of<float>(c, 2 * kPlanes + 1));
  for (int32_t y = 1; y <= static_cast<int32_t>(c.global[1]); y++)
    for (int32_t x = 1; x <= static_cast<int32_t>(c.global[0]); x++) {
      double a[kPlanes], rho = 0, u = 0, v = 0;
      for (size_t k = 0; k < kPlanes; k++) {
        const auto from = static_cast<size_t>((y - dy[k]) * w + x - dx[k]);
        a[k] = static_cast<double>(elements<float>(buffers, k)[from]);
        rho += a[k];
        u += dx[k] * a[k];
        v += dy[k] * a[k];
      }
      for (size_t k = 0; k < kPlanes; k++) {
        const double to = part[k] * rho + (k < 5 ? 0.25 : 0.125) * (dx[k] * u + dy[k] * v);
        elements<float>(buffers, kPlanes + k)[static_cast<size_t>(y * w + x)] =
            static_cast<float>(a[k] + relax * (to - a[k]));
      }
    }
}

void reference_row_products(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<int32_t>(buffers, 0), b = elements<int32_t>(buffers, 1),
             out = elements<int32_t>(buffers, 2);
  const auto n = static_cast<size_t>(value_of<int32_t>(c, 3));
  for (size_t i = 0; i < c.global[0]; i++) {
    uint32_t sum = 0;
    for (size_t k = 0; k < n; k++)
      sum = sum * 3 + static_cast<uint32_t>(a[i * n + k]) * static_cast<uint32_t>(b[i * n + n - 1 - k]);
    out[i] = static_cast<int32_t>(sum);
  }
}

/// A row of n elements of each of two buffers for every work item.
template <class T>
KernelCase rows(const char* file, const char* kernel, uint64_t seed, uint32_t items, uint32_t n,
                decltype(KernelCase::reference) reference) {
  return {.name = std::string(file) + "." + kernel,
          .file = file,
          .kernel = kernel,
          .global = {items, 1, 1},
          .args = {input(random_bits<T>(seed, size_t{items} * n)),
                   input(random_bits<T>(seed + 1, size_t{items} * n)), output<T>(items),
                   scalar(static_cast<int32_t>(n))},
          .reference = reference};
}

void reference_chosen(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<uint32_t>(buffers, 0), b = elements<uint32_t>(buffers, 1),
             out = elements<uint32_t>(buffers, 2);
  const auto n = static_cast<uint32_t>(value_of<int32_t>(c, 3));
  for (uint32_t i = 0; i < c.global[0]; i++) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < n; k++) {
      const uint32_t p = a[i * n + k];
      sum += (p & 1 ? b : a)[(p >> 1) % (c.global[0] * n)] ^ k;
    }
    out[i] = sum;
  }
}

}  // namespace

KernelCase work::lattice(const char* file, uint32_t width, uint32_t height) {
  const size_t size = size_t{width} * height;
  KernelCase c{.name = std::string(file) + ".lattice",
               .file = file,
               .kernel = "lattice",
               .dimensions = 2,
               .global = {width - 2, height - 2, 1},
               .tolerance = {.absolute = 2e-6},
               .reference = reference_lattice};
  for (size_t k = 0; k < kPlanes; k++) c.args.push_back(input(random_floats(301 + k, size, 0, 1)));
  // No work item writes the border.
  for (size_t k = 0; k < kPlanes; k++) c.args.push_back(in_out(std::vector<float>(size, 0.5f)));
  c.args.push_back(scalar(static_cast<int32_t>(width)));
  c.args.push_back(scalar(0.6f));
  return c;
}

void add_pointer_cases(std::vector<KernelCase>& cases) {
  for (const char* file : {"pointers", "pointers_a64"}) {
    cases.push_back(work::lattice(file, 42, 11));
    cases.push_back(rows<int32_t>(file, "row_products", 321, 80, 37, reference_row_products));
    cases.push_back(rows<uint32_t>(file, "chosen", 331, 70, 9, reference_chosen));
  }
}

}  // namespace eum::kernels

// Sums and products: of vectors, of matrices, of sparse matrices, and the Fourier transform.
#include <cmath>

#include "perf/native/native.hpp"

namespace eum::perf::native {
namespace {

/// A block of C that stays in registers while k advances: 4 rows by 32 columns.
constexpr size_t kRows = 4, kLanes = 16, kColumns = 2 * kLanes;

template <class Sum, class T>
[[gnu::always_inline]] inline void group_sums(const T* in, Sum* out, size_t n, const Call& call, size_t begin,
                                              size_t end) {
  const size_t local = call.local[0];
  for (size_t group = begin / local; group < end / local; group++) {
    Sum sum = 0;
    for (size_t base = group * local; base < n; base += call.global[0]) {
      const size_t last = std::min(n, base + local);
#pragma omp simd reduction(+ : sum)
      for (size_t i = base; i < last; i++) sum += in[i];
    }
    out[group] = sum;
  }
}

/// C = A B for rows [begin, end) of n by n matrices.
[[gnu::always_inline]] inline void multiply_rows(const float* a, const float* b, float* c, size_t n,
                                                 size_t begin, size_t end) {
  size_t i = begin;
  for (; i + kRows <= end; i += kRows) {
    size_t j = 0;
    for (; j + kColumns <= n; j += kColumns) {
      Vector<float, kLanes> sum[kRows][2] = {};
      for (size_t k = 0; k < n; k++) {
        Vector<float, kLanes> left, right;
        std::memcpy(&left, b + k * n + j, sizeof left);
        std::memcpy(&right, b + k * n + j + kLanes, sizeof right);
        for (size_t r = 0; r < kRows; r++) {
          const float factor = a[(i + r) * n + k];
          sum[r][0] += factor * left;
          sum[r][1] += factor * right;
        }
      }
      for (size_t r = 0; r < kRows; r++) std::memcpy(c + (i + r) * n + j, sum[r], sizeof sum[r]);
    }
    for (; j < n; j++)
      for (size_t r = 0; r < kRows; r++) {
        float sum = 0;
        for (size_t k = 0; k < n; k++) sum += a[(i + r) * n + k] * b[k * n + j];
        c[(i + r) * n + j] = sum;
      }
  }
  for (; i < end; i++)
    for (size_t j = 0; j < n; j++) {
      float sum = 0;
      for (size_t k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}

/// y = A x for rows [begin, end).
[[gnu::always_inline]] inline void multiply_vector(const Call& call, size_t begin, size_t end) {
  const float *a = call.buffer<float>(0), *x = call.buffer<float>(1);
  float* y = call.buffer<float>(2);
  const size_t columns = call.value<uint32_t>(3);
  for (size_t row = begin; row < end; row++) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < columns; j++) sum += a[row * columns + j] * x[j];
    y[row] = sum;
  }
}

[[gnu::always_inline]] inline void multiply(const Call& call, size_t begin, size_t end) {
  multiply_rows(call.buffer<float>(0), call.buffer<float>(1), call.buffer<float>(2), call.value<uint32_t>(3),
                begin, end);
}

}  // namespace

void sgemm(const Call& call, size_t begin, size_t end) {
  multiply_rows(call.buffer<float>(1), call.buffer<float>(2), call.buffer<float>(3), call.value<uint32_t>(0),
                begin, end);
}

void reduce(const Call& call, size_t begin, size_t end) {
  group_sums(call.buffer<uint32_t>(0), call.buffer<uint32_t>(1), call.value<uint32_t>(3), call, begin, end);
}

void reduce_tree(const Call& call, size_t begin, size_t end) {
  group_sums(call.buffer<uint32_t>(0), call.buffer<uint32_t>(1), call.global[0], call, begin, end);
}

void scan_blocks(const Call& call, size_t begin, size_t end) {
  const uint32_t* __restrict in = call.buffer<uint32_t>(0);
  uint32_t* __restrict out = call.buffer<uint32_t>(1);
  uint32_t* __restrict sums = call.buffer<uint32_t>(2);
  const size_t n = call.value<uint32_t>(3), local = call.local[0];
  for (size_t block = begin / local; block < end / local; block++) {
    uint32_t sum = 0;
    const size_t last = std::min(n, (block + 1) * local);
#pragma omp simd reduction(inscan, + : sum)
    for (size_t i = block * local; i < last; i++) {
      sum += in[i];
#pragma omp scan inclusive(sum)
      out[i] = sum;
    }
    sums[block] = sum;
  }
}

void dot64(const Call& call, size_t begin, size_t end) {
  const double *a = call.buffer<double>(0), *b = call.buffer<double>(1);
  double* out = call.buffer<double>(2);
  const size_t n = call.value<uint32_t>(4), local = call.local[0];
  for (size_t group = begin / local; group < end / local; group++) {
    double sum = 0;
    for (size_t base = group * local; base < n; base += call.global[0]) {
      const size_t last = std::min(n, base + local);
#pragma omp simd reduction(+ : sum)
      for (size_t i = base; i < last; i++) sum += a[i] * b[i];
    }
    out[group] = sum;
  }
}

void matvec(const Call& call, size_t begin, size_t end) { multiply_vector(call, begin, end); }

void matvec_group(const Call& call, size_t begin, size_t end) {
  multiply_vector(call, begin / call.local[0], end / call.local[0]);
}

void gemm(const Call& call, size_t begin, size_t end) { multiply(call, begin, end); }

void gemm_registers(const Call& call, size_t begin, size_t end) { multiply(call, begin * 4, end * 4); }

void spmv(const Call& call, size_t begin, size_t end) {
  const uint32_t *row = call.buffer<uint32_t>(0), *column = call.buffer<uint32_t>(1);
  const float *value = call.buffer<float>(2), *x = call.buffer<float>(3);
  float* y = call.buffer<float>(4);
  for (size_t i = begin; i < end; i++) {
    float sum = 0;
    for (uint32_t k = row[i]; k < row[i + 1]; k++) sum += value[k] * x[column[k]];
    y[i] = sum;
  }
}

void fft(const Call& call, size_t begin, size_t end) {
  constexpr size_t points = 512, half = points / 2;
  const float *in = call.buffer<float>(0), *turn = call.buffer<float>(2);
  float* out = call.buffer<float>(1);
  // Real and imaginary parts are separate, and the factors of each step contiguous.
  alignas(64) float wx[points], wy[points];
  for (size_t size = 1; size < points; size *= 2)
    for (size_t k = 0; k < size; k++) {
      wx[size + k] = turn[k * (half / size) * 2];
      wy[size + k] = turn[k * (half / size) * 2 + 1];
    }
  for (size_t base = begin / half * points; base < end / half * points; base += points) {
    alignas(64) float x[2][points], y[2][points];
    for (size_t i = 0; i < points; i++) {
      x[0][i] = in[(base + i) * 2];
      y[0][i] = in[(base + i) * 2 + 1];
    }
    size_t now = 0;
    for (size_t size = 1; size < points; size *= 2, now = 1 - now) {
      const float* __restrict fx = x[now], * __restrict fy = y[now];
      float* __restrict tx = x[1 - now], * __restrict ty = y[1 - now];
      for (size_t first = 0; first < half; first += size)
#pragma omp simd
        for (size_t k = 0; k < size; k++) {
          const float ux = fx[first + k + half], uy = fy[first + k + half];
          const float vx = wx[size + k] * ux - wy[size + k] * uy, vy = wx[size + k] * uy + wy[size + k] * ux;
          tx[first * 2 + k] = fx[first + k] + vx;
          ty[first * 2 + k] = fy[first + k] + vy;
          tx[first * 2 + k + size] = fx[first + k] - vx;
          ty[first * 2 + k + size] = fy[first + k] - vy;
        }
    }
    for (size_t i = 0; i < points; i++) {
      out[(base + i) * 2] = x[now][i];
      out[(base + i) * 2 + 1] = y[now][i];
    }
  }
}

}  // namespace eum::perf::native

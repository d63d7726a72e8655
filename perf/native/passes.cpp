// Passes over memory: streams, gathers, stencils.
#include <immintrin.h>

#include <algorithm>

#include "perf/native/native.hpp"

namespace eum::perf::native {

void triad(const Call& call, size_t begin, size_t end) {
  const float* __restrict b = call.buffer<float>(0), * __restrict c = call.buffer<float>(1);
  float* __restrict a = call.buffer<float>(2);
  const float s = call.value<float>(3);
#pragma omp simd
  for (size_t i = begin; i < end; i++) a[i] = b[i] + s * c[i];
}

void half_saxpy(const Call& call, size_t begin, size_t end) {
  const float a = call.value<float>(0);
  const uint16_t *x = call.buffer<uint16_t>(1), *y = call.buffer<uint16_t>(2);
  uint16_t* out = call.buffer<uint16_t>(3);
  const auto load = [](const uint16_t* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  };
  size_t i = begin;
  for (; i + 8 <= end; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_fmadd_ps(_mm256_set1_ps(a), load(x + i), load(y + i)),
                                     _MM_FROUND_TO_NEAREST_INT));
  for (; i < end; i++) out[i] = _cvtss_sh(a * _cvtsh_ss(x[i]) + _cvtsh_ss(y[i]), _MM_FROUND_TO_NEAREST_INT);
}

void take(const Call& call, size_t begin, size_t end) {
  const uint32_t* __restrict index = call.buffer<uint32_t>(0), * __restrict in = call.buffer<uint32_t>(1);
  uint32_t* __restrict out = call.buffer<uint32_t>(2);
#pragma omp simd
  for (size_t i = begin; i < end; i++) out[i] = in[index[i]];
}

void gather(const Call& call, size_t begin, size_t end) {
  const uint32_t* __restrict index = call.buffer<uint32_t>(0);
  const uint8_t* __restrict bytes = call.buffer<uint8_t>(1);
  const uint16_t* __restrict words = call.buffer<uint16_t>(2);
  const uint32_t* __restrict dwords = call.buffer<uint32_t>(3);
  const uint64_t* __restrict qwords = call.buffer<uint64_t>(4);
  uint8_t* __restrict out_bytes = call.buffer<uint8_t>(5);
  uint16_t* __restrict out_words = call.buffer<uint16_t>(6);
  uint32_t* __restrict out_dwords = call.buffer<uint32_t>(7);
  uint64_t* __restrict out_qwords = call.buffer<uint64_t>(8);
  for (size_t i = begin; i < end; i++) {
    const uint32_t k = index[i];
    out_bytes[k] = static_cast<uint8_t>(bytes[i] + 1);
    out_words[k] = words[k] ^ 0x55aa;
    out_dwords[i] = dwords[k] - static_cast<uint32_t>(i);
    out_qwords[k] = qwords[i] + dwords[i];
  }
}

void transpose(const Call& call, size_t begin, size_t end) {
  constexpr size_t tile = 16;
  const float* __restrict in = call.buffer<float>(0);
  float* __restrict out = call.buffer<float>(1);
  const size_t width = call.value<uint32_t>(2), height = std::min<size_t>(end, call.value<uint32_t>(3));
  const size_t stride = call.value<uint32_t>(3);
  for (size_t y = begin; y < height; y += tile)
    for (size_t x = 0; x < width; x += tile) {
      const size_t last_y = std::min(height, y + tile), last_x = std::min(width, x + tile);
      for (size_t tx = x; tx < last_x; tx++)
        for (size_t ty = y; ty < last_y; ty++) out[tx * stride + ty] = in[ty * width + tx];
    }
}

void stencil3d(const Call& call, size_t begin, size_t end) {
  const float* __restrict in = call.buffer<float>(0);
  float* __restrict out = call.buffer<float>(1);
  const float center = call.value<float>(2), around = call.value<float>(3);
  const size_t nx = call.global[0], ny = call.global[1], nz = call.global[2], plane = nx * ny;
  for (size_t z = begin; z < end; z++)
    for (size_t y = 0; y < ny; y++) {
      const size_t row = (z * ny + y) * nx;
      if (z == 0 || y == 0 || z + 1 == nz || y + 1 == ny) {
        std::copy_n(in + row, nx, out + row);
        continue;
      }
      out[row] = in[row];
      out[row + nx - 1] = in[row + nx - 1];
#pragma omp simd
      for (size_t i = row + 1; i < row + nx - 1; i++)
        out[i] = center * in[i] +
                 around * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - plane] + in[i + plane]);
    }
}

void conv3x3_f32(const Call& call, size_t begin, size_t end) {
  const float* __restrict in = call.buffer<float>(0);
  float* __restrict out = call.buffer<float>(1);
  const float* __restrict w = call.buffer<float>(2);
  const auto width = static_cast<ptrdiff_t>(call.value<int32_t>(3));
  const auto height = static_cast<ptrdiff_t>(call.value<int32_t>(4));
  const auto last = std::min(static_cast<ptrdiff_t>(end), height);
  for (auto y = static_cast<ptrdiff_t>(begin); y < last; y++) {
    const float* rows[3];
    for (ptrdiff_t k = 0; k < 3; k++) rows[k] = in + std::clamp<ptrdiff_t>(y + k - 1, 0, height - 1) * width;
    const auto edge = [&](ptrdiff_t x) {
      float sum = 0;
      for (ptrdiff_t k = 0; k < 9; k++)
        sum += rows[k / 3][std::clamp<ptrdiff_t>(x + k % 3 - 1, 0, width - 1)] * w[k];
      out[y * width + x] = sum;
    };
    edge(0);
    edge(width - 1);
    const float *above = rows[0], *here = rows[1], *below = rows[2];
    float* to = out + y * width;
#pragma omp simd
    for (ptrdiff_t x = 1; x < width - 1; x++)
      to[x] = above[x - 1] * w[0] + above[x] * w[1] + above[x + 1] * w[2] + here[x - 1] * w[3] +
              here[x] * w[4] + here[x + 1] * w[5] + below[x - 1] * w[6] + below[x] * w[7] +
              below[x + 1] * w[8];
  }
}

void conv3x3_u8(const Call& call, size_t begin, size_t end) {
  const uint8_t* __restrict in = call.buffer<uint8_t>(0);
  uint8_t* __restrict out = call.buffer<uint8_t>(1);
  const int8_t* __restrict w = call.buffer<int8_t>(2);
  const ptrdiff_t width = call.value<int32_t>(3), height = call.value<int32_t>(4);
  const int shift = call.value<int32_t>(5);
  const auto saturated = [shift](int sum) { return static_cast<uint8_t>(std::clamp(sum >> shift, 0, 255)); };
  for (auto y = static_cast<ptrdiff_t>(begin); y < static_cast<ptrdiff_t>(end); y++) {
    const auto edge = [&](ptrdiff_t x) {
      int sum = 1 << (shift - 1);
      for (ptrdiff_t k = 0; k < 9; k++) {
        const ptrdiff_t sx = x + k % 3 - 1, sy = y + k / 3 - 1;
        if (sx >= 0 && sx < width && sy >= 0 && sy < height) sum += in[sy * width + sx] * w[k];
      }
      out[y * width + x] = saturated(sum);
    };
    if (y == 0 || y + 1 == height) {
      for (ptrdiff_t x = 0; x < width; x++) edge(x);
      continue;
    }
    edge(0);
    edge(width - 1);
    const uint8_t *here = in + y * width, *above = here - width, *below = here + width;
    uint8_t* to = out + y * width;
    // Sums of nine products need 32 bits.
#pragma omp simd
    for (ptrdiff_t x = 1; x < width - 1; x++)
      to[x] = saturated((1 << (shift - 1)) + above[x - 1] * w[0] + above[x] * w[1] + above[x + 1] * w[2] +
                        here[x - 1] * w[3] + here[x] * w[4] + here[x + 1] * w[5] + below[x - 1] * w[6] +
                        below[x] * w[7] + below[x + 1] * w[8]);
  }
}

}  // namespace eum::perf::native

// The eight kernels except sgemm, which is with the other products. Lanes are work items where an omp simd
// loop does not suffice.
#include <bit>
#include <cmath>

#include "perf/native/native.hpp"

namespace eum::perf::native {
namespace {

constexpr size_t kLanes = 16;
using Words = Vector<uint32_t, kLanes>;
using Floats = Vector<float, kLanes>;
using Integers = Vector<int32_t, kLanes>;

Words rotate(Words x, int by) { return x << by | x >> (32 - by); }

Words lane_numbers() {
  Words lanes;
  for (uint32_t l = 0; l < kLanes; l++) lanes[l] = l;
  return lanes;
}

/// Stores the first `count` lanes.
template <class T, class Lanes>
void store(T* to, const Lanes& lanes, size_t count) {
  if (count == kLanes)
    std::memcpy(to, &lanes, sizeof lanes);
  else
    std::memcpy(to, &lanes, count * sizeof(T));
}

/// Processes two vectors at once to hide the latency of products; checks only after every few steps whether
/// all points have escaped.
[[gnu::always_inline]] inline void escape_times(const Call& call, size_t begin, size_t end, uint32_t width) {
  constexpr size_t vectors = 2, steps_between = 8;
  int32_t* out = call.buffer<int32_t>(0);
  const float x0 = call.value<float>(2), y0 = call.value<float>(3), dx = call.value<float>(4),
              dy = call.value<float>(5);
  const int32_t limit = call.value<int32_t>(6);
  for (size_t i = begin; i < end; i += kLanes * vectors) {
    Floats cx[vectors], cy[vectors], zx[vectors] = {}, zy[vectors] = {};
    Integers steps[vectors] = {};
    for (size_t v = 0; v < vectors; v++) {
      const Words item = static_cast<uint32_t>(i + v * kLanes) + lane_numbers(), row = item / width;
      cx[v] = __builtin_convertvector(item - row * width, Floats) * dx + x0;
      cy[v] = __builtin_convertvector(row, Floats) * dy + y0;
    }
    for (int32_t step = 0; step < limit;) {
      Integers inside[vectors] = {};
      for (size_t k = 0; k < steps_between && step < limit; k++, step++)
        for (size_t v = 0; v < vectors; v++) {
          const Floats xx = zx[v] * zx[v], yy = zy[v] * zy[v];
          inside[v] = xx + yy <= 4.0f;
          steps[v] -= inside[v];  // inside is -1 for lanes inside; those that left stay outside
          const Floats y = 2 * zx[v] * zy[v] + cy[v];
          zx[v] = inside[v] ? xx - yy + cx[v] : zx[v];
          zy[v] = inside[v] ? y : zy[v];
        }
      const Integers either = inside[0] | inside[1];
      int32_t any = 0;
      for (size_t l = 0; l < kLanes; l++) any |= either[l];
      if (any == 0) break;
    }
    for (size_t v = 0; v < vectors && i + v * kLanes < end; v++)
      store(out + i + v * kLanes, steps[v], std::min(kLanes, end - i - v * kLanes));
  }
}

}  // namespace

void arx(const Call& call, size_t begin, size_t end) {
  uint32_t* out = call.buffer<uint32_t>(0);
  const uint32_t k0 = call.value<uint32_t>(1), k1 = call.value<uint32_t>(2);
  const int32_t rounds = call.value<int32_t>(3);
  const auto quarter = [](Words& a, Words& b, Words& c, Words& d) {
    a += b, d = rotate(d ^ a, 16);
    c += d, b = rotate(b ^ c, 12);
    a += b, d = rotate(d ^ a, 8);
    c += d, b = rotate(b ^ c, 7);
  };
  for (size_t i = begin; i < end; i += kLanes) {
    const Words item = static_cast<uint32_t>(i) + lane_numbers(), zero{};
    Words x[16] = {0x61707865 + zero,
                   0x3320646e + zero,
                   0x79622d32 + zero,
                   0x6b206574 + zero,
                   k0 + zero,
                   k1 + zero,
                   k0 ^ item,
                   k1 + item,
                   k0 * 3 + zero,
                   k1 * 5 + zero,
                   k0 * 7 + zero,
                   k1 * 9 + zero,
                   item,
                   item ^ 0x55u,
                   7 + zero,
                   9 + zero};
    for (int32_t r = 0; r < rounds; r++) {
      for (size_t q = 0; q < 4; q++) quarter(x[q], x[4 + q], x[8 + q], x[12 + q]);
      for (size_t q = 0; q < 4; q++)
        quarter(x[q], x[4 + (q + 1) % 4], x[8 + (q + 2) % 4], x[12 + (q + 3) % 4]);
    }
    Words all{};
    for (const Words& word : x) all ^= word;
    store(out + i, all, std::min(kLanes, end - i));
  }
}

void bs(const Call& call, size_t begin, size_t end) {
  float* __restrict calls = call.buffer<float>(0);
  float* __restrict puts = call.buffer<float>(1);
  const float *price = call.buffer<float>(2), *strike = call.buffer<float>(3), *years = call.buffer<float>(4);
  const float rate = call.value<float>(5), spread = call.value<float>(6);
  const auto distribution = [](float d) {
    const float k = 1 / (1 + 0.2316419f * std::fabs(d));
    const float tail =
        0.3989422804f * std::exp(-0.5f * d * d) *
        (k *
         (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1 - tail : tail;
  };
#pragma omp simd
  for (size_t i = begin; i < end; i++) {
    const float s = price[i], x = strike[i], t = years[i], root = std::sqrt(t);
    const float d1 = (std::log(s / x) + (rate + 0.5f * spread * spread) * t) / (spread * root);
    const float c1 = distribution(d1), c2 = distribution(d1 - spread * root);
    const float discount = std::exp(-rate * t);
    calls[i] = s * c1 - x * discount * c2;
    puts[i] = x * discount * (1 - c2) - s * (1 - c1);
  }
}

void hash(const Call& call, size_t begin, size_t end) {
  constexpr uint32_t p1 = 2654435761u, p2 = 2246822519u, p3 = 3266489917u;
  constexpr size_t items = 4;  // per vector, with four words each
  using Quad = Vector<uint32_t, 4>;
  const uint32_t* in = call.buffer<uint32_t>(0);
  uint32_t* out = call.buffer<uint32_t>(1);
  const uint32_t seed = call.value<uint32_t>(2);
  const Words start = {seed + p1 + p2, seed + p2, seed,           seed - p1, seed + p1 + p2, seed + p2,
                       seed,           seed - p1, seed + p1 + p2, seed + p2, seed,           seed - p1,
                       seed + p1 + p2, seed + p2, seed,           seed - p1};
  for (size_t i = begin; i < end; i += items) {
    const uint32_t* from[items];
    for (size_t k = 0; k < items; k++) from[k] = in + ((i + k) & 1023) * 64;
    Words v = start;
    for (size_t k = 0; k < 64; k += 4) {
      Quad q[items];
      for (size_t n = 0; n < items; n++) std::memcpy(&q[n], from[n] + k, sizeof q[n]);
      const auto low = __builtin_shufflevector(q[0], q[1], 0, 1, 2, 3, 4, 5, 6, 7);
      const auto high = __builtin_shufflevector(q[2], q[3], 0, 1, 2, 3, 4, 5, 6, 7);
      const Words words =
          __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
      v = rotate(v + words * p2, 13) * p1;
    }
    for (size_t n = 0; n < std::min(items, end - i); n++) {
      const auto turned = [&](size_t part, int by) { return std::rotl(uint32_t{v[n * 4 + part]}, by); };
      uint32_t h = turned(0, 1) + turned(1, 7) + turned(2, 12) + turned(3, 18) + 256;
      h = (h ^ h >> 15) * p2;
      h = (h ^ h >> 13) * p3;
      out[i + n] = h ^ h >> 16;
    }
  }
}

void mandel(const Call& call, size_t begin, size_t end) {
  escape_times(call, begin, end, call.value<uint32_t>(1));
}

void mandel2(const Call& call, size_t begin, size_t end) {
  escape_times(call, begin, end, 1u << call.value<uint32_t>(1));
}

void nbody(const Call& call, size_t begin, size_t end) {
  constexpr size_t vectors = 2;  // to hide latency
  const float* __restrict p = call.buffer<float>(0);
  float* __restrict out = call.buffer<float>(1);
  const size_t bodies = call.value<uint32_t>(2);
  const float softening = call.value<float>(3);
  for (size_t i = begin; i < end; i += kLanes * vectors) {
    const size_t count = std::min(kLanes * vectors, end - i);
    Floats x[vectors] = {}, y[vectors] = {}, z[vectors] = {}, ax[vectors] = {}, ay[vectors] = {},
           az[vectors] = {};
    for (size_t n = 0; n < count; n++) {
      x[n / kLanes][n % kLanes] = p[(i + n) * 4];
      y[n / kLanes][n % kLanes] = p[(i + n) * 4 + 1];
      z[n / kLanes][n % kLanes] = p[(i + n) * 4 + 2];
    }
    for (size_t j = 0; j < bodies; j++)
      for (size_t v = 0; v < vectors; v++) {
        const Floats dx = p[j * 4] - x[v], dy = p[j * 4 + 1] - y[v], dz = p[j * 4 + 2] - z[v];
        const Floats square = dx * dx + dy * dy + dz * dz + softening;
        Floats inverse;
        for (size_t l = 0; l < kLanes; l++) inverse[l] = 1 / std::sqrt(square[l]);
        const Floats scale = p[j * 4 + 3] * inverse * inverse * inverse;
        ax[v] += dx * scale;
        ay[v] += dy * scale;
        az[v] += dz * scale;
      }
    for (size_t n = 0; n < count; n++) {
      const size_t v = n / kLanes, l = n % kLanes;
      const float acceleration[4] = {ax[v][l], ay[v][l], az[v][l], 0};
      std::memcpy(out + (i + n) * 4, acceleration, sizeof acceleration);
    }
  }
}

void saxpy(const Call& call, size_t begin, size_t end) {
  const float a = call.value<float>(0);
  const float* __restrict x = call.buffer<float>(1);
  float* __restrict y = call.buffer<float>(2);
  const size_t last = std::min<size_t>(end, call.value<uint32_t>(3));
#pragma omp simd
  for (size_t i = begin; i < last; i++) y[i] = a * x[i] + y[i];
}

}  // namespace eum::perf::native

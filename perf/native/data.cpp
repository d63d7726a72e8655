// Loops whose control flow depends on the data: search, histograms, sorts, graphs.
#include <algorithm>
#include <atomic>
#include <bit>

#include "perf/native/native.hpp"

namespace eum::perf::native {
namespace {

/// Adds a histogram of in[first, last) to `bins`, to which other threads add as well.
[[gnu::always_inline]] inline void count_bytes(const uint8_t* in, size_t first, size_t last, uint32_t* bins) {
  uint32_t mine[4][256] = {};  // four copies, so that repeated bytes form no dependency chain
  for (; first + 4 <= last; first += 4)
    for (size_t k = 0; k < 4; k++) mine[k][in[first + k]]++;
  for (; first < last; first++) mine[0][in[first]]++;
  for (size_t b = 0; b < 256; b++)
    std::atomic_ref(bins[b]).fetch_add(mine[0][b] + mine[1][b] + mine[2][b] + mine[3][b],
                                       std::memory_order_relaxed);
}

}  // namespace

void strfind(const Call& call, size_t begin, size_t end) {
  constexpr size_t lanes = 64;
  using Bytes = Vector<uint8_t, lanes>;
  const uint8_t *text = call.buffer<uint8_t>(0), *pattern = call.buffer<uint8_t>(2);
  const size_t length = call.value<uint32_t>(1), pattern_length = call.value<uint32_t>(3);
  uint8_t* found = call.buffer<uint8_t>(4);
  uint32_t count = 0;
  size_t first = ~size_t{0};
  if (pattern_length > length) return;
  end = std::min(end, length - pattern_length + 1);
  size_t i = begin;
  for (; i + lanes <= end; i += lanes) {
    auto same = Bytes{} == 0;
    for (size_t k = 0; k < pattern_length; k++) {
      Bytes at;
      std::memcpy(&at, text + i + k, lanes);
      same &= at == pattern[k];
    }
    const Bytes flags = (Bytes)same & 1;
    std::memcpy(found + i, &flags, lanes);
    uint64_t parts[lanes / 8];
    std::memcpy(parts, &flags, lanes);
    for (size_t k = 0; k < lanes / 8; k++) {
      count += static_cast<uint32_t>(std::popcount(parts[k]));
      if (parts[k] && first == ~size_t{0})
        first = i + k * 8 + static_cast<size_t>(std::countr_zero(parts[k])) / 8;
    }
  }
  for (; i < end; i++) {
    found[i] = std::equal(pattern, pattern + pattern_length, text + i);
    count += found[i];
    if (found[i]) first = std::min(first, i);
  }
  std::atomic_ref(*call.buffer<uint32_t>(5)).fetch_add(count, std::memory_order_relaxed);
  if (first == ~size_t{0}) return;
  std::atomic_ref least(*call.buffer<uint32_t>(6));
  for (uint32_t old = least.load();
       old > first && !least.compare_exchange_weak(old, static_cast<uint32_t>(first));) {
  }
}

void histogram(const Call& call, size_t begin, size_t end) {
  count_bytes(call.buffer<uint8_t>(0), begin, std::min<size_t>(end, call.value<uint32_t>(2)),
              call.buffer<uint32_t>(1));
}

void histogram_local(const Call& call, size_t begin, size_t end) {
  const size_t n = call.value<uint32_t>(2), items = call.global[0];
  count_bytes(call.buffer<uint8_t>(0), begin * n / items, end * n / items, call.buffer<uint32_t>(1));
}

void bitonic_step(const Call& call, size_t begin, size_t end) {
  uint32_t* __restrict keys = call.buffer<uint32_t>(0);
  const size_t j = call.value<uint32_t>(1), k = call.value<uint32_t>(2);
  if (j < 8) {
    for (size_t i = begin; i < end; i++) {
      if (i & j) continue;
      const uint32_t a = keys[i], b = keys[i + j];
      const bool up = (i & k) == 0;
      keys[i] = up ? std::min(a, b) : std::max(a, b);
      keys[i + j] = up ? std::max(a, b) : std::min(a, b);
    }
    return;
  }
  // A part may end inside a block, so each part does the blocks whose lower half begins in it.
  for (size_t base = begin; base < end; base += j) {
    if (base & j) continue;
    const bool up = (base & k) == 0;
    uint32_t* __restrict low = keys + base, * __restrict high = keys + base + j;
#pragma omp simd
    for (size_t l = 0; l < j; l++) {
      const uint32_t a = low[l], b = high[l], least = std::min(a, b), most = std::max(a, b);
      low[l] = up ? least : most;
      high[l] = up ? most : least;
    }
  }
}

void bitonic_local(const Call& call, size_t begin, size_t end) {
  const int32_t* in = call.buffer<int32_t>(0);
  int32_t* out = call.buffer<int32_t>(1);
  for (size_t base = begin * 2; base < end * 2; base += 256) {
    std::copy_n(in + base, 256, out + base);
    std::sort(out + base, out + base + 256);
  }
}

void bfs_step(const Call& call, size_t begin, size_t end) {
  const uint32_t *row = call.buffer<uint32_t>(0), *column = call.buffer<uint32_t>(1);
  const int32_t* before = call.buffer<int32_t>(2);
  int32_t* after = call.buffer<int32_t>(3);
  const int32_t depth = call.value<int32_t>(4);
  for (size_t i = begin; i < end; i++) {
    int32_t level = before[i];
    if (level < 0)
      for (uint32_t k = row[i]; k < row[i + 1]; k++)
        if (before[column[k]] == depth) {
          level = depth + 1;
          break;
        }
    after[i] = level;
  }
}

void loops(const Call& call, size_t begin, size_t end) {
  const uint32_t* in = call.buffer<uint32_t>(0);
  uint32_t* out = call.buffer<uint32_t>(1);
  const uint32_t rounds = call.value<uint32_t>(2);
  const auto one = [rounds](uint32_t x) {
    uint32_t sum = 0;
    for (uint32_t a = 0; a < (x & 15) + rounds; a++) {
      if ((a ^ x) % 5 == 0) continue;
      uint32_t y = x * (a + 1);
      for (uint32_t b = 0; b < 20; b++) {
        y = y * 1664525u + 1013904223u;
        if (y >> 28 == 3) continue;
        if (y >> 27 == 9) break;
        sum += y >> 16;
        if (sum > 3000000u) return sum;
      }
      if ((y & 0xff) == 17) break;
      do {
        y ^= y << 3;
        sum ^= y;
      } while ((y & 3) == 1 && (sum & 64));
    }
    return sum;
  };
  for (size_t i = begin; i < end; i++) out[i] = one(in[i]);
}

void private_sort(const Call& call, size_t begin, size_t end) {
  const int32_t* in = call.buffer<int32_t>(0);
  int32_t* out = call.buffer<int32_t>(1);
  const size_t n = call.value<uint32_t>(2);
  for (size_t i = begin; i < end; i++) {
    int32_t* a = out + i * n;
    for (size_t k = 0; k < n; k++) {
      const int32_t x = in[i * n + k];
      size_t j = k;
      for (; j > 0 && a[j - 1] > x; j--) a[j] = a[j - 1];
      a[j] = x;
    }
  }
}

void private_shuffle(const Call& call, size_t begin, size_t end) {
  const uint8_t* key = call.buffer<uint8_t>(0);
  const uint32_t key_length = call.value<uint32_t>(1);
  uint32_t* out = call.buffer<uint32_t>(2);
  for (size_t i = begin; i < end; i++) {
    uint8_t box[256];
    for (uint32_t k = 0; k < 256; k++) box[k] = static_cast<uint8_t>(k);
    uint8_t j = 0;
    for (uint32_t k = 0, at = 0; k < 256; k++) {
      j = static_cast<uint8_t>(j + box[k] + key[i * key_length + at]);
      std::swap(box[k], box[j]);
      if (++at == key_length) at = 0;
    }
    uint32_t h = 0;
    for (uint32_t k = 0; k < 256; k++) h = h * 31 + (box[box[k]] ^ k);
    out[i] = h;
  }
}

void spill(const Call& call, size_t begin, size_t end) {
  constexpr size_t n = 176, lanes = 16;
  using Words = Vector<uint32_t, lanes>;
  const uint32_t* in = call.buffer<uint32_t>(0);
  uint32_t* out = call.buffer<uint32_t>(1);
  const uint32_t rounds = call.value<uint32_t>(2);
  for (size_t i = begin; i < end; i += lanes) {
    Words v[n], item;
    for (uint32_t l = 0; l < lanes; l++) item[l] = static_cast<uint32_t>(i) + l;
    for (uint32_t k = 0; k < n; k++) v[k] = in[k] ^ (item * (2 * k + 1));
    for (uint32_t r = 0; r < rounds; r++)
      for (uint32_t k = 0; k < n; k++)
        v[k] = v[(k * 5 + 3) % n] + (v[k] << (k % 31 + 1) | v[k] >> (31 - k % 31));
    Words h{};
    for (uint32_t k = 0; k < n; k++) h = h * 33 ^ v[k];
    std::memcpy(out + i, &h, std::min(lanes, end - i) * sizeof(uint32_t));
  }
}

}  // namespace eum::perf::native

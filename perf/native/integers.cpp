// Digests, division, primes, and Collatz sequences.
#include <algorithm>

#include "perf/native/native.hpp"

namespace eum::perf::native {
namespace {

constexpr size_t kLanes = 16;
using Words = Vector<uint32_t, kLanes>;

Words rotate(Words x, int by) { return x << by | x >> (32 - by); }

constexpr uint32_t kSha[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

}  // namespace

void sha256(const Call& call, size_t begin, size_t end) {
  const uint32_t* in = call.buffer<uint32_t>(0);
  uint32_t* out = call.buffer<uint32_t>(1);
  constexpr uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (size_t i = begin; i < end; i += kLanes) {
    const size_t count = std::min(kLanes, end - i);
    Words w[16] = {}, s[8];
    for (size_t l = 0; l < count; l++)
      for (size_t k = 0; k < 16; k++) w[k][l] = in[(i + l) * 16 + k];
    for (size_t k = 0; k < 8; k++) s[k] = start[k] + Words{};
#pragma GCC unroll 16
    for (size_t k = 0; k < 64; k++) {
      if (k >= 16) {
        const Words x = w[(k + 1) % 16], y = w[(k + 14) % 16];
        w[k % 16] += w[(k + 9) % 16] + (rotate(x, 25) ^ rotate(x, 14) ^ x >> 3) +
                     (rotate(y, 15) ^ rotate(y, 13) ^ y >> 10);
      }
      const Words t = s[7] + (rotate(s[4], 26) ^ rotate(s[4], 21) ^ rotate(s[4], 7)) +
                      (s[6] ^ (s[4] & (s[5] ^ s[6]))) + kSha[k] + w[k % 16];
      const Words u =
          (rotate(s[0], 30) ^ rotate(s[0], 19) ^ rotate(s[0], 10)) + ((s[0] & s[1]) | (s[2] & (s[0] | s[1])));
      s[7] = s[6], s[6] = s[5], s[5] = s[4], s[4] = s[3] + t;
      s[3] = s[2], s[2] = s[1], s[1] = s[0], s[0] = t + u;
    }
    for (size_t l = 0; l < count; l++)
      for (size_t k = 0; k < 8; k++) out[(i + l) * 8 + k] = s[k][l] + start[k];
  }
}

void chacha20(const Call& call, size_t begin, size_t end) {
  const uint32_t* in = call.buffer<uint32_t>(0);
  uint32_t* out = call.buffer<uint32_t>(1);
  const auto low = call.value<std::array<uint32_t, 4>>(2), high = call.value<std::array<uint32_t, 4>>(3);
  const uint32_t counter = call.value<uint32_t>(4), nonce = call.value<uint32_t>(5);
  const auto quarter = [](Words& a, Words& b, Words& c, Words& d) {
    a += b, d = rotate(d ^ a, 16);
    c += d, b = rotate(b ^ c, 12);
    a += b, d = rotate(d ^ a, 8);
    c += d, b = rotate(b ^ c, 7);
  };
  Words lanes;
  for (uint32_t l = 0; l < kLanes; l++) lanes[l] = l;
  for (size_t i = begin; i < end; i += kLanes) {
    const Words zero{};
    Words x[16], first[16] = {0x61707865 + zero, 0x3320646e + zero, 0x79622d32 + zero, 0x6b206574 + zero};
    for (size_t k = 0; k < 4; k++) {
      first[4 + k] = low[k] + zero;
      first[8 + k] = high[k] + zero;
      first[12 + k] = nonce + static_cast<uint32_t>(k) - 1 + zero;
    }
    first[12] = counter + static_cast<uint32_t>(i) + lanes;
    std::copy(first, first + 16, x);
    for (int round = 0; round < 10; round++) {
      for (size_t q = 0; q < 4; q++) quarter(x[q], x[4 + q], x[8 + q], x[12 + q]);
      for (size_t q = 0; q < 4; q++)
        quarter(x[q], x[4 + (q + 1) % 4], x[8 + (q + 2) % 4], x[12 + (q + 3) % 4]);
    }
    for (size_t k = 0; k < 16; k++) x[k] += first[k];
    for (size_t l = 0; l < std::min(kLanes, end - i); l++)
      for (size_t k = 0; k < 16; k++) out[(i + l) * 16 + k] = in[(i + l) * 16 + k] ^ x[k][l];
  }
}

void crc32(const Call& call, size_t begin, size_t end) {
  const uint8_t* data = call.buffer<uint8_t>(0);
  const uint32_t* table = call.buffer<uint32_t>(1);
  uint32_t* out = call.buffer<uint32_t>(2);
  const size_t length = call.value<uint32_t>(3);
  uint32_t tables[8][256];  // eight bytes at a time
  std::copy_n(table, 256, tables[0]);
  for (size_t t = 1; t < 8; t++)
    for (size_t k = 0; k < 256; k++) tables[t][k] = tables[t - 1][k] >> 8 ^ table[tables[t - 1][k] & 255];
  for (size_t i = begin; i < end; i++) {
    const uint8_t* at = data + i * length;
    uint32_t crc = ~0u;
    size_t k = 0;
    for (; k + 8 <= length; k += 8) {
      uint32_t low, high;
      std::memcpy(&low, at + k, 4);
      std::memcpy(&high, at + k + 4, 4);
      low ^= crc;
      crc = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255] ^
            tables[4][low >> 24] ^ tables[3][high & 255] ^ tables[2][high >> 8 & 255] ^
            tables[1][high >> 16 & 255] ^ tables[0][high >> 24];
    }
    for (; k < length; k++) crc = table[(crc ^ at[k]) & 255] ^ crc >> 8;
    out[i] = ~crc;
  }
}

void intdiv32(const Call& call, size_t begin, size_t end) {
  const int32_t *a = call.buffer<int32_t>(0), *b = call.buffer<int32_t>(1);
  const int32_t c = call.value<int32_t>(2);
  const auto uc = static_cast<uint32_t>(c);
  int32_t* __restrict s = call.buffer<int32_t>(3);
  uint32_t* __restrict u = call.buffer<uint32_t>(4);
  for (size_t i = begin; i < end; i++) {
    const auto ua = static_cast<uint32_t>(a[i]), ub = static_cast<uint32_t>(b[i]);
    s[i * 4] = a[i] / b[i];
    s[i * 4 + 1] = a[i] % b[i];
    s[i * 4 + 2] = a[i] / 7 + a[i] % -1000;
    s[i * 4 + 3] = a[i] / c - a[i] % c;
    u[i * 4] = ua / ub;
    u[i * 4 + 1] = ua % ub;
    u[i * 4 + 2] = ua / 7 + ua % 1000;
    u[i * 4 + 3] = ua / uc - ua % uc;
  }
}

void divide64(const Call& call, size_t begin, size_t end) {
  const int64_t *a = call.buffer<int64_t>(0), *b = call.buffer<int64_t>(1);
  int64_t* __restrict s = call.buffer<int64_t>(2);
  uint64_t* __restrict u = call.buffer<uint64_t>(3);
  for (size_t i = begin; i < end; i++) {
    const auto ua = static_cast<uint64_t>(a[i]), ub = static_cast<uint64_t>(b[i]);
    s[i * 2] = a[i] / b[i];
    s[i * 2 + 1] = a[i] % b[i];
    u[i * 2] = ua / ub;
    u[i * 2 + 1] = ua % ub;
  }
}

void primes_trial(const Call& call, size_t begin, size_t end) {
  const uint32_t first = call.value<uint32_t>(0);
  uint8_t* prime = call.buffer<uint8_t>(1);
  uint32_t* smallest = call.buffer<uint32_t>(2);
  for (size_t i = begin; i < end; i++) {
    const uint32_t n = first + static_cast<uint32_t>(i);
    uint32_t factor = n;
    if (n > 2 && n % 2 == 0) {
      factor = 2;
    } else {
      for (uint32_t d = 3; uint64_t{d} * d <= n; d += 2)
        if (n % d == 0) {
          factor = d;
          break;
        }
    }
    prime[i] = n >= 2 && factor == n;
    smallest[i] = factor;
  }
}

void collatz(const Call& call, size_t begin, size_t end) {
  constexpr size_t lanes = 8;
  using Longs = Vector<uint64_t, lanes>;
  const uint64_t start = call.value<uint64_t>(0), limit = call.value<uint32_t>(3);
  uint32_t* steps = call.buffer<uint32_t>(1);
  uint64_t* peak = call.buffer<uint64_t>(2);
  for (size_t i = begin; i < end; i += lanes) {
    const size_t count = std::min(lanes, end - i);
    Longs n, taken{};
    for (size_t l = 0; l < lanes; l++) n[l] = start + i + std::min(l, count - 1);
    Longs high = n;
    for (uint64_t step = 0; step < limit; step++) {
      const auto under_way = n != 1;
      bool any = false;
      for (size_t l = 0; l < lanes; l++) any |= under_way[l] != 0;
      if (!any) break;
      taken -= (Longs)under_way;
      const Longs next = (n & 1) != 0 ? 3 * n + 1 : n >> 1;
      n = under_way ? next : n;
      high = n > high ? n : high;
    }
    for (size_t l = 0; l < count; l++) {
      steps[i + l] = static_cast<uint32_t>(taken[l]);
      peak[i + l] = high[l];
    }
  }
}

}  // namespace eum::perf::native

// Integer kernels of 8 to 64 bits: strfind, collatz, primes, arith64, intdiv, bits32, pair.
#include <fmt/format.h>

#include <bit>

#include "tests/kernels/case_parts.hpp"

namespace eum::kernels {
namespace {

using Signed128 = __int128;
using Unsigned128 = unsigned __int128;

void reference_strfind(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto text = elements<uint8_t>(buffers, 0).first(value_of<uint32_t>(c, 1));
  const auto pattern = elements<uint8_t>(buffers, 2).first(value_of<uint32_t>(c, 3));
  const auto found = elements<uint8_t>(buffers, 4);
  const auto count = elements<uint32_t>(buffers, 5), first = elements<uint32_t>(buffers, 6);
  for (size_t i = 0; i < c.global[0] && i + pattern.size() <= text.size(); i++) {
    const bool all =
        std::equal(pattern.begin(), pattern.end(), text.begin() + static_cast<std::ptrdiff_t>(i));
    found[i] = all;
    count[0] += all;
    if (all) first[0] = std::min(first[0], static_cast<uint32_t>(i));
  }
}

void reference_collatz(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto start = value_of<uint64_t>(c, 0);
  const auto steps = elements<uint32_t>(buffers, 1);
  const auto peak = elements<uint64_t>(buffers, 2);
  const auto limit = value_of<uint32_t>(c, 3);
  for (uint32_t i = 0; i < c.global[0]; i++) {
    uint64_t n = start + i;
    peak[i] = n;
    steps[i] = 0;
    for (; n != 1 && steps[i] < limit; steps[i]++) {
      n = n % 2 ? 3 * n + 1 : n / 2;
      peak[i] = std::max(peak[i], n);
    }
  }
}

void reference_primes_trial(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto first = value_of<uint32_t>(c, 0);
  const auto prime = elements<uint8_t>(buffers, 1);
  const auto factor = elements<uint32_t>(buffers, 2);
  for (uint32_t i = 0; i < c.global[0]; i++) {
    const uint64_t n = uint64_t{first} + i;
    uint64_t d = 2;
    while (d * d <= n && n % d != 0) d++;
    factor[i] = static_cast<uint32_t>(d * d <= n ? d : n);
    prime[i] = n >= 2 && factor[i] == n;
  }
}

void reference_primes_sieve(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto composite = elements<uint8_t>(buffers, 0);
  const auto n = value_of<uint32_t>(c, 1);
  for (uint32_t p = 2; p < 2 + c.global[0]; p++)
    for (uint32_t m = p * p; m < n; m += p) composite[m] = 1;
}

void reference_arith64(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<uint64_t>(buffers, 0), b = elements<uint64_t>(buffers, 1),
             s = elements<uint64_t>(buffers, 2), u = elements<uint64_t>(buffers, 3);
  for (size_t i = 0; i < c.global[0]; i++) {
    const uint64_t x = a[i], y = b[i];
    const auto sx = static_cast<int64_t>(x), sy = static_cast<int64_t>(y);
    const int n = static_cast<int>(y % 64);
    const uint64_t signed_results[8] = {x + y,
                                        x - y,
                                        x * y,
                                        static_cast<uint64_t>((Signed128{sx} * sy) >> 64),
                                        static_cast<uint64_t>(sx >> n),
                                        x << n,
                                        sx < sy ? x : 0 - y,
                                        (sx < 0 ? 0 - x : x) + (x == y ? 7 : 3)};
    const uint64_t unsigned_results[8] = {x * y + 12345,
                                          static_cast<uint64_t>((Unsigned128{x} * y) >> 64),
                                          x >> n,
                                          std::rotl(x, n),
                                          x > y ? x ^ y : x | y,
                                          static_cast<uint64_t>(std::countl_zero(x) * 256 + std::popcount(y)),
                                          (x & 0xffffffff) * (y & 0xffffffff),
                                          ~x & y};
    std::copy_n(signed_results, 8, s.begin() + static_cast<std::ptrdiff_t>(i * 8));
    std::copy_n(unsigned_results, 8, u.begin() + static_cast<std::ptrdiff_t>(i * 8));
  }
}

void reference_divide64(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<int64_t>(buffers, 0), b = elements<int64_t>(buffers, 1),
             s = elements<int64_t>(buffers, 2);
  const auto u = elements<uint64_t>(buffers, 3);
  for (size_t i = 0; i < c.global[0]; i++) {
    s[i * 2] = a[i] / b[i];
    s[i * 2 + 1] = a[i] % b[i];
    u[i * 2] = static_cast<uint64_t>(a[i]) / static_cast<uint64_t>(b[i]);
    u[i * 2 + 1] = static_cast<uint64_t>(a[i]) % static_cast<uint64_t>(b[i]);
  }
}

void reference_power_modulo(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto base = elements<uint64_t>(buffers, 0), power = elements<uint64_t>(buffers, 2);
  const auto modulus = value_of<uint64_t>(c, 1);
  for (uint32_t i = 0; i < c.global[0]; i++) {
    uint64_t square = base[i] % modulus;
    power[i] = 1 % modulus;
    for (uint32_t exponent = i * 7; exponent != 0; exponent >>= 1) {
      if (exponent % 2 != 0) power[i] = power[i] * square % modulus;
      square = square * square % modulus;
    }
  }
}

void reference_divide_by_one(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<uint64_t>(buffers, 0), quotient = elements<uint64_t>(buffers, 2);
  for (size_t i = 0; i < c.global[0]; i++) quotient[i] = a[i] / value_of<uint64_t>(c, 1);
}

void reference_divide_once(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = value_of<uint64_t>(c, 0), divisor = value_of<uint64_t>(c, 1);
  const auto result = elements<uint64_t>(buffers, 2);
  for (size_t i = 0; i < c.global[0]; i++) result[i] = a / divisor + a % divisor * i;
}

void reference_divide_some(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<uint64_t>(buffers, 0), divisor = elements<uint64_t>(buffers, 1),
             result = elements<uint64_t>(buffers, 2);
  for (size_t i = 0; i < c.global[0]; i++) {
    uint64_t left = a[i];
    if (divisor[i] > 3) left = left / divisor[i] + 1;
    if (i % 2 != 0)
      left += static_cast<uint64_t>(static_cast<int64_t>(left) % static_cast<int64_t>(divisor[i] | 1));
    result[i] = left;
  }
}

void reference_digits(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<uint64_t>(buffers, 0);
  const auto base = value_of<uint64_t>(c, 1);
  const auto sum = elements<uint32_t>(buffers, 2);
  for (size_t i = 0; i < c.global[0]; i++) {
    sum[i] = 0;
    for (uint64_t left = a[i]; left != 0; left /= base) sum[i] += static_cast<uint32_t>(left % base);
  }
}

template <class T>
void reference_intdiv(const KernelCase& c, std::vector<Bytes>& buffers) {
  using U = std::make_unsigned_t<T>;
  const auto a = elements<T>(buffers, 0), b = elements<T>(buffers, 1);
  constexpr bool wide = sizeof(T) == 4;  // one more scalar argument, and four results for each signedness
  const auto s = elements<T>(buffers, wide ? 3 : 2);
  const auto u = elements<U>(buffers, wide ? 4 : 3);
  const size_t stride = wide ? 4 : 2;
  for (size_t i = 0; i < c.global[0]; i++) {
    const U ua = static_cast<U>(a[i]), ub = static_cast<U>(b[i]);
    s[i * stride] = static_cast<T>(a[i] / b[i]);
    s[i * stride + 1] = static_cast<T>(a[i] % b[i]);
    u[i * stride] = static_cast<U>(ua / ub);
    u[i * stride + 1] = static_cast<U>(ua % ub);
    if constexpr (wide) {
      const auto d = value_of<T>(c, 2);
      const auto ud = static_cast<U>(d);
      s[i * stride + 2] = a[i] / 7 + a[i] % 1000;
      s[i * stride + 3] = static_cast<T>(static_cast<U>(a[i] / d) - static_cast<U>(a[i] % d));
      u[i * stride + 2] = ua / 7 + ua % 1000;
      u[i * stride + 3] = ua / ud - ua % ud;
    }
  }
}

void reference_bits32(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<int32_t>(buffers, 0), b = elements<int32_t>(buffers, 1),
             s = elements<int32_t>(buffers, 2);
  const auto u = elements<uint32_t>(buffers, 3);
  const auto clamp_signed = [](int64_t v) {
    return static_cast<int32_t>(
        std::clamp<int64_t>(v, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
  };
  for (size_t i = 0; i < c.global[0]; i++) {
    const int64_t x = a[i], y = b[i];
    const uint64_t ux = static_cast<uint32_t>(a[i]), uy = static_cast<uint32_t>(b[i]);
    const int64_t signed_results[8] = {
        clamp_signed(x + y),
        clamp_signed(x - y),
        (x * y) >> 32,
        ((x * y) >> 32) + x,
        static_cast<int64_t>(ux & 0x7fffff) * static_cast<int64_t>(uy & 0xff) + x,
        ((x + y) >> 1) - ((x + y + 1) >> 1),
        x >> (uy & 31),
        clamp_signed(x * y + x)};
    const auto x32 = static_cast<uint32_t>(ux), y32 = static_cast<uint32_t>(uy);
    const uint64_t unsigned_results[8] = {
        std::min<uint64_t>(ux + uy, 0xffffffff),
        ux > uy ? ux - uy : 0,
        (ux * uy) >> 32,
        static_cast<uint64_t>(std::countl_zero(x32) | std::popcount(y32) << 8 |
                              std::popcount(static_cast<uint32_t>(std::countl_zero(y32))) << 16),
        std::rotl(x32, static_cast<int>(y32 & 31)),
        static_cast<uint64_t>(x > y ? x - y : y - x),
        static_cast<uint64_t>(x < 0 ? -x : x) ^ ((ux + uy) >> 1),
        ((ux & ~0x0ff0f00fu) | (uy & 0x0ff0f00fu)) + (ux & 0xffffff) * 77};
    for (size_t k = 0; k < 8; k++) {
      s[i * 8 + k] = static_cast<int32_t>(signed_results[k]);
      u[i * 8 + k] = static_cast<uint32_t>(unsigned_results[k]);
    }
  }
}

void reference_pair_square(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto data = elements<uint32_t>(buffers, 0);
  const auto bias = value_of<uint32_t>(c, 1);
  for (size_t i = 0; i < c.global[0]; i++) data[i] = data[i] * data[i] + bias;
}

void reference_pair_neighbours(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto data = elements<int32_t>(buffers, 0);
  const auto out = elements<int16_t>(buffers, 1);
  const auto shift = value_of<uint8_t>(c, 2);
  const auto n = value_of<uint32_t>(c, 3);
  for (size_t i = 0; i < c.global[0]; i++) {
    const int32_t left = i > 0 ? data[i - 1] : 0, right = i + 1 < n ? data[i + 1] : 0;
    out[i] = static_cast<int16_t>((left - right) >> shift);
  }
}

/// Pairs without zero divisors and without overflowing quotients.
template <class T>
Pairs<T> divisions(uint64_t seed, size_t count) {
  Pairs<T> pairs = edge_pairs<T>(seed, count);
  for (size_t i = 0; i < count; i++) {
    if (pairs.second[i] == 0) pairs.second[i] = static_cast<T>(i % 100 + 1);
    if (pairs.second[i] == static_cast<T>(-1) && pairs.first[i] == std::numeric_limits<T>::min())
      pairs.first[i]++;
  }
  return pairs;
}

KernelCase strfind(const char* variant, const std::string& text, const std::string& pattern,
                   uint32_t global) {
  const auto bytes = [](const std::string& s) { return std::vector<uint8_t>(s.begin(), s.end()); };
  const auto length = static_cast<uint32_t>(text.size());
  return {.name = std::string("strfind.strfind.") + variant,
          .file = "strfind",
          .kernel = "strfind",
          .global = {global, 1, 1},
          .args = {input(bytes(text)), scalar(length), input(bytes(pattern)),
                   scalar(static_cast<uint32_t>(pattern.size())), output<uint8_t>(length),
                   in_out(std::vector<uint32_t>{0}), in_out(std::vector<uint32_t>{0xffffffff})},
          .reference = reference_strfind};
}

KernelCase collatz(const char* variant, uint64_t start, uint32_t items, uint32_t limit) {
  return {.name = std::string("collatz.collatz.") + variant,
          .file = "collatz",
          .kernel = "collatz",
          .global = {items, 1, 1},
          .args = {scalar(start), output<uint32_t>(items), output<uint64_t>(items), scalar(limit)},
          .reference = reference_collatz};
}

KernelCase primes_trial(const char* variant, uint32_t first, uint32_t items) {
  return {.name = std::string("primes.primes_trial.") + variant,
          .file = "primes",
          .kernel = "primes_trial",
          .global = {items, 1, 1},
          .args = {scalar(first), output<uint8_t>(items), output<uint32_t>(items)},
          .reference = reference_primes_trial};
}

template <class T>
KernelCase intdiv(const char* kernel, uint32_t items) {
  using U = std::make_unsigned_t<T>;
  const Pairs<T> pairs = divisions<T>(330 + sizeof(T), items);
  KernelCase c{.name = std::string("intdiv.") + kernel,
               .file = "intdiv",
               .kernel = kernel,
               .global = {items, 1, 1},
               .args = {input(pairs.first), input(pairs.second)},
               .reference = reference_intdiv<T>};
  if (sizeof(T) == 4) c.args.push_back(scalar(T{-13}));
  const size_t results = items * (sizeof(T) == 4 ? 4 : 2);
  c.args.push_back(output<T>(results));
  c.args.push_back(output<U>(results));
  return c;
}

}  // namespace

void add_integer_cases(std::vector<KernelCase>& cases) {
  std::string text;
  for (int64_t letter : random_integers<int64_t>(301, 700, 0, 2)) text += static_cast<char>('a' + letter);
  cases.push_back(strfind("many", text, "abca", 704));
  cases.push_back(strfind("none", text, "abcabcabcabcx", 700));
  cases.push_back(strfind("whole", "needle", "needle", 6));
  cases.push_back(collatz("small", 1, 300, 1000));
  cases.push_back(collatz("large", 0x1ffffffff0, 50, 400));
  cases.push_back(collatz("limited", 27, 33, 40));
  cases.push_back(primes_trial("small", 0, 500));
  cases.push_back(primes_trial("large", 3999999900u, 40));
  cases.push_back({.name = "primes.primes_sieve",
                   .file = "primes",
                   .kernel = "primes_sieve",
                   .global = {40, 1, 1},
                   .args = {in_out(std::vector<uint8_t>(1500, 0)), scalar(1500u)},
                   .reference = reference_primes_sieve});
  const Pairs<int64_t> pairs = edge_pairs<int64_t>(321, 250);
  cases.push_back(
      {.name = "arith64.arith64",
       .file = "arith64",
       .kernel = "arith64",
       .global = {250, 1, 1},
       .args = {input(pairs.first), input(pairs.second), output<int64_t>(2000), output<uint64_t>(2000)},
       .reference = reference_arith64});
  const Pairs<int64_t> quotients = divisions<int64_t>(322, 251);
  cases.push_back(
      {.name = "arith64.divide64",
       .file = "arith64",
       .kernel = "divide64",
       .global = {251, 1, 1},
       .args = {input(quotients.first), input(quotients.second), output<int64_t>(502), output<uint64_t>(502)},
       .reference = reference_divide64});
  const Pairs<uint64_t> numbers = edge_pairs<uint64_t>(323, 203);
  const auto division = [&](const char* kernel, const char* variant, std::vector<Arg> args, auto reference) {
    cases.push_back({.name = fmt::format("division.{}{}", kernel, variant),
                     .file = "division",
                     .kernel = kernel,
                     .global = {203, 1, 1},
                     .args = std::move(args),
                     .reference = reference});
  };
  for (const auto& [variant, divisor] : {std::pair{".small", uint64_t{97}},
                                         {".middle", uint64_t{0x123456789ab}},
                                         {".large", uint64_t{0xffffffffffffffc5}}}) {
    division("power_modulo", variant, {input(numbers.first), scalar(divisor), output<uint64_t>(203)},
             reference_power_modulo);
    division("divide_by_one", variant, {input(numbers.first), scalar(divisor), output<uint64_t>(203)},
             reference_divide_by_one);
    division("divide_once", variant,
             {scalar(uint64_t{0xfedcba9876543210}), scalar(divisor), output<uint64_t>(203)},
             reference_divide_once);
    division("digits", variant, {input(numbers.first), scalar(divisor), output<uint32_t>(203)},
             reference_digits);
  }
  division("divide_some", "", {input(numbers.first), input(numbers.second), output<uint64_t>(203)},
           reference_divide_some);
  cases.push_back(intdiv<int8_t>("intdiv8", 260));
  cases.push_back(intdiv<int16_t>("intdiv16", 230));
  cases.push_back(intdiv<int32_t>("intdiv32", 210));
  const Pairs<int32_t> words = edge_pairs<int32_t>(341, 211);
  cases.push_back(
      {.name = "bits32.bits32",
       .file = "bits32",
       .kernel = "bits32",
       .global = {211, 1, 1},
       .args = {input(words.first), input(words.second), output<int32_t>(211 * 8), output<uint32_t>(211 * 8)},
       .reference = reference_bits32});
  cases.push_back({.name = "pair.pair_square",
                   .file = "pair",
                   .kernel = "pair_square",
                   .global = {90, 1, 1},
                   .args = {in_out(random_bits<int32_t>(351, 90)), scalar(int32_t{-5})},
                   .reference = reference_pair_square});
  cases.push_back({.name = "pair.pair_neighbours",
                   .file = "pair",
                   .kernel = "pair_neighbours",
                   .global = {91, 1, 1},
                   .args = {input(random_integers<int32_t>(352, 91, -1000000, 1000000)), output<int16_t>(91),
                            scalar(uint8_t{3}), scalar(91u)},
                   .reference = reference_pair_neighbours});
}

}  // namespace eum::kernels

// Atomics: each row against values worked out by hand, memory operations against the pure function, and
// contention between threads.
#include <catch2/catch.hpp>

#include <bit>
#include <limits>
#include <thread>
#include <vector>

#include "memory/atomics.hpp"

using namespace eum::mem;

namespace {

struct Case {
  AtomicOp op;
  std::uint64_t old, src0, src1, stored, returned;
};

template <class U>
void check(const Case& c) {
  CAPTURE(info(c.op).name, c.old, c.src0, c.src1, sizeof(U));
  alignas(8) U memory = static_cast<U>(c.old);
  const U returned = perform_atomic<U>(c.op, reinterpret_cast<std::byte*>(&memory), static_cast<U>(c.src0),
                                       static_cast<U>(c.src1));
  CHECK(memory == static_cast<U>(c.stored));
  CHECK(returned == static_cast<U>(c.returned));
}

std::uint64_t bits(float f) { return std::bit_cast<std::uint32_t>(f); }
std::uint64_t bits(double d) { return std::bit_cast<std::uint64_t>(d); }

template <class F, class U>
void check_floats() {
  constexpr F nan = std::numeric_limits<F>::quiet_NaN();
  const auto run = [](AtomicOp op, F old, F a, F b, F stored) {
    check<U>({op, bits(old), bits(a), bits(b), bits(stored), bits(old)});
  };
  const F one = 1, two = 2, zero = 0;
  run(AtomicOp::fmax, one, two, 0, two);
  run(AtomicOp::fmax, two, one, 0, two);
  run(AtomicOp::fmax, nan, one, 0, one);
  run(AtomicOp::fmax, one, nan, 0, one);
  run(AtomicOp::fmax, -zero, zero, 0, zero);
  run(AtomicOp::fmin, one, two, 0, one);
  run(AtomicOp::fmin, nan, one, 0, one);
  run(AtomicOp::fmin, one, nan, 0, one);
  run(AtomicOp::fmin, zero, -zero, 0, -zero);
  run(AtomicOp::fcmpwr, one, one, two, two);
  run(AtomicOp::fcmpwr, one, two, two, one);
  run(AtomicOp::fcmpwr, zero, -zero, two, two);
  run(AtomicOp::fcmpwr, nan, nan, two, nan);
  run(AtomicOp::fadd, one, two, 0, one + two);
  run(AtomicOp::fsub, one, two, 0, one - two);
}

}  // namespace

TEST_CASE("integer atomics do what the manual says") {
  const std::uint64_t minus1 = ~std::uint64_t{0};
  for (const Case& c : std::vector<Case>{
           {AtomicOp::and_, 0b1100, 0b1010, 0, 0b1000, 0b1100},
           {AtomicOp::or_, 0b1100, 0b1010, 0, 0b1110, 0b1100},
           {AtomicOp::xor_, 0b1100, 0b1010, 0, 0b0110, 0b1100},
           {AtomicOp::mov, 5, 9, 0, 9, 5},
           {AtomicOp::inc, minus1, 77, 77, 0, minus1},
           {AtomicOp::dec, 0, 77, 77, minus1, 0},
           {AtomicOp::add, minus1, 2, 0, 1, minus1},
           {AtomicOp::sub, 1, 2, 0, minus1, 1},
           {AtomicOp::revsub, 1, 5, 0, 4, 1},
           {AtomicOp::imax, minus1, 3, 0, 3, minus1},
           {AtomicOp::imin, minus1, 3, 0, minus1, minus1},
           {AtomicOp::umax, minus1, 3, 0, minus1, minus1},
           {AtomicOp::umin, minus1, 3, 0, 3, minus1},
           {AtomicOp::cmpwr, 4, 4, 9, 9, 4},
           {AtomicOp::cmpwr, 4, 5, 9, 4, 4},
           {AtomicOp::predec, 0, 0, 0, minus1, minus1},
           {AtomicOp::load, 8, 1, 2, 8, 8},
       }) {
    check<std::uint16_t>(c);
    check<std::uint32_t>(c);
    check<std::uint64_t>(c);
  }
}

TEST_CASE("atomics of 16 bits compute on halves, rounded to nearest even") {
  constexpr std::uint64_t one = 0x3c00, least = 1, greatest = 0x7bff, infinity = 0x7c00, quiet = 0x7e00,
                          signalling = 0x7d01, minus_zero = 0x8000;
  for (const Case& c : std::vector<Case>{
           {AtomicOp::fadd, one, one, 0, 0x4000, one},
           {AtomicOp::fadd, least, least, 0, 2, least},
           {AtomicOp::fadd, 0x6800, one, 0, 0x6800, 0x6800},           // 2048 + 1: a tie
           {AtomicOp::fadd, 0x6801, one, 0, 0x6802, 0x6801},           // 2050 + 1: a tie, to 2052
           {AtomicOp::fadd, greatest, 0x4c00, 0, infinity, greatest},  // 65504 + 16
           {AtomicOp::fsub, one, one, 0, 0, one},
           {AtomicOp::fmax, signalling, one, 0, one, signalling},
           {AtomicOp::fmin, one, quiet, 0, one, one},
           {AtomicOp::fmax, minus_zero, 0, 0, 0, minus_zero},
           {AtomicOp::fmin, 0, minus_zero, 0, minus_zero, 0},
           {AtomicOp::fcmpwr, 0, minus_zero, one, one, 0},
           {AtomicOp::fcmpwr, signalling, signalling, one, signalling, signalling},
       })
    check<std::uint16_t>(c);
}

TEST_CASE("float atomics do what the manual says") {
  check_floats<float, std::uint32_t>();
  check_floats<double, std::uint64_t>();
}

TEST_CASE("32-bit atomics leave their neighbours alone") {
  for (std::size_t i = 0; i < atomic_table.size(); ++i) {
    alignas(8) std::uint32_t memory[3] = {0xaaaaaaaa, 1, 0xbbbbbbbb};
    perform_atomic<std::uint32_t>(static_cast<AtomicOp>(i), reinterpret_cast<std::byte*>(&memory[1]), 1, 2);
    CHECK(memory[0] == 0xaaaaaaaa);
    CHECK(memory[2] == 0xbbbbbbbb);
  }
}

TEST_CASE("names of atomics parse back") {
  for (std::size_t i = 0; i < atomic_table.size(); ++i) {
    CHECK(parse_atomic(atomic_table[i].name) == static_cast<AtomicOp>(i));
  }
  CHECK(parse_atomic("and") == AtomicOp::and_);
  CHECK_FALSE(parse_atomic("and_"));
  CHECK_FALSE(parse_atomic(""));
}

TEST_CASE("atomics of several threads lose nothing") {
  constexpr int threads = 4, rounds = 20000;
  alignas(8) std::uint32_t sum = 0, highest = 0, toggled = 0;
  alignas(8) std::uint64_t total = 0;
  std::vector<std::thread> pool;
  for (unsigned t = 0; t < threads; ++t) {
    pool.emplace_back([&, t] {
      const auto at = [](auto& v) { return reinterpret_cast<std::byte*>(&v); };
      for (unsigned i = 0; i < rounds; ++i) {
        perform_atomic<std::uint32_t>(AtomicOp::inc, at(sum), 0, 0);
        perform_atomic<std::uint32_t>(AtomicOp::umax, at(highest), i * threads + t, 0);
        perform_atomic<std::uint32_t>(AtomicOp::xor_, at(toggled), 1u << t, 0);
        perform_atomic<std::uint64_t>(AtomicOp::add, at(total), std::uint64_t{1} << 31, 0);
      }
    });
  }
  for (auto& t : pool) t.join();
  CHECK(sum == threads * rounds);
  CHECK(highest == threads * rounds - 1);
  CHECK(toggled == 0);
  CHECK(total == (std::uint64_t{1} << 31) * threads * rounds);
}

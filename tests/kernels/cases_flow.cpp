// Divergent control flow and private memory: branches, loops, interpreter, subroutine, irreducible,
// private_sort, spill.
#include <bit>

#include "tests/kernels/case_parts.hpp"

namespace eum::kernels {
namespace {

uint32_t nested_loops(uint32_t x, uint32_t rounds) {
  uint32_t sum = 0;
  for (uint32_t a = 0; a < x % 16 + rounds; a++) {
    if ((a ^ x) % 5 == 0) continue;
    uint32_t y = x * (a + 1);
    for (int b = 0; b < 20; b++) {
      y = y * 1664525 + 1013904223;
      if (y >> 28 == 3) continue;
      if (y >> 27 == 9) break;
      sum += y >> 16;
      if (sum > 3000000) return sum;
    }
    if (y % 256 == 17) return sum;
    do {
      y ^= y << 3;
      sum ^= y;
    } while (y % 4 == 1 && sum & 64);
  }
  return sum;
}

void reference_loops(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<uint32_t>(buffers, 0), out = elements<uint32_t>(buffers, 1);
  for (size_t i = 0; i < c.global[0]; i++) out[i] = nested_loops(in[i], value_of<uint32_t>(c, 2));
}

void reference_interpreter(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto code = elements<uint32_t>(buffers, 0), seed = elements<uint32_t>(buffers, 2),
             out = elements<uint32_t>(buffers, 3);
  const auto length = value_of<uint32_t>(c, 1);
  for (uint32_t i = 0; i < c.global[0]; i++) {
    std::array<uint32_t, 8> r;
    for (uint32_t k = 0; k < 8; k++) r[k] = seed[i] + k * 0x9e3779b9;
    uint32_t pc = i % length;
    bool running = true;
    for (int step = 0; step < 64 && running; step++) {
      const uint32_t op = code[pc];
      pc = (pc + 1) % length;
      uint32_t& d = r[op >> 8 & 7];
      uint32_t& a = r[op >> 16 & 7];
      const uint32_t b_index = op >> 24 & 7, b = r[b_index];
      const uint32_t a_value = a;
      switch (op & 15) {
        case 0:
          d = a_value + b;
          break;
        case 1:
          d = a_value - b;
          break;
        case 2:
          d = a_value * b;
          break;
        case 3:
          d = a_value ^ b;
          break;
        case 4:
          d = a_value << (b & 31);
          break;
        case 5:
          d = a_value >> (b & 31);
          break;
        case 6:
          d = std::rotl(a_value, static_cast<int>(b & 31));
          break;
        case 7:
          d = a_value | 1;
          a = d % ((r[b_index] & 0xffff) + 1);
          d += 3;
          break;
        case 8:
          d += 3;
          break;
        case 9:
          if (a_value & 1) pc = (pc + b_index) % length;
          break;
        case 10:
          d = static_cast<uint32_t>(std::popcount(a_value) + std::countl_zero(b));
          break;
        case 11:
          running = (a_value & 0xff) != 0;
          break;
        default:
          d = ~a_value;
          break;
      }
    }
    out[i] = 0;
    for (uint32_t word : r) out[i] = out[i] * 31 + word;
  }
}

uint32_t mix(uint32_t a, uint32_t b) {
  for (uint32_t k = 0; k < b % 8; k++) a = std::rotl(a, 5) + b;
  return a;
}

uint32_t twist(uint32_t x, uint32_t y) { return x & 1 ? mix(x ^ y, y) + 1 : mix(y, x >> 3); }

void reference_subroutine(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<uint32_t>(buffers, 0), out = elements<uint32_t>(buffers, 1);
  for (uint32_t i = 0; i < c.global[0]; i++) {
    uint32_t h = i;
    for (uint32_t k = 0; k <= in[i] % 4; k++) h = twist(h + k, in[i]);
    out[i] = h & 4 ? mix(h, in[i]) : h;
  }
}

/// The control flow graph as a state machine: the kernel's two blocks, each of which names its successor.
void reference_irreducible(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<uint32_t>(buffers, 0), out = elements<uint32_t>(buffers, 1);
  enum class Block { Even, Odd, End };
  for (size_t i = 0; i < c.global[0]; i++) {
    const uint32_t x = in[i];
    uint32_t n = 0, h = x;
    Block block = x & 1 ? Block::Odd : Block::Even;
    while (block != Block::End) {
      if (block == Block::Even) {
        h = h * 5 + n++;
        block = n > x % 32 + 4 ? Block::End : h & 8 ? Block::Even : Block::Odd;
      } else {
        h = (h ^ h >> 7) + n++ * 3;
        if (n > 40)
          block = Block::End;
        else if (h & 2)
          block = Block::Odd;
        else if (h & 16)
          block = Block::Even;
        else
          h++;
      }
    }
    out[i] = h ^ n;
  }
}

void reference_private_sort(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<int32_t>(buffers, 0), out = elements<int32_t>(buffers, 1);
  const size_t n = value_of<uint32_t>(c, 2);
  std::copy_n(in.begin(), n * c.global[0], out.begin());
  for (size_t i = 0; i < c.global[0]; i++) {
    const auto mine = out.subspan(i * n, n);
    std::sort(mine.begin(), mine.end());
  }
}

void reference_private_shuffle(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto key = elements<uint8_t>(buffers, 0);
  const size_t length = value_of<uint32_t>(c, 1);
  const auto out = elements<uint32_t>(buffers, 2);
  for (size_t i = 0; i < c.global[0]; i++) {
    std::array<uint8_t, 256> box;
    for (size_t k = 0; k < 256; k++) box[k] = static_cast<uint8_t>(k);
    uint8_t j = 0;
    for (size_t k = 0; k < 256; k++) {
      j = static_cast<uint8_t>(j + box[k] + key[i * length + k % length]);
      std::swap(box[k], box[j]);
    }
    out[i] = 0;
    for (uint32_t k = 0; k < 256; k++) out[i] = out[i] * 31 + (box[box[k]] ^ k);
  }
}

void reference_spill(const KernelCase& c, std::vector<Bytes>& buffers) {
  constexpr size_t count = 176;
  const auto in = elements<uint32_t>(buffers, 0), out = elements<uint32_t>(buffers, 1);
  for (uint32_t i = 0; i < c.global[0]; i++) {
    std::array<uint32_t, count> v;
    for (uint32_t k = 0; k < count; k++) v[k] = in[k] ^ i * (2 * k + 1);
    for (uint32_t r = 0; r < value_of<uint32_t>(c, 2); r++)
      for (size_t k = 0; k < count; k++)
        v[k] = v[(k * 5 + 3) % count] + std::rotl(v[k], static_cast<int>(k % 31 + 1));
    uint32_t h = 0;
    for (uint32_t word : v) h = h * 33 ^ word;
    out[i] = h;
  }
}

void reference_binarised(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto from = elements<uint8_t>(buffers, 0), to = elements<uint8_t>(buffers, 1);
  for (size_t i = 0; i < c.global[0]; i++) to[i] = from[i] > value_of<int32_t>(c, 2) ? 255 : 0;
}

void reference_grades(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto marks = elements<float>(buffers, 0);
  const auto to = elements<uint8_t>(buffers, 1);
  for (size_t i = 0; i < c.global[0]; i++) {
    const auto hundred = static_cast<uint8_t>(marks[i] * 100);
    to[i] = marks[i] < 0.3F ? 0 : marks[i] < 0.5F ? 1 : marks[i] < 0.7F ? 2 : marks[i] < 0.9F ? 3 : hundred;
  }
}

void reference_covered(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto from = elements<float>(buffers, 0), to = elements<float>(buffers, 2);
  const auto cover = elements<uint8_t>(buffers, 1);
  for (size_t i = 0; i < c.global[0]; i++) to[i] = (cover[i] & 1) != 0 ? from[i] : -1;
}

void reference_divided(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto from = elements<int16_t>(buffers, 0), low = elements<int16_t>(buffers, 1),
             high = elements<int16_t>(buffers, 2);
  for (size_t i = 0; i < size_t{c.global[0]} * c.global[1]; i++) {
    const bool is_low = from[i] < 100;
    low[i] = is_low ? from[i] : int16_t{0};
    high[i] = is_low ? int16_t{0} : static_cast<int16_t>(from[i] - 100);
  }
}

void reference_limited(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto from = elements<uint8_t>(buffers, 0), to = elements<uint8_t>(buffers, 1);
  const size_t count = size_t{c.global[0]} * value_of<uint32_t>(c, 2);
  for (size_t i = 0; i < count; i++) to[i] = from[i] > value_of<int32_t>(c, 3) ? 255 : 0;
}

void reference_kept(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto from = elements<int32_t>(buffers, 0), to = elements<int32_t>(buffers, 1),
             counts = elements<int32_t>(buffers, 2);
  const uint32_t length = value_of<uint32_t>(c, 3);
  for (uint32_t item = 0; item < c.global[0]; item++) {
    counts[item] = 0;
    for (uint32_t i = item * length; i < (item + 1) * length; i++) {
      if (from[i] <= value_of<int32_t>(c, 4)) continue;
      to[i] = from[i];
      counts[item]++;
    }
  }
}

void reference_marked(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto from = elements<float>(buffers, 0);
  const auto to = elements<uint8_t>(buffers, 1);
  const size_t count = size_t{c.global[0]} * value_of<uint32_t>(c, 2);
  for (size_t i = 0; i < count; i++)
    if (from[i] > 0.5F) to[i] = 1;
}

void reference_adjusted(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto from = elements<int16_t>(buffers, 0), to = elements<int16_t>(buffers, 1);
  const size_t count = size_t{c.global[0]} * value_of<uint32_t>(c, 2);
  for (size_t i = 0; i < count; i++) {
    const int value = from[i];
    const int now = value > 1000 ? to[i] + 2 : value > 0 ? value / 3 : to[i] - value;
    to[i] = static_cast<int16_t>(now);
  }
}

KernelCase one_to_one(const std::string& file, const char* kernel, uint32_t items, uint64_t seed,
                      void (*reference)(const KernelCase&, std::vector<Bytes>&)) {
  return {.name = file + "." + kernel,
          .file = file,
          .kernel = kernel,
          .global = {items, 1, 1},
          .args = {input(random_bits<uint32_t>(seed, items)), output<uint32_t>(items)},
          .reference = reference};
}

}  // namespace

void add_flow_cases(std::vector<KernelCase>& cases) {
  for (const char* file : {"loops", "loops8", "loops16", "loops_noopt"}) {
    KernelCase c = one_to_one(file, "loops", 299, 801, reference_loops);
    c.args.push_back(scalar(6u));
    cases.push_back(c);
  }
  constexpr uint32_t n = 530, width = 45, height = 7;
  const auto branches = [&](const char* kernel, std::vector<Arg> args, auto reference) {
    cases.push_back(of_items("branches", kernel, n, std::move(args), reference));
  };
  branches("binarised", {input(random_bits<uint8_t>(811, n)), output<uint8_t>(n), scalar(100)},
           reference_binarised);
  branches("grades", {input(random_floats(812, n, 0, 1)), output<uint8_t>(n)}, reference_grades);
  branches("covered",
           {input(random_floats(813, n, -9, 9)), input(random_bits<uint8_t>(814, n)), output<float>(n)},
           reference_covered);
  branches("divided",
           {input(random_bits<int16_t>(815, width * height)), output<int16_t>(width * height),
            output<int16_t>(width * height), scalar(width)},
           reference_divided);
  cases.back().dimensions = 2;
  cases.back().global = {width, height, 1};
  constexpr uint32_t rows = 131, length = 77, all = rows * length;
  const auto of_rows = [&](const char* kernel, std::vector<Arg> args, auto reference) {
    cases.push_back(of_items("row_branches", kernel, rows, std::move(args), reference));
  };
  of_rows("limited",
          {input(random_bits<uint8_t>(816, all)), output<uint8_t>(all), scalar(length), scalar(100)},
          reference_limited);
  of_rows("kept",
          {input(random_bits<int32_t>(817, all)), output<int32_t>(all), output<int32_t>(rows), scalar(length),
           scalar(1000)},
          reference_kept);
  of_rows("marked", {input(random_floats(818, all, 0, 1)), output<uint8_t>(all), scalar(length)},
          reference_marked);
  of_rows("adjusted", {input(random_bits<int16_t>(819, all)), output<int16_t>(all), scalar(length)},
          reference_adjusted);
  const std::vector<uint32_t> code = random_integers<uint32_t>(802, 50, 0, 0xffffffff);
  cases.push_back(
      {.name = "interpreter.interpreter",
       .file = "interpreter",
       .kernel = "interpreter",
       .global = {203, 1, 1},
       .args = {input(code), scalar(50u), input(random_bits<uint32_t>(803, 203)), output<uint32_t>(203)},
       .reference = reference_interpreter});
  cases.push_back(one_to_one("subroutine", "subroutine", 307, 804, reference_subroutine));
  cases.push_back(one_to_one("irreducible", "irreducible", 305, 805, reference_irreducible));
  cases.push_back({.name = "private_sort.private_sort",
                   .file = "private_sort",
                   .kernel = "private_sort",
                   .global = {45, 1, 1},
                   .args = {input(random_bits<int32_t>(806, 45 * 40)), output<int32_t>(45 * 40), scalar(40u)},
                   .reference = reference_private_sort});
  cases.push_back({.name = "private_sort.private_shuffle",
                   .file = "private_sort",
                   .kernel = "private_shuffle",
                   .global = {41, 1, 1},
                   .args = {input(random_bits<uint8_t>(807, 41 * 11)), scalar(11u), output<uint32_t>(41)},
                   .reference = reference_private_shuffle});
  cases.push_back({.name = "spill.spill",
                   .file = "spill",
                   .kernel = "spill",
                   .global = {60, 1, 1},
                   .args = {input(random_bits<uint32_t>(808, 176)), output<uint32_t>(60), scalar(7u)},
                   .reference = reference_spill});
}

}  // namespace eum::kernels

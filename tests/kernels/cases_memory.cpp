// Constant tables, program-scope variables, generic pointers, gathers: consttable, globals, generic_pointer,
// gather; elements side by side that each item has to itself: chunks, and, in loops, rows.
#include <algorithm>
#include <cmath>

#include "tests/kernels/case_parts.hpp"

namespace eum::kernels {
namespace {

constexpr uint32_t chunk_items = 203;

void reference_crc32(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto data = elements<uint8_t>(buffers, 0);
  const size_t length = value_of<uint32_t>(c, 1);
  const auto out = elements<uint32_t>(buffers, 2);
  for (size_t i = 0; i < c.global[0]; i++) {
    uint32_t crc = 0xffffffff;
    for (size_t bit = 0; bit < length * 8; bit++) {
      const uint32_t in = data[i * length + bit / 8] >> bit % 8 & 1;
      crc = (crc >> 1) ^ ((crc ^ in) & 1 ? 0xedb88320 : 0);
    }
    out[i] = ~crc;
  }
}

void reference_polynomial(const KernelCase& c, std::vector<Bytes>& buffers) {
  constexpr float coefficient[5] = {1.0f, -0.5f, 0.25f, 0.125f, -0.0625f};
  constexpr size_t permutation[7] = {3, 6, 0, 5, 1, 4, 2};
  const auto x = elements<float>(buffers, 0), scale = elements<float>(buffers, 1),
             y = elements<float>(buffers, 2);
  for (size_t i = 0; i < c.global[0]; i++) {
    float sum = 0;
    for (size_t k = 0; k < value_of<uint32_t>(c, 3); k++)
      sum = std::fma(sum, x[i], coefficient[permutation[(i + k) % 7] % 5]);
    y[i] = sum * scale[i % 4];
  }
}

void reference_globals(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<int32_t>(buffers, 0), out = elements<int32_t>(buffers, 1);
  for (size_t i = 0; i < c.global[0]; i++) {
    const auto state = [](size_t k) { return static_cast<int32_t>(k % 2 ? -(k + 1) : k + 1); };
    out[i] = state(i % 8) * in[i] + static_cast<int32_t>(i / 2 % 4 + 1) * 10 + state(2 + i % 4);
  }
}

void reference_generic(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<int32_t>(buffers, 0), out = elements<int32_t>(buffers, 1);
  for (size_t i = 0; i < c.global[0]; i++) {
    const size_t lid = i % c.local[0], mirror = i - lid + 63 - lid;
    int32_t value = 0;
    if (i % 3 == 0)
      value = in[mirror] ^ 0xff;
    else if (i % 3 == 1)
      value = in[mirror];
    else
      value = in[i] + static_cast<int32_t>(lid % 4);
    out[i] = value * 2 + 1;
  }
}

void reference_gather(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto index = elements<uint32_t>(buffers, 0), dwords = elements<uint32_t>(buffers, 3),
             out_dwords = elements<uint32_t>(buffers, 7);
  const auto bytes = elements<uint8_t>(buffers, 1), out_bytes = elements<uint8_t>(buffers, 5);
  const auto words = elements<uint16_t>(buffers, 2), out_words = elements<uint16_t>(buffers, 6);
  const auto qwords = elements<uint64_t>(buffers, 4), out_qwords = elements<uint64_t>(buffers, 8);
  for (size_t i = 0; i < c.global[0]; i++) {
    const size_t k = index[i];
    out_bytes[k] = static_cast<uint8_t>(bytes[i] + 1);
    out_words[k] = words[k] ^ 0x55aa;
    out_dwords[i] = dwords[k] - static_cast<uint32_t>(i);
    out_qwords[k] = qwords[i] + dwords[i];
  }
}

void reference_floats(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto from = elements<float>(buffers, 0), to = elements<float>(buffers, 1);
  for (size_t i = 0; i < 8 * c.global[0]; i++) to[i] = from[i] * 2 + static_cast<float>(i % 8);
}

void reference_ints(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto from = elements<uint32_t>(buffers, 0), to = elements<uint32_t>(buffers, 1);
  for (size_t i = 0; i < 8 * c.global[0]; i++)
    if (i % 8 != 7) to[i] = from[i] * 3 + 1;
}

void reference_words(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto from = elements<uint16_t>(buffers, 0), to = elements<uint16_t>(buffers, 1);
  for (size_t i = 0; i < 6 * c.global[0]; i++) to[i] = static_cast<uint16_t>(from[i] ^ i % 6 << 13);
}

void reference_bytes(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto from = elements<uint8_t>(buffers, 0), to = elements<uint8_t>(buffers, 1);
  for (size_t i = 0; i < 16 * c.global[0]; i++)
    to[i] = static_cast<uint8_t>(from[i] > value_of<int32_t>(c, 2) ? 255 - from[i] : from[i] + 1);
}

KernelCase chunks(const char* kernel, std::vector<Arg> args,
                  void (*reference)(const KernelCase&, std::vector<Bytes>&)) {
  return of_items("chunks", kernel, chunk_items, std::move(args), reference);
}

KernelCase gather(const std::string& file, uint32_t items) {
  std::vector<uint32_t> index(items);
  for (uint32_t i = 0; i < items; i++) index[i] = i;
  Random random(911);
  for (size_t i = items; i-- > 1;)
    std::swap(index[i], index[static_cast<size_t>(random.integer(0, static_cast<int64_t>(i)))]);
  return {.name = file + ".gather",
          .file = file,
          .kernel = "gather",
          .global = {items, 1, 1},
          .args = {input(index), input(random_bits<uint8_t>(912, items)),
                   input(random_bits<uint16_t>(913, items)), input(random_bits<uint32_t>(914, items)),
                   input(random_bits<uint64_t>(915, items)), output<uint8_t>(items), output<uint16_t>(items),
                   output<uint32_t>(items), output<uint64_t>(items)},
          .reference = reference_gather};
}

constexpr uint32_t row_count = 77;

size_t row_length(const KernelCase& c, unsigned argument) { return value_of<uint32_t>(c, argument); }

void reference_scale(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto from = elements<float>(buffers, 0), factors = elements<float>(buffers, 1),
             offsets = elements<float>(buffers, 2), to = elements<float>(buffers, 3);
  const size_t length = row_length(c, 4);
  for (size_t i = 0; i < c.global[0] * length; i++)
    to[i] = std::fma(from[i], factors[i / length], offsets[i % length]);
}

void reference_average(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto a = elements<uint8_t>(buffers, 0), b = elements<uint8_t>(buffers, 1),
             to = elements<uint8_t>(buffers, 2);
  for (size_t i = 0; i < c.global[0] * row_length(c, 3); i++) to[i] = static_cast<uint8_t>((a[i] + b[i]) / 2);
}

void reference_look_up(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto rows = elements<uint16_t>(buffers, 0), table = elements<uint16_t>(buffers, 1);
  for (size_t i = 0; i < c.global[0] * row_length(c, 2); i++) rows[i] = table[rows[i] & 255];
}

void reference_parts(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto from = elements<uint32_t>(buffers, 0), to = elements<uint32_t>(buffers, 1);
  const size_t count = value_of<uint32_t>(c, 2), each = value_of<uint32_t>(c, 3);
  for (size_t i = 0; i < std::min(count, c.global[0] * each); i++)
    to[i] = from[i] * 3 + static_cast<uint32_t>(i % each);
}

void reference_dots(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto rows = elements<int8_t>(buffers, 0), with = elements<int8_t>(buffers, 1);
  const auto to = elements<int32_t>(buffers, 2);
  const size_t length = row_length(c, 3);
  for (size_t row = 0; row < c.global[0]; row++) {
    to[row] = 0;
    for (size_t i = 0; i < length; i++) to[row] += rows[row * length + i] * with[i];
  }
}

void reference_differences(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto from = elements<uint32_t>(buffers, 0), to = elements<uint32_t>(buffers, 1);
  const size_t length = row_length(c, 2);
  for (size_t i = 0; i < c.global[0] * length; i++) to[i] = from[i] - (i % length == 0 ? 0 : from[i - 1]);
}

void reference_turned(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto from = elements<uint32_t>(buffers, 0), to = elements<uint32_t>(buffers, 1);
  const size_t length = row_length(c, 2);
  for (size_t i = 0; i < c.global[0] * length; i++)
    to[i] = from[i / length * length + length - 1 - i % length];
}

constexpr uint32_t fixed_length = 128;

void reference_fixed_length(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto from = elements<uint32_t>(buffers, 0), to = elements<uint32_t>(buffers, 1);
  for (uint32_t i = 0; i < c.global[0] * fixed_length; i++) to[i] = from[i] * 5 + i % fixed_length;
}

KernelCase rows(const char* kernel, std::vector<Arg> args,
                void (*reference)(const KernelCase&, std::vector<Bytes>&)) {
  return of_items("rows", kernel, row_count, std::move(args), reference);
}

}  // namespace

void add_memory_cases(std::vector<KernelCase>& cases) {
  cases.push_back({.name = "consttable.crc32",
                   .file = "consttable",
                   .kernel = "crc32",
                   .global = {77, 1, 1},
                   .args = {input(random_bits<uint8_t>(901, 77 * 13)), scalar(13u), output<uint32_t>(77)},
                   .reference = reference_crc32});
  cases.push_back(
      {.name = "consttable.polynomial",
       .file = "consttable",
       .kernel = "polynomial",
       .global = {101, 1, 1},
       .args = {input(random_floats(902, 101, -1.5, 1.5)), input(std::vector<float>{1.0f, -2.0f, 0.3f, 1e6f}),
                output<float>(101), scalar(9u)},
       .reference = reference_polynomial});
  cases.push_back({.name = "globals.globals",
                   .file = "globals",
                   .kernel = "globals",
                   .global = {83, 1, 1},
                   .args = {input(random_integers<int32_t>(903, 83, -1000000, 1000000)), output<int32_t>(83)},
                   .reference = reference_globals});
  cases.push_back(
      {.name = "generic_pointer.generic_pointer",
       .file = "generic_pointer",
       .kernel = "generic_pointer",
       .global = {192, 1, 1},
       .local = {64, 1, 1},
       .args = {input(random_integers<int32_t>(904, 192, -1000000, 1000000)), output<int32_t>(192)},
       .reference = reference_generic});
  cases.push_back(gather("gather", 303));
  cases.push_back(gather("gather_a64", 303));
  constexpr uint32_t n = chunk_items;
  cases.push_back(
      chunks("floats", {input(random_floats(921, 8 * n, -9, 9)), output<float>(8 * n)}, reference_floats));
  cases.push_back(
      chunks("ints", {input(random_bits<uint32_t>(922, 8 * n)), output<uint32_t>(8 * n)}, reference_ints));
  cases.push_back(
      chunks("words", {input(random_bits<uint16_t>(923, 6 * n)), output<uint16_t>(6 * n)}, reference_words));
  cases.push_back(chunks("bytes",
                         {input(random_bits<uint8_t>(924, 16 * n)), output<uint8_t>(16 * n), scalar(99)},
                         reference_bytes));
  constexpr uint32_t floats = row_count * 64, bytes = row_count * 80, words = row_count * 33,
                     ints = row_count * 41 - 17;
  cases.push_back(rows("scale",
                       {input(random_floats(931, floats, -9, 9)), input(random_floats(932, row_count, -2, 2)),
                        input(random_floats(933, 64, -9, 9)), output<float>(floats), scalar(64u)},
                       reference_scale));
  cases.push_back(rows("average",
                       {input(random_bits<uint8_t>(934, bytes)), input(random_bits<uint8_t>(935, bytes)),
                        output<uint8_t>(bytes), scalar(80u)},
                       reference_average));
  cases.push_back(
      rows("look_up",
           {in_out(random_bits<uint16_t>(936, words)), input(random_bits<uint16_t>(937, 256)), scalar(33u)},
           reference_look_up));
  cases.push_back(rows(
      "parts", {input(random_bits<uint32_t>(938, ints)), output<uint32_t>(ints), scalar(ints), scalar(41u)},
      reference_parts));
  cases.push_back(rows("dots",
                       {input(random_bits<uint8_t>(939, bytes)), input(random_bits<uint8_t>(940, 80)),
                        output<int32_t>(row_count), scalar(80u)},
                       reference_dots));
  constexpr uint32_t odd = row_count * 53, fixed = row_count * fixed_length;
  cases.push_back(rows("differences",
                       {input(random_bits<uint32_t>(941, odd)), output<uint32_t>(odd), scalar(53u)},
                       reference_differences));
  cases.push_back(rows("turned", {input(random_bits<uint32_t>(942, odd)), output<uint32_t>(odd), scalar(53u)},
                       reference_turned));
  cases.push_back(rows("fixed_length", {input(random_bits<uint32_t>(943, fixed)), output<uint32_t>(fixed)},
                       reference_fixed_length));
}

}  // namespace eum::kernels

// Vector loads and stores, swizzles, partial component writes, run-time component indices: vectors,
// vectors_a64.
#include "tests/kernels/case_parts.hpp"

namespace eum::kernels {
namespace {

void reference_triple(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<float>(buffers, 0), out = elements<float>(buffers, 1);
  for (size_t i = 0; i < c.global[0] * size_t{3}; i++) out[i] = in[i / 3 * 3 + (i + 2) % 3] * 2;
}

void reference_wide(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<uint32_t>(buffers, 0), out = elements<uint32_t>(buffers, 1);
  const auto bytes = elements<uint8_t>(buffers, 2), out_bytes = elements<uint8_t>(buffers, 3);
  for (size_t i = 0; i < c.global[0]; i++) {
    for (size_t k = 0; k < 8; k++) {
      const size_t from = k < 4 ? 2 * k + 1 : 2 * (k - 4);  // the odd components, then the even ones
      out[i * 8 + k] = in[i * 8 + from] + in[i * 8 + 7 - k];
    }
    for (size_t k = 0; k < 16; k++) out_bytes[i * 16 + k] = static_cast<uint8_t>(bytes[i * 16 + 15 - k] + 3);
  }
}

void reference_unaligned(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto bytes = elements<uint8_t>(buffers, 0);
  const auto words = elements<int16_t>(buffers, 1);
  const auto out = elements<int32_t>(buffers, 2);
  for (size_t i = 0; i < c.global[0]; i++) {
    uint32_t word = 0;
    for (size_t k = 4; k-- > 0;) word = word << 8 | bytes[i + k];
    out[i * 2] = static_cast<int32_t>(word);
    out[i * 2 + 1] = words[i] - words[i + 1];
  }
}

void reference_components(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto in = elements<float>(buffers, 0), out = elements<float>(buffers, 1);
  for (size_t i = 0; i < c.global[0] * size_t{4}; i += 4) {
    out[i] = in[i + 2];
    out[i + 1] = in[i + 3];
    if (in[i] > 0) out[i + 3] = in[i];
  }
}

void reference_index(const KernelCase& c, std::vector<Bytes>& buffers) {
  const auto index = elements<uint32_t>(buffers, 0), in = elements<uint32_t>(buffers, 1),
             out = elements<uint32_t>(buffers, 2);
  for (uint32_t i = 0; i < c.global[0]; i++) {
    std::array<uint32_t, 16> v;
    for (size_t k = 0; k < 16; k++) v[k] = in[k] * (i + 1);
    v[index[i] >> 4 & 15] = 0xffffffff;
    v[index[i] >> 8 & 15] += 5;
    out[i] = v[index[i] & 15];
    for (uint32_t word : v) out[i] = out[i] * 3 + word;
  }
}

void add_file(std::vector<KernelCase>& cases, const std::string& file) {
  const auto add = [&](const char* kernel, uint32_t items, std::vector<Arg> args,
                       void (*reference)(const KernelCase&, std::vector<Bytes>&)) {
    cases.push_back({.name = file + "." + kernel,
                     .file = file,
                     .kernel = kernel,
                     .global = {items, 1, 1},
                     .args = std::move(args),
                     .reference = reference});
  };
  add("vectors_triple", 69, {input(random_floats(1001, 69 * 3, -9, 9)), output<float>(69 * 3)},
      reference_triple);
  add("vectors_wide", 50,
      {input(random_bits<int32_t>(1002, 400)), output<int32_t>(400), input(random_bits<uint8_t>(1003, 800)),
       output<uint8_t>(800)},
      reference_wide);
  add("vectors_unaligned", 93,
      {input(random_bits<uint8_t>(1004, 96)), input(random_bits<int16_t>(1005, 94)), output<int32_t>(186)},
      reference_unaligned);
  add("vectors_components", 55,
      {input(random_floats(1006, 220, -9, 9)), in_out(random_floats(1007, 220, -9, 9))},
      reference_components);
  add("vectors_index", 71,
      {input(random_integers<uint32_t>(1008, 71, 0, 0xffffffff)), input(random_bits<int32_t>(1009, 16)),
       output<int32_t>(71)},
      reference_index);
}

}  // namespace

void add_vector_cases(std::vector<KernelCase>& cases) {
  add_file(cases, "vectors");
  add_file(cases, "vectors_a64");
}

}  // namespace eum::kernels

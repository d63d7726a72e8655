// The corpus is consistent (manifest, sources, binaries and cases), and compare() detects differences.
#include <fmt/core.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <set>

#include "tests/kernels/corpus.hpp"

using namespace eum::kernels;

TEST_CASE("every manifest row has its source, its binaries and at least one case", "[kernels]") {
  std::set<std::string_view> used;
  const std::vector<KernelCase> cases = corpus();
  for (const KernelCase& c : cases) used.insert(c.file);
  for (const KernelFile& file : kernel_files()) {
    INFO(file.stem);
    CHECK(std::filesystem::exists(source_path(file)));
    CHECK(std::filesystem::exists(binary_path(file, Container::PatchTokens)));
    CHECK(std::filesystem::exists(binary_path(file, Container::Zebin)) == file.zebin_reason.empty());
    for (const KernelDevice& device : kernel_devices())
      CHECK(std::filesystem::exists(binary_path(file, binaries_for(device))) ==
            reason_against(file, device).empty());
    CHECK(used.contains(file.stem));
  }
  for (const KernelCase& c : cases) {
    const KernelFile& file = *find_kernel_file(c.file);
    INFO(c.name);
    CHECK(std::filesystem::exists(visa_path(file, c.kernel, VisaDevice::Bxt)));
    CHECK(std::filesystem::exists(visa_map_path(file, VisaDevice::Bxt)));
    CHECK(std::filesystem::exists(visa_path(file, c.kernel, VisaDevice::Pvc)) == file.pvc_reason.empty());
    CHECK(std::filesystem::exists(visa_map_path(file, VisaDevice::Pvc)) == file.pvc_reason.empty());
  }
  for (std::string_view stem : used) CHECK(find_kernel_file(stem) != nullptr);
}

TEST_CASE("case names are unique, and every case changes memory", "[kernels]") {
  std::set<std::string> names;
  for (const KernelCase& c : corpus()) {
    INFO(c.name);
    CHECK(names.insert(c.name).second);
    CHECK(c.name.starts_with(fmt::format("{}.{}", c.file, c.kernel)));
    const std::vector<Bytes> before = initial_buffers(c), after = expected_buffers(c);
    bool changed = false;
    for (size_t i = 0; i < c.args.size(); i++) {
      if (!c.check(i)) continue;
      const Buffer& buffer = *memory_of(c.args[i]);
      CHECK(after[i].size() == buffer.bytes.size());
      CHECK(buffer.bytes.size() % element_size(buffer.element) == 0);
      CHECK(compare(c, i, after[i], after).empty());
      if (buffer.role == Role::In)
        CHECK(before[i] == after[i]);
      else
        changed = changed || before[i] != after[i];
    }
    CHECK(changed);
  }
}

TEST_CASE("the references are deterministic", "[kernels]") {
  const std::vector<KernelCase> first = corpus(), second = corpus();
  REQUIRE(first.size() == second.size());
  for (size_t i = 0; i < first.size(); i++) {
    INFO(first[i].name);
    CHECK(expected_buffers(first[i]) == expected_buffers(second[i]));
  }
}

namespace {

template <class T>
Bytes bytes(std::initializer_list<T> values) {
  Bytes result(values.size() * sizeof(T));
  std::memcpy(result.data(), values.begin(), result.size());
  return result;
}

KernelCase one_buffer(Bytes initial, Element element, Tolerance tolerance, bool any_order = false) {
  return {.name = std::string(1, 'x'),
          .args = {Buffer{std::move(initial), Role::InOut, element, any_order}},
          .tolerance = tolerance,
          .reference = [](const KernelCase&, std::vector<Bytes>&) {}};
}

}  // namespace

TEST_CASE("compare names the first wrong element", "[kernels]") {
  const KernelCase c = one_buffer(bytes<int32_t>({1, -2, 3}), Element::S32, {.ulp = 100, .absolute = 100});
  CHECK(compare(c, 0, bytes<int32_t>({1, -2, 3})).empty());
  CHECK(compare(c, 0, bytes<int32_t>({1, -3, 4})) ==
        "x: argument 0: element 1 of 3: expected -2 (0xfffffffe), got -3 (0xfffffffd); 2 elements differ");
  CHECK(compare(c, 0, bytes<int32_t>({1, -2})) == "x: argument 0: expected 12 bytes, got 8");
  CHECK(compare(c, 1, {}) == "x: argument 1 is no buffer");
}

TEST_CASE("compare applies the tolerance to floats only, and keeps NaN, infinity and zero apart",
          "[kernels]") {
  const float infinity = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  const KernelCase close = one_buffer(bytes({1.0f, nan, infinity, 0.0f}), Element::F32, {.ulp = 2});
  CHECK(compare(close, 0, bytes({1.0f + 0x1p-22f, -nan, infinity, -0.0f})).empty());
  CHECK_FALSE(compare(close, 0, bytes({1.0f + 0x1.8p-22f, nan, infinity, 0.0f})).empty());
  CHECK_FALSE(compare(close, 0, bytes({1.0f, 1.0f, infinity, 0.0f})).empty());
  CHECK_FALSE(compare(close, 0, bytes({1.0f, nan, 3e38f, 0.0f})).empty());
  CHECK_FALSE(compare(close, 0, bytes({nan, nan, infinity, 0.0f})).empty());
  const KernelCase exact = one_buffer(bytes({1.0, 0.0}), Element::F64, {});
  CHECK(compare(exact, 0, bytes({1.0, 0.0})).empty());
  CHECK_FALSE(compare(exact, 0, bytes({1.0, -0.0})).empty());
  CHECK_FALSE(compare(exact, 0, bytes({1.0 + 0x1p-52, 0.0})).empty());
  const KernelCase half = one_buffer(bytes<uint16_t>({0x3c00}), Element::F16, {.ulp = 1});
  CHECK(compare(half, 0, bytes<uint16_t>({0x3c01})).empty());
  CHECK_FALSE(compare(half, 0, bytes<uint16_t>({0x3c02})).empty());
}

TEST_CASE("compare takes buffers in any order, and a share of wrong elements, only where asked",
          "[kernels]") {
  const Bytes ordered = bytes<uint32_t>({1, 2, 300}), turned = bytes<uint32_t>({300, 1, 2});
  CHECK(compare(one_buffer(ordered, Element::U32, {}, true), 0, turned).empty());
  CHECK_FALSE(compare(one_buffer(ordered, Element::U32, {}, true), 0, bytes<uint32_t>({300, 1, 1})).empty());
  CHECK_FALSE(compare(one_buffer(ordered, Element::U32, {}), 0, turned).empty());
  CHECK(compare(one_buffer(ordered, Element::U32, {.share = 0.34}), 0, bytes<uint32_t>({1, 2, 4})).empty());
  CHECK_FALSE(
      compare(one_buffer(ordered, Element::U32, {.share = 0.34}), 0, bytes<uint32_t>({1, 3, 4})).empty());
}

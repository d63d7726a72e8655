// The manifest's rows, the list of all cases, and the comparison of buffers with the expected contents.
#include "tests/kernels/corpus.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tests/kernels/case_parts.hpp"

namespace eum::kernels {
namespace {

constexpr KernelFile kFiles[] = {
#define KERNEL_FILE(stem, source, options, zebin, pvc, pocl) {#stem, #source, options, zebin, pvc, pocl},
#include "tests/kernels/manifest.def"
#undef KERNEL_FILE
};

#define KERNEL_NOT_FOR(device, stem, why)
constexpr KernelDevice kDevices[] = {
#define KERNEL_DEVICE(device, family) {#device, family},
#include "tests/kernels/devices.def"
#undef KERNEL_DEVICE
};
#undef KERNEL_NOT_FOR

struct NotFor {
  std::string_view device, stem, why;
};
#define KERNEL_DEVICE(device, family)
constexpr NotFor kNotFor[] = {
#define KERNEL_NOT_FOR(device, stem, why) {#device, #stem, why},
#include "tests/kernels/devices.def"
#undef KERNEL_NOT_FOR
};
#undef KERNEL_DEVICE

template <class T>
T load(std::span<const std::byte> bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

bool is_float(Element element) {
  return element == Element::F16 || element == Element::F32 || element == Element::F64;
}

double as_double(std::span<const std::byte> bytes, size_t index, Element element) {
  if (element == Element::F16) return from_half(load<uint16_t>(bytes, index));
  if (element == Element::F32) return static_cast<double>(load<float>(bytes, index));
  if (element == Element::F64) return load<double>(bytes, index);
  switch (element) {
    case Element::U8:
      return load<uint8_t>(bytes, index);
    case Element::S8:
      return load<int8_t>(bytes, index);
    case Element::U16:
      return load<uint16_t>(bytes, index);
    default:
      return load<int16_t>(bytes, index);
  }
}

std::string text(std::span<const std::byte> bytes, size_t index, Element element) {
  switch (element) {
    case Element::U8:
      return fmt::format("{}", load<uint8_t>(bytes, index));
    case Element::S8:
      return fmt::format("{}", load<int8_t>(bytes, index));
    case Element::U16:
      return fmt::format("{}", load<uint16_t>(bytes, index));
    case Element::S16:
      return fmt::format("{}", load<int16_t>(bytes, index));
    case Element::U32:
      return fmt::format("{0} ({0:#x})", load<uint32_t>(bytes, index));
    case Element::S32:
      return fmt::format("{} ({:#x})", load<int32_t>(bytes, index), load<uint32_t>(bytes, index));
    case Element::U64:
      return fmt::format("{0} ({0:#x})", load<uint64_t>(bytes, index));
    case Element::S64:
      return fmt::format("{} ({:#x})", load<int64_t>(bytes, index), load<uint64_t>(bytes, index));
    case Element::F16:
      return fmt::format("{} ({:#x})", as_double(bytes, index, element), load<uint16_t>(bytes, index));
    case Element::F32:
      return fmt::format("{} ({:#x})", load<float>(bytes, index), load<uint32_t>(bytes, index));
    case Element::F64:
      return fmt::format("{} ({:#x})", load<double>(bytes, index), load<uint64_t>(bytes, index));
  }
  return {};
}

/// The distance from `value` to the next float of its format away from zero.
double unit_in_last_place(double value, Element element) {
  const int fraction_bits = element == Element::F16 ? 10 : element == Element::F32 ? 23 : 52;
  const int least_exponent = element == Element::F16 ? -14 : element == Element::F32 ? -126 : -1022;
  const int exponent = value == 0 ? least_exponent : std::max(std::ilogb(value), least_exponent);
  return std::ldexp(1.0, exponent - fraction_bits);
}

bool within(double got, double want, Element element, const Tolerance& tolerance) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want) || std::isinf(got)) return got == want;
  const double allowed = std::max({tolerance.ulp * unit_in_last_place(want, element), tolerance.absolute,
                                   tolerance.relative * std::fabs(want)});
  // Without tolerance the bits must be equal, which has been checked before.
  return allowed > 0 && std::fabs(got - want) <= allowed;
}

Bytes sorted(std::span<const std::byte> bytes, size_t size) {
  std::vector<std::vector<std::byte>> items;
  for (size_t at = 0; at + size <= bytes.size(); at += size)
    items.emplace_back(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                       bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
  std::sort(items.begin(), items.end());
  Bytes result;
  for (const auto& item : items) result.insert(result.end(), item.begin(), item.end());
  return result;
}

}  // namespace

std::span<const KernelFile> kernel_files() { return kFiles; }

const KernelFile* find_kernel_file(std::string_view stem) {
  const auto found =
      std::find_if(std::begin(kFiles), std::end(kFiles), [&](auto& f) { return f.stem == stem; });
  return found == std::end(kFiles) ? nullptr : found;
}

std::string source_path(const KernelFile& file) {
  return fmt::format("{}/src/{}.cl", EUMULATE_KERNEL_DIR, file.source);
}

std::string binary_path(const KernelFile& file, Container container) {
  return fmt::format("{}/bin/{}.{}.bin", EUMULATE_KERNEL_DIR, file.stem,
                     container == Container::PatchTokens ? "patch" : "zebin");
}

std::span<const KernelDevice> kernel_devices() { return kDevices; }

DeviceBinaries binaries_for(const KernelDevice& device) {
  return {device, fmt::format("{}/devices/{}", EUMULATE_KERNEL_DIR, device.name)};
}

std::string_view reason_against(const KernelFile& file, const KernelDevice& device) {
  for (const NotFor& row : kNotFor)
    if (row.device == device.name && row.stem == file.stem) return row.why;
  return {};
}

std::string binary_path(const KernelFile& file, const DeviceBinaries& binaries) {
  return fmt::format("{}/{}.patch.bin", binaries.directory, file.stem);
}

namespace {

std::string_view name_of(VisaDevice device) { return device == VisaDevice::Bxt ? "bxt" : "pvc"; }

}  // namespace

std::string visa_path(const KernelFile& file, std::string_view kernel, VisaDevice device) {
  return fmt::format("{}/visa/{}.{}.{}.visaasm", EUMULATE_KERNEL_DIR, file.stem, kernel, name_of(device));
}

std::string visa_map_path(const KernelFile& file, VisaDevice device) {
  const std::string stem = fmt::format("{}/visa/{}.{}.", EUMULATE_KERNEL_DIR, file.stem, name_of(device));
  return std::filesystem::exists(stem + "zebin") ? stem + "zebin" : stem + "ze_info";
}

std::vector<KernelCase> corpus() {
  std::vector<KernelCase> cases;
  add_given_cases(cases);
  add_group_cases(cases);
  add_grid_cases(cases);
  add_integer_cases(cases);
  add_packed_cases(cases);
  add_math_cases(cases);
  add_convert_cases(cases);
  add_half_cases(cases);
  add_flow_cases(cases);
  add_memory_cases(cases);
  add_pointer_cases(cases);
  add_vector_cases(cases);
  add_atomic_cases(cases);
  add_subgroup_cases(cases);
  add_image_cases(cases);
  add_picture_cases(cases);
  add_work_cases(cases);
  add_micro_cases(cases);
  return cases;
}

std::vector<Bytes> initial_buffers(const KernelCase& kernel_case) {
  std::vector<Bytes> buffers(kernel_case.args.size());
  for (size_t i = 0; i < buffers.size(); i++)
    if (kernel_case.check(i)) buffers[i] = memory_of(kernel_case.args[i])->bytes;
  return buffers;
}

std::vector<Bytes> expected_buffers(const KernelCase& kernel_case) {
  std::vector<Bytes> buffers = initial_buffers(kernel_case);
  kernel_case.reference(kernel_case, buffers);
  return buffers;
}

std::string compare(const KernelCase& kernel_case, size_t index, std::span<const std::byte> got) {
  return compare(kernel_case, index, got, expected_buffers(kernel_case));
}

std::string compare(const KernelCase& kernel_case, size_t index, std::span<const std::byte> got,
                    const std::vector<Bytes>& expected) {
  if (!kernel_case.check(index)) return fmt::format("{}: argument {} is no buffer", kernel_case.name, index);
  const Buffer& buffer = *memory_of(kernel_case.args[index]);
  const Element element = buffer.element;
  const size_t size = element_size(element);
  std::span<const std::byte> want = expected[index];
  if (got.size() != want.size())
    return fmt::format("{}: argument {}: expected {} bytes, got {}", kernel_case.name, index, want.size(),
                       got.size());
  Bytes got_sorted, want_sorted;
  if (buffer.any_order) {
    got = got_sorted = sorted(got, size);
    want = want_sorted = sorted(want, size);
  }
  const size_t count = want.size() / size;
  size_t wrong = 0, first = 0;
  for (size_t i = 0; i < count; i++) {
    if (std::memcmp(got.data() + i * size, want.data() + i * size, size) == 0) continue;
    if (buffer.unit > 0 &&
        within(as_double(got, i, element) * buffer.unit, as_double(want, i, element) * buffer.unit,
               Element::F64, kernel_case.tolerance))
      continue;
    if (is_float(element) &&
        within(as_double(got, i, element), as_double(want, i, element), element, kernel_case.tolerance))
      continue;
    if (wrong++ == 0) first = i;
  }
  if (static_cast<double>(wrong) <= kernel_case.tolerance.share * static_cast<double>(count)) return {};
  return fmt::format("{}: argument {}: element {} of {}: expected {}, got {}; {} elements differ",
                     kernel_case.name, index, first, count, text(want, first, element),
                     text(got, first, element), wrong);
}

}  // namespace eum::kernels

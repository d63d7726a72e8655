// Names and lookups for the program structure.
#include "runtime/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace eum::rt {

std::string_view container_name(Container container) {
  switch (container) {
    case Container::PatchTokens:
      return "patch tokens";
    case Container::PatchTokensElf:
      return "patch tokens in ELF";
    case Container::Zebin:
      return "zebin";
    case Container::Visa:
      return "vISA text";
  }
  return "invalid container";
}

std::string_view qualifier_name(AddressQualifier qualifier) {
  switch (qualifier) {
    case AddressQualifier::Private:
      return "";
    case AddressQualifier::Global:
      return "global";
    case AddressQualifier::Constant:
      return "constant";
    case AddressQualifier::Local:
      return "local";
  }
  return "invalid qualifier";
}

std::string_view segment_name(Segment segment) {
  switch (segment) {
    case Segment::Constants:
      return "constants";
    case Segment::Globals:
      return "globals";
    case Segment::Strings:
      return "strings";
    case Segment::Functions:
      return "functions";
  }
  return "invalid segment";
}

std::optional<PayloadItem> item_of_zebin(std::string_view arg_type) {
  for (std::size_t i = 0; i < payload_items.size(); ++i) {
    if (!payload_items[i].zebin.empty() && payload_items[i].zebin == arg_type)
      return static_cast<PayloadItem>(i);
  }
  return std::nullopt;
}

std::optional<PayloadItem> item_of_parameter(std::uint32_t parameter) {
  for (std::size_t i = 0; i < payload_items.size(); ++i) {
    if (std::cmp_equal(payload_items[i].parameter, parameter)) return static_cast<PayloadItem>(i);
  }
  return std::nullopt;
}

const Kernel* Program::find(std::string_view kernel) const {
  for (const Kernel& k : kernels) {
    if (k.name == kernel) return &k;
  }
  return nullptr;
}

SamplerState sampler_state(SamplerAddress address, SamplerFilter filter, bool normalized) {
  constexpr std::uint32_t wrap = 0, mirror = 1, clamp = 2, clamp_border = 4;  // Texture Coordinate Mode
  std::uint32_t mode = clamp;
  if (address == SamplerAddress::clamp_border) mode = clamp_border;
  if (address == SamplerAddress::repeat) mode = wrap;
  if (address == SamplerAddress::mirror) mode = mirror;
  const std::uint32_t linear = filter == SamplerFilter::linear ? 1 : 0;
  SamplerState state{};
  state[0] = linear << 14 | linear << 17 | 1u << 20;   // Min, Mag and Mip Mode Filter
  state[1] = 14u << 16 | 1u << 1 | 1u;                 // Max LOD, Shadow Function, Cube Surface Control Mode
  state[3] = mode | mode << 3 | mode << 6 | 3u << 11;  // TCZ, TCY, TCX modes, Trilinear Filter Quality
  if (!normalized) state[3] |= 1u << 10;               // Non-normalized Coordinate Enable
  if (linear != 0) state[3] |= 0x3fu << 13;            // R, V, U Address Min and Mag Filter Rounding Enable
  return state;
}

bool observes_groups(const Kernel& kernel) {
  const auto is_local = [](const Argument& a) { return a.kind == ArgumentKind::LocalPointer; };
  if (kernel.barrier_count != 0 || kernel.slm_bytes != 0 || std::ranges::any_of(kernel.arguments, is_local))
    return true;
  const auto count = [&](PayloadItem item) {
    return std::ranges::count_if(kernel.implicit,
                                 [&](const Patch& p) { return p.item == item && p.source == 0; });
  };
  // Payloads of the vendor's compiler begin with offset and local size, which nothing reads: a kernel that
  // asks for the local size has it twice. Global ids are computed from the enqueued one.
  const auto most_local_sizes = count(PayloadItem::EnqueuedLocalSize) != 0 ? 1 : 0;
  return count(PayloadItem::GroupCount) != 0 || count(PayloadItem::LocalSize) > most_local_sizes;
}

std::string no_such_kernel(const Program& program, std::string_view name) {
  std::string names;
  for (const Kernel& kernel : program.kernels) {
    if (!names.empty()) names += ", ";
    names += kernel.name;
  }
  if (names.empty()) return fmt::format("no kernel {}: the program has none", name);
  return fmt::format("no kernel {}: expected one of {}", name, names);
}

bool Program::allows_remainder() const {
  constexpr std::string_view standard = "-cl-std=";
  const auto at = build_options.find(standard);
  if (at == std::string::npos) return false;
  const std::string_view value = std::string_view(build_options).substr(at + standard.size());
  const bool since = value.starts_with("CL2") || value.starts_with("CL3") || value.starts_with("CLC++");
  return since && build_options.find("-cl-uniform-work-group-size") == std::string::npos;
}

std::string describe_argument(const Kernel& kernel, std::size_t index) {
  const Argument& a = kernel.arguments[index];
  std::string type;
  for (std::string_view word : {qualifier_name(a.address), std::string_view(a.type_qualifiers)}) {
    if (!word.empty()) type += fmt::format("{} ", word);
  }
  if (!a.type_name.empty()) {
    type += a.type_name;
  } else {
    switch (a.kind) {
      case ArgumentKind::Unused:
        type += "unused";
        break;
      case ArgumentKind::Value:
        type += fmt::format("{} bytes", a.size);
        break;
      case ArgumentKind::Pointer:
        type += "pointer";
        break;
      case ArgumentKind::LocalPointer:
        type += "pointer";
        break;
      case ArgumentKind::Image:
        type += image_types[a.image_type].name;
        break;
      case ArgumentKind::Sampler:
        type += "sampler";
        break;
    }
  }
  return fmt::format("{}: {}", a.name.empty() ? fmt::format("#{}", index) : a.name, type);
}

std::string cannot_run(const Kernel& kernel) {
  if (!kernel.unsupported.empty()) return kernel.unsupported;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const Argument& a = kernel.arguments[i];
    if (a.kind == ArgumentKind::Image && !image_types[a.image_type].takes)
      return fmt::format("argument {} ({}) is an {}, which is not supported", i, describe_argument(kernel, i),
                         image_types[a.image_type].name);
  }
  return {};
}

std::string target_name(const Program& program) {
  if (program.container != Container::Visa) return std::string(gen::info(program.family).name);
  if (program.kernels.empty()) return "no kernels";
  return fmt::format("registers of {} bytes", program.kernels[0].text.grf_bytes);
}

std::string describe_arguments(const Kernel& kernel) {
  std::string text;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    if (i != 0) text += ", ";
    text += describe_argument(kernel, i);
  }
  return text;
}

}  // namespace eum::rt

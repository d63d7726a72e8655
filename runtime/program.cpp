// Names and look-ups of the program structure.
#include "runtime/program.hpp"

#include <fmt/format.h>

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

std::string describe_arguments(const Kernel& kernel) {
  std::string text;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const Argument& a = kernel.arguments[i];
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
          type += image_types[a.image_type];
          break;
        case ArgumentKind::Sampler:
          type += "sampler";
          break;
      }
    }
    text +=
        fmt::format("{}{}: {}", i == 0 ? "" : ", ", a.name.empty() ? fmt::format("#{}", i) : a.name, type);
  }
  return text;
}

}  // namespace eum::rt

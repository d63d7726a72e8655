// Reads .ze_info with yaml-cpp, which reports errors by exception, as do the readers below (Failure); no
// exception leaves read_ze_info.
#include "runtime/loader/ze_info.hpp"

#include <yaml-cpp/depthguard.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "runtime/loader/yaml_text.hpp"

namespace eum::rt {
namespace {

/// Longest part of a kernel's name in messages' locations, which are built for every list element.
constexpr std::size_t shown_name = 100;

struct Failure {
  Error error;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{error(format, std::forward<Args>(args)...)};
}

// A number from 0 to 2^31 - 1, the range in the schema.
std::optional<std::uint32_t> parse_integer(const YAML::Node& node) {
  if (!node.IsScalar()) return std::nullopt;
  const std::string& digits = node.Scalar();
  std::int32_t value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failure != std::errc{} || end != digits.data() + digits.size() || value < 0) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

// Description of what a node holds, for messages: "'-3'", "a list" or similar.
std::string held_by(const YAML::Node& node) {
  if (node.IsSequence()) return "a list";
  if (node.IsMap()) return "keys and values";
  return node.IsScalar() ? fmt::format("'{}'", node.Scalar().substr(0, 64)) : "nothing";
}

constexpr const char* a_number = "a number from 0 to 2147483647";

// Reports a key whose value is not what it should be.
[[noreturn]] void unexpected(const std::string& where, const char* key, const char* expected,
                             const YAML::Node& node) {
  fail("ze_info: {}: {} should be {}, found {}", where, key, expected, held_by(node));
}

std::string text(const YAML::Node& map, const char* key, const std::string& where) {
  const YAML::Node node = map[key];
  if (!node) return {};
  if (!node.IsScalar()) unexpected(where, key, "a text", node);
  return node.Scalar();
}

// The number at `key`, or `otherwise` if the key is missing.
std::uint32_t number(const YAML::Node& map, const char* key, std::uint32_t otherwise,
                     const std::string& where) {
  const YAML::Node node = map[key];
  if (!node) return otherwise;
  const auto value = parse_integer(node);
  if (!value) unexpected(where, key, a_number, node);
  return *value;
}

bool flag(const YAML::Node& map, const char* key, const std::string& where) {
  const std::string value = text(map, key, where);
  if (value.empty() || value == "false") return false;
  if (value != "true") unexpected(where, key, "true or false", map[key]);
  return true;
}

Size3 triple(const YAML::Node& map, const char* key, const Size3& otherwise, const std::string& where) {
  const YAML::Node node = map[key];
  if (!node) return otherwise;
  if (!node.IsSequence() || node.size() != 3) unexpected(where, key, "three numbers", node);
  Size3 values{};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto value = parse_integer(node[i]);
    if (!value) unexpected(where, key, a_number, node[i]);
    values[i] = *value;
  }
  return values;
}

// Calls visit(map, where) for each element of the sequence at `key`, if it exists.
template <class Visit>
void for_each(const YAML::Node& map, const char* key, const std::string& where, Visit visit) {
  const YAML::Node list = map[key];
  if (!list || list.IsNull()) return;
  if (!list.IsSequence()) unexpected(where, key, "a list", list);
  std::size_t index = 0;
  for (const YAML::Node& element : list) {
    std::string place = fmt::format("{}: {}[{}]", where, key, index++);
    if (!element.IsMap()) fail("ze_info: {} should have keys and values", place);
    visit(element, place);
  }
}

void read_environment(const YAML::Node& kernel_node, KernelDraft& draft, const std::string& kernel_where) {
  const YAML::Node env = kernel_node["execution_env"];
  const std::string where = kernel_where + ": execution_env";
  if (!env || !env.IsMap()) fail("ze_info: {} is missing", where);
  Kernel& kernel = draft.kernel;
  kernel.simd_size = number(env, "simd_size", 0, where);
  if (kernel.simd_size != 8 && kernel.simd_size != 16 && kernel.simd_size != 32) {
    fail("ze_info: {}: simd_size is {}, expected 8, 16 or 32", where, kernel.simd_size);
  }
  kernel.grf_count = number(env, "grf_count", 0, where);
  kernel.slm_bytes = number(env, "slm_size", 0, where);
  kernel.barrier_count = number(env, "barrier_count", 0, where);
  kernel.required_local_size = triple(env, "required_work_group_size", {}, where);
  const Size3 walk = triple(env, "work_group_walk_order_dimensions", {0, 1, 2}, where);
  for (std::size_t d = 0; d < 3; ++d) {
    kernel.local_ids.walk[d] = static_cast<std::uint8_t>(std::min<std::uint32_t>(walk[d], 0xff));
  }
  for (const char* feature :
       {"has_device_enqueue", "require_sync_buffer", "require_assert_buffer", "has_rtcalls"}) {
    if (flag(env, feature, where)) draft.reject(fmt::format("it has {}, which is not emulated", feature));
  }
  draft.inline_data = number(env, "inline_data_payload_size", 0, where) != 0;
  const YAML::Node user = kernel_node["user_attributes"];
  if (user && user.IsMap() && user["invalid_kernel"]) {
    draft.reject(fmt::format("the compiler marked it invalid: {}", text(user, "invalid_kernel", where)));
  }
}

// An explicit argument: buffer, local memory, image or sampler.
void read_pointer_argument(const YAML::Node& node, KernelDraft& draft, std::uint32_t index,
                           const Patch& patch, const std::string& where) {
  const std::string mode = text(node, "addrmode", where), space = text(node, "addrspace", where),
                    access = text(node, "access_type", where);
  Argument& a = draft.arguments[index];
  const auto set_kind = [&](ArgumentKind kind) {
    if (a.kind != ArgumentKind::Unused && a.kind != kind)
      fail("ze_info: {}: the argument has two kinds", where);
    a.kind = kind;
  };
  if (mode == "bindless") {
    draft.reject("it has a bindless argument, which is not emulated");
    return;
  }
  if (space == "image") {
    set_kind(ArgumentKind::Image);
    const std::string type = text(node, "image_type", where);
    const auto found = std::find_if(image_types.begin() + 1, image_types.end(),
                                    [&](const ImageParameterInfo& row) { return row.name == type; });
    if (found == image_types.end()) fail("ze_info: {}: image_type {} is not known", where, type);
    a.image_type = static_cast<std::uint8_t>(found - image_types.begin());
    a.access = access == "readonly"    ? AccessQualifier::ReadOnly
               : access == "writeonly" ? AccessQualifier::WriteOnly
                                       : AccessQualifier::ReadWrite;
  } else if (space == "sampler") {
    set_kind(ArgumentKind::Sampler);
    if (const std::string type = text(node, "sampler_type", where); type != "texture") {
      draft.reject(fmt::format("it takes a sampler of type {}", type));
    }
    const std::uint32_t sampler = number(node, "sampler_index", 0, where);
    if (sampler >= 16) fail("ze_info: {}: sampler_index is {}, expected 0 to 15", where, sampler);
    a.sampler = static_cast<std::uint8_t>(sampler);
    if (draft.kernel.samplers.size() <= sampler) draft.kernel.samplers.resize(sampler + 1);
  } else if (mode == "slm") {
    set_kind(ArgumentKind::LocalPointer);
    a.address = AddressQualifier::Local;
    const std::uint32_t alignment = std::max(number(node, "slm_alignment", 1, where), 1u);
    draft.add({PayloadItem::LocalOffset, patch.offset, patch.size, alignment}, index);
  } else if (mode == "stateful" || mode == "stateless") {
    if (space != "global" && space != "constant") fail("ze_info: {}: addrspace is {}", where, space);
    set_kind(ArgumentKind::Pointer);
    if (a.address == AddressQualifier::Private) {
      a.address = space == "global" ? AddressQualifier::Global : AddressQualifier::Constant;
    }
    if (mode == "stateless") {
      a.stateless = true;
      draft.add({PayloadItem::Pointer, patch.offset, patch.size, 0}, index);
    }
  } else {
    fail("ze_info: {}: addrmode is {}", where, mode);
  }
}

void read_payload_argument(const YAML::Node& node, KernelDraft& draft, const std::string& where) {
  const std::string type = text(node, "arg_type", where);
  const Patch place{PayloadItem::Value, number(node, "offset", 0, where), number(node, "size", 0, where), 0};
  const std::uint32_t index = number(node, "arg_index", 0, where);
  if (type == "arg_bypointer") {
    read_pointer_argument(node, draft, index, place, where);
    return;
  }
  const auto item = item_of_zebin(type);
  if (!item) {
    draft.reject(fmt::format("it has payload argument {}, which is not emulated", type));
    return;
  }
  const PayloadItemInfo& row = info(*item);
  if (row.owner == PayloadOwner::Argument && !node["arg_index"])
    fail("ze_info: {}: {} without arg_index", where, type);
  if (row.dims == 3) {
    if (place.size == 0 || place.size > 12 || place.size % 4 != 0) {
      fail("ze_info: {}: {} has {} bytes, expected 4, 8 or 12", where, type, place.size);
    }
    for (std::uint32_t at = 0; at < place.size; at += 4) draft.add({*item, place.offset + at, 4, at}, index);
    return;
  }
  const std::uint32_t source = *item == PayloadItem::Value ? number(node, "source_offset", 0, where) : 0;
  draft.add({*item, place.offset, place.size, source}, index);
  if (*item == PayloadItem::ConstantBase || *item == PayloadItem::GlobalBase) {
    if (node["bti_value"]) {
      const std::uint32_t binding = std::min(number(node, "bti_value", 0, where), 255u);
      draft.kernel.surfaces.push_back({*item, static_cast<std::uint8_t>(binding)});
    }
    if (text(node, "addrmode", where) == "bindless") draft.reject("it has bindless constants or globals");
  }
}

void read_local_ids(const YAML::Node& node, KernelDraft& draft, const Registers& file,
                    const std::string& where) {
  const std::string type = text(node, "arg_type", where);
  if (type != "local_id") {
    draft.reject(fmt::format("it has per-thread payload {}, which is not emulated", type));
    return;
  }
  const std::uint32_t row = std::max<std::uint32_t>(draft.kernel.simd_size * 2, file.bytes);
  const std::uint32_t size = number(node, "size", 0, where);
  if (number(node, "offset", 0, where) != 0 || size % row != 0 || size / row < 1 || size / row > 3) {
    fail("ze_info: {}: local ids of {} bytes, expected one to three times {} at 0", where, size, row);
  }
  for (std::size_t d = 0; d < size / row; ++d) draft.kernel.local_ids.present[d] = true;
}

void read_memory_buffer(const YAML::Node& node, KernelDraft& draft, const std::string& where) {
  const std::string type = text(node, "type", where), usage = text(node, "usage", where);
  const std::uint32_t size = number(node, "size", 0, where);
  Kernel& kernel = draft.kernel;
  if (type == "scratch") {
    kernel.scratch_bytes = std::max(kernel.scratch_bytes, size);
  } else if (type == "global" && usage == "private_space") {
    const std::uint32_t sharers = flag(node, "is_simt_thread", where) ? 1 : kernel.simd_size;
    kernel.private_bytes = size / sharers + (size % sharers != 0);
  } else {
    draft.reject(fmt::format("it has per-thread memory {} for {}, which is not emulated", type, usage));
  }
}

SamplerState read_inline_sampler(const YAML::Node& node, const std::string& where) {
  const std::string address = text(node, "addrmode", where), filter = text(node, "filtermode", where);
  static const std::map<std::string, SamplerAddress> addresses{{"none", SamplerAddress::none},
                                                               {"clamp_border", SamplerAddress::clamp_border},
                                                               {"clamp_edge", SamplerAddress::clamp_edge},
                                                               {"repeat", SamplerAddress::repeat},
                                                               {"mirror", SamplerAddress::mirror}};
  static const std::map<std::string, SamplerFilter> filters{{"nearest", SamplerFilter::nearest},
                                                            {"linear", SamplerFilter::linear}};
  const auto a = addresses.find(address);
  const auto f = filters.find(filter);
  if (a == addresses.end()) fail("ze_info: {}: addrmode is {}", where, address);
  if (f == filters.end()) fail("ze_info: {}: filtermode is {}", where, filter);
  return sampler_state(a->second, f->second, flag(node, "normalized", where));
}

KernelDraft read_kernel(const YAML::Node& node, const Registers& file, const std::string& place) {
  KernelDraft draft;
  draft.kernel.name = text(node, "name", place);
  if (draft.kernel.name.empty()) fail("ze_info: {} has no name", place);
  const std::string where = "kernel " + draft.kernel.name.substr(0, shown_name);
  read_environment(node, draft, where);
  for_each(node, "payload_arguments", where,
           [&](const YAML::Node& n, const std::string& at) { read_payload_argument(n, draft, at); });
  for_each(node, "per_thread_payload_arguments", where,
           [&](const YAML::Node& n, const std::string& at) { read_local_ids(n, draft, file, at); });
  for_each(node, "per_thread_memory_buffers", where,
           [&](const YAML::Node& n, const std::string& at) { read_memory_buffer(n, draft, at); });
  for_each(node, "binding_table_indices", where, [&](const YAML::Node& n, const std::string& at) {
    const std::uint32_t binding = number(n, "bti_value", 0, at);
    if (binding > 255) fail("ze_info: {}: bti_value is {}, expected at most 255", at, binding);
    draft.arguments[number(n, "arg_index", 0, at)].binding = static_cast<std::uint8_t>(binding);
  });
  for_each(node, "inline_samplers", where, [&](const YAML::Node& n, const std::string& at) {
    const std::uint32_t index = number(n, "sampler_index", 0, at);
    if (index >= 16) fail("ze_info: {}: sampler_index is {}, expected 0 to 15", at, index);
    if (draft.kernel.samplers.size() <= index) draft.kernel.samplers.resize(index + 1);
    draft.kernel.samplers[index] = read_inline_sampler(n, at);
  });

  std::uint64_t end = 0;
  const auto extend = [&end](const Patch& p) { end = std::max(end, std::uint64_t{p.offset} + p.size); };
  for (const auto& [index, argument] : draft.arguments) {
    for (const Patch& p : argument.patches) extend(p);
  }
  for (const Patch& p : draft.kernel.implicit) extend(p);
  const std::uint64_t registers = (end + file.bytes - 1) / file.bytes;
  if (registers > file.count)
    fail("ze_info: {}: {} bytes of payload do not fit the register file", where, end);
  draft.kernel.cross_thread_bytes = static_cast<std::uint32_t>(registers * file.bytes);
  return draft;
}

void read_argument_info(const YAML::Node& node, KernelDraft& draft, const std::string& where) {
  if (!node["index"]) fail("ze_info: {} has no index", where);
  Argument& a = draft.arguments[number(node, "index", 0, where)];
  a.name = text(node, "name", where);
  set_address_qualifier(a, text(node, "address_qualifier", where));
  set_type(a, text(node, "type_name", where));
  if (const std::string qualifiers = text(node, "type_qualifiers", where); qualifiers != "NONE") {
    a.type_qualifiers = qualifiers;
  }
}

std::vector<KernelDraft> read_document(const YAML::Node& document, const Registers& file) {
  if (!document.IsMap()) fail("ze_info: the document should have keys and values");
  const std::string version = text(document, "version", "document");
  if (!version.starts_with("1.")) fail("ze_info: version {}, expected 1.x", version);
  std::vector<KernelDraft> drafts;
  std::map<std::string, std::size_t> by_name;
  for_each(document, "kernels", "document", [&](const YAML::Node& node, const std::string& where) {
    KernelDraft draft = read_kernel(node, file, where);
    if (!by_name.emplace(draft.kernel.name, drafts.size()).second) {
      fail("ze_info: two kernels have the name {}", draft.kernel.name);
    }
    drafts.push_back(std::move(draft));
  });
  for_each(document, "kernels_misc_info", "document", [&](const YAML::Node& node, const std::string& where) {
    const std::string name = text(node, "name", where);
    const auto found = by_name.find(name);
    if (found == by_name.end()) fail("ze_info: kernels_misc_info of unknown kernel {}", name);
    for_each(node, "args_info", "kernel " + name.substr(0, shown_name),
             [&](const YAML::Node& n, const std::string& at) {
               read_argument_info(n, drafts[found->second], at);
             });
  });
  return drafts;
}

}  // namespace

Result<std::vector<KernelDraft>> read_ze_info(std::string_view text, const Registers& file) {
  if (text.size() > most_ze_info_bytes)
    return error("ze_info: expected at most {} bytes, found {}", most_ze_info_bytes, text.size());
  try {
    return read_document(parse_yaml(std::string(text)), file);
  } catch (const Failure& failure) {
    return failure.error;
  } catch (const AnchorFound& anchor) {
    return error("ze_info: line {}, column {}: expected no anchor, found one", anchor.line, anchor.column);
  } catch (const YAML::DeepRecursion& e) {
    return error("ze_info: lists and keys in each other deeper than {} levels, expected at most 6",
                 e.depth());
  } catch (const YAML::Exception& e) {
    return error("ze_info: {}", e.what());
  }
}

}  // namespace eum::rt

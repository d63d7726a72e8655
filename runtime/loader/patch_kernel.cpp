// Layouts: patch_list.h, patch_shared.h and patch_g7/g8.h of intel-graphics-compiler, checked against output
// of ocloc 22.43 for Gen8 and Gen9 (version 1081).
#include "runtime/loader/patch_kernel.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "runtime/printf/printf_buffer.hpp"

namespace eum::rt::patch {
namespace {

constexpr std::uint32_t no_offset = 0xffffffff;
constexpr std::uint32_t max_strings = 1024;

}  // namespace

Result<void> KernelReader::read(std::string name, Bytes code, Bytes list) {
  draft.kernel.name = std::move(name);
  draft.kernel.code.assign(code.begin(), code.end());
  where_ = fmt::format("kernel {}", draft.kernel.name);
  const auto tokens = read_tokens(list, where_);
  if (!tokens) return tokens.error();
  for (const Token& token : *tokens) {
    Result<void> done;
    if (token.number == BINDING_TABLE_STATE) done = read_binding_table(token);
    if (token.number == SAMPLER_STATE_ARRAY) done = read_samplers(token);
    if (!done) return done;
  }
  for (const Token& token : *tokens) {
    if (token.row == nullptr) {
      draft.reject(fmt::format("it has unknown patch token {}", token.number));
    } else if (token.row->use == Use::Reject) {
      draft.reject(
          fmt::format("it has patch token {} {}, which is not emulated", token.number, token.row->name));
    } else if (token.row->use == Use::Read) {
      if (auto done = read_token(token); !done) return done;
    }
  }
  if (!environment_seen_) return error("{}: no EXECUTION_ENVIRONMENT token", where_);
  if (!payload_seen_) return error("{}: no THREAD_PAYLOAD token", where_);
  for (auto& [index, argument] : draft.arguments) {
    if (stateful_only_.contains(index)) argument.stateless = false;
  }
  if (private_per_thread_ && draft.kernel.simd_size != 0) {
    std::uint32_t& bytes = draft.kernel.private_bytes;
    bytes = bytes / draft.kernel.simd_size + (bytes % draft.kernel.simd_size != 0);
  }
  return {};
}

Result<void> KernelReader::read_binding_table(const Token& token) {
  const std::uint32_t offset = token[0], count = token[1];
  if (count > 256 || offset > surface_heap_.size() || count * 4 > surface_heap_.size() - offset) {
    return error("{}: binding table of {} entries at {} of a surface state heap of {} bytes", where_, count,
                 offset, surface_heap_.size());
  }
  bindings_.clear();
  for (std::uint32_t i = 0; i < count; ++i) bindings_.push_back(dword(surface_heap_.subspan(offset), i));
  return {};
}

Result<void> KernelReader::read_samplers(const Token& token) {
  sampler_offset_ = token[0];
  const std::uint32_t count = token[1];
  if (count > 16 || sampler_offset_ > dynamic_heap_.size() ||
      count * sizeof(SamplerState) > dynamic_heap_.size() - sampler_offset_) {
    return error("{}: {} samplers at {} of a dynamic state heap of {} bytes (at most 16)", where_, count,
                 sampler_offset_, dynamic_heap_.size());
  }
  draft.kernel.samplers.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::memcpy(&draft.kernel.samplers[i], dynamic_heap_.data() + sampler_offset_ + i * sizeof(SamplerState),
                sizeof(SamplerState));
  }
  // SAMPLER_INDIRECT_STATE, shared by all samplers: its first dwords are the border colour.
  const std::uint32_t border = token[2];
  std::array<std::uint32_t, 4>& color = draft.kernel.border_color;
  if (border > dynamic_heap_.size() || sizeof color > dynamic_heap_.size() - border)
    return error("{}: border colour at {} of a dynamic state heap of {} bytes", where_, border,
                 dynamic_heap_.size());
  std::memcpy(color.data(), dynamic_heap_.data() + border, sizeof color);
  return {};
}

std::optional<std::uint8_t> KernelReader::binding_at(std::uint32_t surface_offset) const {
  if (surface_offset == no_offset) return std::nullopt;
  const auto found = std::find(bindings_.begin(), bindings_.end(), surface_offset);
  if (found == bindings_.end()) return std::nullopt;
  return static_cast<std::uint8_t>(found - bindings_.begin());
}

void KernelReader::add_implicit_surface(PayloadItem item, std::uint32_t surface_offset, std::uint32_t offset,
                                        std::uint32_t size) {
  if (size != 0) draft.add({item, offset, size, 0}, 0);
  if (const auto binding = binding_at(surface_offset)) draft.kernel.surfaces.push_back({item, *binding});
}

Result<void> KernelReader::read_token(const Token& token) {
  Kernel& kernel = draft.kernel;
  switch (token.number) {
    case GLOBAL_MEMORY_OBJECT_KERNEL_ARGUMENT:
    case CONSTANT_MEMORY_OBJECT_KERNEL_ARGUMENT: {
      Argument& a = draft.arguments[token[0]];
      a.kind = ArgumentKind::Pointer;
      a.binding = binding_at(token[1]);
      return {};
    }
    case IMAGE_MEMORY_OBJECT_KERNEL_ARGUMENT:
      return read_image(token);
    case SAMPLER_KERNEL_ARGUMENT:
      return read_sampler(token);
    case ALLOCATE_LOCAL_SURFACE:
      kernel.slm_bytes = token[1];
      return {};
    case DATA_PARAMETER_BUFFER:
      return read_data_parameter(token);
    case MEDIA_VFE_STATE:
    case MEDIA_VFE_STATE_SLOT1:
      kernel.scratch_bytes = std::max(kernel.scratch_bytes, token[1]);
      return {};
    case INTERFACE_DESCRIPTOR_DATA:
      if (token[2] != 0) return error("{}: code begins at byte {} of its heap, expected 0", where_, token[2]);
      return {};
    case THREAD_PAYLOAD:
      payload_seen_ = true;
      for (std::size_t d = 0; d < 3; ++d) kernel.local_ids.present[d] = token[1 + d] != 0;
      if (token[4] != 0) draft.reject("it takes flattened local ids");
      return {};
    case EXECUTION_ENVIRONMENT:
      return read_environment(token);
    case DATA_PARAMETER_STREAM:
      kernel.cross_thread_bytes = token[0];
      return {};
    case KERNEL_ARGUMENT_INFO:
      return read_argument_info(token);
    case KERNEL_ATTRIBUTES_INFO:
      if (text_of(token.body.subspan(4)).find("invalid_kernel") != std::string::npos) {
        draft.reject("the compiler marked it invalid_kernel");
      }
      return {};
    case STRING:
      return read_string(token);
    case STATELESS_GLOBAL_MEMORY_OBJECT_KERNEL_ARGUMENT:
    case STATELESS_CONSTANT_MEMORY_OBJECT_KERNEL_ARGUMENT: {
      Argument& a = draft.arguments[token[0]];
      a.kind = ArgumentKind::Pointer;
      a.binding = binding_at(token[1]);
      a.stateless = true;
      if (a.address == AddressQualifier::Private) {
        a.address = token.number == STATELESS_GLOBAL_MEMORY_OBJECT_KERNEL_ARGUMENT
                        ? AddressQualifier::Global
                        : AddressQualifier::Constant;
      }
      if (token[3] != 0) draft.add({PayloadItem::Pointer, token[2], token[3], 0}, token[0]);
      return {};
    }
    case ALLOCATE_STATELESS_PRINTF_SURFACE:
      add_implicit_surface(PayloadItem::PrintfBuffer, token[1], token[2], token[3]);
      return {};
    case ALLOCATE_STATELESS_PRIVATE_MEMORY:
      // Field 4 says whether the size is for a work-item or for a whole thread.
      kernel.private_bytes = token[3];
      private_per_thread_ = token[4] == 0;
      add_implicit_surface(PayloadItem::PrivateBase, token[0], token[1], token[2]);
      return {};
    case ALLOCATE_STATELESS_GLOBAL_MEMORY_SURFACE_WITH_INITIALIZATION:
      add_implicit_surface(PayloadItem::GlobalBase, token[1], token[2], token[3]);
      return {};
    case ALLOCATE_STATELESS_CONSTANT_MEMORY_SURFACE_WITH_INITIALIZATION:
      add_implicit_surface(PayloadItem::ConstantBase, token[1], token[2], token[3]);
      return {};
    case PROGRAM_SYMBOL_TABLE:
      return append_entries(token, 3, symbols);
    case PROGRAM_RELOCATION_TABLE:
      return append_entries(token, 2, relocations);
    default:
      return {};
  }
}

Result<void> KernelReader::append_entries(const Token& token, std::size_t fields, std::vector<Entry>& to) {
  auto entries = read_entries(token, fields, where_);
  if (!entries) return entries.error();
  to.insert(to.end(), entries->begin(), entries->end());
  return {};
}

Result<void> KernelReader::read_image(const Token& token) {
  if (token[1] >= image_types.size())
    return error("{}: image type {} of argument {}", where_, token[1], token[0]);
  Argument& a = draft.arguments[token[0]];
  a.kind = ArgumentKind::Image;
  a.image_type = static_cast<std::uint8_t>(token[1]);
  a.binding = binding_at(token[2]);
  if (a.access == AccessQualifier::None) {
    a.access = token[5] != 0 ? AccessQualifier::WriteOnly : AccessQualifier::ReadOnly;
  }
  return {};
}

Result<void> KernelReader::read_sampler(const Token& token) {
  constexpr std::uint32_t texture = 1;  // SAMPLER_OBJECT_TEXTURE
  const std::uint32_t offset = token[2] - sampler_offset_;
  const std::uint32_t index = offset / sizeof(SamplerState);
  if (token[2] < sampler_offset_ || offset % sizeof(SamplerState) != 0 ||
      index >= draft.kernel.samplers.size()) {
    return error("{}: argument {} is a sampler at {}, which is none of the {} at {}", where_, token[0],
                 token[2], draft.kernel.samplers.size(), sampler_offset_);
  }
  if (token[1] != texture) draft.reject(fmt::format("it takes a sampler of type {}", token[1]));
  Argument& a = draft.arguments[token[0]];
  a.kind = ArgumentKind::Sampler;
  a.sampler = static_cast<std::uint8_t>(index);
  draft.kernel.samplers[index] = {};
  return {};
}

Result<void> KernelReader::read_data_parameter(const Token& token) {
  constexpr std::uint32_t buffer_stateful = 43;
  const std::uint32_t type = token[0], argument = token[1], size = token[3];
  if (type == buffer_stateful) {
    stateful_only_.insert(argument);
    return {};
  }
  if (size == 0) return {};
  const auto item = item_of_parameter(type);
  if (!item) {
    draft.reject(fmt::format("it has data parameter {}, which is not emulated", type));
    return {};
  }
  const bool has_source =
      *item == PayloadItem::Value || *item == PayloadItem::LocalOffset || info(*item).dims == 3;
  draft.add({*item, token[2], size, has_source ? token[4] : 0}, argument);
  return {};
}

Result<void> KernelReader::read_environment(const Token& token) {
  environment_seen_ = true;
  Kernel& kernel = draft.kernel;
  const std::size_t shift = version_ >= version_with_has_sample ? 1 : 0;
  if (token.body.size() / 4 < 23 + shift) {
    return error("{}: EXECUTION_ENVIRONMENT of {} bytes in version {}", where_, token.body.size(), version_);
  }
  for (std::size_t d = 0; d < 3; ++d) kernel.required_local_size[d] = token[d];
  kernel.simd_size = token[3];
  kernel.barrier_count = token[5];
  kernel.grf_count = token[20 + shift];
  if (const std::uint32_t order = token[21 + shift]; order != 0) {  // two bits per dimension
    for (std::size_t d = 0; d < 3; ++d) {
      kernel.local_ids.walk[d] = static_cast<std::uint8_t>((order >> (2 * d)) & 3);
    }
  }
  return {};
}

Result<void> KernelReader::read_argument_info(const Token& token) {
  std::array<std::string, 5> texts;
  Bytes rest = token.body.subspan(6 * 4);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::uint32_t size = token[1 + i];
    if (size > rest.size()) return error("{}: information on argument {} is cut off", where_, token[0]);
    texts[i] = text_of(rest.first(size));
    rest = rest.subspan(size);
  }
  Argument& a = draft.arguments[token[0]];
  set_address_qualifier(a, texts[0]);
  if (texts[1] == "__read_only") a.access = AccessQualifier::ReadOnly;
  if (texts[1] == "__write_only") a.access = AccessQualifier::WriteOnly;
  if (texts[1] == "__read_write") a.access = AccessQualifier::ReadWrite;
  a.name = texts[2];
  set_type(a, texts[3]);
  if (texts[4] != "NONE") a.type_qualifiers = texts[4];
  return {};
}

Result<void> KernelReader::read_string(const Token& token) {
  const std::uint32_t index = token[0], size = token[1];
  const Bytes bytes = token.body.subspan(8);
  if (index >= max_strings || size > bytes.size()) {
    return error("{}: string {} of {} bytes in {}", where_, index, size, bytes.size());
  }
  std::vector<std::string>& strings = draft.kernel.printf_strings;
  if (strings.size() <= index) strings.resize(index + 1);
  strings[index] = unescaped(text_of(bytes.first(size)));
  return {};
}

}  // namespace eum::rt::patch

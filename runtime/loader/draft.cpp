// Finishing a kernel: argument order, merged patches, limits.
#include "runtime/loader/draft.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

#include "memory/slm.hpp"

namespace eum::rt {
namespace {

// Binding table indices from 240 on have special meanings (SKL PRM volume 7, "Binding Table Index").
constexpr std::uint32_t first_reserved_binding = 240;
// A kernel has at most 2048 bytes of parameters (CL_DEVICE_MAX_PARAMETER_SIZE).
constexpr std::uint32_t max_arguments = 2048;
// Arguments without any trace in the binary are few; more of them indicate a damaged index.
constexpr std::uint32_t max_unknown_arguments = 64;
// MEDIA_VFE_STATE "Per Thread Scratch Space": 1 KB to 2 MB in powers of two.
constexpr std::uint32_t min_scratch = 1024, max_scratch = 2 * 1024 * 1024;
constexpr std::uint32_t max_private_bytes = 16 * 1024 * 1024;
// Local ids are 16 bits wide.
constexpr std::uint32_t max_local_size = 0xffff;

ArgumentKind kind_for(PayloadItem item) {
  switch (item) {
    case PayloadItem::Value:
      return ArgumentKind::Value;
    case PayloadItem::Pointer:
    case PayloadItem::BufferOffset:
    case PayloadItem::BufferSize:
      return ArgumentKind::Pointer;
    case PayloadItem::LocalOffset:
      return ArgumentKind::LocalPointer;
    case PayloadItem::ImageWidth:
    case PayloadItem::ImageHeight:
    case PayloadItem::ImageDepth:
    case PayloadItem::ImageDataType:
    case PayloadItem::ImageChannelOrder:
    case PayloadItem::ImageArraySize:
    case PayloadItem::ImageSamples:
    case PayloadItem::ImageMipLevels:
      return ArgumentKind::Image;
    case PayloadItem::SamplerAddress:
    case PayloadItem::SamplerNormalized:
    case PayloadItem::SamplerSnap:
      return ArgumentKind::Sampler;
    default:
      return ArgumentKind::Unused;
  }
}

bool may_be_8_bytes(PayloadItem item) {
  switch (item) {
    case PayloadItem::Pointer:
    case PayloadItem::BufferSize:
    case PayloadItem::LocalOffset:
    case PayloadItem::PrivateBase:
    case PayloadItem::PrintfBuffer:
    case PayloadItem::ConstantBase:
    case PayloadItem::GlobalBase:
      return true;
    default:
      return false;
  }
}

// The index in image_types of names such as "image2d_t".
std::optional<std::uint8_t> image_type_of_name(std::string_view name) {
  if (!name.ends_with("_t")) return std::nullopt;
  name.remove_suffix(2);
  if (name.ends_with("_depth")) name.remove_suffix(6);
  const auto type = parse_image_type(name);
  if (!type) return std::nullopt;
  const auto found = std::find_if(image_types.begin(), image_types.end(),
                                  [&](const ImageParameterInfo& row) { return row.takes == type; });
  return static_cast<std::uint8_t>(found - image_types.begin());
}

// The kind of an argument without payload, by its declared type.
ArgumentKind kind_of_type(const Argument& a) {
  if (a.type_name.empty()) return ArgumentKind::Unused;
  if (a.type_name == "sampler_t") return ArgumentKind::Sampler;
  if (image_type_of_name(a.type_name)) return ArgumentKind::Image;
  if (a.address == AddressQualifier::Local) return ArgumentKind::LocalPointer;
  if (a.address != AddressQualifier::Private) return ArgumentKind::Pointer;
  return ArgumentKind::Value;
}

// The compilers split a value into elements; pieces adjacent in both argument and payload become one patch.
void sort_and_merge(std::vector<Patch>& patches) {
  std::sort(patches.begin(), patches.end(), [](const Patch& a, const Patch& b) {
    return std::tuple(a.offset, a.item, a.source, a.size) < std::tuple(b.offset, b.item, b.source, b.size);
  });
  std::vector<Patch> merged;
  for (const Patch& p : patches) {
    if (!merged.empty() && p.item == PayloadItem::Value) {
      Patch& last = merged.back();
      if (last.item == PayloadItem::Value && last.offset + last.size == p.offset &&
          last.source + last.size == p.source) {
        last.size += p.size;
        continue;
      }
    }
    merged.push_back(p);
  }
  patches = std::move(merged);
}

Result<void> check_patch(const Kernel& kernel, const Patch& p) {
  const PayloadItemInfo& item = info(p.item);
  if (p.size == 0 || p.offset > kernel.cross_thread_bytes || p.size > kernel.cross_thread_bytes - p.offset) {
    return error("kernel {}: {} takes {} bytes at {} of {} bytes of cross-thread data", kernel.name,
                 item.name, p.size, p.offset, kernel.cross_thread_bytes);
  }
  if (p.item == PayloadItem::Value) {
    if (p.source > 0xffff) {
      return error("kernel {}: Value begins at byte {} of its argument", kernel.name, p.source);
    }
    return {};
  }
  if (p.size != 4 && !(p.size == 8 && may_be_8_bytes(p.item))) {
    return error("kernel {}: {} has {} bytes, expected {}", kernel.name, item.name, p.size,
                 may_be_8_bytes(p.item) ? "4 or 8" : "4");
  }
  if (item.dims == 3 && p.source != 0 && p.source != 4 && p.source != 8) {
    return error("kernel {}: {} of dimension {}/4", kernel.name, item.name, p.source);
  }
  if (p.item == PayloadItem::LocalOffset && (!std::has_single_bit(p.source) || p.source > 4096)) {
    return error("kernel {}: alignment {} of a local argument", kernel.name, p.source);
  }
  return {};
}

Result<void> finish_argument(const Kernel& kernel, std::uint32_t index, Argument& a) {
  sort_and_merge(a.patches);
  if (a.kind == ArgumentKind::Unused) a.kind = kind_of_type(a);
  if (a.kind == ArgumentKind::Image && a.image_type == 0)
    a.image_type = image_type_of_name(a.type_name).value_or(0);
  std::uint32_t extent = 0;
  for (const Patch& p : a.patches) {
    if (auto checked = check_patch(kernel, p); !checked) return checked.error();
    if (a.kind != kind_for(p.item)) {
      return error("kernel {}: argument {} has a payload of kind {} and is something else too", kernel.name,
                   index, info(p.item).name);
    }
    if (p.item == PayloadItem::Value) extent = std::max(extent, p.source + p.size);
    if (p.item == PayloadItem::Pointer) a.size = p.size;
  }
  if (a.kind == ArgumentKind::Value) {
    if (a.exact_size) {
      for (const Patch& p : a.patches) {
        if (p.source >= a.size) {
          return error("kernel {}: argument {} of {} bytes is read at byte {}", kernel.name, index, a.size,
                       p.source);
        }
      }
    } else {
      a.size = extent;
    }
  } else if (a.kind == ArgumentKind::Pointer && a.size != 4 && a.size != 8) {
    a.size = 8;
  }
  if (a.binding && *a.binding >= first_reserved_binding) {
    return error("kernel {}: argument {} has reserved binding table index {}", kernel.name, index,
                 *a.binding);
  }
  if (a.sampler && *a.sampler >= kernel.samplers.size()) {
    return error("kernel {}: argument {} is sampler {} of {}", kernel.name, index, *a.sampler,
                 kernel.samplers.size());
  }
  return {};
}

Result<void> check_resources(Kernel& kernel, const Registers& registers, bool data_behind_header) {
  const auto fail = [&](std::string_view what, std::uint64_t found, std::string_view expected) {
    return error("kernel {}: {} is {}, expected {}", kernel.name, what, found, expected);
  };
  if (kernel.text.file == nullptr && (kernel.code.empty() || kernel.code.size() % 8 != 0)) {
    return fail("size of the code", kernel.code.size(), "a multiple of 8, not 0");
  }
  if (kernel.simd_size != 8 && kernel.simd_size != 16 && kernel.simd_size != 32) {
    return fail("SIMD size", kernel.simd_size, "8, 16 or 32");
  }
  if (kernel.grf_count != registers.count) {
    return fail("register count", kernel.grf_count, fmt::format("{}", registers.count));
  }
  if (kernel.slm_bytes > mem::slm_max_size) {
    return fail("shared local memory", kernel.slm_bytes, fmt::format("at most {} bytes", mem::slm_max_size));
  }
  if (kernel.barrier_count > 32) return fail("number of barriers", kernel.barrier_count, "at most 32");
  if (kernel.scratch_bytes > max_scratch) {
    return fail("scratch per thread", kernel.scratch_bytes, fmt::format("at most {} bytes", max_scratch));
  }
  if (kernel.scratch_bytes != 0)
    kernel.scratch_bytes = std::bit_ceil(std::max(kernel.scratch_bytes, min_scratch));
  if (kernel.private_bytes > max_private_bytes) {
    return fail("private memory per work-item", kernel.private_bytes,
                fmt::format("at most {}", max_private_bytes));
  }
  const Size3& required = kernel.required_local_size;
  const auto zeros = std::count(required.begin(), required.end(), 0u);
  if ((zeros != 0 && zeros != 3) ||
      std::any_of(required.begin(), required.end(), [](std::uint32_t n) { return n > max_local_size; })) {
    return error("kernel {}: required work-group size {}x{}x{}: expected none 0 or all 0, none over {}",
                 kernel.name, required[0], required[1], required[2], max_local_size);
  }
  std::array<std::uint8_t, 3> walk = kernel.local_ids.walk;
  std::sort(walk.begin(), walk.end());
  if (walk != std::array<std::uint8_t, 3>{0, 1, 2}) {
    return error("kernel {}: work-group walk order {}, {}, {} is no order of 0, 1, 2", kernel.name,
                 kernel.local_ids.walk[0], kernel.local_ids.walk[1], kernel.local_ids.walk[2]);
  }

  // SIMD8 rows are padded to 16 channels: one register, as for SIMD16.
  kernel.local_ids.row_bytes = std::max<std::uint32_t>(kernel.simd_size * 2, registers.bytes);
  // Up to Gen12 the hardware reads at least one register of per-thread data, and compilers count on it.
  const std::uint32_t least = data_behind_header ? 0 : registers.bytes;
  kernel.per_thread_bytes =
      std::max<std::uint32_t>(kernel.local_ids.rows() * kernel.local_ids.row_bytes, least);
  const std::uint64_t file = std::uint64_t{registers.bytes} * kernel.grf_count;
  if (kernel.cross_thread_bytes % registers.bytes != 0 ||
      std::uint64_t{registers.bytes} + kernel.per_thread_bytes + kernel.cross_thread_bytes > file) {
    return fail("cross-thread data", kernel.cross_thread_bytes,
                fmt::format("a multiple of {} bytes that fits the register file behind {}", registers.bytes,
                            registers.bytes + kernel.per_thread_bytes));
  }
  return {};
}

}  // namespace

void KernelDraft::add(const Patch& patch, std::uint32_t argument) {
  if (info(patch.item).owner == PayloadOwner::Implicit) {
    kernel.implicit.push_back(patch);
    return;
  }
  Argument& a = arguments[argument];
  if (a.kind == ArgumentKind::Unused) a.kind = kind_for(patch.item);
  a.patches.push_back(patch);
}

void set_type(Argument& argument, std::string_view declared) {
  const std::size_t semicolon = declared.rfind(';');
  argument.type_name = std::string(declared.substr(0, semicolon));
  if (semicolon == std::string_view::npos) return;
  const std::string_view digits = declared.substr(semicolon + 1);
  std::uint32_t size = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (failure != std::errc{} || end != digits.data() + digits.size() || size == 0 || size > 0xffff) return;
  argument.size = size;
  argument.exact_size = true;
}

void set_address_qualifier(Argument& argument, std::string_view spelled) {
  if (spelled == "__global") argument.address = AddressQualifier::Global;
  if (spelled == "__constant") argument.address = AddressQualifier::Constant;
  if (spelled == "__local") argument.address = AddressQualifier::Local;
}

std::optional<Relocation::Kind> relocation_kind(std::uint32_t type) {
  switch (type) {
    case 1:
      return Relocation::Kind::Address64;
    case 2:
      return Relocation::Kind::AddressLow32;
    case 3:
      return Relocation::Kind::AddressHigh32;
    default:
      return std::nullopt;
  }
}

Result<Kernel> finish(KernelDraft draft, gen::Family family) {
  if (draft.inline_data) draft.reject("it takes inline data, which its GPU family does not have");
  return finish(std::move(draft), registers_of(family));
}

Result<Kernel> finish(KernelDraft draft, const Registers& registers) {
  Kernel& kernel = draft.kernel;
  if (kernel.name.empty()) return error("a kernel has no name");
  if (auto checked = check_resources(kernel, registers, draft.data_behind_header); !checked)
    return checked.error();

  const std::uint64_t count =
      draft.arguments.empty() ? 0 : std::uint64_t{draft.arguments.rbegin()->first} + 1;
  if (count > max_arguments || count > draft.arguments.size() + max_unknown_arguments) {
    return error("kernel {}: argument {} of {} that the binary describes", kernel.name, count - 1,
                 draft.arguments.size());
  }
  kernel.arguments.resize(count);
  for (auto& [index, argument] : draft.arguments) {
    if (auto checked = finish_argument(kernel, index, argument); !checked) return checked.error();
    kernel.arguments[index] = std::move(argument);
  }
  sort_and_merge(kernel.implicit);
  for (const Patch& p : kernel.implicit) {
    if (auto checked = check_patch(kernel, p); !checked) return checked.error();
  }
  for (const ImplicitSurface& s : kernel.surfaces) {
    if (s.binding >= first_reserved_binding) {
      return error("kernel {}: {} has reserved binding table index {}", kernel.name, info(s.item).name,
                   s.binding);
    }
  }
  for (const Relocation& r : kernel.relocations) {
    const std::uint64_t bytes = r.kind == Relocation::Kind::Address64 ? 8 : 4;
    if (r.offset > kernel.code.size() || bytes > kernel.code.size() - r.offset) {
      return error("kernel {}: relocation of {} bytes at {} of {} bytes of code", kernel.name, bytes,
                   r.offset, kernel.code.size());
    }
  }
  return std::move(kernel);
}

}  // namespace eum::rt

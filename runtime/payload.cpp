// Validates a dispatch and fills cross-thread data, binding table and samplers.
#include "runtime/payload.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "memory/slm.hpp"
#include "runtime/dispatch/thread_payload.hpp"
#include "runtime/payload_walk.hpp"

namespace eum::rt {
namespace {

std::string describe(const ArgumentValue& value) {
  struct Text {
    std::string operator()(std::monostate) const { return "nothing"; }
    std::string operator()(const std::vector<std::byte>& bytes) const {
      return fmt::format("{} bytes", bytes.size());
    }
    std::string operator()(const BufferValue&) const { return "a buffer"; }
    std::string operator()(const LocalValue& v) const {
      return fmt::format("{} bytes of local memory", v.bytes);
    }
    std::string operator()(const ImageValue& v) const {
      const auto type = image_type_of(v.surface.image);
      return type ? fmt::format("a {}", info(*type).text) : "an image of a type that OpenCL has not";
    }
    std::string operator()(const SamplerValue&) const { return "a sampler"; }
  };
  return std::visit(Text{}, value);
}

std::string expected_value(const Argument& a) {
  switch (a.kind) {
    case ArgumentKind::Unused:
      return "anything";
    case ArgumentKind::Value:
      return fmt::format("{} bytes", a.size);
    case ArgumentKind::Pointer:
      return "a buffer";
    case ArgumentKind::LocalPointer:
      return "a size of local memory";
    case ArgumentKind::Image: {
      const auto type = image_types[a.image_type].takes;
      return type ? fmt::format("a {}", info(*type).text)
                  : fmt::format("an {}, which is not supported", image_types[a.image_type].name);
    }
    case ArgumentKind::Sampler:
      return "a sampler";
  }
  return "anything";
}

bool matches(const Argument& a, const ArgumentValue& value) {
  switch (a.kind) {
    case ArgumentKind::Unused:
      return true;
    case ArgumentKind::Value: {
      const auto* bytes = std::get_if<std::vector<std::byte>>(&value);
      if (bytes == nullptr) return false;
      // Without a declared size: the payload copies whole dwords.
      return a.exact_size ? bytes->size() == a.size
                          : !bytes->empty() && bytes->size() <= a.size && bytes->size() + 3 >= a.size;
    }
    case ArgumentKind::Pointer:
      return std::holds_alternative<BufferValue>(value);
    case ArgumentKind::LocalPointer:
      return std::holds_alternative<LocalValue>(value);
    case ArgumentKind::Image: {
      const auto* image = std::get_if<ImageValue>(&value);
      const auto type = image_types[a.image_type].takes;
      return image != nullptr && type && image_type_of(image->surface.image) == type;
    }
    case ArgumentKind::Sampler:
      return std::holds_alternative<SamplerValue>(value);
  }
  return false;
}

// Copies the argument bytes that the patch of a value covers; bytes beyond the value stay 0.
void copy_value(const Patch& p, const std::vector<std::byte>& value, std::vector<std::byte>& data) {
  if (p.source >= value.size()) return;
  std::memcpy(data.data() + p.offset, value.data() + p.source,
              std::min<std::size_t>(p.size, value.size() - p.source));
}

void store(const Patch& p, std::uint64_t value, std::vector<std::byte>& data) {
  std::memcpy(data.data() + p.offset, &value, p.size);
}

class PayloadBuilder {
 public:
  PayloadBuilder(const Kernel& kernel, std::span<const ArgumentValue> arguments, const NdRange& range,
                 const ImplicitBuffers& buffers, const PayloadLimits& limits)
      : kernel_(kernel), arguments_(arguments), range_(range), buffers_(buffers), limits_(limits) {}

  Result<Payload> build() {
    if (!kernel_.unsupported.empty())
      return error("kernel {} cannot run: {}", kernel_.name, kernel_.unsupported);
    payload_.kernel = &kernel_;
    payload_.bindings = std::make_unique<mem::BindingTable>();
    common_.resize(kernel_.cross_thread_bytes);
    for (auto step :
         {&PayloadBuilder::check_range, &PayloadBuilder::check_arguments, &PayloadBuilder::place_local,
          &PayloadBuilder::fill_arguments, &PayloadBuilder::fill_samplers, &PayloadBuilder::fill_buffers}) {
      if (auto done = (this->*step)(); !done) return done.error();
    }
    payload_.walks = walks();
    for (Walk& walk : payload_.walks) fill_walk(walk);
    return std::move(payload_);
  }

  jit::LaunchFacts thread_facts(std::uint32_t first) {
    jit::LaunchFacts facts;
    if (!check_range()) return facts;
    facts.pointers = pointer_arguments(kernel_, first);
    const std::vector<Walk> all = walks();
    const auto mask = all.front().last_thread_mask;
    facts.lone_threads =
        std::ranges::all_of(all, [](const Walk& walk) { return walk.threads_per_group == 1; });
    if (facts.lone_threads &&
        std::ranges::all_of(all, [&](const Walk& walk) { return walk.last_thread_mask == mask; }))
      facts.channels = static_cast<std::uint32_t>(std::popcount(mask));
    std::uint32_t run = kernel_.local_ids.rows() == 0 ? 0 : kernel_.simd_size;
    for (const Walk& walk : all)
      if (run != 0)
        run = std::min(run,
                       consecutive_run({walk.per_thread, kernel_.per_thread_bytes, 0, walk.last_thread_mask},
                                       consecutive_ids(kernel_, 0, kernel_.simd_size)));
    if (run == 0) return facts;
    facts.ids = consecutive_ids(kernel_, first, run);
    // Groups at the end of the range may be smaller than the others.
    const Walk& usual = all.front();
    facts.id_steps = id_steps({usual.per_thread, kernel_.per_thread_bytes, 0, usual.last_thread_mask},
                              consecutive_ids(kernel_, 0, run));
    return facts;
  }

 private:
  std::vector<Walk> walks() const { return plan_walks(kernel_, range_.global, payload_.local_size); }

  Result<void> check_range() {
    if (range_.dims < 1 || range_.dims > 3) {
      return error("kernel {}: an N-D range has 1 to 3 dimensions, {} given", kernel_.name, range_.dims);
    }
    for (std::size_t d = range_.dims; d < 3; ++d) {
      range_.global[d] = 1;
      range_.offset[d] = 0;
    }
    for (std::size_t d = 0; d < range_.dims; ++d) {
      if (range_.global[d] == 0) return error("kernel {}: global size of dimension {} is 0", kernel_.name, d);
      if (range_.offset[d] > ~range_.global[d] + 1) {
        return error("kernel {}: global ids of dimension {} go beyond 32 bits ({} from {})", kernel_.name, d,
                     range_.global[d], range_.offset[d]);
      }
    }
    const Size3& required = kernel_.required_local_size;
    Size3 local = range_.local;
    if (local == Size3{}) {
      local = choose_local_size(kernel_, range_, limits_);
      are_all_whole_ = !range_.allow_remainder;
      range_.allow_remainder |= required[0] == 0 && !observes_groups(kernel_);
    } else {
      for (std::size_t d = range_.dims; d < 3; ++d) local[d] = 1;
      if (required[0] != 0 && local != required) {
        return error("kernel {} requires local size {}, {} given", kernel_.name, text_of(required),
                     text_of(local));
      }
    }
    std::uint64_t items = 1;
    for (std::size_t d = 0; d < 3; ++d) {
      if (local[d] == 0) return error("kernel {}: local size of dimension {} is 0", kernel_.name, d);
      items *= local[d];
      if (items > limits_.max_local_size) {
        return error("kernel {}: local size {} has more than {} work-items", kernel_.name, text_of(local),
                     limits_.max_local_size);
      }
      if (range_.global[d] % local[d] != 0 && !range_.allow_remainder) {
        return error("kernel {}: local size {} does not divide global size {} in dimension {}", kernel_.name,
                     local[d], range_.global[d], d);
      }
    }
    payload_.local_size = local;
    return {};
  }

  static std::string text_of(const Size3& size) { return fmt::format("{}x{}x{}", size[0], size[1], size[2]); }

  Result<void> check_arguments() {
    if (arguments_.size() != kernel_.arguments.size()) {
      return error("kernel {} takes {} argument{} ({}), {} given", kernel_.name, kernel_.arguments.size(),
                   kernel_.arguments.size() == 1 ? "" : "s", describe_arguments(kernel_), arguments_.size());
    }
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (!matches(kernel_.arguments[i], arguments_[i])) {
        return error("kernel {}: argument {} ({}) takes {}, {} given", kernel_.name, i,
                     describe_argument(kernel_, i), expected_value(kernel_.arguments[i]),
                     describe(arguments_[i]));
      }
      if (auto good = check_written(i); !good) return good;
    }
    return {};
  }

  // The format of an image that a kernel writes must be one that typed messages write.
  Result<void> check_written(std::size_t index) const {
    const auto* image = std::get_if<ImageValue>(&arguments_[index]);
    const AccessQualifier access = kernel_.arguments[index].access;
    if (image == nullptr || (access != AccessQualifier::WriteOnly && access != AccessQualifier::ReadWrite))
      return {};
    const mem::image::FormatInfo* format = mem::image::find_format(image->surface.image.format);
    if (format != nullptr && format->writable && image->writable) return {};
    return error("kernel {}: argument {} ({}) is written, which images of {} cannot be", kernel_.name, index,
                 describe_argument(kernel_, index),
                 format != nullptr && image->writable ? format->name : std::string_view("this format"));
  }

  // __local arguments follow the kernel's own local memory, in order of their index.
  Result<void> place_local() {
    std::uint64_t end = kernel_.slm_bytes;
    local_offsets_.resize(arguments_.size());
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const auto* local = std::get_if<LocalValue>(&arguments_[i]);
      if (local == nullptr || kernel_.arguments[i].kind != ArgumentKind::LocalPointer) continue;
      std::uint64_t alignment = 1;
      for (const Patch& p : kernel_.arguments[i].patches)
        alignment = std::max<std::uint64_t>(alignment, p.source);
      end = (end + alignment - 1) / alignment * alignment;
      local_offsets_[i] = static_cast<std::uint32_t>(std::min<std::uint64_t>(end, mem::slm_max_size));
      end += local->bytes;
      if (end > mem::slm_max_size) {
        return error("kernel {}: a group needs more than {} bytes of local memory ({} with argument {})",
                     kernel_.name, mem::slm_max_size, end, i);
      }
    }
    payload_.slm_bytes = static_cast<std::uint32_t>(end);
    return {};
  }

  Result<void> fill_arguments() {
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const Argument& a = kernel_.arguments[i];
      const ArgumentValue& value = arguments_[i];
      for (const Patch& p : a.patches) {
        if (p.item == PayloadItem::Value) {
          copy_value(p, std::get<std::vector<std::byte>>(value), common_);
        } else {
          store(p, argument_item(p.item, i), common_);
        }
      }
      const mem::Surface* surface = nullptr;
      if (const auto* buffer = std::get_if<BufferValue>(&value)) surface = &buffer->surface;
      if (const auto* image = std::get_if<ImageValue>(&value)) surface = &image->surface;
      if (a.binding && surface != nullptr) (*payload_.bindings)[*a.binding] = *surface;
    }
    return {};
  }

  // Samplers that the kernel declares, and those of arguments.
  Result<void> fill_samplers() {
    std::vector<SamplerState> states = kernel_.samplers;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const auto* sampler = std::get_if<SamplerValue>(&arguments_[i]);
      if (sampler != nullptr && kernel_.arguments[i].sampler)
        states[*kernel_.arguments[i].sampler] =
            sampler_state(sampler->address, sampler->filter, sampler->normalized);
    }
    for (std::size_t i = 0; i < states.size(); ++i) {
      std::array<std::byte, mem::image::sampler_state_bytes> bytes;
      static_assert(sizeof bytes == sizeof(SamplerState));
      std::memcpy(bytes.data(), &states[i], sizeof bytes);
      auto decoded = mem::image::decode_sampler_state(bytes, std::as_bytes(std::span(kernel_.border_color)));
      if (!decoded) return error("kernel {}: sampler {}: {}", kernel_.name, i, decoded.error().message);
      payload_.samplers.push_back(*decoded);
    }
    return {};
  }

  // The value of an item of an argument; check_arguments and the loader have ensured that the kinds agree.
  std::uint64_t argument_item(PayloadItem item, std::size_t index) const {
    const ArgumentValue& value = arguments_[index];
    if (const auto* buffer = std::get_if<BufferValue>(&value)) {
      if (item == PayloadItem::Pointer) return buffer->surface.gpu_address;
      if (item == PayloadItem::BufferSize) return buffer->surface.size;
      return 0;  // BufferOffset: a surface begins where its buffer does
    }
    if (std::holds_alternative<LocalValue>(value)) return local_offsets_[index];
    if (const auto* image = std::get_if<ImageValue>(&value)) {
      switch (item) {
        case PayloadItem::ImageWidth:
          return image->surface.image.width;
        case PayloadItem::ImageHeight:
          return image->surface.image.height;
        case PayloadItem::ImageDepth:
          return image->surface.image.depth;
        case PayloadItem::ImageDataType:
          return image->channel_data_type;
        case PayloadItem::ImageChannelOrder:
          return image->channel_order;
        case PayloadItem::ImageArraySize:
          return image->array_size;
        case PayloadItem::ImageSamples:
          return image->samples;
        default:
          return image->mip_levels;
      }
    }
    if (const auto* sampler = std::get_if<SamplerValue>(&value)) {
      constexpr std::uint32_t normalized = 8;  // SamplerPatchValues of compute-runtime
      switch (item) {
        case PayloadItem::SamplerAddress:
          return static_cast<std::uint32_t>(sampler->address);
        case PayloadItem::SamplerNormalized:
          return sampler->normalized ? normalized : 0;
        default:  // SamplerSnap: all ones for clamping to a border colour without filtering
          return sampler->address == SamplerAddress::clamp_border && sampler->filter == SamplerFilter::nearest
                     ? ~std::uint32_t{0}
                     : 0;
      }
    }
    return 0;
  }

  const mem::Surface* implicit_surface(PayloadItem item) const {
    switch (item) {
      case PayloadItem::ConstantBase:
        return &buffers_.constants;
      case PayloadItem::GlobalBase:
        return &buffers_.globals;
      case PayloadItem::PrivateBase:
        return &buffers_.private_memory;
      case PayloadItem::PrintfBuffer:
        return &buffers_.printf_buffer;
      default:
        return nullptr;
    }
  }

  Result<void> fill_buffers() {
    for (const Patch& p : kernel_.implicit) {
      const mem::Surface* surface = implicit_surface(p.item);
      if (surface == nullptr) continue;
      const bool needed = p.item != PayloadItem::PrivateBase || kernel_.private_bytes != 0;
      if (surface->size == 0 && needed)
        return error("kernel {} needs {}, none given", kernel_.name, info(p.item).name);
      store(p, surface->gpu_address, common_);
    }
    for (const ImplicitSurface& s : kernel_.surfaces) {
      const mem::Surface* surface = implicit_surface(s.item);
      if (surface != nullptr) (*payload_.bindings)[s.binding] = *surface;
    }
    return {};
  }

  void fill_walk(Walk& walk) {
    walk.cross_thread = common_;
    for (const Patch& p : kernel_.implicit) {
      const std::size_t d = p.source / 4;
      switch (p.item) {
        case PayloadItem::LocalSize:
          store(p, are_all_whole_ ? payload_.local_size[d] : walk.local_size[d], walk.cross_thread);
          break;
        case PayloadItem::EnqueuedLocalSize:
          store(p, payload_.local_size[d], walk.cross_thread);
          break;
        case PayloadItem::GlobalSize:
          store(p, range_.global[d], walk.cross_thread);
          break;
        case PayloadItem::GlobalOffset:
          store(p, range_.offset[d], walk.cross_thread);
          break;
        case PayloadItem::GroupCount: {
          const std::uint32_t local = payload_.local_size[d];
          store(p, range_.global[d] / local + (range_.global[d] % local != 0), walk.cross_thread);
          break;
        }
        case PayloadItem::WorkDimensions:
          store(p, range_.dims, walk.cross_thread);
          break;
        case PayloadItem::MaxLocalSize:
          store(p, limits_.max_local_size, walk.cross_thread);
          break;
        case PayloadItem::PreferredMultiple:
        case PayloadItem::SimdSize:
          store(p, kernel_.simd_size, walk.cross_thread);
          break;
        default:
          break;
      }
    }
  }

  const Kernel& kernel_;
  std::span<const ArgumentValue> arguments_;
  NdRange range_;
  const ImplicitBuffers& buffers_;
  const PayloadLimits& limits_;
  Payload payload_;
  bool are_all_whole_ = false;                // in the kernel's eyes
  std::vector<std::byte> common_;             // cross-thread data without the parts that depend on the walk
  std::vector<std::uint32_t> local_offsets_;  // offset in SLM, by argument
};

}  // namespace

Result<ArgumentValue> buffer_at(const mem::AddressSpace& space, std::uint64_t address) {
  if (address == 0) return ArgumentValue(BufferValue{});
  const mem::Region* region = space.find(address);
  if (region == nullptr) return error("no memory is mapped at GPU address {:#x}", address);
  const std::uint64_t asked_end = region->address + region->asked;
  const std::uint64_t bytes = asked_end > address ? asked_end - address : 0;
  BufferValue value{mem::buffer_surface(nullptr, bytes, address)};
  mem::resolve(value.surface, space);
  return ArgumentValue(value);
}

Result<Payload> build_payload(const Kernel& kernel, std::span<const ArgumentValue> arguments,
                              const NdRange& range, const ImplicitBuffers& buffers,
                              const PayloadLimits& limits) {
  return PayloadBuilder(kernel, arguments, range, buffers, limits).build();
}

ir::ConsecutiveIds consecutive_ids(const Kernel& kernel, std::uint32_t first, std::uint32_t run) {
  return {first, kernel.simd_size, run, std::max(1u, kernel.local_ids.rows()), kernel.local_ids.row_bytes};
}

std::vector<ir::PointerArgument> pointer_arguments(const Kernel& kernel, std::uint32_t first) {
  std::vector<ir::PointerArgument> pointers;
  for (const Argument& argument : kernel.arguments)
    for (const Patch& patch : argument.patches)
      if (argument.kind == ArgumentKind::Pointer && argument.binding && patch.item == PayloadItem::Pointer &&
          patch.size == 8)
        pointers.push_back({first + kernel.per_thread_bytes + patch.offset, *argument.binding});
  return pointers;
}

jit::LaunchFacts thread_facts(const Kernel& kernel, const NdRange& range, std::uint32_t first,
                              const PayloadLimits& limits) {
  return PayloadBuilder(kernel, {}, range, {}, limits).thread_facts(first);
}

}  // namespace eum::rt

// Performs each image op as a message of memory/image.
#include "jit/image_access.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "memory/image/kernels/kernel_cache.hpp"
#include "memory/image/message.hpp"
#include "memory/image/state_heap.hpp"
#include "memory/surface.hpp"

namespace eum::jit {
namespace {

using namespace mem::image;

/// The null surface, whose reads give 0: it stands for an index beyond the table.
constexpr mem::Surface null_surface{};

const mem::Surface& surface_of(const Environment& environment, const ImageOperands& operands) {
  if (environment.surfaces == nullptr || operands.surface >= mem::binding_table_size) return null_surface;
  return environment.surfaces[operands.surface];
}

/// Whether the message's sampler is bindless like its surface: its pointer then is that of the state,
/// whatever the index.
bool has_bindless_sampler(const Environment& environment, const ImageSite& site) {
  return site.image.bindless && environment.heap.samplers &&
         !mem::image::info(site.image.sample).has(sample_flag::Texel);
}
constexpr std::uint32_t pointer_bits = 0xfffffff0;

/// Samplers are numbered from the table that the header points to; without a header, from the thread's own.
/// Null: the dispatch has no such sampler, which the message handles.
const SamplerState* sampler_of(const Environment& environment, const ImageSite& site,
                               const ImageOperands& operands) {
  std::uint32_t index = site.image.sampler;
  if (site.image.scalars != 0)
    index += ((operands.scalars[1] & pointer_bits) - environment.sampler_table) /
             std::uint32_t{sampler_state_bytes};
  return index < environment.sampler_count ? &environment.samplers[index] : nullptr;
}

/// Performs the message by host code made for it, if that is available, else by its definition.
template <class Message, class Call>
ImageFault send(const Environment& environment, KernelSite* kernel, const Message& message, const Call& call,
                ImageFault (&definition)(const Message&, const Call&)) {
  if (kernel == nullptr || environment.image_kernels == nullptr) return definition(message, call);
  return environment.image_kernels->run(message, call, *kernel);
}

ImageFault sample(const Environment& environment, KernelSite* kernel, const ImageSite& site,
                  const ImageOperands& operands, const mem::Surface& surface, std::uint32_t* data) {
  const SampleMessage message{site.image.sample, site.lanes, site.operands, site.results, site.image.half};
  SampleCall call;
  call.surface = &surface;
  SamplerState bindless;
  if (has_bindless_sampler(environment, site)) {
    const std::uint32_t pointer =
        site.image.scalars != 0 ? operands.scalars[1] & pointer_bits : environment.sampler_table;
    if (const ImageFault fault = read_sampler(environment.heap, environment.space, pointer, bindless))
      return fault;
    call.sampler = &bindless;
  } else {
    call.sampler = sampler_of(environment, site, operands);
  }
  if (site.image.scalars != 0) call.control.bits = operands.scalars[0];
  call.mask = operands.mask;
  call.data = data;
  call.space = environment.space;
  return send(environment, kernel, message, call, mem::image::sample);
}

ImageFault typed(const Environment& environment, KernelSite* kernel, const ImageSite& site,
                 const ImageOperands& operands, const mem::Surface& surface, std::uint32_t* data) {
  TypedMessage message;
  message.kind = site.op == ir::Op::typed_read    ? TypedMessage::Kind::Read
                 : site.op == ir::Op::typed_write ? TypedMessage::Kind::Write
                 : site.image.counter             ? TypedMessage::Kind::Counter
                                                  : TypedMessage::Kind::Atomic;
  message.lanes = site.lanes;
  message.coordinates = site.image.coordinates;
  message.components = site.image.components;
  message.atomic = site.image.atomic;
  message.returns = site.results != 0;
  TypedCall call;
  call.surface = &surface;
  call.mask = operands.mask;
  call.data = data;
  call.space = environment.space;
  return send(environment, kernel, message, call, typed_access);
}

/// The block's size is in the header: bytes of a row minus one in bits 5:0, rows minus one in bits 21:16 (SKL
/// PRM volume 7, media block messages).
ImageFault media(const Environment& environment, const ImageSite& site, const ImageOperands& operands,
                 const mem::Surface& surface, std::uint32_t* data) {
  const std::uint32_t size = operands.scalars[2];
  MediaMessage message;
  message.write = site.op == ir::Op::media_write;
  message.width = static_cast<std::uint8_t>((size & 63) + 1);
  message.height = static_cast<std::uint8_t>((size >> 16 & 63) + 1);
  message.vertical_stride_override = site.image.vertical_stride;
  const std::size_t block = std::size_t{message.height} * media_row_bytes(message.width);
  const unsigned registers = message.write ? site.operands : site.results;
  if (block > std::size_t{registers} * site.lanes * sizeof(std::uint32_t))
    return {ImageFault::Kind::Unsupported, 0, 0, 0, "a block that is larger than the message's registers"};
  MediaCall call;
  call.surface = &surface;
  call.x = std::bit_cast<std::int32_t>(operands.scalars[0]);
  call.y = std::bit_cast<std::int32_t>(operands.scalars[1]);
  call.data = reinterpret_cast<std::byte*>(data);
  call.space = environment.space;
  if (!message.write) std::memset(data, 0, site.data_dwords() * sizeof(std::uint32_t));
  return media_block(message, call);
}

}  // namespace

ImageSite ImageSite::of(const ir::Function& function, const ir::Inst& inst) {
  ImageSite site;
  site.op = inst.op;
  site.image = function.image(inst);
  site.lanes = inst.lanes;
  site.operands = static_cast<std::uint8_t>(inst.arg_count - site.image.scalars -
                                            (site.image.surface_is_operand ? 1 : 0));
  site.results = static_cast<std::uint8_t>(inst.result_count);
  site.guest_ip = inst.guest_ip;
  return site;
}

namespace {

bool access(const Environment& environment, KernelSite* kernel, const ImageSite& site,
            const ImageOperands& operands, std::uint32_t* data, Fault& fault) {
  if (operands.mask == 0) {  // no lane active, no fault
    std::fill_n(data, std::size_t{site.results} * site.lanes,
                0u);  // without results, data may be null
    return true;
  }
  const auto send = [&](const mem::Surface& surface) {
    switch (site.op) {
      case ir::Op::sample:
        return sample(environment, kernel, site, operands, surface, data);
      case ir::Op::media_read:
      case ir::Op::media_write:
        return media(environment, site, operands, surface, data);
      default:
        return typed(environment, kernel, site, operands, surface, data);
    }
  };
  ImageFault failed;
  if (site.image.bindless) {
    mem::Surface surface;
    failed = read_surface(environment.heap, environment.space, operands.surface, surface, site.image.heap);
    if (!failed) failed = send(surface);
  } else {
    failed = send(surface_of(environment, operands));
  }
  if (!failed) return true;
  const FaultKind kind = failed.kind == ImageFault::Kind::Unsupported  ? FaultKind::Image
                         : failed.kind == ImageFault::Kind::Misaligned ? FaultKind::Misaligned
                                                                       : FaultKind::OutOfBounds;
  fault = {kind, site.guest_ip, failed.lane, failed.bytes, failed.address, failed.reason};
  return false;
}

}  // namespace

bool image_access(const Environment& environment, const ImageSite& site, const ImageOperands& operands,
                  std::uint32_t* data, Fault& fault) {
  return access(environment, nullptr, site, operands, data, fault);
}

bool fast_image_access(const Environment& environment, const ImageSite& site, KernelSite& kernel,
                       const ImageOperands& operands, std::uint32_t* data, Fault& fault) {
  return access(environment, &kernel, site, operands, data, fault);
}

}  // namespace eum::jit

// Sampler messages: which of them are defined, and the loop over their lanes.
#include <algorithm>

#include "memory/image/float_mode.hpp"
#include "memory/image/layout.hpp"
#include "memory/image/sampler.hpp"

namespace eum::mem::image {

const char* refuse(const SampleMessage& message, const SurfaceState& surface, const SamplerState* sampler,
                   const FormatInfo* format) {
  const SampleOpInfo& op = info(message.op);
  if (op.has(sample_flag::Wide)) return "a sampler message of 32 or 64 pixels";
  if (op.has(sample_flag::Info) && message.op != SampleOp::lod) return nullptr;
  if (surface.type == SurfaceType::SURFTYPE_NULL) return nullptr;
  if (surface.type == SurfaceType::SURFTYPE_STRBUF) return "the sampler on a structured buffer";
  if (format == nullptr || format->kind == ChannelKind::None)
    return "the sampler on a surface without a format";
  if (surface.vertical_line_stride) return "the sampler on the lines of a field";
  if (surface.samples_log2 != 0) return "the sampler on a surface of several samples";
  const auto size = level_size(surface, 0);
  if (*std::min_element(size.begin(), size.end()) == 0) return "the sampler on a surface without texels";
  constexpr std::uint32_t most = 1 << 24;  // floats count exactly up to this; the manual's limits are lower
  if (surface.type != SurfaceType::SURFTYPE_BUFFER && *std::max_element(size.begin(), size.end()) > most)
    return "the sampler on a surface beyond the limits of the manual";
  if (surface.mip_count == 0) return "the sampler on a surface without levels";
  if (op.has(sample_flag::Texel)) return nullptr;
  if (sampler == nullptr) return "a sampler that the dispatch does not have";
  if (surface.type == SurfaceType::SURFTYPE_BUFFER) return "a buffer surface in a message that filters";
  if (op.has(sample_flag::Compare) && format->integer) return "comparison with texels that are integers";
  if (op.has(sample_flag::Gather) && surface.type != SurfaceType::SURFTYPE_2D &&
      surface.type != SurfaceType::SURFTYPE_CUBE)
    return "gather of a surface that is not 2D";
  for (const MapFilter filter : {sampler->min_filter, sampler->mag_filter})
    if (filter == MapFilter::MONO) return "the filter MONO";
  return nullptr;
}

ImageFault sample(const SampleMessage& message, const SampleCall& call) {
  static constexpr FormatInfo none{};
  const DefaultFloatMode mode;
  const FormatInfo* format = find_format(call.surface->image.format);
  if (const char* reason = refuse(message, call.surface->image, call.sampler, format))
    return {.kind = ImageFault::Kind::Unsupported, .reason = reason};
  if (message.lanes == two_slots && !call.control.two_slots())
    return {.kind = ImageFault::Kind::Unsupported, .reason = "a sampler message in SIMD8D mode"};
  if (format == nullptr) format = &none;
  const bool integer =
      format->integer || (info(message.op).has(sample_flag::Info) && message.op != SampleOp::lod);
  Sampler sampler(message, call, *format);
  const Results results(message, call, integer);
  for (unsigned lane = 0; lane < message.lanes; ++lane) {
    if ((call.mask >> lane & 1) == 0) {
      results.clear(lane);
      continue;
    }
    Texel texel{};
    if (!sampler.run(lane, texel)) {
      ImageFault fault = sampler.fault();
      fault.lane = lane;
      return fault;
    }
    results.write(lane, texel);
  }
  results.write_mask();
  return {};
}

}  // namespace eum::mem::image

// Typed surface messages, a lane at a time (SKL PRM volume 7, "Typed Surface Messages"): integer coordinates
// at the level MIP Count / LOD plus the lod that the message gives; array elements and slices count from
// Minimum Array Element and end at Render Target View Extent. Outside, reads give 0 in all channels and
// writes are dropped.
#include <algorithm>
#include <bit>
#include <cstring>

#include "memory/image/float_mode.hpp"
#include "memory/image/layout.hpp"
#include "memory/image/message.hpp"
#include "memory/image/texel_fetch.hpp"

namespace eum::mem::image {

namespace {

using Kind = TypedMessage::Kind;

struct Place {
  unsigned level = 0;
  std::array<std::uint32_t, 2> texel{};
  std::uint32_t slice = 0;
  bool inside = false;
};

Place place_of(const TypedMessage& message, const TypedCall& call, unsigned lane) {
  const SurfaceState& state = call.surface->image;
  const auto coordinate = [&](unsigned k) {
    return k < message.coordinates ? call.data[k * message.lanes + lane] : 0;
  };
  Place place;
  const std::uint32_t lod = coordinate(3);
  if (lod >= level_count(state) - state.mip_lod) return place;
  place.level = state.mip_lod + lod;
  const auto size = level_size(state, place.level);
  place.texel[0] = coordinate(0);
  std::uint32_t slice = 0;
  bool sliced = true;
  switch (state.type) {
    case SurfaceType::SURFTYPE_1D:
      slice = coordinate(1);
      sliced = state.array;
      break;
    case SurfaceType::SURFTYPE_2D:
      sliced = state.array;
      [[fallthrough]];
    case SurfaceType::SURFTYPE_3D:
    case SurfaceType::SURFTYPE_CUBE:  // an array of faces
      place.texel[1] = coordinate(1);
      slice = coordinate(2);
      break;
    default:
      sliced = false;
  }
  if (!sliced) slice = 0;
  const bool buffer = state.type == SurfaceType::SURFTYPE_BUFFER;
  place.slice = slice + (buffer ? 0 : state.min_array_element);
  const std::uint32_t slices = state.type == SurfaceType::SURFTYPE_3D ? size[2] : slice_count(state);
  place.inside = place.texel[0] < size[0] && place.texel[1] < size[1] &&
                 (!sliced || slice < state.view_extent) && place.slice >= slice && place.slice < slices;
  return place;
}

/// Returns the reason why the message is not defined, or null.
const char* refuse(const TypedMessage& message, const SurfaceState& state, const FormatInfo* format) {
  if (state.type == SurfaceType::SURFTYPE_NULL) return nullptr;
  if (message.kind == Kind::Counter)
    return state.auxiliary == Auxiliary::APPEND ? nullptr
                                                : "an atomic on the counter of a surface without one";
  if (state.type == SurfaceType::SURFTYPE_STRBUF) return "a typed message on a structured buffer";
  if (format == nullptr || format->encode == nullptr)
    return "a typed message on a surface without a format for it";
  if (state.vertical_line_stride) return "a typed message on the lines of a field";
  if (state.samples_log2 != 0) return "a typed message on a surface of several samples";
  if (message.kind == Kind::Write && !format->writable)
    return "a typed write to a format that cannot be written";
  if (message.kind == Kind::Read && !format->readable)
    return "a typed read of a format that such reads do not convert";
  if (message.kind != Kind::Atomic) return nullptr;
  const ChannelLayout& red = format->channels[0];
  if (format->bytes != 4 || red.bits != 32)
    return "a typed atomic on a format other than R32_UINT, R32_SINT and R32_FLOAT";
  const bool floats = info(message.atomic).kind == AtomicKind::Float;
  if (floats != (red.kind == ChannelKind::FLOAT)) {
    // Loads, stores and exchanges move bits regardless of their meaning.
    if (message.atomic != AtomicOp::mov && message.atomic != AtomicOp::load)
      return floats ? "a typed float atomic on a format of integers"
                    : "a typed integer atomic on a format of floats";
  }
  return nullptr;
}

class TypedAccess {
 public:
  TypedAccess(const TypedMessage& message, const TypedCall& call, const FormatInfo& format)
      : message_(message), call_(call), format_(format), memory_(*call.surface, call.space) {}

  bool run(unsigned lane) {
    const Place place = place_of(message_, call_, lane);
    const std::uint64_t offset = place.inside ? texel_offset(call_.surface->image, place.level,
                                                             place.texel[0], place.texel[1], place.slice)
                                              : 0;
    switch (message_.kind) {
      case Kind::Read:
        return read(lane, place.inside, offset);
      case Kind::Write:
        return !place.inside || write(lane, offset);
      default:
        return atomic(lane, place.inside, offset);
    }
  }
  void clear(unsigned lane) {
    for (unsigned k = 0; k < results(); ++k) call_.data[k * message_.lanes + lane] = 0;
  }
  /// Atomic on the four bytes of the append counter.
  bool count(unsigned lane) { return atomic(lane, true, 0); }
  const ImageFault& fault() const { return memory_.fault(); }

 private:
  using Dwords = std::array<std::uint32_t, 4>;

  unsigned results() const {
    if (message_.kind == Kind::Read) return message_.component_count();
    return message_.kind != Kind::Write && message_.returns ? 1 : 0;
  }
  std::uint32_t operand(unsigned k, unsigned lane) const {
    return call_.data[(message_.coordinates + k) * message_.lanes + lane];
  }
  std::span<std::byte> bytes() { return std::span(bytes_).first(format_.bytes); }

  bool read(unsigned lane, bool inside, std::uint64_t offset) {
    Texel texel{};
    if (inside) {
      if (!memory_.read(offset, bytes())) return false;
      texel = format_.decode(bytes_.data(), 0, 0);
    }
    unsigned k = 0;
    for (unsigned c = 0; c < 4; ++c)
      if ((message_.components >> c & 1) != 0) call_.data[k++ * message_.lanes + lane] = texel[c];
    return true;
  }

  bool write(unsigned lane, std::uint64_t offset) {
    Texel texel{};
    unsigned k = 0;
    for (unsigned c = 0; c < 4; ++c)
      if ((message_.components >> c & 1) != 0) texel[c] = operand(k++, lane);
    if (!is_partial(format_, message_.components)) {
      format_.encode(texel, bytes_.data());
      return memory_.write(offset, bytes());
    }
    // Bits of components that the message does not give stay as they are.
    if (!memory_.read(offset, bytes())) return false;
    Dwords old{}, given{};
    std::memcpy(old.data(), bytes_.data(), format_.bytes);
    format_.encode(texel, bytes_.data());
    std::memcpy(given.data(), bytes_.data(), format_.bytes);
    const Dwords taken = channel_bits(format_, message_.components);
    for (std::size_t i = 0; i < old.size(); ++i) old[i] = (old[i] & ~taken[i]) | (given[i] & taken[i]);
    std::memcpy(bytes_.data(), old.data(), format_.bytes);
    return memory_.write(offset, bytes());
  }

  bool atomic(unsigned lane, bool inside, std::uint64_t offset) {
    std::uint32_t result = 0;
    if (inside) {
      std::byte* host = memory_.atomic(offset, sizeof result);
      if (host == nullptr) return false;
      const unsigned operands = info(message_.atomic).operands;
      result = perform_atomic<std::uint32_t>(message_.atomic, host, operands > 0 ? operand(0, lane) : 0,
                                             operands > 1 ? operand(1, lane) : 0);
    }
    if (message_.returns) call_.data[lane] = result;
    return true;
  }

  const TypedMessage& message_;
  const TypedCall& call_;
  const FormatInfo& format_;
  SurfaceMemory memory_;
  std::array<std::byte, 16> bytes_{};
};

}  // namespace

ImageFault typed_access(const TypedMessage& message, const TypedCall& call) {
  static constexpr FormatInfo none{};
  const DefaultFloatMode mode;
  const SurfaceState& state = call.surface->image;
  const FormatInfo* format = find_format(state.format);
  if (const char* reason = refuse(message, state, format))
    return {.kind = ImageFault::Kind::Unsupported, .reason = reason};
  const bool counts = message.kind == Kind::Counter;
  Surface counter;
  counter.gpu_address = call.surface->counter;
  counter.size = sizeof(std::uint32_t);
  TypedCall access_call = call;
  if (counts) access_call.surface = &counter;
  TypedAccess access(message, access_call, format == nullptr ? none : *format);
  for (unsigned lane = 0; lane < message.lanes; ++lane) {
    if ((call.mask >> lane & 1) == 0 || state.type == SurfaceType::SURFTYPE_NULL) {
      access.clear(lane);
      continue;
    }
    if (counts ? !access.count(lane) : !access.run(lane)) {
      ImageFault fault = access.fault();
      fault.lane = lane;
      return fault;
    }
  }
  return {};
}

}  // namespace eum::mem::image

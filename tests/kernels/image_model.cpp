// Texels, addresses and filters.
#include "tests/kernels/image_model.hpp"

#include <cmath>

#include "tests/kernels/case_parts.hpp"

namespace eum::kernels {
namespace {

enum class Kind : uint8_t { Unorm, Snorm, Unsigned, Signed, Half, Float };

struct ChannelForm {
  Kind kind;
  unsigned bits;
};

ChannelForm form_of(uint32_t type) {
  switch (type) {
    case channel::SNORM8:
      return {Kind::Snorm, 8};
    case channel::SNORM16:
      return {Kind::Snorm, 16};
    case channel::UNORM16:
      return {Kind::Unorm, 16};
    case channel::SINT8:
      return {Kind::Signed, 8};
    case channel::SINT16:
      return {Kind::Signed, 16};
    case channel::SINT32:
      return {Kind::Signed, 32};
    case channel::UINT8:
      return {Kind::Unsigned, 8};
    case channel::UINT16:
      return {Kind::Unsigned, 16};
    case channel::UINT32:
      return {Kind::Unsigned, 32};
    case channel::HALF:
      return {Kind::Half, 16};
    case channel::FLOAT:
      return {Kind::Float, 32};
    default:
      return {Kind::Unorm, 8};
  }
}

/// For a packed type: the lowest bit and the number of bits of red, green, blue, alpha; empty for others.
struct Field {
  unsigned low, bits;
};
std::span<const Field> packed_fields(uint32_t type) {
  static constexpr std::array<Field, 3> f565{{{11, 5}, {5, 6}, {0, 5}}}, f555{{{10, 5}, {5, 5}, {0, 5}}},
      f10{{{20, 10}, {10, 10}, {0, 10}}};
  static constexpr std::array<Field, 4> f102{{{22, 10}, {12, 10}, {2, 10}, {0, 2}}};
  switch (type) {
    case channel::UNORM_565:
      return f565;
    case channel::UNORM_555:
      return f555;
    case channel::UNORM_101010:
      return f10;
    case channel::UNORM_101010_2:
      return f102;
    default:
      return {};
  }
}

double decode(uint32_t bits, ChannelForm form) {
  const double most = static_cast<double>((uint64_t{1} << form.bits) - 1);
  const auto value = static_cast<double>(static_cast<int32_t>(bits << (32 - form.bits)) >> (32 - form.bits));
  switch (form.kind) {
    case Kind::Unorm:
      return static_cast<double>(static_cast<float>(bits / most));
    case Kind::Snorm:
      return static_cast<double>(
          static_cast<float>(std::max(-1.0, value / static_cast<double>((1u << (form.bits - 1)) - 1))));
    case Kind::Unsigned:
      return bits;
    case Kind::Signed:
      return value;
    case Kind::Half:
      return from_half(static_cast<uint16_t>(bits));
    case Kind::Float: {
      float number;
      std::memcpy(&number, &bits, sizeof number);
      return static_cast<double>(number);
    }
  }
  return 0;
}

uint32_t encode(double value, ChannelForm form) {
  const double most = static_cast<double>((uint64_t{1} << form.bits) - 1),
               half = static_cast<double>((1u << (form.bits - 1)) - 1);
  switch (form.kind) {
    case Kind::Unorm:
      return static_cast<uint32_t>(std::nearbyint(std::clamp(value, 0.0, 1.0) * most));
    case Kind::Snorm:
      return static_cast<uint32_t>(static_cast<int32_t>(std::nearbyint(std::clamp(value, -1.0, 1.0) * half)));
    case Kind::Unsigned:
      return static_cast<uint32_t>(std::clamp(value, 0.0, most));
    case Kind::Signed:
      return static_cast<uint32_t>(static_cast<int32_t>(std::clamp(value, -half - 1, half)));
    case Kind::Half:
      return to_half(value);
    case Kind::Float: {
      const auto number = static_cast<float>(value);
      uint32_t bits;
      std::memcpy(&bits, &number, sizeof bits);
      return bits;
    }
  }
  return 0;
}

double from_srgb(double value) {
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

/// Alpha outside the image (OpenCL C 3.0, 6.15.15.1): opaque if the order has neither alpha nor x.
double border_alpha(uint32_t order_number) {
  const bool opaque = order_number == order::R || order_number == order::RG || order_number == order::RGB ||
                      order_number == order::LUMINANCE || order_number == order::DEPTH;
  return opaque ? 1 : 0;
}

}  // namespace

std::string_view channels_of(uint32_t number) {
  switch (number) {
    case order::R:
    case order::Rx:
    case order::LUMINANCE:
    case order::INTENSITY:
    case order::DEPTH:
      return "r";
    case order::A:
      return "a";
    case order::RG:
    case order::RGx:
      return "rg";
    case order::RA:
      return "ra";
    case order::RGB:
      return "rgb";
    case order::BGRA:
      return "bgra";
    case order::ARGB:
      return "argb";
    case order::ABGR:
      return "abgr";
    default:
      return "rgba";
  }
}

uint32_t texel_size(uint32_t number, uint32_t type) {
  if (type == channel::UNORM_565 || type == channel::UNORM_555) return 2;
  if (!packed_fields(type).empty()) return 4;
  return static_cast<uint32_t>(channels_of(number).size()) * form_of(type).bits / 8;
}

Element element_of_channel(uint32_t type) {
  if (type == channel::UNORM_565 || type == channel::UNORM_555) return Element::U16;
  if (!packed_fields(type).empty()) return Element::U32;
  const ChannelForm form = form_of(type);
  if (form.kind == Kind::Half) return Element::F16;
  if (form.kind == Kind::Float) return Element::F32;
  const bool is_signed = form.kind == Kind::Signed || form.kind == Kind::Snorm;
  if (form.bits == 8) return is_signed ? Element::S8 : Element::U8;
  if (form.bits == 16) return is_signed ? Element::S16 : Element::U16;
  return is_signed ? Element::S32 : Element::U32;
}

ImageModel::ImageModel(const Image& image, std::span<std::byte> bytes, uint32_t level)
    : image_(image), bytes_(bytes) {
  const auto down = [](uint32_t size, uint32_t by) { return static_cast<int64_t>(std::max(size >> by, 1u)); };
  size_t offset = 0;
  for (uint32_t l = 0;; l++) {
    size_ = {down(image.width, l), down(image.height, l), image.depth};
    if (image.dimension == ImageDimension::D3) size_[2] = down(image.depth, l);
    if (image.dimension == ImageDimension::Array1D) size_ = {size_[0], image.depth, 1};
    if (l == level) break;
    offset += static_cast<size_t>(size_[0] * size_[1] * size_[2]) * texel_size(image.order, image.type);
  }
  bytes_ = bytes_.subspan(offset);
  array_ = image.dimension == ImageDimension::Array1D || image.dimension == ImageDimension::Array2D;
  axes_ = image.dimension == ImageDimension::D3                                                 ? 3
          : image.dimension == ImageDimension::D2 || image.dimension == ImageDimension::Array2D ? 2
                                                                                                : 1;
}

Color ImageModel::texel(int64_t x, int64_t y, int64_t z) const {
  Color color{0, 0, 0, border_alpha(image_.order)};
  if (x < 0 || y < 0 || z < 0 || x >= size_[0] || y >= size_[1] || z >= size_[2]) return color;
  const uint32_t size = texel_size(image_.order, image_.type);
  const std::byte* from = bytes_.data() + static_cast<size_t>((z * size_[1] + y) * size_[0] + x) * size;
  color = {0, 0, 0, 1};
  if (const auto fields = packed_fields(image_.type); !fields.empty()) {
    uint32_t bits = 0;
    std::memcpy(&bits, from, size);
    for (size_t i = 0; i < fields.size(); i++)
      color[i] = decode(bits >> fields[i].low & ((1u << fields[i].bits) - 1), {Kind::Unorm, fields[i].bits});
    return color;
  }
  const std::string_view channels = channels_of(image_.order);
  const ChannelForm form = form_of(image_.type);
  for (size_t i = 0; i < channels.size(); i++) {
    uint32_t bits = 0;
    std::memcpy(&bits, from + i * form.bits / 8, form.bits / 8);
    color[std::string_view("rgba").find(channels[i])] = decode(bits, form);
  }
  if (image_.order == order::INTENSITY) color = {color[0], color[0], color[0], color[0]};
  if (image_.order == order::LUMINANCE) color = {color[0], color[0], color[0], 1};
  if (image_.order == order::sRGBA)
    for (size_t i = 0; i < 3; i++) color[i] = from_srgb(color[i]);
  return color;
}

void ImageModel::write(int64_t x, int64_t y, int64_t z, const Color& color) const {
  const uint32_t size = texel_size(image_.order, image_.type);
  std::byte* to = bytes_.data() + static_cast<size_t>((z * size_[1] + y) * size_[0] + x) * size;
  if (const auto fields = packed_fields(image_.type); !fields.empty()) {
    uint32_t bits = 0;
    for (size_t i = 0; i < fields.size(); i++)
      bits |= encode(color[i], {Kind::Unorm, fields[i].bits}) << fields[i].low;
    std::memcpy(to, &bits, size);
    return;
  }
  const std::string_view channels = channels_of(image_.order);
  const ChannelForm form = form_of(image_.type);
  for (size_t i = 0; i < channels.size(); i++) {
    const uint32_t bits = encode(color[std::string_view("rgba").find(channels[i])], form);
    std::memcpy(to + i * form.bits / 8, &bits, form.bits / 8);
  }
}

Color ImageModel::fetch(const Sampler& sampler, std::array<int64_t, 3> at) const {
  for (size_t d = 0; d < 3; d++) {
    const bool layer = array_ && static_cast<int>(d) == axes_;
    if (layer || sampler.address == Address::ClampToEdge) at[d] = std::clamp<int64_t>(at[d], 0, size_[d] - 1);
    if (static_cast<int>(d) > axes_ || (static_cast<int>(d) == axes_ && !array_)) at[d] = 0;
  }
  return texel(at[0], at[1], at[2]);
}

Color ImageModel::sample(const Sampler& sampler, std::array<double, 3> at) const {
  // For each axis the two texels and the weight of the second; a nearest filter uses the first only.
  std::array<std::array<int64_t, 2>, 3> texels{};
  std::array<double, 3> weight{};
  for (size_t d = 0; d < 3; d++) {
    const auto size = static_cast<double>(size_[d]);
    if (static_cast<int>(d) >= axes_) {
      if (array_ && static_cast<int>(d) == axes_)
        texels[d][0] = std::clamp<int64_t>(static_cast<int64_t>(std::nearbyint(at[d])), 0, size_[d] - 1);
      texels[d][1] = texels[d][0];
      continue;
    }
    double u = at[d];
    if (sampler.address == Address::Repeat) u -= std::floor(u);
    if (sampler.address == Address::MirroredRepeat) u = std::fabs(u - 2 * std::nearbyint(0.5 * u));
    if (sampler.normalized) u *= size;
    if (sampler.linear) {
      const double first = std::floor(u - 0.5);
      weight[d] = u - 0.5 - first;
      texels[d] = {static_cast<int64_t>(first), static_cast<int64_t>(first) + 1};
    } else {
      texels[d] = {static_cast<int64_t>(std::floor(u)), static_cast<int64_t>(std::floor(u))};
    }
    for (int64_t& t : texels[d]) {
      if (sampler.address == Address::Repeat) t = (t + size_[d]) % size_[d];
      if (sampler.address == Address::ClampToEdge || sampler.address == Address::MirroredRepeat)
        t = std::clamp<int64_t>(t, 0, size_[d] - 1);
    }
  }
  Color sum{};
  for (unsigned corner = 0; corner < 8; corner++) {
    double share = 1;
    std::array<int64_t, 3> place{};
    for (size_t d = 0; d < 3; d++) {
      const unsigned side = corner >> d & 1;
      share *= side != 0 ? weight[d] : 1 - weight[d];
      place[d] = texels[d][side];
    }
    if (share == 0) continue;
    const Color color = texel(place[0], place[1], place[2]);
    for (size_t i = 0; i < 4; i++) sum[i] += share * color[i];
  }
  return sum;
}

}  // namespace eum::kernels

#include "memory/image/texel_fetch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "memory/address_space.hpp"
#include "memory/image/layout.hpp"

namespace eum::mem::image {

bool SurfaceMemory::fail(ImageFault::Kind kind, std::uint64_t offset, const char* reason) {
  fault_ = {.kind = kind, .address = surface_.gpu_address + offset, .reason = reason};
  return false;
}

bool SurfaceMemory::inside(std::uint64_t offset, std::size_t size) {
  if (size <= surface_.size && offset <= surface_.size - size) return true;
  return fail(ImageFault::Kind::Unmapped, offset);
}

bool SurfaceMemory::read(std::uint64_t offset, std::span<std::byte> to) {
  if (!inside(offset, to.size())) return false;
  if (surface_.base != nullptr) {
    std::memcpy(to.data(), surface_.base + offset, to.size());
    return true;
  }
  if (space_ != nullptr && !space_->read(surface_.gpu_address + offset, to)) return true;
  return fail(ImageFault::Kind::Unmapped, offset);
}

bool SurfaceMemory::write(std::uint64_t offset, std::span<const std::byte> from) {
  if (!inside(offset, from.size())) return false;
  if (surface_.base != nullptr) {
    std::memcpy(surface_.base + offset, from.data(), from.size());
    return true;
  }
  if (space_ != nullptr && !space_->write(surface_.gpu_address + offset, from)) return true;
  return fail(ImageFault::Kind::Unmapped, offset);
}

std::byte* SurfaceMemory::atomic(std::uint64_t offset, std::size_t size) {
  if (!inside(offset, size)) return nullptr;
  const std::uint64_t address = surface_.gpu_address + offset;
  std::byte* host = nullptr;
  if (surface_.base != nullptr) {
    host = surface_.base + offset;
  } else {
    const Region* region = space_ == nullptr ? nullptr : space_->find(address);
    if (region != nullptr && region->end() - address >= size && allows(region->access, Access::ReadWrite)) {
      if (region->host == nullptr) {
        fail(ImageFault::Kind::Unsupported, offset, "an atomic on memory that only callbacks reach");
        return nullptr;
      }
      host = region->host + (address - region->address);
    }
  }
  if (host == nullptr) {
    fail(ImageFault::Kind::Unmapped, offset);
    return nullptr;
  }
  if (address % size != 0 || reinterpret_cast<std::uintptr_t>(host) % size != 0) {
    fail(ImageFault::Kind::Misaligned, offset);
    return nullptr;
  }
  return host;
}

float filter_divisor(const ChannelLayout& channel) {
  if (channel.bits == 0 || channel.bits > 16) return 1;
  if (channel.kind == ChannelKind::UNORM) return static_cast<float>((1u << channel.bits) - 1);
  if (channel.kind == ChannelKind::SNORM) return static_cast<float>((1u << (channel.bits - 1)) - 1);
  return 1;
}

TexelFetch::TexelFetch(const Surface& surface, const FormatInfo& format, AddressSpace* space)
    : memory_(surface, space), state_(surface.image), format_(format) {
  for (unsigned c = 0; c < 4; ++c) divisor_[c] = filter_divisor(format.channels[c]);
}

bool TexelFetch::load(unsigned level, std::uint32_t x, std::uint32_t y, std::uint32_t slice) {
  return memory_.read(texel_offset(state_, level, x, y, slice), std::span(bytes_).first(format_.bytes));
}

bool TexelFetch::texel(unsigned level, std::uint32_t x, std::uint32_t y, std::uint32_t slice, Texel& texel) {
  if (!load(level, x, y, slice)) return false;
  texel = format_.decode(bytes_.data(), x % format_.block_width, y % format_.block_height);
  return true;
}

bool TexelFetch::filter_value(unsigned level, std::uint32_t x, std::uint32_t y, std::uint32_t slice,
                              FilterValue& value) {
  if (!load(level, x, y, slice)) return false;
  const Texel texel = format_.decode(bytes_.data(), x % format_.block_width, y % format_.block_height);
  for (unsigned c = 0; c < 4; ++c) {
    value[c] = std::bit_cast<float>(texel[c]);
    if (divisor_[c] != 1) value[c] = std::nearbyint(value[c] * divisor_[c]);  // the integer that was decoded
  }
  return true;
}

Texel TexelFetch::border_texel(const std::array<std::uint32_t, 4>& border) const {
  const std::uint32_t one = format_.integer ? 1 : std::bit_cast<std::uint32_t>(1.0f);
  Texel texel = {0, 0, 0, one};
  const auto& channels = format_.channels;
  const bool known = std::any_of(channels.begin(), channels.end(), [](const auto& c) { return c.bits != 0; });
  for (unsigned c = 0; c < 4; ++c) {
    if (known && channels[c].bits == 0) continue;
    // Luminance and intensity: the channels share the same bits.
    texel[c] = border[known && c > 0 && channels[c].bit == channels[0].bit && channels[0].bits != 0 ? 0 : c];
    const ChannelKind kind = known ? channels[c].kind : format_.kind;
    if (kind != ChannelKind::UNORM && kind != ChannelKind::SNORM && kind != ChannelKind::SRGB) continue;
    const float value = std::bit_cast<float>(texel[c]), least = kind == ChannelKind::SNORM ? -1.0f : 0.0f;
    texel[c] = std::bit_cast<std::uint32_t>(std::isnan(value) ? 0.0f : std::clamp(value, least, 1.0f));
  }
  return texel;
}

FilterValue TexelFetch::border_value(const std::array<std::uint32_t, 4>& border) const {
  const Texel texel = border_texel(border);
  FilterValue value;
  for (unsigned c = 0; c < 4; ++c) value[c] = std::bit_cast<float>(texel[c]) * divisor_[c];
  return value;
}

Texel TexelFetch::divide(const FilterValue& value) const {
  Texel texel;
  for (unsigned c = 0; c < 4; ++c) {
    const float result = value[c] / divisor_[c];
    texel[c] = std::isnan(result) ? canonical_nan : std::bit_cast<std::uint32_t>(result);
  }
  return texel;
}

}  // namespace eum::mem::image

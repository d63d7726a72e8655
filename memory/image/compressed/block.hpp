#pragma once
// Texels of compressed blocks of 4 x 4, each function for the formats of its name. `block` has as many bytes
// as the row of formats.def says; x and y are 0 to 3. A block that its format does not define decodes to 0,
// 0, 0 with the format's alpha. These functions must not know surfaces.
#include "memory/image/format.hpp"

namespace eum::mem::image::compressed {

// Colours are UNORM or SRGB.
template <ChannelKind kind>
Texel dxt1_rgb(const std::byte* block, unsigned x, unsigned y);  ///< BC1 without alpha
template <ChannelKind kind>
Texel bc1(const std::byte* block, unsigned x, unsigned y);
template <ChannelKind kind>
Texel bc2(const std::byte* block, unsigned x, unsigned y);
template <ChannelKind kind>
Texel bc3(const std::byte* block, unsigned x, unsigned y);
template <ChannelKind kind>
Texel bc7(const std::byte* block, unsigned x, unsigned y);
template <ChannelKind kind>
Texel etc2_rgb8(const std::byte* block, unsigned x, unsigned y);  ///< and ETC1, of which it is an extension
template <ChannelKind kind>
Texel etc2_rgb8_pta(const std::byte* block, unsigned x, unsigned y);
template <ChannelKind kind>
Texel etc2_eac_rgba8(const std::byte* block, unsigned x, unsigned y);

// Channels are UNORM or SNORM.
template <ChannelKind kind>
Texel bc4(const std::byte* block, unsigned x, unsigned y);
template <ChannelKind kind>
Texel bc5(const std::byte* block, unsigned x, unsigned y);
template <ChannelKind kind>
Texel eac_r11(const std::byte* block, unsigned x, unsigned y);
template <ChannelKind kind>
Texel eac_rg11(const std::byte* block, unsigned x, unsigned y);

template <bool is_signed>
Texel bc6h(const std::byte* block, unsigned x, unsigned y);

}  // namespace eum::mem::image::compressed

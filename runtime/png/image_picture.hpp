#pragma once
// Converts between PNG pictures and images in OpenCL's formats.
#include <optional>

#include "memory/base/result.hpp"
#include "runtime/image/image.hpp"
#include "runtime/png/png.hpp"

namespace eum::png {

/// The 2D image that holds a picture unchanged: luminance for grey, else rgba; unorm8 or unorm16. Nothing for
/// two or three channels.
std::optional<rt::ImageDescription> description_of(const Picture& picture);

/// Converts an image's contents, as Image::download gives them, to a picture. An error if PNG cannot
/// represent it: it takes 1D and 2D images with unsigned channels of 8 or 16 bits. One channel is grey, two
/// are grey and alpha.
Result<Picture> picture_of(const rt::ImageDescription& description, std::span<const std::byte> packed);
/// Whether picture_of() accepts such an image.
Result<void> fits_png(const rt::ImageDescription& description);

}  // namespace eum::png

#pragma once
// Pictures of PNG files as images of OpenCL's formats, and back.
#include <optional>

#include "memory/base/result.hpp"
#include "runtime/image/image.hpp"
#include "runtime/png/png.hpp"

namespace eum::png {

/// The 2D image that holds a picture as it is: luminance for grey, else rgba; unorm8 or unorm16. Nothing for
/// two or three channels.
std::optional<rt::ImageDescription> description_of(const Picture& picture);

/// The contents of an image, as Image::download gives them, as a picture; an error where PNG has none like
/// it: it takes 1D and 2D images of channels of 8 or 16 bits without a sign. One channel is grey, two are
/// grey and alpha.
Result<Picture> picture_of(const rt::ImageDescription& description, std::span<const std::byte> packed);
/// Whether there is such a picture.
Result<void> fits_png(const rt::ImageDescription& description);

}  // namespace eum::png

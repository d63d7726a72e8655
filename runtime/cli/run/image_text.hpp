#pragma once
// The texts of --arg that mean images and samplers. Parsing only: it must not know files or devices.
#include <cstdint>
#include <string>
#include <string_view>

#include "memory/base/result.hpp"
#include "runtime/image/image.hpp"
#include "runtime/payload.hpp"

namespace eum::cli {

/// What --help says of them, a line a form.
std::string image_argument_help();

struct ImageText {
  enum class Source : std::uint8_t { Png, File, Zeros, Random };
  Source source = Source::Zeros;
  rt::ImageDescription description;  // not of Png
  std::string path;                  // Png, File
  std::uint64_t seed = 0;            // Random
};

/// How such an image is given: "image2d:FILE.png or image2d:WxH:ORDER:TYPE:SOURCE".
std::string image_form(rt::ImageType type);
inline constexpr std::string_view sampler_form = "sampler:FILTER,ADDRESS,COORDINATES";

/// Whether `word`, what stands before the first colon, is a type of image.
bool is_image_word(std::string_view word);

/// TYPE:SIZE:ORDER:CHANNELS:SOURCE or image2d:FILE.png. There is an image of what it describes.
Result<ImageText> parse_image(std::string_view text);

/// "linear,clamp_to_edge,normalized": in any order; what is not said is nearest, none, unnormalized.
Result<rt::SamplerValue> parse_sampler(std::string_view properties);

}  // namespace eum::cli

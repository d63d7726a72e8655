#pragma once
// The forms of --arg for images and samplers. Parsing only: it must not know files or devices.
#include <cstdint>
#include <string>
#include <string_view>

#include "memory/base/result.hpp"
#include "runtime/image/image.hpp"
#include "runtime/payload.hpp"

namespace eum::cli {

/// Their help text, one line per form.
std::string image_argument_help();

struct ImageText {
  enum class Source : std::uint8_t { Png, File, Zeros, Random };
  Source source = Source::Zeros;
  rt::ImageDescription description;  // unused for Png
  std::string path;                  // Png, File
  std::uint64_t seed = 0;            // Random
};

/// Syntax for such an image: "image2d:FILE.png or image2d:WxH:ORDER:TYPE:SOURCE".
std::string image_form(rt::ImageType type);
inline constexpr std::string_view sampler_form = "sampler:FILTER,ADDRESS,COORDINATES";

/// Whether `word`, the text before the first colon, is a type of image.
bool is_image_word(std::string_view word);

/// TYPE:SIZE:ORDER:CHANNELS:SOURCE or image2d:FILE.png. The described image must be possible.
Result<ImageText> parse_image(std::string_view text);

/// "linear,clamp_to_edge,normalized": in any order; defaults are nearest, none, unnormalized.
Result<rt::SamplerValue> parse_sampler(std::string_view properties);

}  // namespace eum::cli

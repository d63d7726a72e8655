// Parses sizes, formats, sources and sampler properties.
#include "runtime/cli/run/image_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "runtime/cli/run/element.hpp"

namespace eum::cli {
namespace {

/// Removes and returns the text up to the next `separator`, or all of it if there is none.
std::string_view take(std::string_view& text, char separator) {
  const auto at = text.find(separator);
  const std::string_view part = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return part;
}

std::optional<std::uint32_t> parse_size(std::string_view text) {
  std::uint32_t size = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return size;
}

/// Form of the size for this type: "WxHxN".
std::string size_form(const rt::ImageTypeInfo& type) {
  std::string form = "W";
  if (type.axes == 3 || (type.axes == 2 && !type.array)) form += "xH";
  if (type.array) form += "xN";
  if (type.axes == 3 && !type.array) form += "xD";
  return form;
}

/// Parses WxHxD[/LEVELS].
Result<void> parse_sizes(rt::ImageDescription& to, std::string_view text) {
  const rt::ImageTypeInfo& type = rt::info(to.type);
  const auto wrong = [&] { return error("expected a size {}, found '{}'", size_form(type), text); };
  std::string_view levels = text;
  std::string_view rest = take(levels, '/');
  if (rest.size() != text.size()) {
    const auto count = parse_size(levels);
    if (!count) return error("expected a number of levels, found '{}'", levels);
    to.mip_levels = *count;
  }
  std::array<std::uint32_t, 3> sizes{1, 1, 1};
  for (unsigned i = 0; i < type.axes; ++i) {
    if (rest.empty()) return wrong();
    const auto size = parse_size(take(rest, 'x'));
    if (!size) return wrong();
    sizes[i] = *size;
  }
  if (!rest.empty() || text.ends_with('x')) return wrong();
  to.width = sizes[0];
  if (type.array) {
    if (type.axes == 3) to.height = sizes[1];
    to.array_size = sizes[type.axes - 1];
  } else {
    to.height = sizes[1];
    to.depth = sizes[2];
  }
  return {};
}

Result<void> parse_source(ImageText& to, std::string_view text) {
  using Source = ImageText::Source;
  if (text.starts_with('@')) {
    to.source = Source::File;
    to.path = text.substr(1);
    if (to.path.empty()) return error("expected the name of a file behind '@'");
    return {};
  }
  const std::string_view whole = text;
  const std::string_view word = take(text, ':');
  if (whole == "zeros") {
    to.source = Source::Zeros;
    return {};
  }
  if (word == "random" && word.size() != whole.size()) {
    to.source = Source::Random;
    const auto seed = parse_count("a seed", text);
    if (!seed) return seed.error();
    to.seed = *seed;
    return {};
  }
  return error("expected contents of @FILE, zeros or random:SEED, found '{}'", whole);
}

/// Wraps words into lines indented to the column after --arg's forms.
std::string indented(std::string_view words) {
  constexpr std::size_t column = 26, width = 110;
  std::string text, line(column, ' ');
  while (!words.empty()) {
    const std::string_view word = take(words, ' ');
    if (line.size() + word.size() > width) {
      text += line + "\n";
      line.assign(column, ' ');
    }
    if (line.size() > column) line += ' ';
    line += word;
  }
  return text + line + "\n";
}

bool looks_like_size(std::string_view text) {
  return text.find_first_not_of("0123456789x/") == std::string_view::npos;
}

struct AddressWord {
  std::string_view word;
  rt::SamplerAddress address;
};
constexpr std::array<AddressWord, 5> addresses{{{"none", rt::SamplerAddress::none},
                                                {"clamp_to_edge", rt::SamplerAddress::clamp_edge},
                                                {"clamp", rt::SamplerAddress::clamp_border},
                                                {"repeat", rt::SamplerAddress::repeat},
                                                {"mirrored_repeat", rt::SamplerAddress::mirror}}};

}  // namespace

std::string image_argument_help() {
  std::string types;
  for (const rt::ImageTypeInfo& type : rt::image_type_table())
    types += fmt::format("{}{}:{}", types.empty() ? "" : ", ", type.name, size_form(type));
  return "  image2d:FILE.png        an image with the contents of a picture\n"
         "  image2d:WxH:ORDER:TYPE:SOURCE\n" +
         indented("an image, likewise " + types +
                  "; /LEVELS behind the size: mip levels. SOURCE is zeros, random:SEED or @FILE, of texels "
                  "tightly "
                  "packed. ORDER is one of " +
                  rt::channel_order_names() + ". TYPE is one of " + rt::channel_type_names() + ".") +
         fmt::format("  {}\n", sampler_form) +
         indented(
             "FILTER is nearest or linear; ADDRESS none, clamp_to_edge, clamp (to the border), repeat or "
             "mirrored_repeat; COORDINATES normalized or unnormalized.");
}

std::string image_form(rt::ImageType type) {
  const rt::ImageTypeInfo& row = rt::info(type);
  const bool png = type == rt::ImageType::image2d;
  return fmt::format("{}{}:{}:ORDER:TYPE:SOURCE", png ? "image2d:FILE.png or " : "", row.name,
                     size_form(row));
}

bool is_image_word(std::string_view word) { return rt::parse_image_type(word).has_value(); }

Result<ImageText> parse_image(std::string_view text) {
  const auto type = rt::parse_image_type(take(text, ':'));
  if (!type) return error("expected a type of image");
  ImageText image;
  image.description.type = *type;
  std::string_view rest = text;
  const std::string_view size = take(rest, ':');
  if (!looks_like_size(size)) {
    if (*type != rt::ImageType::image2d) return error("expected {}, found '{}'", image_form(*type), text);
    image.source = ImageText::Source::Png;
    image.path = text;
    return image;
  }
  if (size.empty() || rest.empty()) return error("expected {}, found '{}'", image_form(*type), text);
  if (auto good = parse_sizes(image.description, size); !good) return good.error();
  const std::string_view order_name = take(rest, ':');
  const auto order = rt::parse_channel_order(order_name);
  if (!order)
    return error("expected an order of channels of {}, found '{}'", rt::channel_order_names(), order_name);
  image.description.order = *order;
  const std::string_view channel_name = take(rest, ':');
  const auto channel = rt::parse_channel_type(channel_name);
  if (!channel)
    return error("expected a type of channels of {}, found '{}'", rt::channel_type_names(), channel_name);
  image.description.data_type = *channel;
  if (const auto state = rt::image_state(image.description); !state) return state.error();
  if (auto good = parse_source(image, rest); !good) return good.error();
  return image;
}

Result<rt::SamplerValue> parse_sampler(std::string_view properties) {
  rt::SamplerValue sampler;
  std::array<bool, 3> said{};
  if (properties.empty()) return error("expected {}", sampler_form);
  const std::string_view whole = properties;
  while (!properties.empty()) {
    const std::string_view word = take(properties, ',');
    const auto address = std::find_if(addresses.begin(), addresses.end(),
                                      [&](const AddressWord& row) { return row.word == word; });
    std::size_t property = 0;
    if (word == "nearest" || word == "linear") {
      sampler.filter = word == "linear" ? rt::SamplerFilter::linear : rt::SamplerFilter::nearest;
    } else if (address != addresses.end()) {
      property = 1;
      sampler.address = address->address;
    } else if (word == "normalized" || word == "unnormalized") {
      property = 2;
      sampler.normalized = word == "normalized";
    } else {
      return error(
          "expected nearest or linear, none, clamp_to_edge, clamp, repeat or mirrored_repeat, and normalized "
          "or "
          "unnormalized, found '{}'",
          word);
    }
    if (said[property]) return error("expected each property once, found '{}'", whole);
    said[property] = true;
  }
  const bool repeats =
      sampler.address == rt::SamplerAddress::repeat || sampler.address == rt::SamplerAddress::mirror;
  if (repeats && !sampler.normalized)  // OpenCL C 3.0, 6.15.15.1
    return error("repeat and mirrored_repeat need normalized coordinates, found '{}'", whole);
  return sampler;
}

}  // namespace eum::cli

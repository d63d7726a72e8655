// Fills buffers and images from files and numbers.
#include "runtime/cli/run/run_buffer.hpp"

#include <algorithm>
#include <cstring>

#include "memory/base/within_host.hpp"
#include "runtime/cli/files.hpp"
#include "runtime/cli/run/npy.hpp"
#include "runtime/png/image_picture.hpp"

namespace eum::cli {
namespace {

using Form = ArgumentText::Form;

/// splitmix64, so that a seed gives the same numbers on every host.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Floats are in [0, 1); integers have random bits.
std::uint64_t random_bits(Element element, std::uint64_t& state) {
  const std::uint64_t bits = next_random(state);
  if (info(element).kind != NumberKind::Float) return bits;
  return bits_of_float(element, static_cast<double>(bits >> 11) * 0x1p-53);
}

/// The element type of an image's channels, or of a packed texel.
Element element_of(const rt::ImageDescription& description) {
  const rt::ChannelTypeInfo& channel = rt::info(description.data_type);
  using enum mem::image::ChannelKind;
  switch (channel.kind) {
    case FLOAT:
      return channel.bits == 16 ? Element::f16 : Element::f32;
    case SNORM:
    case SINT:
      return channel.bits == 8 ? Element::i8 : channel.bits == 16 ? Element::i16 : Element::i32;
    default:
      return channel.bits == 8 ? Element::u8 : channel.bits == 16 ? Element::u16 : Element::u32;
  }
}

/// A file's bytes; for a .npy file those of its array.
Result<std::vector<std::byte>> read_numbers(const std::string& path, std::optional<Element>& element) {
  auto contents = read_file(path);
  if (!contents) return contents.error();
  if (!looks_like_npy(*contents)) return contents;
  const auto array = read_npy(*contents);
  if (!array) return error("{}: {}", path, array.error().message);
  element = array->element;
  contents->erase(contents->begin(), contents->begin() + static_cast<std::ptrdiff_t>(array->offset));
  return contents;
}

Result<RunBuffer> image_on(rt::Device& device, const rt::ImageDescription& description,
                           const std::string& label) {
  auto image = rt::make_image(device, description, label);
  if (!image) return image.error();
  RunBuffer result;
  result.buffer = image->memory;
  result.element = element_of(description);
  result.image = *image;
  return result;
}

Result<RunBuffer> make_picture(const std::string& path, rt::Device& device, const std::string& label) {
  const auto file = read_file(path);
  if (!file) return file.error();
  const auto picture = png::read(*file);
  if (!picture) return error("{}: {}", path, picture.error().message);
  const auto description = png::description_of(*picture);
  if (!description) return error("{}: expected one channel or four, found {}", path, picture->channels);
  auto result = image_on(device, *description, fmt::format("{} ({})", label, path));
  if (result) result->image->upload(picture->texels);
  return result;
}

Result<RunBuffer> make_image(const ImageText& text, rt::Device& device, const std::string& label) {
  using Source = ImageText::Source;
  if (text.source == Source::Png) return make_picture(text.path, device, label);
  auto result = image_on(device, text.description, label);
  if (!result || text.source == Source::Zeros) return result;
  const std::uint64_t size = result->size();
  std::vector<std::byte> texels;
  if (text.source == Source::File) {
    std::optional<Element> element;
    auto contents = read_numbers(text.path, element);
    if (!contents) return contents.error();
    if (contents->size() != size)
      return error("{}: expected {} bytes for {}, found {}", text.path, size, label, contents->size());
    texels = std::move(*contents);
  } else {
    texels.resize(size);
    std::uint64_t state = text.seed;
    const unsigned bytes = info(*result->element).bytes;
    for (std::uint64_t at = 0; at < size; at += bytes) {
      const std::uint64_t bits = random_bits(*result->element, state);
      std::memcpy(texels.data() + at, &bits, bytes);
    }
  }
  result->image->upload(texels);
  return result;
}

}  // namespace

unsigned RunBuffer::unit() const { return image ? image->format->texel_bytes() / info(*element).bytes : 1; }

rt::ArgumentValue RunBuffer::value() const {
  if (image) return image->value();
  return rt::BufferValue{buffer.surface()};
}

Result<RunBuffer> make_buffer(const ArgumentText& argument, rt::Device& device, const std::string& label) {
  if (argument.form == Form::Image) return make_image(argument.image, device, label);
  if (argument.form == Form::File) {
    RunBuffer result;
    const auto contents = read_numbers(argument.path, result.element);
    if (!contents) return contents.error();
    auto buffer = device.allocate(contents->size(), fmt::format("{} ({})", label, argument.path));
    if (!buffer) return buffer.error();
    std::copy(contents->begin(), contents->end(), buffer->host);
    result.buffer = *buffer;
    return result;
  }
  const unsigned size = argument.element ? info(*argument.element).bytes : 1;
  if (argument.count > ~std::uint64_t{0} / size)
    return error("{}: {} elements of {} bytes are too many", label, argument.count, size);
  auto buffer = device.allocate(argument.count * size, label);
  if (!buffer) return buffer.error();
  const RunBuffer result{*buffer, argument.element, std::nullopt};
  if (argument.form == Form::Zeros) return result;
  if (argument.form == Form::List) {
    std::copy(argument.bytes.begin(), argument.bytes.end(), buffer->host);
    return result;
  }
  const Element element = *argument.element;
  std::uint64_t state = argument.seed;
  for (std::uint64_t i = 0; i < argument.count; ++i) {
    std::uint64_t bits = 0;
    if (argument.form == Form::Fill)
      std::memcpy(&bits, argument.bytes.data(), size);
    else if (argument.form == Form::Iota)
      bits = bits_of_count(element, i);
    else
      bits = random_bits(element, state);
    std::memcpy(buffer->host + i * size, &bits, size);
  }
  return result;
}

std::string element_warning(const RunBuffer& buffer, const rt::Kernel& kernel, std::size_t index) {
  if (buffer.image || !buffer.element || index >= kernel.arguments.size()) return {};
  const auto wanted = element_of_parameter(kernel.arguments[index]);
  if (!wanted) return {};
  const ElementInfo &want = info(*wanted), &given = info(*buffer.element);
  const bool same_kind = (want.kind == NumberKind::Float) == (given.kind == NumberKind::Float);
  if (same_kind && want.bytes == given.bytes) return {};
  return fmt::format("kernel {}: argument {} ({}) points to {}, the buffer is of {}", kernel.name, index,
                     rt::describe_argument(kernel, index), want.name, given.name);
}

}  // namespace eum::cli

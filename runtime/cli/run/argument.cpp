// Converts --arg from text to bytes.
#include "runtime/cli/run/argument.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace eum::cli {
namespace {

using Form = ArgumentText::Form;

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto colon = text.find(':');
    parts.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos) return parts;
    text.remove_prefix(colon + 1);
  }
}

Result<std::vector<std::byte>> parse_hex(std::string_view digits) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  if (digits.empty() || digits.size() % 2 != 0)
    return error("expected two hexadecimal digits a byte, found {} digits", digits.size());
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit(digits[i]), low = digit(digits[i + 1]);
    if (high < 0 || low < 0)
      return error("expected hexadecimal digits, found '{}' at byte {}", digits.substr(i, 2), i / 2);
    bytes.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return bytes;
}

/// Sets `to.element` and `to.count` from TYPE and COUNT.
Result<void> parse_typed(ArgumentText& to, std::string_view type, std::string_view count) {
  to.element = parse_element(type);
  if (!to.element) return error("expected a type of {}, found '{}'", element_names(), type);
  const auto n = parse_count("a number of elements", count);
  if (!n) return n.error();
  to.count = *n;
  return {};
}

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

/// Parses one or several comma-separated values into `to.bytes` and `to.count`.
Result<void> parse_values(ArgumentText& to, std::string_view text) {
  const unsigned size = info(*to.element).bytes;
  for (to.count = 0;; ++to.count) {
    const auto comma = text.find(',');
    const auto bits = parse_value(*to.element, text.substr(0, comma));
    if (!bits) return bits.error();
    to.bytes.resize(to.bytes.size() + size);
    std::memcpy(to.bytes.data() + to.count * size, &*bits, size);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  ++to.count;
  return {};
}

Result<void> parse_values_of(ArgumentText& to, std::string_view type, std::string_view text,
                             std::uint64_t most) {
  to.element = parse_element(type);
  if (!to.element) return error("expected a type of {}, found '{}'", element_names(), type);
  if (auto good = parse_values(to, text); !good) return good;
  if (to.count > most) return error("expected {} value, found '{}'", most, text);
  return {};
}

Result<void> parse_into(ArgumentText& to, std::string_view text) {
  if (text.starts_with('@')) {
    to.form = Form::File;
    to.path = text.substr(1);
    if (to.path.empty()) return error("expected the name of a file behind '@'");
    return {};
  }
  if (is_name(text)) {
    to.form = text == "null" ? Form::Null : Form::Named;
    if (to.form == Form::Named) to.name = text;
    return {};
  }
  if (const auto equals = text.find('=');
      equals != std::string_view::npos && is_name(text.substr(0, equals))) {
    const std::string name(text.substr(0, equals));
    if (auto good = parse_into(to, text.substr(equals + 1)); !good) return good;
    if (!to.may_be_buffer() || !to.name.empty() || name == "null")
      return error("expected NAME=BUFFER, such as x=zeros:1024, found '{}'", text);
    to.name = name;
    return {};
  }
  if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    const std::string_view kind = text.substr(0, colon);
    if (is_image_word(kind)) {
      to.form = Form::Image;
      auto image = parse_image(text);
      if (!image) return image.error();
      to.image = std::move(*image);
      return {};
    }
    if (kind == "sampler") {
      to.form = Form::Sampler;
      const auto sampler = parse_sampler(text.substr(colon + 1));
      if (!sampler) return sampler.error();
      to.sampler = *sampler;
      return {};
    }
  }
  const auto parts = split(text);
  const std::string_view word = parts[0];
  const auto wants = [&](std::size_t count, std::string_view form) -> Result<void> {
    if (parts.size() != count) return error("expected {}, found '{}'", form, text);
    return {};
  };
  if (word == "zeros" || word == "local") {
    to.form = word == "zeros" ? Form::Zeros : Form::Local;
    if (auto good = wants(2, word == "zeros" ? "zeros:BYTES" : "local:BYTES"); !good) return good;
    const auto bytes = parse_count("a number of bytes", parts[1]);
    if (!bytes) return bytes.error();
    to.count = *bytes;
    if (to.form == Form::Local && to.count > ~std::uint32_t{0})
      return error("expected at most {} bytes, found {}", ~std::uint32_t{0}, to.count);
    return {};
  }
  if (word == "iota") {
    to.form = Form::Iota;
    if (auto good = wants(3, "iota:TYPE:COUNT"); !good) return good;
    return parse_typed(to, parts[1], parts[2]);
  }
  if (word == "random") {
    to.form = Form::Random;
    if (auto good = wants(4, "random:TYPE:COUNT:SEED"); !good) return good;
    if (auto good = parse_typed(to, parts[1], parts[2]); !good) return good;
    const auto seed = parse_count("a seed", parts[3]);
    if (!seed) return seed.error();
    to.seed = *seed;
    return {};
  }
  if (word == "fill") {
    to.form = Form::Fill;
    if (auto good = wants(4, "fill:TYPE:COUNT:VALUE"); !good) return good;
    if (auto good = parse_values_of(to, parts[1], parts[3], 1); !good) return good;
    return parse_typed(to, parts[1], parts[2]);
  }
  if (auto good = wants(2,
                        "TYPE:VALUE[,VALUE...], hex:DIGITS, @FILE, zeros:BYTES, iota:TYPE:COUNT, "
                        "random:TYPE:COUNT:SEED, fill:TYPE:COUNT:VALUE, local:BYTES, image2d:..., "
                        "sampler:..., null, or the name of a buffer");
      !good)
    return good;
  if (word == "hex") {
    to.form = Form::Hex;
    auto bytes = parse_hex(parts[1]);
    if (!bytes) return bytes.error();
    to.bytes = std::move(*bytes);
    return {};
  }
  if (auto good = parse_values_of(to, word, parts[1], ~std::uint64_t{0}); !good) return good;
  to.form = to.count == 1 ? Form::Value : Form::List;
  return {};
}

}  // namespace

std::string argument_help() {
  return "One for each kernel argument, in order:\n"
         "  TYPE:VALUE              a number (f32:2.5, i32:-1, u64:7, f16:1)\n"
         "  TYPE:VALUE,VALUE,...    a vector, or a buffer where the kernel takes a pointer\n"
         "  hex:00112233...         a vector or structure by value, byte by byte\n"
         "  @FILE                   a buffer with the contents of a file (of a .npy file: its numbers)\n"
         "  zeros:BYTES             a buffer of zeros\n"
         "  fill:TYPE:COUNT:VALUE   a buffer of one number\n"
         "  iota:TYPE:COUNT         a buffer of 0, 1, 2, ...\n"
         "  random:TYPE:COUNT:SEED  a buffer of random bits; floats are from 0 up to 1\n"
         "  null                    a null pointer\n"
         "  local:BYTES             a __local pointer\n" +
         image_argument_help() +
         "  NAME=BUFFER             one of the buffers or images above with a name\n"
         "  NAME                    the buffer or image with this name\n"
         "TYPE is one of " +
         element_names();
}

Result<ArgumentText> parse_argument(std::string_view text) {
  ArgumentText argument;
  argument.text = text;
  if (auto good = parse_into(argument, text); !good) return error("--arg {}: {}", text, good.error().message);
  return argument;
}

std::optional<Element> element_of_parameter(const rt::Argument& parameter) {
  std::string_view type = parameter.type_name;
  if (const auto star = type.find('*'); star != std::string_view::npos) type = type.substr(0, star);
  while (!type.empty() && (type.back() == ' ' || (type.back() >= '0' && type.back() <= '9')))
    type.remove_suffix(1);  // vectors by their elements
  return element_of_opencl(type);
}

Result<rt::ArgumentValue> argument_value(const ArgumentText& argument, const rt::Kernel& kernel,
                                         std::size_t index) {
  if (argument.form == Form::Null) return rt::ArgumentValue(rt::BufferValue{});
  if (argument.form == Form::Local)
    return rt::ArgumentValue(rt::LocalValue{static_cast<std::uint32_t>(argument.count)});
  if (argument.form == Form::Sampler) return rt::ArgumentValue(argument.sampler);
  rt::ArgumentValue value(argument.bytes);
  if (argument.form == Form::Hex || index >= kernel.arguments.size()) return value;
  const rt::Argument& parameter = kernel.arguments[index];
  const auto wanted = element_of_parameter(parameter);
  if (parameter.kind != rt::ArgumentKind::Value || !wanted) return value;
  const std::string_view type = parameter.type_name;
  const auto digit = type.find_first_of("0123456789");
  std::uint64_t count = 1;
  if (digit != std::string_view::npos)
    if (const auto given = parse_count("", type.substr(digit))) count = *given;
  const ElementInfo &want = info(*wanted), &given = info(*argument.element);
  const bool same_kind = (want.kind == NumberKind::Float) == (given.kind == NumberKind::Float);
  if (!same_kind || want.bytes != given.bytes || argument.count != count)
    return error("kernel {}: argument {} ({}) takes {}{}, {} given", kernel.name, index,
                 rt::describe_argument(kernel, index), want.name,
                 count == 1 ? "" : fmt::format(":{} values", count), argument.text);
  if (count != 3) return value;
  std::vector<std::byte> padded = argument.bytes;  // three-element vectors take the space of four
  padded.resize(4 * std::size_t{want.bytes});
  return rt::ArgumentValue(std::move(padded));
}

}  // namespace eum::cli

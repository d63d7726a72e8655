// --arg from text to bytes.
#include "runtime/cli/argument.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/cli/files.hpp"

namespace eum::cli {
namespace {

using Form = ArgumentText::Form;

/// splitmix64, so that a seed means the same numbers on every host.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

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

Result<void> parse_into(ArgumentText& to, std::string_view text) {
  if (text.starts_with('@')) {
    to.form = Form::File;
    to.path = text.substr(1);
    if (to.path.empty()) return error("expected the name of a file behind '@'");
    return {};
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
  if (auto good = wants(2,
                        "TYPE:VALUE, hex:DIGITS, @FILE, zeros:BYTES, iota:TYPE:COUNT, "
                        "random:TYPE:COUNT:SEED or local:BYTES");
      !good)
    return good;
  if (word == "hex") {
    to.form = Form::Hex;
    auto bytes = parse_hex(parts[1]);
    if (!bytes) return bytes.error();
    to.bytes = std::move(*bytes);
    return {};
  }
  to.element = parse_element(word);
  if (!to.element) return error("expected a type of {}, found '{}'", element_names(), word);
  const auto bits = parse_value(*to.element, parts[1]);
  if (!bits) return bits.error();
  to.bytes.resize(info(*to.element).bytes);
  std::memcpy(to.bytes.data(), &*bits, to.bytes.size());
  return {};
}

}  // namespace

std::string argument_help() {
  return "One for each kernel argument, in order:\n"
         "  TYPE:VALUE              a number (f32:2.5, i32:-1, u64:7, f16:1)\n"
         "  hex:00112233...         a vector or structure by value, byte by byte\n"
         "  @FILE                   a buffer with the contents of a file\n"
         "  zeros:BYTES             a buffer of zeros\n"
         "  iota:TYPE:COUNT         a buffer of 0, 1, 2, ...\n"
         "  random:TYPE:COUNT:SEED  a buffer of random bits; floats are from 0 up to 1\n"
         "  local:BYTES             a __local pointer\n"
         "TYPE is one of " +
         element_names();
}

Result<ArgumentText> parse_argument(std::string_view text) {
  ArgumentText argument;
  argument.text = text;
  if (auto good = parse_into(argument, text); !good) return error("--arg {}: {}", text, good.error().message);
  return argument;
}

Result<rt::Buffer> make_buffer(const ArgumentText& argument, rt::Device& device, std::size_t index) {
  const std::string name = fmt::format("argument {}", index);
  if (argument.form == Form::File) {
    const auto contents = read_file(argument.path);
    if (!contents) return contents.error();
    auto buffer = device.allocate(contents->size(), fmt::format("{} ({})", name, argument.path));
    if (buffer) std::copy(contents->begin(), contents->end(), buffer->host);
    return buffer;
  }
  const unsigned size = argument.element ? info(*argument.element).bytes : 1;
  if (argument.count > ~std::uint64_t{0} / size)
    return error("{}: {} elements of {} bytes are too many", name, argument.count, size);
  auto buffer = device.allocate(argument.count * size, name);
  if (!buffer || argument.form == Form::Zeros) return buffer;
  const Element element = *argument.element;
  std::uint64_t state = argument.seed;
  for (std::uint64_t i = 0; i < argument.count; ++i) {
    std::uint64_t bits = 0;
    if (argument.form == Form::Iota)
      bits = bits_of_count(element, i);
    else if (info(element).kind == NumberKind::Float)
      bits = bits_of_float(element, static_cast<double>(next_random(state) >> 11) * 0x1p-53);
    else
      bits = next_random(state);
    std::memcpy(buffer->host + i * size, &bits, size);
  }
  return buffer;
}

rt::ArgumentValue argument_value(const ArgumentText& argument, const rt::Buffer& buffer) {
  if (argument.is_buffer()) return rt::BufferValue{buffer.surface()};
  if (argument.form == Form::Local) return rt::LocalValue{static_cast<std::uint32_t>(argument.count)};
  return argument.bytes;
}

Result<void> check_number(const ArgumentText& argument, const rt::Kernel& kernel, std::size_t index) {
  if (argument.form != Form::Value || index >= kernel.arguments.size()) return {};
  const rt::Argument& parameter = kernel.arguments[index];
  if (parameter.kind != rt::ArgumentKind::Value) return {};
  const auto wanted = element_of_opencl(parameter.type_name);
  if (!wanted) return {};
  const ElementInfo &want = info(*wanted), &given = info(*argument.element);
  const bool same_kind = (want.kind == NumberKind::Float) == (given.kind == NumberKind::Float);
  if (same_kind && want.bytes == given.bytes) return {};
  return error("kernel {}: argument {} ({}) takes {}, {} given", kernel.name, index,
               rt::describe_argument(kernel, index), want.name, argument.text);
}

}  // namespace eum::cli

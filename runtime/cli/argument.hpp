#pragma once
// One --arg: its syntax, and its value on a device. It must not know kernels beyond one argument's
// description.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/cli/element.hpp"
#include "runtime/device.hpp"
#include "runtime/payload.hpp"

namespace eum::cli {

/// What --help says of --arg.
std::string argument_help();

struct ArgumentText {
  enum class Form : std::uint8_t { Value, Hex, File, Zeros, Iota, Random, Local };
  Form form = Form::Value;
  std::string text;                // as given
  std::optional<Element> element;  // Value, Iota, Random
  std::vector<std::byte> bytes;    // Value, Hex
  std::string path;                // File
  std::uint64_t count = 0;         // Zeros, Local: bytes; Iota, Random: elements
  std::uint64_t seed = 0;          // Random

  bool is_buffer() const { return form >= Form::File && form <= Form::Random; }
};

/// An error says what of the syntax was expected.
Result<ArgumentText> parse_argument(std::string_view text);

/// A buffer on `device` with the contents that a buffer form describes.
Result<rt::Buffer> make_buffer(const ArgumentText& argument, rt::Device& device, std::size_t index);

/// What the payload takes; `buffer` is that of make_buffer for a buffer form.
rt::ArgumentValue argument_value(const ArgumentText& argument, const rt::Buffer& buffer);

/// An error if a number is given for a parameter of another kind of number ("i32:1" for a float). What else
/// can be wrong, build_payload sees.
Result<void> check_number(const ArgumentText& argument, const rt::Kernel& kernel, std::size_t index);

}  // namespace eum::cli

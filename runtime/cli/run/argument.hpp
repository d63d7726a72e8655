#pragma once
// One --arg: its syntax, and its value where it is no buffer. It must not know kernels beyond one argument's
// description.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/cli/run/element.hpp"
#include "runtime/cli/run/image_text.hpp"
#include "runtime/payload.hpp"

namespace eum::cli {

/// What --help says of --arg.
std::string argument_help();

struct ArgumentText {
  enum class Form : std::uint8_t {
    Value,
    Hex,
    Null,
    Local,
    Sampler,
    List,
    File,
    Zeros,
    Iota,
    Random,
    Fill,
    Image,
    Named,
  };
  Form form = Form::Value;
  std::string text;                // as given
  std::string name;                // of the buffer, "" for none
  std::optional<Element> element;  // Value, List, Iota, Random, Fill
  std::vector<std::byte> bytes;    // Value, List, Hex; Fill: one element
  std::string path;                // File
  std::uint64_t count = 0;         // Zeros, Local: bytes; List, Iota, Random, Fill: elements
  std::uint64_t seed = 0;          // Random
  ImageText image;                 // Image
  rt::SamplerValue sampler;        // Sampler

  /// A list is a buffer where the kernel takes a pointer.
  bool may_be_buffer() const { return form >= Form::List; }
};

/// An error says what of the syntax was expected.
Result<ArgumentText> parse_argument(std::string_view text);

/// What the payload takes for a form that is no buffer; a list becomes the vector that the parameter is.
Result<rt::ArgumentValue> argument_value(const ArgumentText& argument, const rt::Kernel& kernel,
                                         std::size_t index);

/// The elements of a parameter's type, "float" or "float4*": f32; nothing where it is no number.
std::optional<Element> element_of_parameter(const rt::Argument& parameter);

}  // namespace eum::cli

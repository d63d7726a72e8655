#pragma once
// One --arg: its syntax, and its value if it is not a buffer. It must not know kernels beyond one argument's
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

/// The help text of --arg.
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
  std::string name;                // name of the buffer, "" for none
  std::optional<Element> element;  // Value, List, Iota, Random, Fill
  std::vector<std::byte> bytes;    // Value, List, Hex; Fill: one element
  std::string path;                // File
  std::uint64_t count = 0;         // Zeros, Local: bytes; List, Iota, Random, Fill: elements
  std::uint64_t seed = 0;          // Random
  ImageText image;                 // Image
  rt::SamplerValue sampler;        // Sampler

  /// A list is a buffer if the kernel takes a pointer.
  bool may_be_buffer() const { return form >= Form::List; }
};

/// An error says which syntax was expected.
Result<ArgumentText> parse_argument(std::string_view text);

/// The payload's value for a form that is not a buffer; a list becomes a vector of the parameter's type.
Result<rt::ArgumentValue> argument_value(const ArgumentText& argument, const rt::Kernel& kernel,
                                         std::size_t index);

/// The element type of a parameter's type, such as f32 for "float" or "float4*"; nothing if it is not
/// numeric.
std::optional<Element> element_of_parameter(const rt::Argument& parameter);

}  // namespace eum::cli

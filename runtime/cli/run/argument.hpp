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
#include "runtime/cli/run/element.hpp"
#include "runtime/device.hpp"
#include "runtime/payload.hpp"

namespace eum::cli {

/// What --help says of --arg.
std::string argument_help();

struct ArgumentText {
  enum class Form : std::uint8_t { Value, Hex, Null, Local, List, File, Zeros, Iota, Random, Fill, Named };
  Form form = Form::Value;
  std::string text;                // as given
  std::string name;                // of the buffer, "" for none
  std::optional<Element> element;  // Value, List, Iota, Random, Fill
  std::vector<std::byte> bytes;    // Value, List, Hex; Fill: one element
  std::string path;                // File
  std::uint64_t count = 0;         // Zeros, Local: bytes; List, Iota, Random, Fill: elements
  std::uint64_t seed = 0;          // Random

  /// A list is a buffer where the kernel takes a pointer.
  bool may_be_buffer() const { return form >= Form::List; }
};

/// A buffer of the run.
struct RunBuffer {
  rt::Buffer buffer;
  std::optional<Element> element;  // that it was filled with, if that is known
};

/// An error says what of the syntax was expected.
Result<ArgumentText> parse_argument(std::string_view text);

/// A buffer on `device` with the contents that a form describes, which is not Named; `label` is its name in
/// messages.
Result<RunBuffer> make_buffer(const ArgumentText& argument, rt::Device& device, const std::string& label);

/// What the payload takes for a form that is no buffer; a list becomes the vector that the parameter is.
Result<rt::ArgumentValue> argument_value(const ArgumentText& argument, const rt::Kernel& kernel,
                                         std::size_t index);

/// The elements of a parameter's type, "float" or "float4*": f32; nothing where it is no number.
std::optional<Element> element_of_parameter(const rt::Argument& parameter);

/// "" or why the elements of a buffer are not those of the parameter that it is given for.
std::string element_warning(const RunBuffer& buffer, const rt::Kernel& kernel, std::size_t index);

}  // namespace eum::cli

#pragma once
// A buffer or an image of a run: how its contents are created and read back. It must not know kernels.
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/cli/run/argument.hpp"
#include "runtime/cli/run/element.hpp"
#include "runtime/device.hpp"
#include "runtime/image/image.hpp"

namespace eum::cli {

/// A buffer of the run, or an image.
struct RunBuffer {
  rt::Buffer buffer;
  std::optional<Element> element;  // that it was filled with, if known; for an image that of its channels
  std::optional<rt::Image> image;

  /// Bytes of the contents; for an image tightly packed.
  std::uint64_t size() const { return image ? image->packed_bytes() : buffer.size; }
  /// Number of elements that form a unit: the channels of a texel.
  unsigned unit() const;
  rt::ArgumentValue value() const;
};

/// A buffer or image on `device` with the contents that a form other than Named describes; `label` is its
/// name in messages.
Result<RunBuffer> make_buffer(const ArgumentText& argument, rt::Device& device, const std::string& label);

/// "", or the reason why the elements of a buffer do not match the parameter for which it is given.
std::string element_warning(const RunBuffer& buffer, const rt::Kernel& kernel, std::size_t index);

}  // namespace eum::cli

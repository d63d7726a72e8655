#pragma once
// A buffer or an image of a run: what its contents are made of and how they are taken out again. It must not
// know kernels.
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
  std::optional<Element> element;  // that it was filled with, if that is known; of an image: of its channels
  std::optional<rt::Image> image;

  /// Bytes of the contents; of an image tightly packed.
  std::uint64_t size() const { return image ? image->packed_bytes() : buffer.size; }
  /// Elements that belong together: the channels of a texel.
  unsigned unit() const;
  rt::ArgumentValue value() const;
};

/// A buffer or image on `device` with the contents that a form describes, which is not Named; `label` is its
/// name in messages.
Result<RunBuffer> make_buffer(const ArgumentText& argument, rt::Device& device, const std::string& label);

/// "" or why the elements of a buffer are not those of the parameter that it is given for.
std::string element_warning(const RunBuffer& buffer, const rt::Kernel& kernel, std::size_t index);

}  // namespace eum::cli

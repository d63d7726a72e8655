#pragma once
// Output of buffers when the kernels are done: --print, --dump, --expect. It must not know kernels beyond one
// argument's description.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cli/files.hpp"
#include "runtime/cli/run/argument.hpp"
#include "runtime/cli/run/compare.hpp"
#include "runtime/cli/run/options.hpp"
#include "runtime/cli/run/run_buffer.hpp"

namespace eum::cli {

inline constexpr std::uint64_t default_print = 16;

struct OutputRequest {
  enum class Kind : std::uint8_t { Print, Dump, Expect };
  Kind kind = Kind::Print;
  std::string text;                     // as given, with the option
  std::size_t argument = 0;             // index of the kernel's argument
  std::uint64_t count = default_print;  // Print: elements
  std::string path;                     // Dump, Expect
  Tolerance tolerance;                  // Expect

  // Once the kernel is known:
  const RunBuffer* buffer = nullptr;
  Element element = Element::u32;
  std::string label;                // "argument 2 (f32)"
  std::optional<OutputFile> file;   // Dump
  std::vector<std::byte> expected;  // Expect

  // Once the kernels are done:
  std::vector<std::byte> texels;  // for an image

  /// For an image, its texels.
  std::uint64_t elements() const { return buffer->size() / (info(element).bytes * buffer->unit()); }
  std::uint64_t shown() const { return count < elements() ? count : elements(); }
  /// The buffer's contents; for an image those that take_contents() read.
  std::span<const std::byte> contents() const {
    return buffer->image ? std::span<const std::byte>(texels) : buffer->buffer.bytes();
  }
};

/// All outputs that `options` requests; `arguments` are the kernel's. An error concerns the command line.
Result<std::vector<OutputRequest>> parse_outputs(const KernelOptions& options,
                                                 const std::vector<ArgumentText>& arguments);

/// Opens the file of a dump, reads that of an expectation.
std::optional<Failure> prepare_output(OutputRequest& request, const RunBuffer* buffer,
                                      const rt::Argument& parameter);

/// Must be called when the kernels are done, before contents().
Result<void> take_contents(OutputRequest& request);

/// Element `index` as text; for an image the comma-separated channels of a texel.
std::string element_text(const OutputRequest& request, std::uint64_t index);

/// Writes a dump as raw numbers, as a NumPy array if the name ends in .npy, or for an image as a picture if
/// it ends in .png.
Result<void> write_dump(OutputRequest& request);

/// "argument 2 (f32) differs from y.npy in 2 of 64 elements: [3] is 7.5, expected 8; ..."
std::string difference_text(const OutputRequest& request, const Comparison& comparison);

}  // namespace eum::cli

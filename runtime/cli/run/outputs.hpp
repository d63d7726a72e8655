#pragma once
// What is done with buffers when the kernels are done: --print, --dump, --expect. It must not know kernels
// beyond one argument's description.
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
  std::size_t argument = 0;             // of the kernel
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
  std::vector<std::byte> texels;  // of an image

  /// Of an image: texels.
  std::uint64_t elements() const { return buffer->size() / (info(element).bytes * buffer->unit()); }
  std::uint64_t shown() const { return count < elements() ? count : elements(); }
  /// What the buffer holds; of an image what take_contents() took.
  std::span<const std::byte> contents() const {
    return buffer->image ? std::span<const std::byte>(texels) : buffer->buffer.bytes();
  }
};

/// All that `options` asks for; `arguments` are the kernel's. An error is one of the command line.
Result<std::vector<OutputRequest>> parse_outputs(const KernelOptions& options,
                                                 const std::vector<ArgumentText>& arguments);

/// Opens the file of a dump, reads that of an expectation.
std::optional<Failure> prepare_output(OutputRequest& request, const RunBuffer* buffer,
                                      const rt::Argument& parameter);

/// To be called when the kernels are done, before contents() is looked at.
Result<void> take_contents(OutputRequest& request);

/// Element `index` as text: of an image the channels of a texel, with commas between.
std::string element_text(const OutputRequest& request, std::uint64_t index);

/// A dump, as raw numbers or, to a name that ends in .npy, as a NumPy
/// array; an image to one that ends in .png as a picture.
Result<void> write_dump(OutputRequest& request);

/// "argument 2 (f32) differs from y.npy in 2 of 64 elements: [3] is 7.5, expected 8; ..."
std::string difference_text(const OutputRequest& request, const Comparison& comparison);

}  // namespace eum::cli

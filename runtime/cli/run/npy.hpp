#pragma once
// NumPy's .npy files (format versions 1 to 3): one array of numbers. It must not know buffers or kernels.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/cli/run/element.hpp"

namespace eum::cli {

struct NpyArray {
  Element element = Element::u8;
  std::size_t offset = 0;  ///< of the numbers within the file
};

bool looks_like_npy(std::span<const std::byte> file);

/// Locates the numbers. An error says what was expected of the header: numbers in this machine's byte order,
/// in C order, as many as the shape says.
Result<NpyArray> read_npy(std::span<const std::byte> file);

/// The header of a file with one dimension of `count` numbers.
std::string npy_header(Element element, std::size_t count);

}  // namespace eum::cli

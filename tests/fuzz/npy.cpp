// Fuzzes the reader of .npy files: no file may crash it, accepted data are whole elements inside the file,
// and refusals give a reason. Headers that are written can be read again. Seeds: tests/fuzz/corpus/npy.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "runtime/cli/run/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eum;
  const std::span file = std::as_bytes(std::span(data, size));
  const auto array = cli::read_npy(file);
  if (!array) {
    if (array.error().message.empty()) std::abort();
    return 0;
  }
  if (array->offset > size || (size - array->offset) % cli::info(array->element).bytes != 0) std::abort();
  const std::string header = cli::npy_header(array->element, 0);
  const auto again = cli::read_npy(std::as_bytes(std::span(header)));
  if (!again || again->element != array->element || again->offset != header.size()) std::abort();
  return 0;
}

#pragma once
// Whole files in and out, with errors that name the path.
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "memory/base/result.hpp"

namespace eum::cli {

/// At most 4 GiB.
Result<std::vector<std::byte>> read_file(const std::string& path);

/// A file that can be written, opened before there is something to write. Until then what it holds stays; a
/// file that was not there goes again if nothing is written.
class OutputFile {
 public:
  static Result<OutputFile> open(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// The parts, one after the other, are all that the file holds then. Once.
  Result<void> write(std::initializer_list<std::span<const std::byte>> parts);

 private:
  OutputFile(std::string path, int descriptor, bool created)
      : path_(std::move(path)), descriptor_(descriptor), created_(created) {}

  std::string path_;
  int descriptor_;
  bool created_;
};

}  // namespace eum::cli

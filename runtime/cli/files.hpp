#pragma once
// Reads and writes whole files, with errors that name the path.
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

/// A file opened for writing before there is something to write. Until then its contents stay; a file that
/// did not exist is removed again if nothing is written.
class OutputFile {
 public:
  static Result<OutputFile> open(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// Replaces the file's contents by the parts, one after the other. May be called once.
  Result<void> write(std::initializer_list<std::span<const std::byte>> parts);

 private:
  OutputFile(std::string path, int descriptor, bool created)
      : path_(std::move(path)), descriptor_(descriptor), created_(created) {}

  std::string path_;
  int descriptor_;
  bool created_;
};

}  // namespace eum::cli

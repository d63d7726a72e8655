#pragma once
// Files that hold only instruction words: the options --raw and --family, and reading such a file.
#include <CLI/CLI.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "frontend/gen/family.hpp"
#include "runtime/cli/exit_code.hpp"

namespace eum::cli {

struct RawOptions {
  bool raw = false;
  std::string family;
};

struct RawWords {
  std::vector<std::byte> bytes;
  gen::Family family;
};

/// Adds --raw and --family, which require each other, and --kernel as `kernel`, which excludes them.
void add_raw_options(CLI::App& command, RawOptions& to, std::string& kernel);

/// Reads the words of `file`, at least one byte.
std::optional<Failure> read_raw(const std::string& file, const RawOptions& options, RawWords& words);

}  // namespace eum::cli

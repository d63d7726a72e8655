#pragma once
// Whole files in and out, with errors that name the path.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/program.hpp"

namespace eum::cli {

/// At most 4 GiB.
Result<std::vector<std::byte>> read_file(const std::string& path);
Result<void> write_file(const std::string& path, std::span<const std::byte> bytes);

/// The compiled program in a file.
Result<rt::Program> read_program(const std::string& path);

}  // namespace eum::cli

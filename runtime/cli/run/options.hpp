#pragma once
// The command line of `eumulate run`. Plain data.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cli/program_file.hpp"
#include "runtime/device.hpp"

namespace eum::cli {

/// One kernel; those of --then follow the first.
struct KernelOptions {
  std::string kernel, global, local, offset;
  std::vector<std::string> arguments, dumps, prints, expects;
};

struct RunOptions {
  ProgramFile program;
  std::vector<KernelOptions> kernels;
  std::string engine = "avx2";
  unsigned threads = 0;
  std::uint64_t budget = rt::DeviceOptions{}.budget;
  std::vector<std::string> limits, disabled;
  bool strict = false;
  bool bounds = false;
  bool every_instruction = false;  // pauses at each instruction, with exact registers
  std::uint64_t repeat = 1;
  std::optional<double> timeout;  // seconds
  bool profile = false;
  bool as_json = false;
};

}  // namespace eum::cli

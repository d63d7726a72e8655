#pragma once
// Starts a native program with the preloaded library of runtime/user_msr/native.
#include <string>
#include <vector>

#include "memory/base/result.hpp"

namespace eum::cli {

struct MsrRun {
  std::string config;                ///< path of the TOML file
  std::vector<std::string> command;  ///< program and arguments
  std::string trace;                 ///< path, "-" for standard error, or empty
  std::string cpuid;                 ///< value of EUMULATE_MSR_CPUID, or empty
  std::string patch;                 ///< value of EUMULATE_MSR_PATCH, or empty
};

/// Replaces this process by the program; returns only with an error.
Error run_with_msrs(const MsrRun& run);

}  // namespace eum::cli

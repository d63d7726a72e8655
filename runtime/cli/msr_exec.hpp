#pragma once
// Executing a few bytes on a machine of their own, with the state before and after as text.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "memory/result.hpp"

namespace eum::cli {

struct MsrExec {
  std::vector<std::string> hex;  ///< the bytes, in any number of words
  std::string config;            ///< path of the TOML file; empty: no registers, all bits of the bitmap 0
  std::string engine = "avx2";   ///< or "reference"
  unsigned cpl = 3;
  bool disabled = false;         ///< IA32_USER_MSR_CTL bit 0 = 0
  bool guest = false;            ///< VMX guest whose accesses all exit
  std::vector<std::string> set;  ///< "rax=0x10"
};

/// Text for standard output, and whether every instruction completed.
struct MsrExecResult {
  std::string text;
  bool completed = false;
};

Result<MsrExecResult> exec_msr_bytes(const MsrExec& exec);

}  // namespace eum::cli

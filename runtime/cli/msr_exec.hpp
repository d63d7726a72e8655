#pragma once
// Executes a few bytes on a machine created for them, and prints the state before and after.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/user_msr/config.hpp"

namespace eum::cli {

struct MsrExec {
  std::vector<std::string> hex;  ///< the bytes, split into words in any way
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

/// `config` may be null: no registers, all bits of the bitmap 0. An error says what is wrong in `exec`.
Result<MsrExecResult> exec_msr_bytes(const MsrExec& exec, const rt::MsrConfig* config);

}  // namespace eum::cli

#pragma once
// Commands on vISA text that need no description of its arguments.
#include <memory>
#include <string>

#include "frontend/visa/kernel.hpp"
#include "memory/base/result.hpp"
#include "runtime/translation.hpp"

namespace eum::cli {

/// A kernel of a text.
struct OpenedText {
  std::shared_ptr<const visa::Module> module;
  rt::KernelCode code;  ///< without addresses of variables
  std::string source;
};

/// Of several texts with the kernel, opens the one that was written last. Returns an exit code; on failure
/// the error has been printed.
int open_text(const std::string& path, const std::string& kernel, unsigned grf_bytes, OpenedText& to);

/// Prints texts as parsed, or only one kernel and the functions of its text.
int print_texts(const std::string& path, const std::string& kernel);

/// Prints kernels and their inputs.
int print_text_info(const std::string& path, unsigned grf_bytes, bool as_json);

}  // namespace eum::cli

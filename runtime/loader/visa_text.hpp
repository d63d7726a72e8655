#pragma once
// Kernels in vISA text: parsed, and joined with what describes their arguments. It must not know how either
// is written.
#include <memory>
#include <string>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/loader/draft.hpp"

namespace eum::rt {

/// A text that parses.
struct ParsedText {
  std::string name;  ///< of the file, for errors
  std::shared_ptr<const visa::Module> module;
  std::string source;
};

/// Errors begin with "NAME:LINE:COLUMN: ".
Result<ParsedText> parse_text(std::string name, std::string source);

/// What the registers of all texts are: 32 or 64 bytes. An error if they do not agree.
Result<unsigned> register_bytes(const std::vector<ParsedText>& texts);

/// Adds the kernels of `texts` to `program`, which has segments and symbols. Each of them has its draft,
/// found by name in `drafts`; `arguments` is where these come from, for errors. Of several texts of a kernel,
/// which the compiler dumps when it tries several SIMD sizes, the last that has the draft's counts.
Result<void> add_text_kernels(std::vector<ParsedText> texts, std::vector<KernelDraft> drafts,
                              unsigned grf_bytes, std::string_view arguments, Program& program);

}  // namespace eum::rt

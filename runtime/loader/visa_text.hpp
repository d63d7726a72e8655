#pragma once
// Kernels in vISA text: parsed, and joined with the description of their arguments. It must not know how
// either is written.
#include <memory>
#include <string>
#include <vector>

#include "memory/base/result.hpp"
#include "runtime/loader/draft.hpp"

namespace eum::rt {

/// A successfully parsed text.
struct ParsedText {
  std::string name;  ///< of the file, for errors
  std::shared_ptr<const visa::Module> module;
  std::string source;
};

/// Errors begin with "NAME:LINE:COLUMN: ".
Result<ParsedText> parse_text(std::string name, std::string source);

/// Size of the registers in all texts: 32 or 64 bytes. An error if they disagree.
Result<unsigned> register_bytes(const std::vector<ParsedText>& texts);

/// Adds the kernels of `texts` to `program`, which has segments and symbols. Each kernel's draft is found by
/// name in `drafts`; `arguments` names the source of the drafts, for errors. If there are several texts of a
/// kernel, which the compiler dumps when it tries several SIMD sizes, the last one with the draft's size is
/// used.
Result<void> add_text_kernels(std::vector<ParsedText> texts, std::vector<KernelDraft> drafts,
                              unsigned grf_bytes, std::string_view arguments, Program& program);

}  // namespace eum::rt

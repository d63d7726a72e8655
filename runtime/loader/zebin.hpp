#pragma once
// The zebin container: a section of code per kernel, data sections, symbols, relocations, and .ze_info.
#include "memory/base/result.hpp"
#include "runtime/loader/draft.hpp"
#include "runtime/loader/elf_file.hpp"
#include "runtime/program.hpp"

namespace eum::rt {

/// Section names and types: elf.md of intel-graphics-compiler.
Result<Program> load_zebin(const ElfFile& file);

/// The contents of a zebin other than machine code, for kernels whose code comes from elsewhere; for any GPU.
struct ZebinData {
  std::vector<KernelDraft> drafts;  ///< without code
  Program program;                  ///< segments, symbols and build options
};
Result<ZebinData> read_zebin_data(const ElfFile& file, const Registers& registers);

}  // namespace eum::rt

#pragma once
// The zebin container: a section of code per kernel, data sections, symbols, relocations, and .ze_info.
#include "memory/base/result.hpp"
#include "runtime/loader/elf_file.hpp"
#include "runtime/program.hpp"

namespace eum::rt {

/// Section names and types: elf.md of intel-graphics-compiler.
Result<Program> load_zebin(const ElfFile& file);

}  // namespace eum::rt

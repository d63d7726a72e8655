#pragma once
// load_program and load_visa: from the bytes of a compiled OpenCL program to a Program.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "memory/base/result.hpp"
#include "runtime/program.hpp"

namespace eum::rt {

/// Accepts what ocloc and clGetProgramInfo give: patch tokens (bare or in their ELF wrapper) and zebin. The
/// container is found by content. Any other bytes, and any damage that would make the result wrong, are an
/// Error of one line that says what was expected and what was found. `binary` is not needed afterwards.
Result<Program> load_program(std::span<const std::byte> binary);

/// A file's bytes, and its name for errors.
struct NamedFile {
  std::string name;
  std::span<const std::byte> bytes;
};

/// How what kernels in vISA text take is described.
enum class ArgumentFormat : std::uint8_t {
  ZeInfo,  ///< a zebin of the same compile, or the text of its section .ze_info: found by content
  Map,     ///< YAML as argument_map.hpp has it
};

/// Kernels in vISA text (.visaasm), as the vendor's compiler dumps it for any GPU, and what describes their
/// arguments, of which a zebin alone has constants and globals. Of several texts of one kernel, which the
/// compiler dumps when it tries several SIMD sizes, the last that has the size of `arguments` counts.
/// `grf_bytes` 0: registers of as many bytes as the text was written for. Every text that parses loads,
/// whatever GPU it is for: an instruction that is not supported faults where it is reached. Errors are one
/// line and begin with the name of the file; those of text say line and column.
Result<Program> load_visa(std::span<const NamedFile> texts, const NamedFile& arguments,
                          ArgumentFormat format = ArgumentFormat::ZeInfo, unsigned grf_bytes = 0);

}  // namespace eum::rt

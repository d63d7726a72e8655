#pragma once
// load_program and load_visa: from the bytes of a compiled OpenCL program to a Program.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "memory/base/result.hpp"
#include "runtime/program.hpp"

namespace eum::rt {

/// Accepts the output of ocloc and clGetProgramInfo: patch tokens (bare or in their ELF wrapper) and zebin.
/// The container is determined by content. Any other bytes, and any damage that would make the result wrong,
/// give an Error of one line that says what was expected and what was found. `binary` is not needed
/// afterwards.
Result<Program> load_program(std::span<const std::byte> binary);

/// A file's bytes, and its name for errors.
struct NamedFile {
  std::string name;
  std::span<const std::byte> bytes;
};

/// Format that describes the arguments of kernels in vISA text.
enum class ArgumentFormat : std::uint8_t {
  ZeInfo,  ///< a zebin of the same compile, or the text of its section .ze_info: determined by content
  Map,     ///< YAML, see argument_map.hpp
};

/// Kernels in vISA text (.visaasm), as the vendor's compiler dumps it for any GPU, and the description of
/// their arguments; constants and globals exist only if that is a zebin. If there are several texts of one
/// kernel, which the compiler dumps when it tries several SIMD sizes, the last one with the SIMD size in
/// `arguments` is used. `grf_bytes` 0: registers of the size that the text was written for. Every text that
/// parses loads, whatever GPU it is for: an unsupported instruction faults when it is reached. Errors are one
/// line and begin with the name of the file; those in text give line and column.
Result<Program> load_visa(std::span<const NamedFile> texts, const NamedFile& arguments,
                          ArgumentFormat format = ArgumentFormat::ZeInfo, unsigned grf_bytes = 0);

}  // namespace eum::rt

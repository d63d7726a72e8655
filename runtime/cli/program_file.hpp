#pragma once
// The file of a command, whatever it holds: a compiled program, vISA text or OpenCL C source, with the
// options that say what else belongs to it.
#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "runtime/cli/exit_code.hpp"
#include "runtime/program.hpp"

namespace eum::cli {

struct ProgramFile {
  std::string file;
  std::string ze_info, arguments;             // of vISA text
  unsigned grf_bytes = 0;                     // of vISA text; 0: what it was written for
  std::string device = "bxt", build_options;  // of source
};

/// Adds FILE and the options beside it.
void add_program_options(CLI::App& command, ProgramFile& to);

/// The program in a file. Source is compiled first.
std::optional<Failure> read_program(const ProgramFile& file, rt::Program& program);

/// The files of vISA text that `path` means: itself, or of a folder those in it, in the order in which they
/// were written.
std::vector<std::string> visa_texts(const std::string& path);

/// Whether the file is vISA text, or a folder that has some.
bool holds_visa_text(const std::string& path);

}  // namespace eum::cli

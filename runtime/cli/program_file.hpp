#pragma once
// The file argument of a command: a compiled program, vISA text or OpenCL C source, with the options that
// describe related files.
#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "runtime/cli/exit_code.hpp"
#include "runtime/program.hpp"

namespace eum::cli {

struct ProgramFile {
  std::string file;
  std::string ze_info, arguments;             // for vISA text
  unsigned grf_bytes = 0;                     // for vISA text; 0: as it was written for
  std::string device = "bxt", build_options;  // of source
};

/// Adds FILE and its related options.
void add_program_options(CLI::App& command, ProgramFile& to);

/// Reads the program in a file. Source is compiled first.
std::optional<Failure> read_program(const ProgramFile& file, rt::Program& program);

/// The files of vISA text that `path` stands for: itself, or for a folder those in it, in the order in which
/// they were written.
std::vector<std::string> visa_texts(const std::string& path);

/// Whether the file is vISA text, or a folder that contains some.
bool holds_visa_text(const std::string& path);

}  // namespace eum::cli

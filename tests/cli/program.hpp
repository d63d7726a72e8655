#pragma once
// Runs the built `eumulate` and captures its output.
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace cli_test {

using Words = std::vector<std::string>;

/// The exit codes listed in README.md.
enum ExitCode : int {
  usage = 1,
  bad_input = 2,
  mismatch = 3,
  guest_fault = 4,
  host_failed = 5,
  different = 6,
  stopped = 7
};

struct Finished {
  int code = -1;  // exit code, or 128 + N if signal N ended it
  std::string out, err;
};

/// Runs with the arguments `words`, in a directory of its own: scratch().
Finished eumulate(const Words& words);
/// Runs any program on the PATH.
Finished run(const std::string& program, const Words& words);

/// A directory for the files of this process, removed when the process ends.
const std::filesystem::path& scratch();
/// Writes a file in scratch() and returns its path.
std::string file(const std::string& name, std::span<const std::byte> bytes);
std::vector<std::byte> read(const std::filesystem::path& path);

/// tests/kernels/bin/NAME.bin
std::string corpus(const std::string& name);

/// Whether there is one line on stderr that begins with the program's name, and nothing on stdout.
bool is_one_line(const Finished& finished);

}  // namespace cli_test

// Uses fork and exec, with files for the output.
#include "tests/cli/program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace cli_test {
namespace {

struct Directory {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("eumulate_cli_test_" + std::to_string(getpid()));
  Directory() { std::filesystem::create_directories(path); }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

void redirect(int to, const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || dup2(fd, to) < 0) _exit(126);
}

std::string text_of(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = read(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

const std::filesystem::path& scratch() {
  static const Directory directory;
  return directory.path;
}

Finished run(const std::string& program, const Words& words) {
  const std::filesystem::path out = scratch() / "stdout", err = scratch() / "stderr";
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    if (chdir(scratch().c_str()) != 0) _exit(126);
    redirect(STDOUT_FILENO, out);
    redirect(STDERR_FILENO, err);
    execvp(program.c_str(), argv.data());
    _exit(127);
  }
  Finished finished;
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return finished;
  finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  finished.out = text_of(out);
  finished.err = text_of(err);
  return finished;
}

Finished eumulate(const Words& words) { return run(EUMULATE_PROGRAM, words); }

std::string file(const std::string& name, std::span<const std::byte> bytes) {
  const std::filesystem::path path = scratch() / name;
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return path;
}

std::vector<std::byte> read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string corpus(const std::string& name) {
  return EUMULATE_SOURCE_DIR "/tests/kernels/bin/" + name + ".bin";
}

bool is_one_line(const Finished& finished) {
  return finished.out.empty() && finished.err.starts_with("eumulate: ") &&
         finished.err.find('\n') == finished.err.size() - 1;
}

}  // namespace cli_test

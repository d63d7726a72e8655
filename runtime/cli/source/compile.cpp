// A cache entry is a folder that is created under another name and renamed, so that it is complete or absent.
// It contains its key: a hash alone might belong to other source.
#include "runtime/cli/source/compile.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "runtime/cli/exit_code.hpp"
#include "runtime/cli/files.hpp"
#include "runtime/cli/output.hpp"

extern char** environ;

namespace eum::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view compiler_name = "ocloc";
constexpr const char* binary_name = "program.bin";
constexpr const char* key_name = "key";

/// Path of `name`, searched in PATH.
std::optional<fs::path> find_program(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    if (::access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate)) return candidate;
    rest.remove_prefix(std::min(colon, rest.size() - 1) + 1);
  }
  return std::nullopt;
}

/// Identifies the version of the compiler, which has no option that prints it.
std::string version_of(const fs::path& compiler) {
  struct stat status {};
  std::error_code failed;
  const fs::path target = fs::canonical(compiler, failed);
  if (failed || ::stat(target.c_str(), &status) != 0) return compiler.string();
  return fmt::format("{} {} {}.{}", target.string(), status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

/// Empty: there is no place for a cache.
fs::path cache_folder() {
  std::error_code failed;
  fs::path folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    folder = cache;
  else if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    folder = fs::path(home) / ".cache";
  else
    return {};
  folder /= "eumulate";
  fs::create_directories(folder, failed);
  return failed || ::access(folder.c_str(), W_OK) != 0 ? fs::path() : folder;
}

/// FNV-1a.
std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}

std::string_view characters(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Whether the folder is the entry of `key`.
bool is_entry(const fs::path& folder, const std::string& key) {
  const auto kept = read_file((folder / key_name).string());
  return kept && characters(*kept) == key;
}

Result<void> write(const fs::path& path, std::string_view text) {
  auto file = OutputFile::open(path.string());
  if (!file) return file.error();
  return file->write({std::as_bytes(std::span(text))});
}

Result<fs::path> make_folder(const fs::path& beside) {
  std::error_code failed;
  const fs::path parent = beside.empty() ? fs::temp_directory_path(failed) : beside;
  std::string name = (parent / "making-XXXXXX").string();
  if (failed || ::mkdtemp(name.data()) == nullptr) return error("{}: {}", name, std::strerror(errno));
  return fs::path(name);
}

/// Runs `words` with their output in `log` and with `variables` added to the environment. Returns the exit
/// code.
Result<int> run(const std::vector<std::string>& words, const std::vector<std::string>& variables,
                const std::string& log) {
  std::vector<char*> arguments, environment;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with("IGC_")) environment.push_back(*entry);
  for (const std::string& variable : variables) environment.push_back(const_cast<char*>(variable.c_str()));
  environment.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t process = 0;
  const int failed =
      ::posix_spawn(&process, arguments[0], &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return host_error("{}: {}", words[0], std::strerror(failed));
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return host_error("{}: {}", words[0], std::strerror(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Moves the texts of a dump to `folder` and removes the rest. They keep their times, which show in which
/// order the compiler wrote them.
void keep_texts(const fs::path& dump, const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(dump, ignored))
    if (entry.path().extension() == ".visaasm")
      fs::rename(entry.path(), folder / entry.path().filename(), ignored);
  fs::remove_all(dump, ignored);
}

/// Compiles into `folder`.
Result<void> compile_into(const fs::path& folder, const fs::path& compiler, const Source& source) {
  const fs::path dump = folder / "dump", out = folder / "out";
  const std::string log = (folder / "build.log").string();
  std::error_code failed;
  fs::create_directory(dump, failed);
  std::vector<std::string> words{compiler.string(), "compile",     "-file",    source.file,
                                 "-device",         source.device, "--format", "zebin",
                                 "-out_dir",        out.string(),  "-output",  "program"};
  if (!source.options.empty()) words.insert(words.end(), {"-options", source.options});
  const auto code = run(
      words, {"IGC_ShaderDumpEnable=1", "IGC_ShaderDumpPidDisable=1", "IGC_DumpToCustomDir=" + dump.string()},
      log);
  if (!code) return code.error();
  fs::path binary;
  for (const auto& entry : fs::directory_iterator(out, failed))
    if (entry.path().extension() == ".bin") binary = entry.path();
  if (*code != 0 || binary.empty()) {
    if (const auto said = read_file(log)) fmt::print(stderr, "{}", visible_lines(characters(*said)));
    return error("{} does not compile it for {} (exit code {})", compiler_name, source.device, *code);
  }
  fs::rename(binary, folder / binary_name, failed);
  if (failed) return error("{}: {}", binary.string(), failed.message());
  fs::remove_all(out, failed);
  keep_texts(dump, folder);
  return {};
}

}  // namespace

Compiled::~Compiled() {
  std::error_code ignored;
  if (temporary_) fs::remove_all(folder_, ignored);
}

std::string Compiled::binary() const { return (fs::path(folder_) / binary_name).string(); }

Result<Compiled> compile(const Source& source) {
  const auto text = read_file(source.file);
  if (!text) return text.error();
  const auto compiler = find_program(compiler_name);
  if (!compiler)
    return error(
        "expected the program {}, which compiles OpenCL C, found none in PATH; Debian and Ubuntu have it "
        "in the package intel-opencl-icd",
        compiler_name);
  const fs::path cache =
      characters(*text).find("#include") == std::string_view::npos ? cache_folder() : fs::path();
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}", version_of(*compiler), source.device, source.options, characters(*text));
  const fs::path entry = cache / fmt::format("{:016x}{:016x}", hash(key), hash(key + key_name));
  if (!cache.empty() && is_entry(entry, key)) return Compiled(entry.string(), false);

  const auto made = make_folder(cache);
  if (!made) return made.error();
  Compiled result(made->string(), true);
  if (auto done = compile_into(*made, *compiler, source); !done) return done.error();
  if (cache.empty() || !write(*made / key_name, key)) return result;
  if (::rename(made->c_str(), entry.c_str()) == 0) {
    // Nothing is left under the other name for `result` to remove.
    return Compiled(entry.string(), false);
  }
  // Another process was first, or the name is taken by other source with the same hash.
  if (is_entry(entry, key)) return Compiled(entry.string(), false);
  return result;
}

}  // namespace eum::cli

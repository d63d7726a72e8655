// Checks the configuration, the program and the library, then executes the program.
#include "runtime/cli/msr_run.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "runtime/cli/preload_list.hpp"
#include "runtime/user_msr/config.hpp"
#include "runtime/user_msr/native/variables.hpp"

namespace eum::cli {
namespace {

namespace fs = std::filesystem;

/// The library in this program's folder, or in ../lib of an installation.
Result<std::string> find_library() {
  std::error_code code;
  fs::path self = fs::read_symlink("/proc/self/exe", code);
  if (code) return error("/proc/self/exe: {}", code.message());
  fs::path beside = self.parent_path() / rt::native::library_name;
  fs::path installed = self.parent_path().parent_path() / "lib" / rt::native::library_name;
  for (const fs::path& candidate : {beside, installed})
    if (fs::exists(candidate, code)) return candidate.string();
  return error("expected {} or {}, found neither", beside.string(), installed.string());
}

/// The file that execvp would execute.
Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (access(name.c_str(), X_OK) != 0) return error("{}: {}", name, std::strerror(errno));
    return name;
  }
  const char* variable = std::getenv("PATH");
  std::string_view path = variable ? variable : "/bin:/usr/bin";
  while (!path.empty()) {
    std::size_t end = path.find(':');
    std::string candidate = std::string(path.substr(0, end)) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    path = end == std::string_view::npos ? std::string_view{} : path.substr(end + 1);
  }
  return error("{}: expected a program in PATH, found none", name);
}

class File {
 public:
  explicit File(const std::string& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (file_ >= 0) close(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool read(void* to, std::size_t size, std::uint64_t offset) const {
    return file_ >= 0 && pread(file_, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
  }

 private:
  int file_;
};

/// Checks that the dynamic loader will preload the library: it must exist, be 64-bit, and not ignore
/// LD_PRELOAD. Scripts and unreadable files are left to the kernel.
Result<void> check_program(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return error("{}: {}", path, std::strerror(errno));
  if ((status.st_mode & (S_ISUID | S_ISGID)) != 0 && geteuid() != 0)
    return error("{}: expected a program without set-user-ID: the dynamic loader ignores LD_PRELOAD for it",
                 path);
  File file(path);
  Elf64_Ehdr header;
  if (!file.read(&header, sizeof header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
    return error("{}: expected an x86-64 program, found ELF class {} machine {}", path,
                 header.e_ident[EI_CLASS], header.e_machine);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!file.read(&segment, sizeof segment, header.e_phoff + std::uint64_t{i} * header.e_phentsize)) break;
    if (segment.p_type == PT_INTERP) return {};
  }
  return error(
      "{}: expected a dynamically linked program, found a static one, into which no library can be preloaded",
      path);
}

/// Creates the file if it does not exist; sets errno.
bool can_append(const std::string& path) {
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return false;
  close(file);
  return true;
}

void set_or_clear(const char* variable, const std::string& value) {
  if (value.empty())
    unsetenv(variable);
  else
    setenv(variable, value.c_str(), 1);
}

}  // namespace

Error run_with_msrs(const MsrRun& run) {
  Result<rt::MsrConfig> config = rt::load_msr_config(run.config);
  if (!config) return config.error();
  Result<std::string> library = find_library();
  if (!library) return library.error();
  Result<std::string> preloaded = preload_path(*library);
  if (!preloaded) return preloaded.error();
  Result<std::string> program = find_program(run.command.front());
  if (!program) return program.error();
  Result<void> good = check_program(*program);
  if (!good) return good.error();

  std::error_code code;
  std::string trace =
      run.trace.empty() || run.trace == "-" ? run.trace : fs::absolute(run.trace, code).string();
  if (!trace.empty() && trace != "-" && !can_append(trace))
    return error("{}: expected a file that can be written for the trace: {}", run.trace,
                 std::strerror(errno));
  setenv(rt::native::config_variable, fs::absolute(run.config, code).c_str(), 1);
  set_or_clear(rt::native::trace_variable, trace);
  set_or_clear(rt::native::patch_variable, run.patch);
  set_or_clear(rt::native::cpuid_variable, run.cpuid);
  setenv(rt::native::library_variable, preloaded->c_str(), 1);
  add_to_environment(*preloaded);

  std::vector<char*> arguments;
  std::vector<std::string> copies = run.command;
  for (std::string& argument : copies) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  execv(program->c_str(), arguments.data());
  return error("{}: {}", *program, std::strerror(errno));
}

}  // namespace eum::cli

// LD_PRELOAD and related variables.
#include "runtime/cli/preload_list.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "runtime/user_msr/native/variables.hpp"

namespace eum::cli {
namespace {

namespace fs = std::filesystem;

/// ld.so(8): LD_PRELOAD is split at colons and blanks, which cannot be quoted, and "$" begins a name to be
/// expanded.
bool is_preloadable(const std::string& path) { return path.find_first_of(" :$") == std::string::npos; }

/// A folder below `parent` that only this user can write; created if it does not exist.
Result<std::string> own_folder(const std::string& parent) {
  std::string folder = fmt::format("{}/eumulate-msr-{}", parent, geteuid());
  struct stat status;
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return error("{}: {}", folder, std::strerror(errno));
  if (lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
      (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return error("{}: expected a folder that only this user can write", folder);
  return folder;
}

/// Not for security: gives each path its own name.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

Result<std::string> link_in(const std::string& parent, const std::string& library) {
  Result<std::string> folder = own_folder(parent);
  if (!folder) return folder.error();
  std::string link = fmt::format("{}/{:016x}-{}", *folder, hash_of(library), rt::native::library_name);
  std::error_code code;
  if (fs::read_symlink(link, code) == library) return link;
  // Atomically: another run may create the same link.
  std::string fresh = fmt::format("{}.{}", link, getpid());
  if (symlink(library.c_str(), fresh.c_str()) != 0 || rename(fresh.c_str(), link.c_str()) != 0)
    return error("{}: {}", link, std::strerror(errno));
  return link;
}

void append(const char* variable, const char* option) {
  const char* before = std::getenv(variable);
  std::string name = std::string(option).substr(0, std::string_view(option).find('='));
  if (before && std::string_view(before).find(name) != std::string_view::npos) return;
  std::string list = before && *before ? std::string(before) + ":" : "";
  setenv(variable, (list + option).c_str(), 1);
}

}  // namespace

Result<std::string> preload_path(const std::string& library) {
  if (is_preloadable(library)) return library;
  std::string why = "no folder";
  for (const char* variable : {"XDG_RUNTIME_DIR", "TMPDIR", ""}) {
    const char* value = *variable ? std::getenv(variable) : "/tmp";
    if (!value || !fs::path(value).is_absolute() || !is_preloadable(value)) continue;
    Result<std::string> link = link_in(value, library);
    if (link) return link;
    why = link.error().message;
  }
  return error(
      "{}: the dynamic loader cannot preload a path with a blank, colon or dollar sign, nor can it be "
      "given another name: {}",
      library, why);
}

void add_to_environment(const std::string& path) {
  const char* before = std::getenv("LD_PRELOAD");
  std::string list = before ? before : "";
  // In a nested run it is already there.
  if ((":" + list + ":").find(":" + path + ":") == std::string::npos)
    setenv("LD_PRELOAD", list.empty() ? path.c_str() : (path + ":" + list).c_str(), 1);
  // gcc's address sanitizer requires to be the first library, which does not matter here.
  append("ASAN_OPTIONS", "verify_asan_link_order=0");
}

}  // namespace eum::cli

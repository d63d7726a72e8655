// Files by stdio: its errno says what went wrong.
#include "runtime/cli/files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "runtime/loader/loader.hpp"

namespace eum::cli {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

constexpr std::size_t most_bytes = std::size_t{1} << 32;  // as much as a surface has; /dev/zero has no end

}  // namespace

Result<std::vector<std::byte>> read_file(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return error("{}: {}", path, std::strerror(errno));
  std::vector<std::byte> bytes;
  std::vector<std::byte> chunk(std::size_t{1} << 20);
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get())) {
    if (got > most_bytes - bytes.size())
      return error("{}: expected at most {} bytes, found more", path, most_bytes);
    bytes.insert(bytes.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(got));
  }
  if (std::ferror(file.get()) != 0) return error("{}: {}", path, std::strerror(errno));
  return bytes;
}

Result<void> write_file(const std::string& path, std::span<const std::byte> bytes) {
  File file(std::fopen(path.c_str(), "wb"));
  if (!file) return error("{}: {}", path, std::strerror(errno));
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  if (!written || std::fclose(file.release()) != 0) return error("{}: {}", path, std::strerror(errno));
  return {};
}

Result<rt::Program> read_program(const std::string& path) {
  const auto bytes = read_file(path);
  if (!bytes) return bytes.error();
  auto program = rt::load_program(*bytes);
  if (!program) return prefixed(path, program.error());
  return program;
}

}  // namespace eum::cli

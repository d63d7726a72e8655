// Files are read with stdio: its errno says what went wrong.
#include "runtime/cli/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace eum::cli {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

constexpr std::size_t most_bytes = std::size_t{1} << 32;  // maximum size of a surface; /dev/zero has no end

}  // namespace

Result<std::vector<std::byte>> read_file(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return error("{}: {}", path, std::strerror(errno));
  std::vector<std::byte> bytes;
  std::array<std::byte, std::size_t{1} << 14> chunk;  // a small file touches few of its pages
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get())) {
    if (got > most_bytes - bytes.size())
      return error("{}: expected at most {} bytes, found more", path, most_bytes);
    bytes.insert(bytes.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(got));
  }
  if (std::ferror(file.get()) != 0) return error("{}: {}", path, std::strerror(errno));
  return bytes;
}

Result<OutputFile> OutputFile::open(const std::string& path) {
  bool created = true;
  int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0 && errno == EEXIST) {
    created = false;
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  }
  if (descriptor < 0) return error("{}: {}", path, std::strerror(errno));
  return OutputFile(path, descriptor, created);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      created_(std::exchange(other.created_, false)) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (created_) ::unlink(path_.c_str());
}

Result<void> OutputFile::write(std::initializer_list<std::span<const std::byte>> parts) {
  created_ = false;
  struct stat status;
  // Pipes and devices have nothing to truncate.
  bool good =
      ::fstat(descriptor_, &status) == 0 && (!S_ISREG(status.st_mode) || ::ftruncate(descriptor_, 0) == 0);
  for (std::span<const std::byte> part : parts)
    while (good && !part.empty()) {
      const ssize_t count = ::write(descriptor_, part.data(), part.size());
      if (count < 0 && errno == EINTR) continue;
      good = count >= 0;
      if (good) part = part.subspan(static_cast<std::size_t>(count));
    }
  const int why = errno;
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
  if (!good || !closed) return error("{}: {}", path_, std::strerror(good ? errno : why));
  return {};
}

}  // namespace eum::cli

// Pages from mmap; never writable and executable at once.
#include "jit/code_memory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace eum::jit {

Result<CodeMemory> CodeMemory::reserve(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  const std::size_t mapped = (bytes + page - 1) / page * page;
  void* pages = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    return host_error("the host has no {} bytes for code: {}", mapped, std::strerror(errno));
  return CodeMemory(static_cast<std::byte*>(pages), mapped);
}

CodeMemory::CodeMemory(CodeMemory&& other) noexcept
    : pages_(std::exchange(other.pages_, nullptr)), mapped_(std::exchange(other.mapped_, 0)) {}

CodeMemory& CodeMemory::operator=(CodeMemory&& other) noexcept {
  std::swap(pages_, other.pages_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

CodeMemory::~CodeMemory() {
  if (pages_ != nullptr) munmap(pages_, mapped_);
}

Result<void> CodeMemory::seal() {
  if (mprotect(pages_, mapped_, PROT_READ | PROT_EXEC) == 0) return {};
  return host_error("the host does not make {} bytes of code executable: {}", mapped_, std::strerror(errno));
}

}  // namespace eum::jit

#pragma once
// CodeMemory: pages of host code, written once and then only executable.
#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/base/result.hpp"

namespace eum::jit {

class CodeMemory {
 public:
  /// Writable pages for `bytes`; write() makes them executable.
  static Result<CodeMemory> reserve(std::size_t bytes);
  CodeMemory(CodeMemory&& other) noexcept;
  CodeMemory& operator=(CodeMemory&& other) noexcept;
  ~CodeMemory();

  std::byte* data() const { return pages_; }
  std::size_t size() const { return mapped_; }
  /// From now on the pages can be executed and not written.
  Result<void> seal();

 private:
  CodeMemory(std::byte* pages, std::size_t mapped) : pages_(pages), mapped_(mapped) {}

  std::byte* pages_ = nullptr;
  std::size_t mapped_ = 0;
};

}  // namespace eum::jit

#pragma once
// Allocates the register file and flag registers of a function that is lowered from vISA. It must not know
// variables.
#include <cstdint>
#include <map>
#include <vector>

#include "frontend/eu/target.hpp"
#include "memory/base/result.hpp"

namespace eum::visa {

class RegisterFile {
 public:
  /// A file of registers of `grf_bytes`; the first `payload` bytes are the thread's payload.
  RegisterFile(unsigned grf_bytes, std::uint32_t payload) : grf_bytes_(grf_bytes), end_(payload) {}

  unsigned grf_bytes() const { return grf_bytes_; }
  /// Allocates `bytes` and returns their offset. Each place begins at a multiple of a host vector, so that no
  /// two variables share one; a place larger than a register begins at a register.
  std::uint32_t take(std::uint64_t bytes);
  /// Frees the place.
  void give_back(std::uint32_t at, std::uint64_t bytes);
  /// Allocates a flag register and returns its first bit. Register 0 is reserved for instructions whose flags
  /// are unused.
  std::uint32_t take_flag();
  void give_back_flag(std::uint32_t first_bit) { free_flags_.push_back(first_bit); }

  /// The registers of a thread. An error if there are more than an engine can hold.
  Result<eu::Target> target() const;

 private:
  /// Size of the place of a variable: whole host vectors.
  static std::uint64_t rounded(std::uint64_t bytes) { return (bytes + vector - 1) / vector * vector; }
  static constexpr std::uint64_t vector = 32;

  unsigned grf_bytes_;
  std::uint64_t end_;
  std::uint32_t flags_ = 1;
  std::map<std::uint64_t, std::uint64_t> free_;  ///< end of each free range, by its beginning
  std::vector<std::uint32_t> free_flags_;
};

}  // namespace eum::visa

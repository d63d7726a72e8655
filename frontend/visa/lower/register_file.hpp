#pragma once
// Hands out places in the register file and flag registers of a function that is lowered from vISA. It must
// not know variables.
#include <cstdint>
#include <map>
#include <vector>

#include "frontend/eu/target.hpp"
#include "memory/base/result.hpp"

namespace eum::visa {

class RegisterFile {
 public:
  /// Registers of `grf_bytes`; the first `payload` bytes are the thread's payload.
  RegisterFile(unsigned grf_bytes, std::uint32_t payload) : grf_bytes_(grf_bytes), end_(payload) {}

  unsigned grf_bytes() const { return grf_bytes_; }
  /// Byte offset of `bytes` that no one else has now. Each place begins at a multiple of a host vector, so
  /// that no two variables share one; what is larger than a register begins with one.
  std::uint32_t take(std::uint64_t bytes);
  /// Others may have the place from now on.
  void give_back(std::uint32_t at, std::uint64_t bytes);
  /// First bit of a flag register that no one else has now. Register 0 is what instructions write that have
  /// no use for the flags.
  std::uint32_t take_flag();
  void give_back_flag(std::uint32_t first_bit) { free_flags_.push_back(first_bit); }

  /// What a thread has. An error if it is more than an engine can hold.
  Result<eu::Target> target() const;

 private:
  /// What a variable takes: whole host vectors.
  static std::uint64_t rounded(std::uint64_t bytes) { return (bytes + vector - 1) / vector * vector; }
  static constexpr std::uint64_t vector = 32;

  unsigned grf_bytes_;
  std::uint64_t end_;
  std::uint32_t flags_ = 1;
  std::map<std::uint64_t, std::uint64_t> free_;  ///< from where to where
  std::vector<std::uint32_t> free_flags_;
};

}  // namespace eum::visa

#pragma once
// Sampler: interrupts the calling thread a few thousand times a second and counts its positions in one piece
// of host code. It must not know what the code does.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "memory/base/result.hpp"

namespace eum::cli {

/// Sampling instead of counting: the execution count of a block does not show cache misses, nor the time in
/// functions that it calls. perf's maps of translated code would provide the same, but few containers may use
/// perf.
class Sampler {
 public:
  explicit Sampler(std::span<const std::byte> code);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Samples the calling thread until end(), which the same thread must call. Only one sampler may be active
  /// in a process. An error says what the host refuses.
  Result<void> begin();
  void end();

  struct Counts {
    std::vector<std::uint32_t> own;     ///< by byte of the code: samples at that byte
    std::vector<std::uint32_t> called;  ///< by byte: samples in a function called from there
    std::uint64_t outside = 0;          ///< samples elsewhere
  };
  /// Accumulated over all periods between begin() and end().
  const Counts& counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace eum::cli

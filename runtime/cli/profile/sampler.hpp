#pragma once
// Sampler: interrupts the calling thread a few thousand times a second and counts where in one piece of host
// code it was. It must not know what the code does.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "memory/base/result.hpp"

namespace eum::cli {

/// Sampled rather than counted: a block's executions say nothing of misses, nor of the functions that it
/// calls. perf's maps of translated code would say the same, but few containers may use perf.
class Sampler {
 public:
  explicit Sampler(std::span<const std::byte> code);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Samples the calling thread until end(), which the same thread calls. One sampler a process at a time. An
  /// error says what the host refuses.
  Result<void> begin();
  void end();

  struct Counts {
    std::vector<std::uint32_t> own;     ///< by byte of the code: the thread was there
    std::vector<std::uint32_t> called;  ///< by byte: it was in a function that the code had called from there
    std::uint64_t outside = 0;          ///< it was elsewhere
  };
  /// Of all times between begin() and end() so far.
  const Counts& counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace eum::cli

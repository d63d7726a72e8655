#pragma once
// Runs a lowered kernel as one thread on a small memory that is filled from a seed: surfaces, shared local
// memory and a region of the address space. Independent of front ends.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontend/ir/function.hpp"
#include "jit/engine.hpp"
#include "memory/address_space.hpp"
#include "memory/surface.hpp"

namespace eum::visa::test {

/// The state in which a kernel's thread starts: the payload is in the registers from byte 0 on, r0 first.
struct Start {
  std::vector<std::byte> payload;
  std::uint32_t channels = ~std::uint32_t{0};  ///< active ones
  std::uint64_t seed = 0;                      ///< for the memory
};

class Machine {
 public:
  /// The number of surfaces, at binding table indices from 0 on, and the size of each; the address of the
  /// region.
  static constexpr unsigned surfaces = 8, surface_bytes = 4096, slm_bytes = 4096;
  static constexpr std::uint64_t region = 0x1'0000'0000, region_bytes = 4096;

  Machine();

  /// Runs `function` from `start`. Returns the resulting memory, or the text of a fault.
  struct Outcome {
    std::vector<std::byte> memory;
    std::string fault;
    bool operator==(const Outcome&) const = default;
  };
  Outcome run(const ir::Function& function, jit::Engine& engine, const Start& start);

  /// The registers that the last run left.
  const std::vector<std::byte>& registers() const { return registers_; }

 private:
  std::vector<std::byte> surface_memory_, slm_, region_memory_;
  std::vector<mem::Surface> table_;
  mem::AddressSpace space_;
  std::vector<std::byte> registers_;
};

/// The reference engine and all others that this host can run.
std::vector<jit::Engine*> engines();

/// `bytes` of interesting bit patterns from `seed`.
std::vector<std::byte> noise(std::size_t bytes, std::uint64_t seed);

/// The first byte at which two memories differ, as text, or empty.
std::string difference(const Machine::Outcome& a, const Machine::Outcome& b);

}  // namespace eum::visa::test

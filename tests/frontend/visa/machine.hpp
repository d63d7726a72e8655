#pragma once
// Runs a lowered kernel as one thread on a small memory that a seed fills: a surface, shared local memory and
// a region of the address space. It must not know front ends.
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

/// What a thread of a kernel starts with: a payload from byte 0 of the registers on, r0 first.
struct Start {
  std::vector<std::byte> payload;
  std::uint32_t channels = ~std::uint32_t{0};  ///< that are on
  std::uint64_t seed = 0;                      ///< of memory
};

class Machine {
 public:
  /// The surface's binding table index and size; where the region begins.
  static constexpr unsigned surfaces = 8, surface_bytes = 4096, slm_bytes = 4096;
  static constexpr std::uint64_t region = 0x1'0000'0000, region_bytes = 4096;

  Machine();

  /// Runs `function` from `start`. Returns the memory that is left, or what a fault says.
  struct Outcome {
    std::vector<std::byte> memory;
    std::string fault;
    bool operator==(const Outcome&) const = default;
  };
  Outcome run(const ir::Function& function, jit::Engine& engine, const Start& start);

  /// Registers that the last run left.
  const std::vector<std::byte>& registers() const { return registers_; }

 private:
  std::vector<std::byte> surface_memory_, slm_, region_memory_;
  std::vector<mem::Surface> table_;
  mem::AddressSpace space_;
  std::vector<std::byte> registers_;
};

/// The reference engine and all others that this machine has.
std::vector<jit::Engine*> engines();

/// `bytes` of interesting bit patterns from `seed`.
std::vector<std::byte> noise(std::size_t bytes, std::uint64_t seed);

/// First byte at which two memories differ, as text; empty: none.
std::string difference(const Machine::Outcome& a, const Machine::Outcome& b);

}  // namespace eum::visa::test

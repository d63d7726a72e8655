#pragma once
// Lowers GEN kernels to micro-op functions: decoded here, given their meaning by frontend/eu.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>

#include "frontend/eu/lower.hpp"
#include "frontend/gen/family.hpp"

namespace eum::gen {

/// The registers of a thread of `family`.
eu::Target target(Family family);

/// Lowers the kernel that starts at byte 0 of `code` and is dispatched `simd` (1, 8, 16 or 32) channels wide;
/// see eu::lower.
Result<ir::Function> lower_kernel(std::span<const std::byte> code, Family family, unsigned simd,
                                  std::string name,
                                  std::pmr::memory_resource* memory = std::pmr::get_default_resource(),
                                  const eu::LowerOptions& options = {});

/// A message with its descriptor, extended descriptor or both in the address register.
struct RegisterMessage {
  std::array<std::int8_t, 2> dwords{-1, -1};  ///< of the address register; -1: it is in the instruction
  std::uint32_t bytes = 0;                    ///< length of the instruction
};
/// The register message at byte `ip`; an error if there is none.
Result<RegisterMessage> register_message(std::span<const std::byte> code, Family family, std::uint32_t ip);

/// Lowers the message at byte `ip` alone, with the values of those descriptors that are in registers. It is
/// the first instruction of the function; a block after it, at the byte offset of its length, is a safepoint.
/// An error says what in the descriptors is undefined or unsupported.
Result<ir::Function> lower_message(std::span<const std::byte> code, Family family, unsigned simd,
                                   std::uint32_t ip, const std::array<std::uint32_t, 2>& descriptors);

}  // namespace eum::gen

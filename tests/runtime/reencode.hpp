#pragma once
// Kernels of Gen8 in the words of Gen7 and Gen7.5, which no offline compiler makes any more: the same
// instructions wherever these families have them, dword products by mul and mach, messages of the data port
// where each family has them. It must not know what runs them.
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "frontend/gen/instruction.hpp"

namespace eum::test {

struct Reencoded {
  std::vector<std::byte> code;                     ///< never compacted
  std::map<std::uint32_t, std::uint32_t> offsets;  ///< of instructions, old to new; the end too
};

/// An error says which instruction the family does not have.
Result<Reencoded> reencode(std::span<const std::byte> gen8, gen::Family to);

}  // namespace eum::test

#pragma once
// Gen8 kernels in the encoding of Gen7 and Gen7.5, for which no offline compiler is left: the same
// instructions where these families have them, dword products by mul and mach, data port messages as each
// family has them. Independent of the code that runs them.
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "frontend/gen/instruction.hpp"

namespace eum::test {

struct Reencoded {
  std::vector<std::byte> code;                     ///< never compacted
  std::map<std::uint32_t, std::uint32_t> offsets;  ///< of instructions and of the end, old to new
};

/// An error names the instruction that the family does not have.
Result<Reencoded> reencode(std::span<const std::byte> gen8, gen::Family to);

}  // namespace eum::test

#pragma once
// Writes addresses into code and initial data once a device has placed a program's segments.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/visa/lower/lower.hpp"
#include "memory/base/result.hpp"
#include "runtime/program.hpp"

namespace eum::rt {

/// GPU address of each Segment, or nothing if the segment is not placed.
struct SegmentAddresses {
  std::array<std::optional<std::uint64_t>, segment_count> address;

  std::optional<std::uint64_t>& operator[](Segment s) { return address[static_cast<std::size_t>(s)]; }
  const std::optional<std::uint64_t>& operator[](Segment s) const {
    return address[static_cast<std::size_t>(s)];
  }
};

/// The kernel's code with its relocations applied. An error names a segment that is needed but not placed.
Result<std::vector<std::byte>> relocated_code(const Kernel& kernel, const SegmentAddresses& addresses);

/// Addresses of the program's variables that vISA text names, as far as their segments are placed.
visa::Symbols symbol_addresses(const Program& program, const SegmentAddresses& addresses);

/// A segment's initial bytes with their pointers relocated; the trailing zero bytes are not included.
Result<std::vector<std::byte>> relocated_bytes(const SegmentData& segment, const SegmentAddresses& addresses);

}  // namespace eum::rt

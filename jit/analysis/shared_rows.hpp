#pragma once
// Rows of adjacent bytes of each lane, as of a float8 or of a structure, that several accesses share.
#include <array>
#include <cstdint>

namespace eum::jit {

/// How an access has swapped memory with others. Each of `parts` instructions accesses 16 bytes of every
/// lane, and together they access a row of adjacent bytes of each lane. Of every eight lanes, the access with
/// number `part` then does rows one after the other: the part-th of as many equal shares of the eight rows.
struct SharedRows {
  static constexpr unsigned most = 4, lanes = 8, bytes = 16;

  std::uint8_t parts = 1, part = 0;
  std::array<std::uint32_t, most> ips{};  ///< of the instructions, in the order of what they access

  bool swapped() const { return parts > 1; }
  unsigned row_bytes() const { return parts * bytes; }
  /// Bytes from the beginning of a row to what the instruction itself accesses of it.
  unsigned before() const { return part * bytes; }
  /// Bytes from the first of eight adjacent rows to what the access does of them.
  unsigned share() const { return part * lanes * bytes; }
  /// The number, among the 16 bytes of eight rows, of those that the access does as lane `lane`.
  unsigned place(unsigned lane) const { return part * lanes + lane % lanes; }
};

}  // namespace eum::jit

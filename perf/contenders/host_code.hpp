// The composition of host code according to its disassembly: which vectors it really uses.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "memory/base/result.hpp"

namespace eum::perf {

/// Counts the instructions in the code that do more than move data; how often each is executed is unknown.
struct HostCode {
  unsigned other = 0;                ///< scalar instructions, branches and all others
  std::array<unsigned, 3> packed{};  ///< on several elements of a register of 128, 256, 512 bits

  /// The widest vectors, in bits, that more than a fiftieth of the instructions use (a twentieth for 128
  /// bits, which scalar code uses for zeros and conversions); 64 for none.
  unsigned bits() const;
  /// The share of instructions that work on several elements.
  double packed_share() const;
  /// Such as "512 (43 %)" or "scalar".
  std::string text() const;
};

/// Counts in an assembler listing of any syntax: one instruction per line, mnemonic first. Other lines
/// contain a colon, or begin with a semicolon or hash.
HostCode inspect_listing(std::string_view listing);
/// Counts in a function of an ELF file, or in all of its code if `symbol` is empty. Needs objdump.
Result<HostCode> inspect_file(const std::string& path, const std::string& symbol);

}  // namespace eum::perf

// What a piece of host code is made of, by its disassembly: which vectors it really uses.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "memory/base/result.hpp"

namespace eum::perf {

/// Instructions that do more than move data, as they stand in the code: how often each runs is not known.
struct HostCode {
  unsigned other = 0;                ///< scalar, branches and all else
  std::array<unsigned, 3> packed{};  ///< on several elements of a register of 128, 256, 512 bits

  /// The widest vectors that more than a fiftieth of the instructions work on (a twentieth for 128 bits,
  /// where scalar code has its zeros and conversions), in bits; 64 for none.
  unsigned bits() const;
  /// The part of the instructions that work on several elements.
  double packed_share() const;
  /// "512 (43 %)", "scalar".
  std::string text() const;
};

/// Of an assembler listing, whatever its syntax: one instruction a line, mnemonic first. Other lines have a
/// colon, or begin with a semicolon or hash.
HostCode inspect_listing(std::string_view listing);
/// Of a function of an ELF file; all of its code where `symbol` is empty. Needs objdump.
Result<HostCode> inspect_file(const std::string& path, const std::string& symbol);

}  // namespace eum::perf

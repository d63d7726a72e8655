#pragma once
// The configuration of `eumulate msr`: TOML, one [[msr]] table per register. Parsing, checks, and the
// registers and bitmap that result. It must not know instructions or how they run.
//
// The text is UTF-8, with or without a byte order mark.
//
//   bitmap = "PATH"      optional: a file of 4096 bytes, as IA32_USER_MSR_CTL would point to, instead of
//                        `read` and `write` in all tables
//   [[msr]]
//   address = 0x10       0 to 0x3fff, except 0x1c, IA32_USER_MSR_CTL
//   name = "TSC_COPY"    optional, unique
//   read = true          bit of the lower half of the bitmap
//   write = false        bit of the upper half; absent: false
//   value = 3            this or `source`; 64 bits, as an integer (negative ones as two's complement) or,
//                        from 2^63 on, as a string: "0xffffffffffffffff"
//   source = "counter"   or "tsc", or "file:PATH"; a PATH is relative to the configuration's folder
//   reserved = 0xff00    optional: bits that must be 0 in a write, else #GP(0)
//   writable = false     optional: a read-only register whatever the bitmap says; false for "tsc", else true
#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/x86/instruction.hpp"
#include "memory/base/result.hpp"
#include "runtime/user_msr/slot.hpp"

namespace eum::rt {

using MsrBitmap = std::array<std::uint8_t, x86::bitmap_bytes>;

constexpr bool bitmap_allows(const std::uint8_t* bitmap, std::uint32_t msr, x86::Access access) {
  return (bitmap[x86::bitmap_byte(msr, access)] >> (msr & 7) & 1) != 0;
}

struct MsrEntry {
  std::uint32_t address = 0;
  std::string name;  ///< "msr 0x10" if the file gives none
  MsrSource source = MsrSource::Value;
  std::uint64_t value = 0;
  std::uint64_t reserved = 0;
  bool readable = true;
  bool writable = true;
  std::string path;  ///< for File, absolute
};

struct MsrConfig {
  std::vector<MsrEntry> msrs;  ///< by ascending address, all distinct
  MsrBitmap bitmap{};
};

/// `file` names the text in messages, which read "file:line:column: expected ..., found ..."; relative paths
/// start from `folder`. Opens the bitmap and checks that each register's file can be read and holds a number.
Result<MsrConfig> parse_msr_config(std::string_view text, std::string_view file, std::string_view folder);
Result<MsrConfig> load_msr_config(const std::string& path);

}  // namespace eum::rt

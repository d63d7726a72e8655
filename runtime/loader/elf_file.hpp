#pragma once
// The sections of an ELF file, each checked to lie inside it. Nothing GPU specific except the section types.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "memory/base/result.hpp"

namespace eum::rt {

inline constexpr std::uint16_t elf_machine_intelgt = 205;  // EM_INTELGT
inline constexpr std::uint16_t elf_type_opencl_executable = 0xff04;
inline constexpr std::uint32_t section_spirv = 0xff000009;
inline constexpr std::uint32_t section_device_binary = 0xff000005;
inline constexpr std::uint32_t section_ze_info = 0xff000011;

struct ElfSection {
  std::string_view name;             // inside the image
  std::uint32_t type = 0;            // sh_type
  std::uint32_t link = 0;            // sh_link
  std::uint32_t info = 0;            // sh_info
  std::span<const std::byte> bytes;  // empty for SHT_NOBITS
  std::uint64_t memory_size = 0;     // sh_size
};

struct ElfFile {
  std::uint16_t type = 0;     // e_type
  std::uint16_t machine = 0;  // e_machine
  std::vector<ElfSection> sections;

  const ElfSection* find(std::string_view name) const;
  const ElfSection* find(std::uint32_t type) const;
};

bool looks_like_elf(std::span<const std::byte> image);

/// Reads the section table of a little-endian ELF64 file. `image` must outlive the result.
/// The bytes of all sections together are at most the file's size: overlapping sections are an error.
Result<ElfFile> read_elf(std::span<const std::byte> image);

/// The NUL-terminated strings of a section. A valid file gives each name its own string, or the end of
/// another one: if all requested strings together are far longer than the table, the file is malicious.
class StringTable {
 public:
  explicit StringTable(std::span<const std::byte> bytes) : bytes_(bytes) {}

  /// The string at `offset`, or an error if there is none.
  Result<std::string_view> at(std::uint64_t offset);

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t given_ = 0;  // total bytes of strings returned
};

}  // namespace eum::rt

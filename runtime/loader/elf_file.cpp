// ELF sections, read with libelf. libelf finds the headers; every range is checked here, and no section data
// is read through libelf, so nothing depends on how it treats a hostile file.
#include "runtime/loader/elf_file.hpp"

#include <gelf.h>
#include <libelf.h>

#include <cstring>
#include <memory>
#include <string>

namespace eum::rt {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

std::string libelf_message() {
  const char* text = elf_errmsg(-1);
  return text != nullptr ? text : "no reason given";
}

}  // namespace

const ElfSection* ElfFile::find(std::string_view name) const {
  for (const ElfSection& s : sections) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

const ElfSection* ElfFile::find(std::uint32_t type) const {
  for (const ElfSection& s : sections) {
    if (s.type == type) return &s;
  }
  return nullptr;
}

bool looks_like_elf(std::span<const std::byte> image) {
  return image.size() >= SELFMAG && std::memcmp(image.data(), ELFMAG, SELFMAG) == 0;
}

Result<std::string_view> StringTable::at(std::uint64_t offset) {
  constexpr std::uint64_t most_uses = 8, some = 64 * 1024;
  if (offset >= bytes_.size()) {
    return error("a name at byte {} of a string table of {} bytes", offset, bytes_.size());
  }
  const char* begin = reinterpret_cast<const char*>(bytes_.data()) + offset;
  const void* end = std::memchr(begin, 0, bytes_.size() - offset);
  if (end == nullptr) return error("a name at byte {} of a string table does not end", offset);
  const std::string_view text(begin, static_cast<std::size_t>(static_cast<const char*>(end) - begin));
  given_ += text.size();
  if (given_ > most_uses * bytes_.size() + some) {
    return error("names of more than {} bytes in a string table of {} bytes", given_, bytes_.size());
  }
  return text;
}

Result<ElfFile> read_elf(std::span<const std::byte> image) {
  if (image.size() < sizeof(Elf64_Ehdr)) {
    return error("ELF: an ELF64 header has {} bytes, the file {}", sizeof(Elf64_Ehdr), image.size());
  }
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return error("ELF: expected 64-bit little-endian (class 2, data 1), found class {}, data {}",
                 header.e_ident[EI_CLASS], header.e_ident[EI_DATA]);
  }
  const std::uint64_t table_size = std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
  if (header.e_shnum == 0 || header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > image.size() ||
      table_size > image.size() - header.e_shoff) {
    return error("ELF: no section table inside the file ({} sections of {} bytes at {:#x}, file of {} bytes)",
                 header.e_shnum, header.e_shentsize, header.e_shoff, image.size());
  }
  if (header.e_shstrndx >= header.e_shnum) {
    return error("ELF: section names in section {} of {}", header.e_shstrndx, header.e_shnum);
  }

  elf_version(EV_CURRENT);
  // libelf takes a mutable image but only writes to it through elf_update, which is not called.
  auto* bytes = const_cast<char*>(reinterpret_cast<const char*>(image.data()));
  const std::unique_ptr<Elf, EndElf> elf(elf_memory(bytes, image.size()));
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF) return error("ELF: {}", libelf_message());

  ElfFile file;
  file.type = header.e_type;
  file.machine = header.e_machine;
  std::vector<std::uint32_t> names;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf_Scn* scn = elf_getscn(elf.get(), i);
    GElf_Shdr section;
    if (scn == nullptr || gelf_getshdr(scn, &section) == nullptr) {
      return error("ELF: section {}: {}", i, libelf_message());
    }
    ElfSection s;
    s.type = section.sh_type;
    s.link = section.sh_link;
    s.info = section.sh_info;
    s.memory_size = section.sh_size;
    if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL) {
      if (section.sh_offset > image.size() || section.sh_size > image.size() - section.sh_offset) {
        return error("ELF: section {} has {:#x} bytes at {:#x}, the file {:#x}", i, section.sh_size,
                     section.sh_offset, image.size());
      }
      s.bytes = image.subspan(section.sh_offset, section.sh_size);
      total += section.sh_size;
    }
    names.push_back(section.sh_name);
    file.sections.push_back(s);
  }
  if (total > image.size()) {
    return error("ELF: sections overlap: together {} bytes in a file of {}", total, image.size());
  }
  StringTable table(file.sections[header.e_shstrndx].bytes);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (file.sections[i].type == SHT_NULL) continue;
    const auto name = table.at(names[i]);
    if (!name) return error("ELF: section {}: {}", i, name.error().message);
    file.sections[i].name = *name;
  }
  return file;
}

}  // namespace eum::rt

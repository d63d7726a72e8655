// Assembles a zebin: its GPU, code and data by section, symbols and relocations.
#include "runtime/loader/zebin.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "memory/address_space.hpp"
#include "runtime/loader/gpu_ids.hpp"
#include "runtime/loader/ze_info.hpp"

namespace eum::rt {
namespace {

using Bytes = std::span<const std::byte>;
using namespace std::string_view_literals;

constexpr std::string_view text_prefix = ".text.";
/// No device has more memory; a program's limit on a particular device is an option of the device.
constexpr std::uint64_t max_zero_bytes = mem::AddressSpace::max_allocation;

template <class T>
T read_at(Bytes bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// The product family from the notes of .note.intelgt.compat: {name size, description size, type}, name,
// description, the latter two padded to 4 bytes.
Result<gen::Family> read_family(const ElfFile& file) {
  constexpr std::uint32_t product_family = 1;  // NT_INTELGT_PRODUCT_FAMILY
  constexpr std::string_view section_name = ".note.intelgt.compat";
  const ElfSection* section = file.find(section_name);
  if (section == nullptr) return error("zebin: no section {}, which says which GPU it is for", section_name);
  const auto pad = [](std::uint64_t n) { return (n + 3) & ~std::uint64_t{3}; };
  for (Bytes rest = section->bytes; rest.size() >= 12;) {
    const std::uint64_t name_bytes = pad(read_at<std::uint32_t>(rest, 0));
    const std::uint64_t content_bytes = pad(read_at<std::uint32_t>(rest, 4));
    const auto type = read_at<std::uint32_t>(rest, 8);
    rest = rest.subspan(12);
    if (name_bytes > rest.size() || content_bytes > rest.size() - name_bytes) {
      return error("zebin: a note of {} bytes in {}, {} are left", name_bytes + content_bytes, section_name,
                   rest.size());
    }
    if (type == product_family && content_bytes == 4) {
      return family_of_product(read_at<std::uint32_t>(rest, name_bytes));
    }
    rest = rest.subspan(name_bytes + content_bytes);
  }
  return error("zebin: {} has no note of type {} (product family)", section_name, product_family);
}

struct ZebinSymbol {
  std::string_view name;
  std::uint32_t section = 0;  // 0: not defined here
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  int type = 0;     // STT_*
  int binding = 0;  // STB_*
};

class ZebinReader {
 public:
  /// `registers` is for code that comes from elsewhere.
  explicit ZebinReader(const ElfFile& file, std::optional<Registers> registers = std::nullopt)
      : file_(file), other_code_(registers) {}

  Result<Program> read() {
    program_.container = Container::Zebin;
    const auto family = read_family(file_);
    if (!family) return family.error();
    program_.family = *family;
    for (auto step : {&ZebinReader::read_data, &ZebinReader::read_symbols, &ZebinReader::read_kernels,
                      &ZebinReader::read_relocations, &ZebinReader::export_symbols}) {
      if (auto done = (this->*step)(); !done) return done.error();
    }
    for (KernelDraft& draft : drafts_) {
      auto kernel = finish(std::move(draft), program_.family);
      if (!kernel) return kernel.error();
      program_.kernels.push_back(std::move(*kernel));
    }
    return std::move(program_);
  }

  Result<ZebinData> read_beside_code() {
    for (auto step : {&ZebinReader::read_data, &ZebinReader::read_symbols, &ZebinReader::read_kernels,
                      &ZebinReader::read_relocations, &ZebinReader::export_symbols})
      if (auto done = (this->*step)(); !done) return done.error();
    return ZebinData{std::move(drafts_), std::move(program_)};
  }

 private:
  Result<void> read_data() {
    for (const auto& [name, segment] :
         {std::pair(".data.const"sv, Segment::Constants), std::pair(".data.global"sv, Segment::Globals),
          std::pair(".data.const.string"sv, Segment::Strings)}) {
      if (const ElfSection* section = file_.find(name)) {
        program_.segment(segment).bytes.assign(section->bytes.begin(), section->bytes.end());
      }
    }
    for (const auto& [name, segment] :
         {std::pair(".bss.const"sv, Segment::Constants), std::pair(".bss.global"sv, Segment::Globals)}) {
      if (const ElfSection* section = file_.find(name)) {
        if (section->memory_size > max_zero_bytes) {
          return error("zebin: {} of {} bytes, expected at most {}", name, section->memory_size,
                       max_zero_bytes);
        }
        program_.segment(segment).zero_bytes = section->memory_size;
      }
    }
    return {};
  }

  Result<void> read_symbols() {
    const ElfSection* table = file_.find(std::uint32_t{SHT_SYMTAB});
    if (table == nullptr) return {};
    if (table->link >= file_.sections.size()) return error("zebin: symbol names in section {}", table->link);
    StringTable names(file_.sections[table->link].bytes);
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= table->bytes.size(); at += sizeof(Elf64_Sym)) {
      const auto raw = read_at<Elf64_Sym>(table->bytes, at);
      const auto name = names.at(raw.st_name);
      if (!name) return error("zebin: symbol {}: {}", at / sizeof(Elf64_Sym), name.error().message);
      symbols_.push_back({*name, raw.st_shndx, raw.st_value, raw.st_size, ELF64_ST_TYPE(raw.st_info),
                          ELF64_ST_BIND(raw.st_info)});
    }
    return {};
  }

  Result<void> read_kernels() {
    const ElfSection* info = file_.find(section_ze_info);
    if (info == nullptr) return error("zebin: no section of type {:#x} (.ze_info)", section_ze_info);
    auto drafts = read_ze_info({reinterpret_cast<const char*>(info->bytes.data()), info->bytes.size()},
                               other_code_.value_or(registers_of(program_.family)));
    if (!drafts) return drafts.error();

    std::map<std::string_view, const ElfSection*> code;
    for (const ElfSection& s : file_.sections) {
      if (s.name.starts_with(text_prefix)) code.emplace(s.name.substr(text_prefix.size()), &s);
    }
    std::map<std::uint32_t, std::uint64_t> sizes;  // of code at the start of a section, without padding
    for (const ZebinSymbol& s : symbols_) {
      if (s.section != 0 && s.type == STT_FUNC && s.value == 0)
        sizes[s.section] = std::max(sizes[s.section], s.size);
    }
    for (KernelDraft& draft : *drafts) {
      if (other_code_) {
        if (draft.kernel.name != function_kernel_name) drafts_.push_back(std::move(draft));
        continue;
      }
      const auto found = code.find(draft.kernel.name);
      if (found == code.end()) return error("zebin: no section {}{}", text_prefix, draft.kernel.name);
      const ElfSection& section = *found->second;
      Bytes bytes = section.bytes;
      const auto index = static_cast<std::uint32_t>(&section - file_.sections.data());
      if (draft.kernel.name == function_kernel_name) {
        targets_[index] = {Segment::Functions, 0};
        program_.segment(Segment::Functions).bytes.assign(bytes.begin(), bytes.end());
        continue;
      }
      if (const auto size = sizes.find(index);
          size != sizes.end() && size->second != 0 && size->second <= bytes.size()) {
        bytes = bytes.first(size->second);
      }
      draft.kernel.code.assign(bytes.begin(), bytes.end());
      kernel_sections_[index] = drafts_.size();
      drafts_.push_back(std::move(draft));
    }
    for (std::size_t i = 0; i < file_.sections.size(); ++i) {
      const std::string_view name = file_.sections[i].name;
      const auto index = static_cast<std::uint32_t>(i);
      if (name == ".data.const") targets_[index] = {Segment::Constants, 0};
      if (name == ".data.global") targets_[index] = {Segment::Globals, 0};
      if (name == ".data.const.string") targets_[index] = {Segment::Strings, 0};
      // Zero-initialised data follows the initialised data.
      if (name == ".bss.const")
        targets_[index] = {Segment::Constants, program_.segment(Segment::Constants).bytes.size()};
      if (name == ".bss.global")
        targets_[index] = {Segment::Globals, program_.segment(Segment::Globals).bytes.size()};
    }
    return {};
  }

  Result<void> read_relocations() {
    for (const ElfSection& section : file_.sections) {
      if (section.type != SHT_REL && section.type != SHT_RELA) continue;
      const auto kernel = kernel_sections_.find(section.info);
      const auto data = targets_.find(section.info);
      if (kernel == kernel_sections_.end() && data == targets_.end()) continue;  // of debug information
      const std::size_t entry_bytes = section.type == SHT_REL ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela);
      for (std::size_t at = 0; at + entry_bytes <= section.bytes.size(); at += entry_bytes) {
        const auto rel = read_at<Elf64_Rel>(section.bytes, at);
        const std::uint64_t addend =
            section.type == SHT_RELA
                ? static_cast<std::uint64_t>(read_at<Elf64_Rela>(section.bytes, at).r_addend)
                : 0;
        if (kernel != kernel_sections_.end() && !drafts_[kernel->second].kernel.unsupported.empty()) break;
        std::string reason;
        const auto relocation = resolve(rel, addend, reason);
        if (kernel != kernel_sections_.end()) {
          KernelDraft& draft = drafts_[kernel->second];
          if (relocation) {
            draft.kernel.relocations.push_back(*relocation);
          } else {
            draft.reject(reason);
          }
        } else {
          if (!relocation) return error("zebin: {}: {}", section.name, reason);
          if (auto done = add_to_segment(data->second.first, *relocation, section.type == SHT_REL); !done)
            return done;
        }
      }
    }
    return {};
  }

  std::optional<Relocation> resolve(const Elf64_Rel& rel, std::uint64_t addend, std::string& reason) const {
    const std::uint64_t index = ELF64_R_SYM(rel.r_info);
    const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(rel.r_info));
    if (index >= symbols_.size()) {
      reason = fmt::format("it has a relocation to symbol {} of {}", index, symbols_.size());
      return std::nullopt;
    }
    const ZebinSymbol& symbol = symbols_[index];
    const auto kind = relocation_kind(type);
    if (!kind) {
      reason = fmt::format("it has a relocation of type {} to {}", type, symbol.name);
      return std::nullopt;
    }
    const auto target = targets_.find(symbol.section);
    if (target == targets_.end()) {
      reason = symbol.section == 0
                   ? fmt::format("it refers to {}, which the program does not define", symbol.name)
                   : fmt::format("it refers to {} in section {}, which has no address", symbol.name,
                                 symbol.section);
      return std::nullopt;
    }
    const auto& [segment, base] = target->second;
    return Relocation{*kind, segment, rel.r_offset, base + symbol.value + addend};
  }

  // `in_place`: the entry has no addend; the addend is in the data.
  Result<void> add_to_segment(Segment segment, Relocation relocation, bool in_place) {
    SegmentData& data = program_.segment(segment);
    const std::uint64_t bytes = relocation.kind == Relocation::Kind::Address64 ? 8 : 4;
    if (relocation.offset > data.bytes.size() || bytes > data.bytes.size() - relocation.offset) {
      return error("zebin: relocation of {} bytes at {} of {} bytes of {}", bytes, relocation.offset,
                   data.bytes.size(), segment_name(segment));
    }
    if (in_place) {
      std::uint64_t addend = 0;
      std::memcpy(&addend, data.bytes.data() + relocation.offset, bytes);
      relocation.addend += addend;
    }
    data.relocations.push_back(relocation);
    return {};
  }

  Result<void> export_symbols() {
    for (const ZebinSymbol& s : symbols_) {
      if (s.name.empty() || s.binding != STB_GLOBAL) continue;
      const auto target = targets_.find(s.section);
      if (target == targets_.end()) continue;
      program_.symbols.push_back(
          {std::string(s.name), target->second.first, target->second.second + s.value, s.size});
    }
    return {};
  }

  const ElfFile& file_;
  std::optional<Registers> other_code_;
  Program program_;
  std::vector<ZebinSymbol> symbols_;
  std::vector<KernelDraft> drafts_;
  std::map<std::uint32_t, std::size_t> kernel_sections_;                // section -> draft
  std::map<std::uint32_t, std::pair<Segment, std::uint64_t>> targets_;  // section -> place in memory
};

}  // namespace

Result<Program> load_zebin(const ElfFile& file) { return ZebinReader(file).read(); }

Result<ZebinData> read_zebin_data(const ElfFile& file, const Registers& registers) {
  return ZebinReader(file, registers).read_beside_code();
}

}  // namespace eum::rt

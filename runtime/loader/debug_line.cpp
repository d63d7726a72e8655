// The line number program of DWARF 2 to 4 (DWARF 4, section 6.2), with the relocations of its addresses.
#include "runtime/loader/debug_line.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "runtime/loader/elf_file.hpp"

namespace eum::rt {
namespace {

/// Far above what compilers produce for a kernel.
constexpr std::size_t max_rows = std::size_t{1} << 20, max_files = 4096;

/// Reads numbers one after the other; beyond the end everything is 0 and `ok` false.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, std::size_t at) : bytes_(bytes), at_(at) {}

  bool ok() const { return ok_; }
  std::size_t at() const { return at_; }
  bool before(std::size_t end) const { return ok_ && at_ < end; }
  void seek(std::size_t to) {
    ok_ &= to <= bytes_.size();
    if (ok_) at_ = to;
  }

  std::uint64_t number(unsigned bytes) {
    if (bytes > 8 || bytes_.size() - at_ < bytes) return fail();
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(bytes_[at_ + i]) << 8 * i;
    at_ += bytes;
    return value;
  }
  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  std::int8_t s8() { return static_cast<std::int8_t>(number(1)); }

  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = u8();
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return fail();
  }
  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
      const std::uint8_t byte = u8();
      value |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
    fail();
    return 0;
  }
  std::string_view string() {
    const std::size_t begin = at_;
    while (ok_ && at_ < bytes_.size() && bytes_[at_] != std::byte{0}) ++at_;
    if (at_ >= bytes_.size()) {
      fail();
      return {};
    }
    return {reinterpret_cast<const char*>(bytes_.data()) + begin, at_++ - begin};
  }

 private:
  std::uint64_t fail() {
    ok_ = false;
    at_ = bytes_.size();
    return 0;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_;
  bool ok_ = true;
};

/// Addresses in the kernel that relocations write into a section, by their offset in that section.
using Relocations = std::map<std::uint64_t, std::uint64_t>;

/// The relocations of section `index` that refer to section `code`.
Result<Relocations> relocations_of(const ElfFile& elf, std::size_t index, std::size_t code) {
  constexpr std::uint32_t rela = 4;
  constexpr std::size_t entry_bytes = 24, symbol_bytes = 24, section_in_symbol = 6;
  Relocations all;
  for (const ElfSection& section : elf.sections) {
    if (section.type != rela || section.info != index) continue;
    const ElfSection* symbols = section.link < elf.sections.size() ? &elf.sections[section.link] : nullptr;
    if (symbols == nullptr || symbols->link >= elf.sections.size())
      return error("{}: expected a symbol table with names of {} sections, found {}", section.name,
                   elf.sections.size(), section.link);
    StringTable names(elf.sections[symbols->link].bytes);
    for (std::size_t at = 0; section.bytes.size() - at >= entry_bytes; at += entry_bytes) {
      Cursor entry(section.bytes, at);
      const std::uint64_t offset = entry.number(8);
      entry.number(4);  // type: addresses have only one
      const std::uint64_t symbol = entry.number(4), addend = entry.number(8);
      if (symbol >= symbols->bytes.size() / symbol_bytes)
        return error("{}: expected one of {} symbols, found {}", section.name,
                     symbols->bytes.size() / symbol_bytes, symbol);
      Cursor name_of_symbol(symbols->bytes, symbol * symbol_bytes);
      const auto name = names.at(name_of_symbol.number(4));
      if (!name) return error("{}: symbol {}: {}", section.name, symbol, name.error().message);
      Cursor rest(symbols->bytes, symbol * symbol_bytes + section_in_symbol);
      const std::uint64_t in = rest.number(2), value = rest.number(8);
      // In section symbols the vendor's compiler writes another section's number, but the right name.
      if (in == code || *name == elf.sections[code].name) all[offset] = value + addend;
    }
  }
  return all;
}

/// Reads the lines of one section, for one kernel.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const Relocations& relocations, LineTable& to)
      : bytes_(bytes), relocations_(relocations), to_(to) {}

  Result<void> read();

 private:
  struct Registers {
    std::uint64_t address = 0, line = 1, file = 1;
    bool statement = false, here = false;  // here: the address is in the kernel
  };
  Result<void> program(Cursor& at, std::size_t end, std::uint8_t version, bool wide);
  Result<void> row(const Registers& r, bool end);

  std::span<const std::byte> bytes_;
  const Relocations& relocations_;
  LineTable& to_;
};

Result<void> Reader::row(const Registers& r, bool end) {
  if (!r.here) return {};
  if (r.address > ~std::uint32_t{0} || r.line > ~std::uint32_t{0})
    return error(".debug_line: expected addresses and lines of 32 bits, found {:#x} and {}", r.address,
                 r.line);
  if (to_.rows.size() == max_rows)
    return error(".debug_line: expected at most {} rows, found more", max_rows);
  to_.rows.push_back({static_cast<std::uint32_t>(r.address), static_cast<std::uint32_t>(r.file),
                      end ? 0 : static_cast<std::uint32_t>(r.line), !end && r.statement});
  return {};
}

Result<void> Reader::program(Cursor& at, std::size_t end, std::uint8_t version, bool wide) {
  const std::uint64_t header = at.number(wide ? 8 : 4);
  const std::size_t begin =
      header <= end - std::min(end, at.at()) ? at.at() + static_cast<std::size_t>(header) : end;
  const unsigned unit = at.u8();
  if (version >= 4) at.u8();  // maximum operations per instruction
  const bool statement = at.u8() != 0;
  const int line_base = at.s8();
  const unsigned line_range = at.u8(), opcode_base = at.u8();
  if (line_range == 0 || opcode_base == 0)
    return error(".debug_line: expected a line range and an opcode base above 0, found {} and {}", line_range,
                 opcode_base);
  std::array<std::uint8_t, 256> operands{};
  for (unsigned i = 1; i < opcode_base; ++i) operands[i] = at.u8();
  while (at.before(begin) && !at.string().empty()) {
  }
  const auto first_file = static_cast<std::uint32_t>(to_.files.size());
  const auto file = [&](std::string_view name) { to_.files.emplace_back(name); };
  while (at.before(begin)) {
    const std::string_view name = at.string();
    if (name.empty()) break;
    if (to_.files.size() == max_files)
      return error(".debug_line: expected at most {} files, found more", max_files);
    at.uleb(), at.uleb(), at.uleb();
    file(name);
  }
  at.seek(begin);

  Registers fresh;
  fresh.statement = statement;
  Registers r = fresh;
  const auto emit = [&](bool ends) {
    Registers absolute = r;
    absolute.file = r.file >= 1 && first_file + r.file - 1 < to_.files.size() ? first_file + r.file - 1
                                                                              : ~std::uint32_t{0};
    return row(absolute, ends);
  };
  while (at.before(end)) {
    const unsigned opcode = at.u8();
    if (opcode >= opcode_base) {
      const unsigned step = opcode - opcode_base;
      r.address += std::uint64_t{step / line_range} * unit;
      r.line += static_cast<std::uint64_t>(static_cast<std::int64_t>(line_base) + step % line_range);
      if (auto done = emit(false); !done) return done;
      continue;
    }
    switch (opcode) {
      case 0: {  // extended opcode
        const std::uint64_t length = at.uleb();
        const std::size_t next = at.at();
        if (length == 0 || length > end - std::min(end, next))
          return error(".debug_line: expected an extended opcode of 1 to {} bytes, found {}",
                       end - std::min(end, next), length);
        switch (at.u8()) {
          case 1:
            if (auto done = emit(true); !done) return done;
            r = fresh;
            break;
          case 2: {
            const auto relocated = relocations_.find(at.at());
            r.here = relocated != relocations_.end();
            r.address = r.here ? relocated->second : 0;
            break;
          }
          default:
            break;
        }
        at.seek(next + static_cast<std::size_t>(length));
        break;
      }
      case 1:
        if (auto done = emit(false); !done) return done;
        break;
      case 2:
        r.address += at.uleb() * unit;
        break;
      case 3:
        r.line += static_cast<std::uint64_t>(at.sleb());
        break;
      case 4:
        r.file = at.uleb();
        break;
      case 6:
        r.statement = !r.statement;
        break;
      case 8:
        r.address += std::uint64_t{(255 - opcode_base) / line_range} * unit;
        break;
      case 9:
        r.address += at.number(2);
        break;
      default:
        for (unsigned i = 0; i < operands[opcode]; ++i) at.uleb();
        break;
    }
  }
  return {};
}

Result<void> Reader::read() {
  for (Cursor at(bytes_, 0); at.before(bytes_.size());) {
    std::uint64_t length = at.number(4);
    const bool wide = length == 0xffffffff;
    if (wide) length = at.number(8);
    const std::size_t begin = at.at();
    if (!at.ok() || length > bytes_.size() - begin)
      return error(".debug_line: expected a unit of at most {} bytes, found {}", bytes_.size() - begin,
                   length);
    const std::size_t end = begin + static_cast<std::size_t>(length);
    const auto version = static_cast<std::uint16_t>(at.number(2));
    if (version < 2 || version > 4) return error(".debug_line: expected version 2 to 4, found {}", version);
    if (auto done = program(at, end, static_cast<std::uint8_t>(version), wide); !done) return done;
    if (!at.ok()) return error(".debug_line: a unit ends in the middle of what it says");
    at.seek(end);
  }
  return {};
}

std::string_view last_part(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace

const LineRow* LineTable::at(std::uint32_t ip) const {
  const auto after = std::upper_bound(rows.begin(), rows.end(), ip,
                                      [](std::uint32_t at, const LineRow& row) { return at < row.ip; });
  if (after == rows.begin()) return nullptr;
  const LineRow& row = *(after - 1);
  return row.line != 0 ? &row : nullptr;
}

std::optional<std::uint32_t> LineTable::find(std::string_view file, std::uint32_t line) const {
  const LineRow* best = nullptr;
  for (const LineRow& row : rows) {
    if (row.line != line || row.line == 0) continue;
    if (!file.empty()) {
      if (row.file >= files.size()) continue;
      const std::string_view name = files[row.file];
      if (name != file && last_part(name) != file) continue;
    }
    if (best == nullptr || (row.statement && !best->statement)) best = &row;
  }
  return best != nullptr ? std::optional(best->ip) : std::nullopt;
}

Result<LineTable> read_line_table(std::span<const std::byte> binary, std::string_view kernel) {
  LineTable table;
  if (!looks_like_elf(binary)) return table;
  const auto elf = read_elf(binary);
  if (!elf) return elf.error();
  const std::string code_name = ".text." + std::string(kernel);
  const auto code = std::find_if(elf->sections.begin(), elf->sections.end(),
                                 [&](const ElfSection& s) { return s.name == code_name; });
  if (code == elf->sections.end()) return table;
  for (std::size_t i = 0; i < elf->sections.size(); ++i) {
    const ElfSection& section = elf->sections[i];
    if (section.name != ".debug_line") continue;
    const auto relocations = relocations_of(*elf, i, static_cast<std::size_t>(code - elf->sections.begin()));
    if (!relocations) return relocations.error();
    if (auto read = Reader(section.bytes, *relocations, table).read(); !read) return read.error();
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const LineRow& a, const LineRow& b) { return a.ip < b.ip; });
  return table;
}

}  // namespace eum::rt

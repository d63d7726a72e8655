// Small binaries that declare large contents: the cost of loading a file is bounded by its size.
#include <elf.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "binaries.hpp"
#include "runtime/loader/elf_file.hpp"
#include "runtime/loader/loader.hpp"
#include "runtime/loader/ze_info.hpp"

using namespace eum;
using namespace eum::rt;
using Catch::Contains;

namespace {

using Bytes = std::vector<std::byte>;

std::byte* section_header(Bytes& file, std::size_t index) {
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  return file.data() + header.e_shoff + index * sizeof(Elf64_Shdr);
}

/// A copy: the headers of a file need not be aligned.
Elf64_Shdr section(Bytes& file, std::size_t index) {
  Elf64_Shdr header;
  std::memcpy(&header, section_header(file, index), sizeof header);
  return header;
}

void set_section(Bytes& file, std::size_t index, const Elf64_Shdr& header) {
  std::memcpy(section_header(file, index), &header, sizeof header);
}

std::size_t index_of(Bytes& file, std::uint32_t type) {
  std::size_t i = 0;
  while (section(file, i).sh_type != type) ++i;
  return i;
}

/// Puts the contents of a section at the end of the file.
void set_contents(Bytes& file, std::size_t index, std::span<const std::byte> contents) {
  file.resize((file.size() + 7) / 8 * 8);
  Elf64_Shdr header = section(file, index);
  header.sh_offset = file.size();
  header.sh_size = contents.size();
  set_section(file, index, header);
  file.insert(file.end(), contents.begin(), contents.end());
}

std::string refusal(const Bytes& file) {
  const auto program = load_program(file);
  REQUIRE_FALSE(program);
  return program.error().message;
}

std::string with_ze_info(const std::string& text) {
  Bytes file = binaries::corpus("saxpy.zebin");
  set_contents(file, index_of(file, section_ze_info), std::as_bytes(std::span(text)));
  return refusal(file);
}

const std::string version = "version: '1.21'\n";

}  // namespace

TEST_CASE("a .ze_info beyond the limit is not parsed") {
  CHECK_THAT(with_ze_info(version + std::string(most_ze_info_bytes, '#')),
             Contains("ze_info: expected at most 4194304 bytes, found 4194320"));
}

TEST_CASE("aliases in .ze_info are refused before they multiply") {
  std::string laughs = version + "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + alias;
    for (int k = 0; k < 9; ++k) laughs += "," + alias;
    laughs += "]\n";
  }
  CHECK_THAT(with_ze_info(laughs), Contains("ze_info: line 2, column 5: expected no anchor, found one"));
  std::string repeated = version + "a: &a {index: 0, name: " + std::string(100'000, 'x') +
                         "}\nkernels:\n  - name: saxpy\n    execution_env: {grf_count: 128, simd_size: 32}\n"
                         "kernels_misc_info:\n  - name: saxpy\n    args_info: [*a";
  for (int i = 0; i < 100'000; ++i) repeated += ",*a";
  CHECK_THAT(with_ze_info(repeated + "]\n"), Contains("expected no anchor, found one"));
  CHECK_THAT(with_ze_info(version + "kernels: &k [*k]\n"), Contains("expected no anchor, found one"));
  CHECK_THAT(with_ze_info(version + "name: 'int&'\nkernels: [{}]\n"), Contains("kernels[0] has no name"));
}

TEST_CASE("a long kernel name is not copied for each element of its lists") {
  std::string text = version + "kernels:\n  - name: " + std::string(2'000'000, 'k') +
                     "\n    execution_env: {grf_count: 128, simd_size: 32}\n    inline_samplers: [";
  for (int i = 0; i < 3'000; ++i) text += "{sampler_index: 0, addrmode: none, filtermode: nearest},";
  CHECK_THAT(with_ze_info(text + "]\n"), Contains("no section .text.kkk"));
}

TEST_CASE("many symbols that share one long name are refused") {
  Bytes file = binaries::corpus("saxpy.zebin");
  const std::size_t symbols = index_of(file, SHT_SYMTAB);
  std::vector<Elf64_Sym> table(50'000);
  for (Elf64_Sym& symbol : table) symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
  set_contents(file, symbols, std::as_bytes(std::span(table)));
  // Section names share this table and keep their offsets.
  const Elf64_Shdr old = section(file, section(file, symbols).sh_link);
  Bytes names(file.begin() + static_cast<std::ptrdiff_t>(old.sh_offset),
              file.begin() + static_cast<std::ptrdiff_t>(old.sh_offset + old.sh_size));
  const std::size_t at = names.size();
  names.resize(at + 1'000'000, std::byte{'n'});
  names.push_back(std::byte{0});
  set_contents(file, section(file, symbols).sh_link, names);
  for (Elf64_Sym& symbol : table) symbol.st_name = static_cast<Elf64_Word>(at);
  std::memcpy(file.data() + section(file, symbols).sh_offset, table.data(), table.size() * sizeof(Elf64_Sym));
  CHECK_THAT(refusal(file), Contains("zebin: symbol 8: names of more than"));
}

TEST_CASE("a .bss costs a loader nothing, and what no device has is refused") {
  Bytes file = binaries::corpus("saxpy.zebin");
  const std::size_t bss = index_of(file, section_spirv);
  const std::size_t names = section(file, index_of(file, SHT_SYMTAB)).sh_link;
  Bytes text(file.begin() + static_cast<std::ptrdiff_t>(section(file, names).sh_offset),
             file.begin() +
                 static_cast<std::ptrdiff_t>(section(file, names).sh_offset + section(file, names).sh_size));
  Elf64_Shdr header = section(file, bss);
  header.sh_name = static_cast<Elf64_Word>(text.size());
  header.sh_type = SHT_NOBITS;
  header.sh_size = std::uint64_t{1} << 31;
  set_section(file, bss, header);
  const auto name = std::as_bytes(std::span(".bss.global"));
  text.insert(text.end(), name.begin(), name.end());
  set_contents(file, names, text);
  const auto program = load_program(file);
  REQUIRE(program);
  CHECK(program->segment(Segment::Globals).zero_bytes == std::uint64_t{1} << 31);
  CHECK(program->segment(Segment::Globals).bytes.empty());
  header.sh_size = ~std::uint64_t{0} - 3;
  set_section(file, bss, header);
  CHECK_THAT(refusal(file), Contains("expected at most 1099511627776"));
}

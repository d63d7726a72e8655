// Determines the container of the given bytes and calls its reader.
#include "runtime/loader/loader.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "memory/base/within_host.hpp"
#include "runtime/loader/argument_map.hpp"
#include "runtime/loader/elf_file.hpp"
#include "runtime/loader/patch_tokens.hpp"
#include "runtime/loader/visa_text.hpp"
#include "runtime/loader/ze_info.hpp"
#include "runtime/loader/zebin.hpp"

namespace eum::rt {
namespace {

using Bytes = std::span<const std::byte>;

/// Registers of a thread that a payload may fill, with the largest existing register files.
constexpr std::uint32_t most_registers = 256;

constexpr std::string_view expected =
    "expected an Intel GPU binary (zebin, or patch tokens with or without ELF)";

bool begins_with(Bytes binary, std::string_view magic) {
  return binary.size() >= magic.size() && std::memcmp(binary.data(), magic.data(), magic.size()) == 0;
}

bool is_text(Bytes binary) {
  const Bytes head = binary.first(std::min<std::size_t>(binary.size(), 256));
  return std::all_of(head.begin(), head.end(), [](std::byte b) {
    const auto c = std::to_integer<unsigned char>(b);
    return (c >= 0x20 && c != 0x7f) || c == '\n' || c == '\r' || c == '\t';
  });
}

/// The bytes up to the first 0 as text.
std::string text_of(Bytes bytes) {
  std::string text;
  for (const std::byte b : bytes) {
    if (b == std::byte{0}) break;
    text += static_cast<char>(b);
  }
  return text;
}

Error not_a_binary(Bytes binary) {
  constexpr std::string_view spirv_magic("\x03\x02\x23\x07", 4), bitcode_magic("BC\xc0\xde", 4);
  if (binary.empty()) return error("{}, found nothing", expected);
  if (begins_with(binary, spirv_magic)) {
    return error("{}, found a SPIR-V module: compile it for a device first (ocloc compile -spirv_input)",
                 expected);
  }
  if (begins_with(binary, bitcode_magic)) return error("{}, found LLVM bitcode", expected);
  if (begins_with(binary, "!<arch>\n")) {
    return error("{}, found an archive (a binary for several devices): unpack it with ar x first", expected);
  }
  if (is_text(binary)) return error("{}, found text", expected);
  std::string head;
  for (std::byte b : binary.first(std::min<std::size_t>(binary.size(), 4))) {
    head += fmt::format(" {:02x}", std::to_integer<unsigned>(b));
  }
  return error("{}, found {} bytes that begin with{}", expected, binary.size(), head);
}

Result<Program> load_sections(const ElfFile& file) {
  if (file.machine == elf_machine_intelgt) return load_zebin(file);
  if (file.type != elf_type_opencl_executable) {
    return error(
        "{}, found ELF for machine {} of type {:#x}: expected machine {} (zebin) or type {:#x} (OpenCL)",
        expected, file.machine, file.type, elf_machine_intelgt, elf_type_opencl_executable);
  }
  const ElfSection* device = file.find(section_device_binary);
  if (device == nullptr) {
    return error(
        "an OpenCL ELF file without device binary (section type {:#x}){}", section_device_binary,
        file.find(section_spirv) != nullptr ? ": it has SPIR-V only, compile it for a device first" : "");
  }
  if (looks_like_patch_tokens(device->bytes))
    return load_patch_tokens(device->bytes, Container::PatchTokensElf);
  if (looks_like_elf(device->bytes)) {
    const auto inner = read_elf(device->bytes);
    if (!inner) return inner.error();
    if (inner->machine == elf_machine_intelgt) return load_zebin(*inner);
  }
  return error("the device binary in the ELF file: {}", not_a_binary(device->bytes).message);
}

/// The compiler's options, if the file has them.
std::string build_options(const ElfFile& file) {
  for (const std::string_view name : {"BuildOptions", ".misc.buildOptions"})
    if (const ElfSection* options = file.find(name)) return text_of(options->bytes);
  return {};
}

Result<Program> load_elf(Bytes binary) {
  const auto file = read_elf(binary);
  if (!file) return file.error();
  auto program = load_sections(*file);
  if (program && program->build_options.empty()) program->build_options = build_options(*file);
  return program;
}

std::string_view characters(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reads the description of the arguments of kernels whose code is elsewhere.
Result<ZebinData> read_arguments(Bytes bytes, const Registers& registers) {
  if (looks_like_elf(bytes)) {
    const auto file = read_elf(bytes);
    if (!file) return file.error();
    if (file->machine != elf_machine_intelgt)
      return error("expected a zebin (ELF for machine {}), found ELF for machine {}", elf_machine_intelgt,
                   file->machine);
    auto data = read_zebin_data(*file, registers);
    if (data) data->program.build_options = build_options(*file);
    return data;
  }
  if (!is_text(bytes) || bytes.empty())
    return error("expected a zebin, or the text of its section .ze_info, found {}",
                 bytes.empty() ? "nothing" : "other bytes");
  auto drafts = read_ze_info(characters(bytes), registers);
  if (!drafts) return drafts.error();
  return ZebinData{std::move(*drafts), {}};
}

Result<ZebinData> read_map(Bytes bytes, const std::vector<ParsedText>& texts, unsigned grf_bytes) {
  auto drafts = read_argument_map(characters(bytes), texts, grf_bytes);
  if (!drafts) return drafts.error();
  return ZebinData{std::move(*drafts), {}};
}

Result<Program> join(std::span<const NamedFile> texts, const NamedFile& arguments, ArgumentFormat format,
                     unsigned grf_bytes) {
  std::vector<ParsedText> parsed;
  for (const NamedFile& text : texts) {
    auto one = parse_text(text.name, std::string(characters(text.bytes)));
    if (!one) return one.error();
    parsed.push_back(std::move(*one));
  }
  const auto written_for = register_bytes(parsed);
  if (!written_for) return written_for.error();
  if (grf_bytes == 0) grf_bytes = *written_for;
  if (grf_bytes != 32 && grf_bytes != 64)
    return error("expected registers of 32 or 64 bytes, found {}", grf_bytes);
  auto data = format == ArgumentFormat::Map ? read_map(arguments.bytes, parsed, grf_bytes)
                                            : read_arguments(arguments.bytes, {grf_bytes, most_registers});
  if (!data) return prefixed(arguments.name, data.error());
  auto added =
      add_text_kernels(std::move(parsed), std::move(data->drafts), grf_bytes, arguments.name, data->program);
  if (!added) return added.error();
  return std::move(data->program);
}

Result<Program> load(Bytes binary) {
  if (looks_like_patch_tokens(binary)) return load_patch_tokens(binary, Container::PatchTokens);
  if (looks_like_elf(binary)) return load_elf(binary);
  return not_a_binary(binary);
}

// Names in a message come from the file: unprintable characters become '?', long messages are cut.
Error in_one_line(Error e) {
  constexpr std::size_t longest = 400;
  for (char& c : e.message) {
    if (c < 0x20 || c == 0x7f) c = '?';
  }
  if (e.message.size() > longest) e.message = e.message.substr(0, longest) + "...";
  return e;
}

}  // namespace

Result<Program> load_program(Bytes binary) {
  return within_host("the binary", [&]() -> Result<Program> {
    auto program = load(binary);
    if (!program) return in_one_line(program.error());
    return program;
  });
}

Result<Program> load_visa(std::span<const NamedFile> texts, const NamedFile& arguments, ArgumentFormat format,
                          unsigned grf_bytes) {
  return within_host("vISA text", [&]() -> Result<Program> {
    auto program = join(texts, arguments, format, grf_bytes);
    if (!program) return in_one_line(program.error());
    return program;
  });
}

}  // namespace eum::rt

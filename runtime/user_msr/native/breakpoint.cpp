// Finds the instruction under a breakpoint: in the table of sites, by what its other bytes leave possible, or
// in the program's file.
#include "runtime/user_msr/native/breakpoint.hpp"

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <string_view>

#include "frontend/x86/decoder.hpp"
#include "runtime/user_msr/raw_syscall.hpp"

namespace eum::rt::native {
namespace {

/// Reads from a file without libc; returns the number of bytes read.
std::size_t read_file(const char* path, std::uint64_t offset, std::span<char> to) {
  long file = raw_syscall(SYS_open, to_long(path), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  long got = raw_syscall(SYS_pread64, file, to_long(to.data()), static_cast<long>(to.size()),
                         static_cast<long>(offset));
  raw_syscall(SYS_close, file);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

}  // namespace

UnderBreakpoint look_under_breakpoint(SiteTable& sites, std::uint64_t rip, const CodeBytes& code,
                                      int first_byte) {
  UnderBreakpoint found;
  if (code.count == 0 || code.bytes[0] != breakpoint_byte) return found;
  auto has_the_rest = [&](const Site& site) {
    return site.length <= code.count &&
           std::ranges::equal(site.bytes().subspan(1), code.span().first(site.length).subspan(1));
  };
  if (const Site* site = sites.find(rip, has_the_rest)) {
    auto is_another = [&](const Site& s) { return has_the_rest(s) && !(s.instruction == site->instruction); };
    if (!sites.find(rip, is_another)) return {UnderBreakpoint::Access, site->instruction, site->length};
  }
  // Only C4 begins the immediate forms. For the others F2 and F3 distinguish two instructions, unless one of
  // them comes later; then the first byte is a redundant prefix, such as 2E.
  for (int first : {0xc4, 0x2e, 0xf2, 0xf3}) {
    CodeBytes whole = code;
    whole.bytes[0] = static_cast<std::uint8_t>(first);
    x86::Decoding d = x86::decode_without_apx(whole.span());
    if (d.verdict != x86::Verdict::Instruction || !d.instruction.is_user()) continue;
    bool is_choice = first == 0xf2 || first == 0xf3;
    if (is_choice && found.kind == UnderBreakpoint::Access) break;
    if (is_choice && first != first_byte) {
      found.kind = UnderBreakpoint::Unknown;
      continue;
    }
    found = {UnderBreakpoint::Access, d.instruction, d.length};
    break;
  }
  return found;
}

int byte_of_file(Mappings& mappings, std::uint64_t address, std::span<const std::uint8_t> code) {
  std::uint64_t offset = 0;
  const char* path = mappings.find_file(address, offset);
  if (!path) return -1;
  std::array<char, x86::max_length> bytes{};
  std::size_t count = std::min<std::size_t>(read_file(path, offset, bytes), code.size());
  constexpr std::size_t shortest = 5;  // length of the shortest form with F2 or F3
  if (count < shortest) return -1;
  for (std::size_t i = 1; i < shortest; ++i)
    if (static_cast<std::uint8_t>(bytes[i]) != code[i]) return -1;
  return static_cast<std::uint8_t>(bytes[0]);
}

bool is_traced() {
  std::array<char, 2048> text{};
  std::string_view status(text.data(), read_file("/proc/thread-self/status", 0, text));
  constexpr std::string_view field = "\nTracerPid:\t";
  std::size_t at = status.find(field);
  return at != std::string_view::npos && at + field.size() < status.size() &&
         status[at + field.size()] != '0';
}

}  // namespace eum::rt::native
